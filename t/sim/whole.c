/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * whole - what TCP would deliver in one piece arrives in one piece, also while
 * a direction moves: to Tux, back to TCP in frames, to plain TCP
 */
#include "sim.h"

#include "conn/back.h"
#include "conn/conn_in.h"

enum {
	RECORDS = 300,
	MSS = 1448,
	GAPS = 12,		/* between records: kinds of them */
};

static struct sim_end *a, *b;

static void record(struct sim *s, void *arg, uint64_t n, uint64_t m)
{
	(void)s, (void)m;
	sim_write(arg, n);
}

/* What @e is to read: each read takes the records that are there. */
static void expects(struct sim_end *e, uint32_t len)
{
	e->plan.whole = len;
	e->plan.rmax = 16384 / len * len;
}

/* a writes @n records of @len bytes, one every @gap, and b some of 11 bytes. */
static void talk(struct sim *s, unsigned n, uint32_t len, tux_time gap)
{
	for (unsigned i = 0; i < n; i++) {
		sim_at(s, s->now + i * gap, record, a, len, 0);
		sim_at(s, s->now + i * gap * 7 / 5, record, b, 11, 0);
	}
	sim_run(s, s->now + n * gap * 7 / 5 + TUX_MSEC(20));
}

static void begin(struct sim *s, uint32_t len)
{
	sim_pair(s, &a, &b);
	expects(a, 11);
	expects(b, len);
}

static unsigned across(const struct sim_end *e)
{
	return e->told.frame_tx > 0;
}

/* Records one after the other, so that N falls into one of them: with any gap
 * and of any length up to a segment. */
static void moves(struct sim *s)
{
	unsigned n = 0;

	for (uint32_t len = 2; len <= MSS && !s->failed; len += len / 2 + 1)
		for (unsigned g = 1; g <= GAPS && !s->failed; g++) {
			struct sim *o = sim_inner(s, len * 100 + g);

			begin(o, len);
			talk(o, RECORDS, len, g * TUX_USEC(150));
			SIM_CHECK(o, a->was_tx && b->was_tx);
			n += across(a);
			sim_finish_all(o, TUX_SEC(100));
			sim_inner_free(s, o, len * 100 + g);
		}
	SIM_CHECK(s, n > 20);
}

/* A record that just fits into a segment has no room for a marker: N waits for
 * a writer that rests. */
static void full_segment(struct sim *s)
{
	for (uint32_t len = MSS - 60; len <= MSS && !s->failed; len++) {
		struct sim *o = sim_inner(s, len);

		begin(o, len);
		talk(o, 40, len, TUX_USEC(450));
		sim_ms(o, 100);
		SIM_CHECK(o, a->was_tx);
		sim_finish_all(o, TUX_SEC(100));
		sim_inner_free(s, o, len);
	}
}

/* The packets of a get lost, its records go in frames, and come back. */
static void back(struct sim *s)
{
	begin(s, 7);
	talk(s, RECORDS, 7, TUX_USEC(450));
	SIM_CHECK(s, tux_conn_tx_on_tux(a->c));
	sim_link(a->host, b->host)->down = true;
	talk(s, RECORDS, 7, TUX_MSEC(10));
	SIM_CHECK(s, !tux_conn_tx_on_tux(a->c));
	sim_link(a->host, b->host)->down = false;
	talk(s, RECORDS, 7, TUX_MSEC(10));
	SIM_CHECK(s, tux_conn_tx_on_tux(a->c));
	sim_finish_all(s, TUX_SEC(100));
}

/* Both directions become plain, and move again, several times. */
static void leaves(struct sim *s)
{
	begin(s, 7);
	for (unsigned i = 0; i < 8; i++) {
		talk(s, RECORDS, 7, TUX_USEC(450 + 50 * i));
		SIM_CHECK(s, tux_conn_tx_on_tux(a->c));
		tux_back_leave(a->c, s->now + TUX_MSEC(20));
		tux_conn_rung(a->c, 0, s->now);
		tux_back_leave(b->c, s->now + TUX_MSEC(30));
		tux_conn_rung(b->c, 0, s->now);
		sim_host_effects(a->host);
		sim_host_turn(a->host);
		sim_host_effects(b->host);
		sim_host_turn(b->host);
	}
	SIM_CHECK(s, a->told.n[TUX_TRACE_PLAIN_OUT] > 3);
	sim_finish_all(s, TUX_SEC(100));
}

/* TCP has only @room bytes for what goes across N: 40 bytes below N, the
 * marker, a frame with 20 behind N, and SWITCH.  With @dead, no packet of a
 * arrives from then on, for some time. */
static void part(struct sim *s, uint32_t room, bool dead)
{
	const struct tux_duplex_tx *t;

	sim_pair(s, &a, &b);
	sim_write(a, 100);
	sim_at(s, TUX_USEC(2200), record, a, 200, 0);
	sim_ms(s, 5);
	t = &a->dx->tx;
	SIM_CHECK(s, t->state == TUX_TX_ACKED);
	sim_write(a, t->at - t->off - 40);
	sim_run(s, s->now + TUX_USEC(10));
	SIM_CHECK(s, t->at - t->off == 40);
	a->conn->tcp.sndbuf = room + (uint32_t)(a->sock.tx->wrote -
						a->sock.tx->acked);
	sim_link(a->host, b->host)->down = dead;
	sim_pause(b, dead);
	sim_write(a, 60);
	sim_ms(s, 100);
	SIM_CHECK(s, dead || (b->got == a->sent && b->was_rx));
	SIM_CHECK(s, dead || (!a->reason && !b->reason));
	sim_ms(s, dead ? 2000 : 0);
	sim_pause(b, false);
	sim_write(a, 500);
	sim_ms(s, dead ? 500 : 0);
	SIM_CHECK(s, !dead || b->got == a->sent);
	sim_link(a->host, b->host)->down = false;
	sim_finish_all(s, TUX_SEC(100));
}

static void in_part(struct sim *s)
{
	for (uint32_t room = 1; room < 120 && !s->failed; room++)
		for (unsigned dead = 0; dead < 2 && !s->failed; dead++) {
			struct sim *o = sim_inner(s, 2 * room + dead);

			part(o, room, dead);
			sim_inner_free(s, o, 2 * room + dead);
		}
}

const struct sim_story sim_stories[] = {
	{ "moves", moves },
	{ "full_segment", full_segment },
	{ "back", back },
	{ "leaves", leaves },
	{ "in_part", in_part },
	{ NULL, NULL },
};
