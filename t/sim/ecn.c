/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ecn - routers that mark instead of dropping, and paths that do not know what
 * ECN is
 */
#include <limits.h>

#include "base/bytes.h"
#include "forge.h"
#include "transport/ecn.h"
#include "wire/wire.h"

enum { RING = 1 << 20, ALL = 1000000, CONNS = 16 };

static struct sim_end *a, *b;
static struct sim_link *out;		/* from a to b */

static void start(struct sim *s)
{
	sim_pair(s, &a, &b);
	a->conn->ring = RING;
	sim_ms(s, 50);
	SIM_CHECK(s, a->was_tx && b->was_tx);
	sim_trace_clear(s);
	out = sim_link(a->host, b->host);
	s->only = SIM_T(EASE) | SIM_T(NO_ECN);
}

static const struct tux_conn_stats *at(const struct sim_end *e)
{
	return tux_conn_stats(e->c);
}

static uint64_t no_ecn(const struct sim_end *e)
{
	return tux_core_stats(e->host->core)->no_ecn;
}

static uint64_t eased(const struct sim_end *e)
{
	return tux_core_stats(e->host->core)->eased;
}

/* Runs until all that a has written is at b. */
static void carry(struct sim *s, uint64_t bytes, tux_time in)
{
	uint64_t all = b->got + bytes;
	tux_time until = s->now + in;

	sim_write(a, bytes);
	while (b->got < all && s->now < until)
		sim_ms(s, 1);
	SIM_CHECK(s, b->got == all);
}

/* How many datagrams leave a with ECT(0), of @bytes more? */
static uint64_t capable(struct sim *s, uint64_t bytes)
{
	uint64_t before = out->ect_n;

	carry(s, bytes, TUX_SEC(5));
	return out->ect_n - before;
}

static void finish(struct sim *s)
{
	sim_finish_all(s, TUX_SEC(60));
	SIM_CHECK(s, !a->stats.backs && !b->stats.backs);
}

/* A router with room for 40 ms that marks what waits for more than 5: nothing
 * is lost, the link is used, the queue stays short. */
static void obeyed(struct sim *s)
{
	const struct tux_conn_stats *st;
	tux_time began;

	start(s);
	out->delay = TUX_MSEC(5);
	out->neck = sim_add_neck(s, 10000000, TUX_MSEC(40));
	out->neck->mark = TUX_MSEC(5);
	began = s->now;
	carry(s, 10000000, TUX_SEC(2));
	st = at(a);
	SIM_CHECK(s, s->now - began < TUX_MSEC(1200));
	sim_ms(s, 50);			/* the last acknowledgments */
	SIM_CHECK(s, out->lost_n == 0 && st->lost == 0);
	SIM_CHECK(s, st->ce_tx > 0 && st->ce_tx == out->ce_n);
	SIM_CHECK(s, at(b)->ce_rx == st->ce_tx);
	SIM_CHECK(s, eased(a) > 0 && eased(a) < 10);
	SIM_CHECK(s, no_ecn(a) == 0);
	finish(s);
}

/* One packet of many comes with CE: the window shrinks once, in a round trip
 * and some more, for it is told at once. */
static void once(struct sim *s)
{
	start(s);
	sim_write(a, 7100);
	sim_run(s, s->now);
	out->ce = ALL;
	sim_write(a, 100);
	sim_run(s, s->now);
	out->ce = 0;
	sim_ms(s, 20);
	SIM_CHECK(s, b->got == 7200);
	SIM_TRACE(s,
		"[  52.000] a > 1 came with CE, window 10304\n");
	SIM_CHECK(s, at(a)->ce_tx == 1 && at(a)->lost == 0);
	finish(s);
}

/* Half of the acknowledgments are lost, and what they said is not. */
static void acks_lost(struct sim *s)
{
	start(s);
	out->ce = 20000;
	sim_link(b->host, a->host)->loss = 500000;
	carry(s, 2000000, TUX_SEC(20));
	sim_link(b->host, a->host)->loss = 0;
	out->ce = 0;
	finish(s);
	SIM_CHECK(s, b->stats.ce_rx > 10 && a->stats.ce_tx == b->stats.ce_rx);
	SIM_CHECK(s, no_ecn(a) == 0);
}

/* Loss, doubles and another order are no reason to doubt the path. */
static void bad_network(struct sim *s)
{
	start(s);
	out->ce = 20000;
	out->loss = out->twice = 50000;
	out->jitter = TUX_MSEC(3);
	out->late = TUX_MSEC(5);
	*sim_link(b->host, a->host) = *out;
	carry(s, 2000000, TUX_SEC(60));
	out->ce = 0;
	finish(s);
	SIM_CHECK(s, b->stats.ce_rx > 10 && a->stats.ce_tx == b->stats.ce_rx);
	SIM_CHECK(s, no_ecn(a) == 0);
}

static void bleached(struct sim *s)
{
	sim_pair(s, &a, &b);
	out = sim_link(a->host, b->host);
	out->bleach = true;
	s->only = SIM_T(NO_ECN);
	sim_ms(s, 50);
	SIM_CHECK(s, out->ect_n > 0 && no_ecn(a) == 1);
	SIM_CHECK(s, capable(s, 100000) == 0);
	/* The other way is another path. */
	SIM_CHECK(s, no_ecn(b) == 0);
	SIM_TRACE(s,
		"[   4.000] a > no ECN on this path: 1\n");
	finish(s);
}

/* A route changes. */
static void bleached_later(struct sim *s)
{
	start(s);
	SIM_CHECK(s, capable(s, 500000) > 300);
	out->bleach = true;
	carry(s, 100000, TUX_SEC(1));
	SIM_CHECK(s, no_ecn(a) == 1 && at(a)->lost == 0);
	SIM_CHECK(s, capable(s, 100000) == 0);
	finish(s);
}

/* CE on everything: believed for ten rounds, and then no more. */
static void all_ce(struct sim *s)
{
	tux_time began;

	start(s);
	out->ce = ALL;
	carry(s, 200000, TUX_SEC(5));
	SIM_CHECK(s, eased(a) == TUX_ECN_ROUNDS && no_ecn(a) == 1);
	SIM_CHECK(s, capable(s, 100000) == 0);
	began = s->now;
	carry(s, 5000000, TUX_SEC(5));
	SIM_CHECK(s, s->now - began < TUX_MSEC(500));
	finish(s);
}

/* What has ECT(0) vanishes; probes of the tail do not have it, nor what
 * follows a timeout. */
static void hole(struct sim *s)
{
	sim_pair(s, &a, &b);
	out = sim_link(a->host, b->host);
	sim_drop(out, SIM_ECT, 0, UINT_MAX);
	sim_ms(s, 100);
	SIM_CHECK(s, a->was_tx);
	carry(s, 100000, TUX_MSEC(100));
	SIM_CHECK(s, no_ecn(a) == 1);
	SIM_CHECK(s, capable(s, 100000) == 0);
	finish(s);
}

static void hole_later(struct sim *s)
{
	uint64_t before;

	start(s);
	carry(s, 100000, TUX_SEC(1));
	sim_drop(out, SIM_ECT, 0, UINT_MAX);
	before = b->got;
	sim_write(a, 100000);
	sim_ms(s, 1000);
	SIM_CHECK(s, b->got == before + 100000);
	SIM_CHECK(s, no_ecn(a) == 1);
	finish(s);
}

/* The path is dead for a while, for all: that is no hole. */
static void outage(struct sim *s)
{
	start(s);
	carry(s, 100000, TUX_SEC(1));
	sim_part(s, 0, 1, true);
	sim_write(a, 10000);
	sim_ms(s, 300);
	sim_part(s, 0, 1, false);
	sim_ms(s, 1000);
	SIM_CHECK(s, no_ecn(a) == 0 && capable(s, 100000) > 60);
	finish(s);
}

/* ---- several connections ---- */

/* All ring before the loop takes its turn. */
static void send_all(struct sim *s)
{
	char text[50] = "";
	struct iovec v = { text, sizeof(text) };
	uint64_t ref;
	unsigned i;

	for (i = 0; i < CONNS; i++) {
		struct sim_end *e = &s->conn[i]->end[0];

		s->conn[i]->foul = true;	/* what it sends, nobody noted */
		SIM_CHECK(s, !tux_msgbox_send(e->box, &v, 1, 0, false, &ref));
		tux_conn_rung(e->c, TUX_DOORBELL_MESSAGE, s->now);
	}
	sim_host_turn(&s->host[0]);
}

/* Sixteen connections share two datagrams, which are marked: each has its
 * count, and the window of all shrinks once. */
static void bundled(struct sim *s)
{
	struct sim_host *x = sim_add_host(s), *y = sim_add_host(s);
	unsigned i;

	for (i = 0; i < CONNS; i++) {
		sim_connect(x, y);
		s->conn[i]->small = s->conn[i]->bulk = 65536;
	}
	sim_ms(s, 100);
	out = sim_link(x, y);
	out->ce = ALL;
	send_all(s);
	out->ce = 0;
	sim_ms(s, 20);
	for (i = 0; i < CONNS; i++) {
		SIM_CHECK(s, at(&s->conn[i]->end[0])->ce_tx == 1);
		SIM_CHECK(s, at(&s->conn[i]->end[1])->ce_rx == 1);
	}
	SIM_CHECK(s, out->ce_n == 2 && eased(&s->conn[0]->end[0]) == 1);
	SIM_CHECK(s, tux_core_stats(x->core)->no_ecn == 0);
	sim_finish_all(s, TUX_SEC(10));
}

/* ---- who lies ---- */

static unsigned lie;

/* Says what it likes about the packets that it received. */
static void lying(struct sim *s, uint8_t *p, size_t len)
{
	static const uint8_t said[][2] = {
		{ 0, 0 }, { 0, 255 }, { 255, 0 }, { 255, 255 }, { 1, 200 },
	};

	for (; len; len -= tux_get16(p + 4), p += tux_get16(p + 4)) {
		if (p[3] & TUX_PKT_OPEN)
			continue;
		if (lie < sizeof(said) / sizeof(said[0]))
			memcpy(p + 38, said[lie], 2);
		else if (lie % 2)
			tux_put16(p + 38, (uint16_t)sim_rand(s));
		else
			p[39] = p[38];
		sim_seal(a, p);
	}
}

/* Whatever a peer says: bytes are right, its connection goes on, and one to
 * another host has never heard of it. */
static void liar(struct sim *s)
{
	for (lie = 0; lie < 20; lie++) {
		struct sim *in = sim_inner(s, lie);
		struct sim_conn *honest;

		sim_pair(in, &a, &b);
		honest = sim_connect(a->host, sim_add_host(in));
		sim_link(b->host, a->host)->tap = lying;
		carry(in, 300000, TUX_SEC(5));
		sim_write(&honest->end[0], 300000);
		sim_ms(in, 500);
		SIM_CHECK(in, honest->end[1].got == 300000);
		SIM_CHECK(in, at(&honest->end[0])->ce_tx == 0);
		SIM_CHECK(in, eased(a) <= TUX_ECN_ROUNDS);
		SIM_CHECK(in, at(a)->backs == 0 && at(a)->lost == 0);
		SIM_CHECK(in, no_ecn(a) <= 1);
		sim_finish(&honest->end[0]);
		sim_finish(&honest->end[1]);
		finish(in);
		sim_inner_free(s, in, lie);
	}
}

const struct sim_story sim_stories[] = {
	{ "obeyed", obeyed },
	{ "once", once },
	{ "acks_lost", acks_lost },
	{ "bad_network", bad_network },
	{ "bleached", bleached },
	{ "bleached_later", bleached_later },
	{ "all_ce", all_ce },
	{ "hole", hole },
	{ "hole_later", hole_later },
	{ "outage", outage },
	{ "bundled", bundled },
	{ "liar", liar },
	{ NULL, NULL },
};
