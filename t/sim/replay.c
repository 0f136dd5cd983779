/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * replay - all that two ends have sent, sent again by somebody who kept it
 *
 * From the right addresses, to the same connection while it goes on, and to the
 * next one of the same addresses and ports.
 */
#include <stdlib.h>

#include "conn/core.h"
#include "sim.h"

enum { KEEP = 4096 };

static struct sim_end *a, *b;

static struct {
	uint8_t *p;
	size_t len;
	bool to_b;
} kept[KEEP];
static unsigned kept_n;
static bool keeping;
static uint64_t sent_len;	/* bytes that a and b have sent */

static void keep(uint8_t *p, size_t len, bool to_b)
{
	sent_len += len;
	if (!keeping || kept_n == KEEP)
		return;
	kept[kept_n].p = malloc(len);
	kept[kept_n].len = len;
	kept[kept_n].to_b = to_b;
	memcpy(kept[kept_n++].p, p, len);
}

static void keep_to_a(struct sim *s, uint8_t *p, size_t len)
{
	(void)s;
	keep(p, len, false);
}

static void keep_to_b(struct sim *s, uint8_t *p, size_t len)
{
	(void)s;
	keep(p, len, true);
}

static void forget(void)
{
	while (kept_n)
		free(kept[--kept_n].p);
}

static void watch(bool on)
{
	keeping = on;
	sim_link(a->host, b->host)->tap = keep_to_b;
	sim_link(b->host, a->host)->tap = keep_to_a;
}

/* Stream and messages, both ways. */
static void talk(struct sim *s)
{
	unsigned i;

	for (i = 0; i < 20; i++) {
		sim_send(a, 100 + 500 * i, i % 2);
		sim_send(b, 100 + 500 * i, i % 2);
	}
	sim_write(a, 100000);
	sim_write(b, 100000);
	sim_ms(s, 60);
}

static void replay(struct sim *s, unsigned i)
{
	const struct sim_end *to = kept[i].to_b ? b : a;

	sim_host_input(to->host, &to->peer->host->addr, kept[i].p,
		       kept[i].len, TUX_ECN_NONE);
	if (i % 100 == 0)
		sim_run(s, s->now + 1);
}

/* All of it; its bytes. */
static uint64_t replay_all(struct sim *s, bool backwards)
{
	uint64_t len = 0;
	unsigned i;

	for (i = 0; i < kept_n; i++) {
		unsigned k = backwards ? kept_n - 1 - i : i;

		replay(s, k);
		len += kept[k].len;
	}
	return len;
}

static void finish(struct sim *s)
{
	SIM_CHECK(s, tux_conn_tx_on_tux(a->c) && tux_conn_tx_on_tux(b->c));
	sim_finish_all(s, TUX_SEC(10));
	sim_check_messages(s, true);
	forget();
}

/* Nothing moves, and what is said about it is no more than was sent. */
static void at_rest(struct sim *s)
{
	const struct tux_conn_stats *x, *y;
	uint64_t in, before;

	s->mute = true;
	sim_messages(s, &a, &b);
	watch(true);
	talk(s);
	keeping = false;
	SIM_CHECK(s, kept_n > 150 && kept_n < KEEP);
	x = tux_conn_stats(a->c);
	y = tux_conn_stats(b->c);
	before = sent_len;
	in = replay_all(s, false);
	in += replay_all(s, true);
	sim_ms(s, 100);
	SIM_CHECK(s, sent_len - before <= in);
	SIM_CHECK(s, x->duplicates && y->duplicates);
	SIM_CHECK(s, !x->lost && !x->spurious && !x->timeouts && !x->backs);
	SIM_CHECK(s, !y->lost && !y->spurious && !y->timeouts && !y->backs);
	talk(s);
	SIM_CHECK(s, a->got == 200000 && b->got == 200000);
	finish(s);
}

/* While more is under way, windows, acknowledgments and delays of old bring
 * nothing back: it takes as long as without. */
static tux_time take(struct sim *s, bool again)
{
	struct sim *o = sim_inner(s, 1);
	tux_time began;
	unsigned i;

	o->mute = true;
	sim_messages(o, &a, &b);
	watch(true);
	talk(o);
	keeping = false;
	sim_write(a, 1000000);
	sim_write(b, 1000000);
	began = o->now;
	for (i = 0; a->got < 1100000 || b->got < 1100000; i++) {
		if (again && i < kept_n)
			replay(o, i);
		sim_run(o, o->now + TUX_USEC(100));
		if (o->now > began + TUX_SEC(10))
			sim_fail(o, "it does not get on");
		if (o->failed)
			break;
	}
	began = o->now - began;
	SIM_CHECK(o, !tux_conn_stats(a->c)->lost);
	finish(o);
	sim_inner_free(s, o, 1);
	return began;
}

static void under_way(struct sim *s)
{
	tux_time without = take(s, false), with = take(s, true);

	SIM_CHECK(s, with <= without + without / 20);
}

/* Ids, keys and numbers are others: to the next connection they are nothing. */
static void next_connection(struct sim *s)
{
	const struct tux_core_stats *st;
	struct sim_conn *k;
	uint64_t before;

	s->mute = true;
	sim_messages(s, &a, &b);
	watch(true);
	talk(s);
	keeping = false;
	sim_finish(a);
	sim_finish(b);
	sim_run_out(s, s->now + TUX_SEC(10));
	k = sim_connect(a->host, b->host);
	k->tuple = a->conn->tuple;
	a = &k->end[0];
	b = &k->end[1];
	sim_run(s, s->now + TUX_USEC(10));
	replay_all(s, false);
	sim_ms(s, 100);
	SIM_CHECK(s, a->was_tx && b->was_tx);
	st = tux_core_stats(b->host->core);
	before = st->packets_tx;
	replay_all(s, true);
	SIM_CHECK(s, st->packets_tx == before && st->bad_mac >= 2);
	SIM_CHECK(s, !tux_conn_stats(b->c)->dropped);
	SIM_CHECK(s, !tux_conn_stats(b->c)->duplicates);
	sim_write(a, 100000);
	sim_write(b, 100000);
	sim_ms(s, 100);
	finish(s);
}

const struct sim_story sim_stories[] = {
	{ "at_rest", at_rest },
	{ "under_way", under_way },
	{ "next_connection", next_connection },
	{ NULL, NULL },
};
