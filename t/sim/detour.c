/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * detour - while an end's way was closed, its packets came to somebody else, who
 * hands them over later: the seal is of the header, so with another content
 */
#include "base/bytes.h"
#include "conn/conn.h"
#include "forge.h"
#include "wire/pkt.h"

enum { KEEP = 64 };

static struct sim_end *a, *b;
static struct {
	uint8_t p[SIM_DGRAM];
	size_t len;
} kept[KEEP];
static unsigned kept_n;

/* It is damaged for whom it was meant for. */
static void take(struct sim *s, uint8_t *p, size_t len)
{
	(void)s;
	if (kept_n < KEEP) {
		memcpy(kept[kept_n].p, p, len);
		kept[kept_n++].len = len;
	}
	p[0] ^= 1;
}

static void begin(struct sim *s)
{
	kept_n = 0;
	s->mute = !s->loud;
	s->announced = true;
}

static void close_way(void)
{
	sim_link(b->host, a->host)->tap = take;
}

static void open_way(void)
{
	sim_link(b->host, a->host)->tap = NULL;
	sim_unstall(a);
	sim_host_turn(a->host);
}

/* All that was taken, with another last byte, and as it was. */
static void hand_over(struct sim *s)
{
	unsigned i;

	SIM_CHECK(s, kept_n > 0);
	for (i = 0; i < kept_n; i++) {
		uint8_t *p = kept[i].p;
		uint16_t len = tux_get16(p + 4);

		if (p[3] & TUX_PKT_OPEN)
			continue;
		p[len - 1] ^= 0x55;
		sim_seal(a, p);
		sim_host_input(a->host, &b->host->addr, p, kept[i].len,
			       TUX_ECN_NONE);
		p[len - 1] ^= 0x55;
		sim_seal(a, p);
		sim_host_input(a->host, &b->host->addr, p, kept[i].len,
			       TUX_ECN_NONE);
	}
}

static void finish(struct sim *s)
{
	sim_write(a, 5000);
	sim_write(b, 5000);
	sim_finish_all(s, TUX_SEC(100));
}

/* b says so much while a's way is closed, and nobody else has noticed. */
static void detour(struct sim *s)
{
	close_way();
	sim_write(b, 5000);
	sim_ms(s, 2);
	sim_stall(a);
	sim_host_turn(a->host);
	sim_ms(s, 1);
	open_way();
	hand_over(s);
	SIM_CHECK(s, !a->got);
}

static void both(struct sim *s)
{
	begin(s);
	sim_switched(s, &a, &b);
	detour(s);
	sim_ms(s, 100);
	SIM_CHECK(s, a->got == 5000 && tux_conn_tx_on_tux(b->c));
	SIM_CHECK(s, tux_conn_tx_on_tux(a->c));
	finish(s);
}

/* a has nothing to go back for, and asks nevertheless. */
static void one(struct sim *s)
{
	begin(s);
	sim_pair(s, &a, &b);
	sim_run(s, 0);
	a->dx->tx.pinned = 1;
	sim_ms(s, 50);
	SIM_CHECK(s, b->was_tx && !a->was_tx);
	detour(s);
	sim_ms(s, 100);
	SIM_CHECK(s, a->got == 5000 && tux_conn_tx_on_tux(b->c));
	finish(s);
}

/* What a asks does not arrive at first. */
static void unheard(struct sim *s)
{
	begin(s);
	sim_pair(s, &a, &b);
	sim_run(s, 0);
	a->dx->tx.pinned = 1;
	sim_ms(s, 50);
	sim_link(a->host, b->host)->down = true;
	detour(s);
	sim_ms(s, 300);
	SIM_CHECK(s, !a->got);
	sim_link(a->host, b->host)->down = false;
	sim_ms(s, 600);
	SIM_CHECK(s, a->got == 5000 && tux_conn_tx_on_tux(b->c));
	finish(s);
}

/* a has not heard a packet with a number yet; there are messages in them. */
static void opening(struct sim *s)
{
	begin(s);
	sim_messages(s, &a, &b);
	sim_send(b, 1000, 0);
	sim_run(s, TUX_USEC(1500));
	close_way();
	sim_ms(s, 3);
	sim_stall(a);
	sim_ms(s, 1);
	open_way();
	hand_over(s);
	sim_ms(s, 100);
	finish(s);
	sim_check_messages(s, true);
	SIM_CHECK(s, a->was_tx && b->was_tx);
}

const struct sim_story sim_stories[] = {
	{ "both", both },
	{ "one", one },
	{ "unheard", unheard },
	{ "opening", opening },
	{ NULL, NULL },
};
