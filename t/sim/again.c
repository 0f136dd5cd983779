/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * again - a direction leaves Tux as a new turn, and moves once more
 */
#include "sim.h"

#include <errno.h>

#include "conn/back.h"
#include "conn/conn_in.h"

static struct sim_end *a, *b;

static void choose(struct sim_end *e)
{
	e->plan.choose = true;
}

/* Two ends that take the path which is faster; the client's requests and their
 * answers are short, so both directions move. */
static void talk_shortly(struct sim *s, struct sim_conn *k)
{
	struct sim_end *x = &k->end[0], *y = &k->end[1];
	unsigned i;

	choose(x);
	choose(y);
	for (i = 0; i < 60; i++) {
		sim_write(x, 100);
		sim_ms(s, 3);
		sim_write(y, 200);
		sim_ms(s, 3);
	}
	SIM_CHECK(s, tux_conn_tx_on_tux(x->c) && tux_conn_tx_on_tux(y->c));
}

static void finish(struct sim *s)
{
	sim_write(a, 3000);
	sim_write(b, 3000);
	sim_finish_all(s, TUX_SEC(100));
}

/* ---- the choice ---- */

/* Nothing is announced before the talk has shown short bursts. */
static void begins_plain(struct sim *s)
{
	sim_pair(s, &a, &b);
	choose(a);
	choose(b);
	sim_write(a, 100000);
	sim_write(b, 100000);
	sim_ms(s, 2000);
	SIM_CHECK(s, a->got == 100000 && b->got == 100000);
	SIM_CHECK(s, !a->was_tx && !b->was_tx);
	SIM_CHECK(s, !a->told.n[TUX_TRACE_SEND_PREPARE] &&
		     !b->told.n[TUX_TRACE_SEND_PREPARE]);
	talk_shortly(s, a->conn);
	finish(s);
}

/* A bulk answer leaves; its other direction, and both of a neighbour, stay; and
 * it moves again when answers are short again. */
static void bulk_answer(struct sim *s)
{
	struct sim_end *p, *q;
	struct sim_conn *k;

	sim_pair(s, &a, &b);
	k = sim_connect(a->host, b->host);
	p = &k->end[0];
	q = &k->end[1];
	talk_shortly(s, a->conn);
	talk_shortly(s, k);
	sim_trace_clear(s);
	s->only = SIM_T(PLAIN_OUT) | SIM_T(PLAIN_IN);
	sim_write(b, 3000000);
	sim_ms(s, 100);
	SIM_CHECK(s, b->told.n[TUX_TRACE_PLAIN_OUT] == 1);
	SIM_CHECK(s, tux_conn_tx_on_tux(a->c));
	SIM_CHECK(s, tux_conn_tx_on_tux(p->c) && tux_conn_tx_on_tux(q->c));
	sim_ms(s, 8000);
	SIM_CHECK(s, a->got == b->sent);
	SIM_CHECK(s, !a->told.n[TUX_TRACE_PLAIN_OUT]);
	talk_shortly(s, a->conn);
	SIM_CHECK(s, !p->told.n[TUX_TRACE_PLAIN_OUT] &&
		     !q->told.n[TUX_TRACE_PLAIN_OUT]);
	finish(s);
}

/* The reader closes in the middle of a bulk answer, which is plain: the writer
 * learns that soon, as over TCP, and not when all of it has been sent. */
static void bulk_to_a_closed_end(struct sim *s)
{
	uint64_t sent;

	sim_pair(s, &a, &b);
	talk_shortly(s, a->conn);
	sim_write(b, 100000000);
	sim_ms(s, 300);
	SIM_CHECK(s, b->told.n[TUX_TRACE_PLAIN_OUT] == 1);
	SIM_CHECK(s, a->told.n[TUX_TRACE_PLAIN_IN] == 1);
	SIM_CHECK(s, !tux_conn_tx_on_tux(b->c) && tux_conn_tx_on_tux(a->c));
	sim_close(a);
	sent = b->sent;
	sim_ms(s, 300);
	SIM_CHECK(s, b->werr == ECONNRESET || b->werr == EPIPE);
	SIM_CHECK(s, b->sent < sent + 1000000);
	sim_close(b);
	sim_run_out(s, s->now + TUX_SEC(10));
}

/* ---- each moment of leaving ---- */

enum { MOMENTS = 24 };	/* in steps of a quarter of a millisecond */

/* The direction of @e leaves now, whatever it carries, for @hold. */
static void leave(struct sim_end *e, tux_time hold)
{
	tux_back_leave(e->c, e->conn->s->now + hold);
	tux_conn_rung(e->c, 0, e->conn->s->now);
	sim_host_effects(e->host);
	sim_host_turn(e->host);
}

typedef void act_fn(struct sim *s);

/* Both directions carry bytes, b's leaves, and @act comes @n quarters of a
 * millisecond later. */
static void moment(struct sim *s, unsigned n, act_fn *act)
{
	sim_switched(s, &a, &b);
	sim_write(a, 30000);
	sim_write(b, 60000);
	sim_run(s, s->now + TUX_USEC(500));
	leave(b, TUX_MSEC(50));
	sim_run(s, s->now + n * TUX_USEC(250));
	act(s);
}

static void moments(struct sim *s, act_fn *act)
{
	unsigned n;

	for (n = 0; n < MOMENTS; n++) {
		struct sim *o = sim_inner(s, n);

		moment(o, n, act);
		sim_inner_free(s, o, n);
	}
}

/* It just goes on, and moves again. */
static void go_on(struct sim *s)
{
	sim_ms(s, 500);
	SIM_CHECK(s, b->told.n[TUX_TRACE_PLAIN_OUT] == 1);
	SIM_CHECK(s, tux_conn_tx_on_tux(b->c) && tux_conn_tx_on_tux(a->c));
	finish(s);
}

static void alone(struct sim *s)
{
	moments(s, go_on);
}

static void shut_and_run_out(struct sim *s)
{
	sim_finish(b);
	sim_ms(s, 100);
	sim_write(a, 3000);
	sim_finish_all(s, TUX_SEC(100));
}

static void shut(struct sim *s)
{
	moments(s, shut_and_run_out);
}

/* What b wrote arrives though b has closed. */
static void close_and_run_out(struct sim *s)
{
	sim_ms(s, 20);
	SIM_CHECK(s, b->got == a->sent);
	sim_close(b);
	sim_ms(s, 200);
	SIM_CHECK(s, a->got == b->sent && a->eof && !a->rerr);
	sim_finish(a);
	sim_run_out(s, s->now + TUX_SEC(100));
}

/* Closed while all of it is under way. */
static void close_at_once(struct sim *s)
{
	uint64_t sent;

	b->goal = sent = b->sent;
	sim_close(b);
	sim_ms(s, 3000);
	SIM_CHECK(s, a->got <= sent);
	sim_close(a);
	sim_run_out(s, s->now + TUX_SEC(100));
}

static void closed(struct sim *s)
{
	moments(s, close_and_run_out);
	moments(s, close_at_once);
}

/* The other end knows that not all has come. */
static void kill_it(struct sim *s)
{
	uint64_t sent = b->sent;

	sim_kill(b->host);
	sim_ms(s, 5000);
	SIM_CHECK(s, a->got <= sent);
	SIM_CHECK(s, a->rerr || a->eof);
	SIM_CHECK(s, a->rerr || a->got == sent);
	sim_close(a);
	sim_run_out(s, s->now + TUX_SEC(100));
}

static void killed(struct sim *s)
{
	moments(s, kill_it);
}

static void raw_and_run_out(struct sim *s)
{
	sim_raw(b);
	sim_ms(s, 200);
	SIM_CHECK(s, !tux_conn_tx_on_tux(b->c) && !tux_conn_tx_on_tux(a->c));
	finish(s);
}

static void raw(struct sim *s)
{
	moments(s, raw_and_run_out);
}

/* A pin succeeds or not; no byte is lost either way. */
static void pin_and_run_out(struct sim *s)
{
	(void)sim_pin(b);
	finish(s);
}

static void pinned(struct sim *s)
{
	moments(s, pin_and_run_out);
}

/* The path dies and comes back. */
static void part_and_run_out(struct sim *s)
{
	sim_part(s, 0, 1, true);
	sim_ms(s, 2500);
	SIM_CHECK(s, a->got == b->sent && b->got == a->sent);
	sim_part(s, 0, 1, false);
	sim_ms(s, 9000);
	SIM_CHECK(s, tux_conn_tx_on_tux(b->c) && tux_conn_tx_on_tux(a->c));
	finish(s);
}

static void parted(struct sim *s)
{
	moments(s, part_and_run_out);
}

/* ---- what overtakes, and what is late ---- */

/* TCP is slow, so that the PREPARE of the next turn comes before the PLAIN
 * frame: it waits, and makes nothing void. */
static void prepare_overtakes(struct sim *s)
{
	sim_switched(s, &a, &b);
	s->only = SIM_T(PLAIN_OUT) | SIM_T(PLAIN_IN) | SIM_T(SEND_PREPARE) |
		  SIM_T(RECV_PREPARE) | SIM_T(VOID) | SIM_T(ARMED) | SIM_DONE;
	a->conn->tcp.delay = TUX_MSEC(30);
	sim_write(b, 1000);
	sim_ms(s, 10);
	leave(b, 0);
	sim_ms(s, 200);
	SIM_CHECK(s, tux_conn_tx_on_tux(b->c));
	SIM_CHECK(s, !b->told.n[TUX_TRACE_VOID]);
	SIM_TRACE(s,
		"[  60.000] b > plain out at 1000\n"
		"[  60.000] b > send prepare 2 at 1000\n"
		"[  61.000] a > recv prepare 2 at 1000\n"
		"[  90.000] a > plain in at 1000\n"
		"[  90.000] a > armed 2 at 1000\n"
		"[  91.000] b > commit 2 at 1000\n"
		"[ 121.000] a > receive switched at 1000\n");
	finish(s);
}

/* Packets of the first turn come again after the second has been armed: they
 * are acknowledged, and prove nothing. */
static void late_datagrams(struct sim *s)
{
	sim_switched(s, &a, &b);
	sim_link(b->host, a->host)->twice = 300000;
	sim_link(b->host, a->host)->late = TUX_MSEC(20);
	sim_write(b, 20000);
	sim_ms(s, 5);
	leave(b, 0);
	sim_ms(s, 300);
	SIM_CHECK(s, a->got == b->sent);
	SIM_CHECK(s, a->stats.dropped == 0);
	SIM_CHECK(s, tux_conn_tx_on_tux(b->c));
	finish(s);
}

const struct sim_story sim_stories[] = {
	{ "begins_plain", begins_plain },
	{ "bulk_answer", bulk_answer },
	{ "bulk_to_a_closed_end", bulk_to_a_closed_end },
	{ "alone", alone },
	{ "shut", shut },
	{ "closed", closed },
	{ "killed", killed },
	{ "raw", raw },
	{ "pinned", pinned },
	{ "parted", parted },
	{ "prepare_overtakes", prepare_overtakes },
	{ "late_datagrams", late_datagrams },
	{ NULL, NULL },
};
