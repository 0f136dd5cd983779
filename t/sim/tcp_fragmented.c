/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_fragmented - the marker and frames arrive in pieces of any size
 */
#include "sim.h"

static struct sim_end *a, *b;

/* Segments of up to @mss bytes, and reads that see each of them alone. */
static void pieces(struct sim *s, uint32_t mss, bool cut)
{
	struct sim *o = sim_inner(s, mss);

	sim_pair(o, &a, &b);
	a->conn->tcp.mss = mss;
	a->conn->tcp.cut = cut;
	sim_write(a, 100);
	sim_write(b, 37);
	sim_ms(o, 50);
	SIM_CHECK(o, a->was_tx && a->was_rx && b->was_tx && b->was_rx);
	sim_part(o, 0, 1, true);
	sim_write(a, 2000);
	sim_write(b, 2000);
	sim_ms(o, 1200);
	SIM_CHECK(o, a->got == 2037 && b->got == 2100);
	sim_part(o, 0, 1, false);
	sim_ms(o, 3000);
	SIM_CHECK(o, tux_conn_tx_on_tux(a->c) && tux_conn_tx_on_tux(b->c));
	sim_write(a, 500);
	sim_finish_all(o, TUX_SEC(10));
	sim_inner_free(s, o, mss);
}

static void equal(struct sim *s)
{
	uint32_t mss;

	for (mss = 1; mss <= 17 && !s->failed; mss++)
		pieces(s, mss, false);
}

static void any(struct sim *s)
{
	uint32_t mss;

	for (mss = 2; mss <= 200 && !s->failed; mss += 11)
		pieces(s, mss, true);
}

/* The writer's socket is full when it commits: the marker itself is cut. */
static void full_socket(struct sim *s)
{
	uint32_t room;

	for (room = 100; room < 120 && !s->failed; room++) {
		struct sim *o = sim_inner(s, room);

		sim_pair(o, &a, &b);
		a->conn->tcp.sndbuf = room;
		sim_run(o, 0);
		sim_tcp_hold(a, 0, TUX_MSEC(20));
		sim_write(a, 100);
		sim_ms(o, 10);
		sim_write(a, 1000);
		sim_ms(o, 90);
		SIM_CHECK(o, b->got == 1100 && b->was_rx);
		sim_finish_all(o, TUX_SEC(10));
		sim_inner_free(s, o, room);
	}
}

const struct sim_story sim_stories[] = {
	{ "equal", equal },
	{ "any", any },
	{ "full_socket", full_socket },
	{ NULL, NULL },
};
