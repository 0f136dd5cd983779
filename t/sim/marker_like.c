/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * marker_like - a stream whose own bytes look like the marker
 *
 * Nobody can foresee a marker; here the program looks into the duplex.
 */
#include <errno.h>

#include "sim.h"

static struct sim_end *a, *b;

/* Runs to the instant when @a has announced N = 100, and b not yet answered. */
static void announced(struct sim *s)
{
	s->only = SIM_DONE;
	sim_pair(s, &a, &b);
	sim_write(a, 100);
	sim_run(s, TUX_USEC(2500));
	SIM_CHECK(s, a->dx->tx.state == TUX_TX_ANNOUNCED);
	SIM_CHECK(s, a->dx->tx.at == 100);
}

/* As above, N = 100 is not reached yet and acknowledged. */
static void short_of(struct sim *s)
{
	s->only = SIM_DONE;
	sim_pair(s, &a, &b);
	sim_write(a, 10);
	sim_run(s, TUX_USEC(2500));
	sim_write(a, 1);
	while (a->dx->tx.state != TUX_TX_ACKED && !s->failed)
		sim_run(s, s->now + TUX_USEC(100));
}

/* The @n first bytes of the marker, at N, in one write; then @more others. */
static void write_like(unsigned n, uint64_t more)
{
	sim_patch(a, a->dx->tx.at, a->dx->tx.marker, n);
	sim_write(a, a->dx->tx.at - a->sent + n + more);
}

static void finish(struct sim *s)
{
	sim_write(a, 5);
	sim_write(b, 1000);
	sim_ms(s, 200);
	SIM_CHECK(s, a->was_tx && b->got == a->sent);
	sim_finish_all(s, TUX_SEC(10));
}

static void full(struct sim *s)
{
	announced(s);
	write_like(TUX_MARKER_LEN, 0);
	finish(s);
}

static void full_and_more(struct sim *s)
{
	announced(s);
	write_like(TUX_MARKER_LEN, 500);
	finish(s);
}

static void all_but_one(struct sim *s)
{
	announced(s);
	write_like(TUX_MARKER_LEN - 1, 0);
	finish(s);
}

static void all_but_one_and_more(struct sim *s)
{
	announced(s);
	write_like(TUX_MARKER_LEN - 1, 1);
	finish(s);
}

static void prefix(struct sim *s)
{
	announced(s);
	write_like(5, 0);
	finish(s);
}

/* Byte by byte: no single write looks suspicious. */
static void dribble(struct sim *s)
{
	unsigned i;

	announced(s);
	sim_patch(a, 100, a->dx->tx.marker, TUX_MARKER_LEN);
	for (i = 0; i < TUX_MARKER_LEN; i++) {
		sim_write(a, 1);
		sim_run(s, s->now + TUX_USEC(20));
	}
	finish(s);
}

static void in_acked(struct sim *s)
{
	short_of(s);
	write_like(TUX_MARKER_LEN, 300);
	finish(s);
}

/* In the ring: the marker stands in TCP before it, once. */
static void in_ring(struct sim *s)
{
	announced(s);
	sim_ms(s, 20);
	SIM_CHECK(s, a->dx->tx.state == TUX_TX_SWITCHED);
	write_like(TUX_MARKER_LEN, 0);
	finish(s);
}

/* The answer never comes, and the path stays dead: what looks like the marker
 * must get through all the same, over TCP alone. */
static void path_dies(struct sim *s, unsigned n, uint64_t more)
{
	announced(s);
	s->link[1][0].down = true;
	sim_ms(s, 1);
	SIM_CHECK(s, b->dx->rx.state == TUX_RX_ARMED);
	write_like(n, more);
	sim_ms(s, 4000);
	SIM_CHECK(s, a->sent == a->goal);
	sim_write(a, 3);
	sim_ms(s, 4000);
	SIM_CHECK(s, b->got == a->sent);
	sim_finish_all(s, TUX_SEC(100));
	SIM_CHECK(s, !a->was_tx && !b->was_rx);
}

static void dead_prefix(struct sim *s)
{
	path_dies(s, 5, 0);
}

static void dead_all_but_one(struct sim *s)
{
	path_dies(s, TUX_MARKER_LEN - 1, 100);
}

/* A proper prefix of the marker, and then the end. */
static void prefix_then_end(struct sim *s)
{
	announced(s);
	s->link[0][1].down = s->link[1][0].down = true;
	sim_ms(s, 1);
	write_like(5, 0);
	sim_finish_all(s, TUX_SEC(100));
}

/* The writer rests behind it: once it is known to be none, it is data, and its
 * reader, to whom neither TCP nor the other direction has more to say, is
 * told. */
static void prefix_then_rest(struct sim *s)
{
	s->only = SIM_DONE;
	sim_pair(s, &a, &b);
	sim_finish(b);
	sim_write(a, 100);
	sim_run(s, TUX_USEC(2500));
	write_like(5, 0);
	sim_ms(s, 1);
	SIM_CHECK(s, b->dx->rx.held == 5 && b->got == 100);
	sim_ms(s, 10);
	SIM_CHECK(s, b->got == 105);
	sim_finish_all(s, TUX_SEC(10));
}

/* Nobody reads it before the next generation has come to nothing, too. */
static void prefix_unread(struct sim *s)
{
	announced(s);
	write_like(5, 0);
	sim_ms(s, 1);
	sim_pause(b, true);
	while (b->dx->rx.gen < 3 && !s->failed)
		sim_run(s, s->now + TUX_USEC(100));
	SIM_CHECK(s, b->dx->rx.spill_len == 5);
	SIM_CHECK(s, b->dx->rx.state == TUX_RX_ARMED);
	sim_write(a, 10);
	while (b->dx->rx.gen < 4 && !s->failed)
		sim_run(s, s->now + TUX_USEC(100));
	sim_pause(b, false);
	sim_ms(s, 1);
	SIM_CHECK(s, b->got == 115);
	finish(s);
}

/* Nothing but the end of the doubt wakes the writer. */
static void full_and_rest(struct sim *s)
{
	announced(s);
	write_like(TUX_MARKER_LEN, 0);
	sim_run(s, TUX_MSEC(20));
	SIM_CHECK(s, a->sent == 100 + TUX_MARKER_LEN);
	SIM_CHECK(s, b->got == a->sent);
	finish(s);
}

/* b has made a write the marker, and answers nothing any more: a's connection
 * is given up after a while, and its writer told so. */
static void full_and_no_answer(struct sim *s)
{
	announced(s);
	a->conn->foul = true;
	s->link[1][0].down = true;
	write_like(TUX_MARKER_LEN, 0);
	sim_run(s, TUX_SEC(4));
	SIM_CHECK(s, a->sent == 100 + TUX_MARKER_LEN - 1 && !a->werr);
	sim_run(s, TUX_SEC(6));
	SIM_CHECK(s, a->werr == ECONNRESET && a->closed);
	SIM_CHECK(s, a->reason == TUX_REASON_PROTOCOL);
	sim_run_out(s, TUX_SEC(100));
	SIM_CHECK(s, b->rerr == ECONNRESET);
}

/* The same, but a's application has shut down instead: it waits no more, and
 * reads what b says then. */
static void full_and_shut(struct sim *s)
{
	announced(s);
	s->link[1][0].down = true;
	write_like(TUX_MARKER_LEN, 0);
	sim_ms(s, 10);
	SIM_CHECK(s, tux_duplex_barred(a->dx));
	a->goal = a->sent;
	sim_finish(a);
	sim_ms(s, 10000);
	sim_write(b, 1000);
	sim_finish_all(s, TUX_SEC(100));
}

const struct sim_story sim_stories[] = {
	{ "full", full },
	{ "full_and_more", full_and_more },
	{ "full_and_rest", full_and_rest },
	{ "full_and_no_answer", full_and_no_answer },
	{ "full_and_shut", full_and_shut },
	{ "all_but_one", all_but_one },
	{ "all_but_one_and_more", all_but_one_and_more },
	{ "prefix", prefix },
	{ "dribble", dribble },
	{ "in_acked", in_acked },
	{ "in_ring", in_ring },
	{ "dead_prefix", dead_prefix },
	{ "dead_all_but_one", dead_all_but_one },
	{ "prefix_then_end", prefix_then_end },
	{ "prefix_then_rest", prefix_then_rest },
	{ "prefix_unread", prefix_unread },
	{ NULL, NULL },
};
