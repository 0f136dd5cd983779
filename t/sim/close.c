/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * close - either end closes, wherever the connection is
 */
#include "closing.h"

/* x closes, y stays. */
static struct sim_end *x, *y;

static void at(struct sim *s, enum where w, unsigned side)
{
	struct sim_end *end[2];

	bring(s, w, &end[0], &end[1]);
	x = end[side];
	y = end[1 - side];
}

static void join(struct sim *s, void *arg, uint64_t n, uint64_t m)
{
	(void)arg, (void)n, (void)m;
	sim_part(s, 0, 1, false);
}

/* Each case is told in each place, from either side: a new world for each. */
typedef void tale(struct sim *s);

static void everywhere(struct sim *s, tale *t)
{
	unsigned n;

	for (n = 0; n < 2 * WHERES && !s->failed; n++) {
		struct sim *o = sim_inner(s, n);

		at(o, n / 2, n % 2);
		t(o);
		sim_inner_free(s, o, n);
	}
}

static bool told(const struct sim_end *e)
{
	return e->rerr || e->werr;
}

/* All is read, and the last bytes are still on their way: they arrive. */
static void leave_with_data(struct sim *s)
{
	sim_write(x, 50000);
	sim_ms(s, 0);
	SIM_CHECK(s, x->sent == 50000 + (x->got ? 100 : 0));
	sim_close(x);
	sim_finish(y);
	sim_run_out(s, s->now + TUX_SEC(5));
	SIM_CHECK(s, y->got == x->sent && y->eof && !told(y));
}

static void with_data(struct sim *s)
{
	everywhere(s, leave_with_data);
}

/* More than rings and buffers hold: what was taken arrives. */
static void leave_full(struct sim *s)
{
	sim_write(x, 1000000);
	sim_ms(s, 0);
	SIM_CHECK(s, x->sent < 500000);
	sim_close(x);
	sim_finish(y);
	sim_run_out(s, s->now + TUX_SEC(5));
	SIM_CHECK(s, y->got == x->sent && y->eof && !told(y));
}

static void full(struct sim *s)
{
	everywhere(s, leave_full);
}

/* Nothing at all. */
static void leave_idle(struct sim *s)
{
	sim_close(x);
	sim_ms(s, 100);
	SIM_CHECK(s, y->eof && !told(y));
	sim_finish(y);
	sim_run_out(s, s->now + TUX_SEC(2));
	SIM_CHECK(s, !told(y));
}

static void idle(struct sim *s)
{
	everywhere(s, leave_idle);
}

/* With bytes that it has not read.  TCP would reset and destroy what the closer
 * has written; once it is on Tux, that arrives, and who writes on is told. */
static void leave_unread(struct sim *s)
{
	sim_pause(x, true);
	sim_write(y, 10000);
	sim_ms(s, 20);
	sim_write(x, 5000);
	sim_ms(s, 0);
	sim_close(x);
	sim_ms(s, 100);
	SIM_CHECK(s, x->was_tx ? y->eof && y->got == x->sent : told(y));
	sim_finish(y);
	sim_run_out(s, s->now + TUX_SEC(2));
}

static void unread(struct sim *s)
{
	everywhere(s, leave_unread);
}

/* The peer goes on writing to nobody: its second write says so, at latest. */
static void leave_early(struct sim *s)
{
	sim_close(x);
	sim_ms(s, 20);
	sim_write(y, 10000);
	sim_ms(s, 100);
	sim_write(y, 10000);
	sim_ms(s, 100);
	SIM_CHECK(s, told(y) && y->closed);
	sim_run_out(s, s->now + TUX_SEC(2));
}

static void early(struct sim *s)
{
	everywhere(s, leave_early);
}

/* Both close at the same instant, with bytes for each other. */
static void leave_both(struct sim *s)
{
	sim_write(x, 1000);
	sim_write(y, 1000);
	sim_ms(s, 0);
	sim_close(x);
	sim_close(y);
	sim_run_out(s, s->now + TUX_SEC(2));
}

static void both(struct sim *s)
{
	everywhere(s, leave_both);
}

/* Both finish at the same instant, and their last bytes and FINs cross. */
static void leave_at_once(struct sim *s)
{
	sim_write(x, 20000);
	sim_write(y, 20000);
	sim_finish_all(s, TUX_SEC(5));
}

static void at_once(struct sim *s)
{
	everywhere(s, leave_at_once);
}

/* The same at any moment of a way back and a return: before the path is given
 * up, with frames under way on a slow TCP, while probes and SWITCH frames cross,
 * and after. */
static void at_once_meanwhile(struct sim *s)
{
	unsigned n;

	for (n = 0; n < 60 && !s->failed; n++) {
		struct sim *o = sim_inner(s, n);

		at(o, SWITCHED, 0);
		x->conn->tcp.delay = TUX_MSEC(40);
		sim_write(x, 20000);
		sim_write(y, 20000);
		sim_run(o, o->now + TUX_USEC(500));
		sim_part(o, 0, 1, true);
		sim_at(o, o->now + TUX_MSEC(1500), join, NULL, 0, 0);
		sim_ms(o, n * 50);
		sim_write(x, 100);
		sim_write(y, 100);
		sim_finish_all(o, TUX_SEC(20));
		SIM_CHECK(o, n < 25 || (x->stats.backs && y->stats.backs));
		sim_inner_free(s, o, n);
	}
}

/* Nobody leaves early, only TCP stands still for a while when all is said: what
 * is still under way on it must find the other end. */
static void leave_slowly(struct sim *s)
{
	sim_tcp_down(x->conn, true);
	sim_write(x, 1000);
	sim_write(y, 1000);
	sim_finish(x);
	sim_finish(y);
	sim_ms(s, 7000);
	sim_tcp_down(x->conn, false);
	sim_run_out(s, s->now + TUX_SEC(2));
	sim_check_all(s);
}

static void slow_tcp(struct sim *s)
{
	everywhere(s, leave_slowly);
}

/* b is back on TCP, which stands still, and a's end is known over the path that
 * is left.  b must not leave before TCP has ended: what a still has under way
 * on it would make a reset, and a would lose what it has not read. */
static void late_frames(struct sim *s)
{
	struct sim_end *a, *b;

	sim_pair(s, &a, &b);
	a->conn->tcp.rcvbuf = 4096;
	sim_ms(s, 50);
	s->link[1][0].down = true;
	sim_write(b, 30000);
	sim_run(s, TUX_MSEC(52));
	sim_tcp_down(a->conn, true);
	sim_finish(a);
	sim_ms(s, 1500);
	SIM_CHECK(s, b->eof && !tux_conn_tx_on_tux(b->c));
	sim_close(b);
	sim_ms(s, 5000);
	s->link[1][0].down = false;
	sim_ms(s, 5000);
	sim_tcp_down(a->conn, false);
	sim_run_out(s, s->now + TUX_SEC(2));
	SIM_CHECK(s, a->eof && a->got == 30000);
}

/* The peer's machine is gone, and nothing tells: x is not kept for ever. */
static void leave_vanished(struct sim *s)
{
	sim_part(s, 0, 1, true);
	sim_tcp_down(x->conn, true);
	sim_write(x, 1000);
	sim_ms(s, 1000);
	sim_close(x);
	sim_ms(s, 200000);
	SIM_CHECK(s, !x->c && tux_core_deadline(x->host->core) == TUX_NEVER);
}

static void vanished(struct sim *s)
{
	everywhere(s, leave_vanished);
}

const struct sim_story sim_stories[] = {
	{ "idle", idle },
	{ "with_data", with_data },
	{ "full", full },
	{ "unread", unread },
	{ "early", early },
	{ "both", both },
	{ "at_once", at_once },
	{ "at_once_meanwhile", at_once_meanwhile },
	{ "slow_tcp", slow_tcp },
	{ "late_frames", late_frames },
	{ "vanished", vanished },
	{ NULL, NULL },
};
