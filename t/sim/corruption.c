/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * corruption - bits flip on the way: the CRC sees it, and nobody else does
 */
#include "sim.h"

static struct sim_end *a, *b;

/* One datagram in ten, with one to three bits. */
static void tenth(struct sim *s)
{
	const struct tux_core_stats *at_b;

	sim_switched(s, &a, &b);
	at_b = tux_core_stats(b->host->core);
	s->link[0][1].flip = s->link[1][0].flip = 100000;
	sim_write(a, 500000);
	sim_write(b, 500000);
	sim_finish_all(s, TUX_SEC(200));
	SIM_CHECK(s, at_b->damaged > 30);
	SIM_CHECK(s, at_b->damaged <= s->link[0][1].flip_n);
	SIM_CHECK(s, !at_b->bad_mac && !at_b->wrong_version);
}

/* Each of them: the path is as good as dead, and never proved. */
static void every(struct sim *s)
{
	sim_pair(s, &a, &b);
	s->link[0][1].flip = s->link[1][0].flip = 1000000;
	sim_write(a, 50000);
	sim_write(b, 50000);
	sim_ms(s, 5000);
	SIM_CHECK(s, a->got == 50000 && b->got == 50000);
	SIM_CHECK(s, tux_conn_reason(a->c) == TUX_REASON_PEER_SILENT);
	sim_finish_all(s, TUX_SEC(200));
	SIM_CHECK(s, !a->was_tx && !b->was_tx);
}

/* From some moment on each of them: back to TCP. */
static void later(struct sim *s)
{
	sim_switched(s, &a, &b);
	s->link[0][1].flip = s->link[1][0].flip = 1000000;
	sim_write(a, 50000);
	sim_write(b, 50000);
	sim_ms(s, 3000);
	SIM_CHECK(s, a->got == 50000 && b->got == 50000);
	SIM_CHECK(s, !tux_conn_tx_on_tux(a->c) && !tux_conn_tx_on_tux(b->c));
	sim_finish_all(s, TUX_SEC(200));
}

const struct sim_story sim_stories[] = {
	{ "tenth", tenth },
	{ "every", every },
	{ "later", later },
	{ NULL, NULL },
};
