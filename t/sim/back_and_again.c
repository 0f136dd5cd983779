/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * back_and_again - the path dies and comes back, several times
 */
#include "conn/conn.h"
#include "sim.h"

static struct sim_end *a, *b;

/* One write while the path is down: back to TCP, and again to Tux when a probe
 * is answered. */
static void once(struct sim *s)
{
	s->only = SIM_BACK | SIM_T(FRAME_OUT) | SIM_T(FRAME_IN);
	s->net_lines = true;
	sim_switched(s, &a, &b);
	sim_part(s, 0, 1, true);
	sim_write(a, 5000);
	sim_ms(s, 1100);
	SIM_CHECK(s, b->got == 5000);
	SIM_CHECK(s, !tux_conn_tx_on_tux(a->c));
	SIM_CHECK(s, tux_conn_reason(a->c) == TUX_REASON_STALLED);
	sim_part(s, 0, 1, false);
	sim_ms(s, 2000);
	SIM_CHECK(s, tux_conn_tx_on_tux(a->c));
	SIM_CHECK(s, tux_conn_reason(a->c) == TUX_REASON_NONE);
	sim_write(a, 5000);
	sim_ms(s, 10);
	SIM_CHECK(s, b->got == 10000);
	SIM_CHECK(s, tux_conn_stats(a->c)->tux_tx >= 5000);
	SIM_TRACE(s,
		"[  50.000] net path down\n"
		"[  50.000] net lost data from a\n"
		"[  50.000] net lost data from a\n"
		"[  50.000] net lost data from a\n"
		"[  50.000] net lost data from a\n"
		"[  56.000] net lost data from a\n"
		"[  62.000] net lost data from a\n"
		"[  74.000] net lost data from a\n"
		"[  74.000] net lost data from a\n"
		"[  74.000] net lost data from a\n"
		"[  98.000] net lost data from a\n"
		"[  98.000] net lost data from a\n"
		"[  98.000] net lost data from a\n"
		"[ 146.000] net lost data from a\n"
		"[ 146.000] net lost data from a\n"
		"[ 146.000] net lost data from a\n"
		"[ 242.000] net lost data from a\n"
		"[ 242.000] net lost data from a\n"
		"[ 242.000] net lost data from a\n"
		"[ 434.000] net lost data from a\n"
		"[ 434.000] net lost data from a\n"
		"[ 434.000] net lost data from a\n"
		"[ 818.000] net lost data from a\n"
		"[ 818.000] net lost data from a\n"
		"[ 818.000] net lost data from a\n"
		"[1050.000] a > back to tcp at 0\n"
		"[1050.000] a > tcp out frame 1 at 0 +5000\n"
		"[1051.000] b > tcp in frame 1 at 0 +5000\n"
		"[1150.000] net path up\n"
		"[2050.000] a > probe\n"
		"[2052.000] a > tcp out frame 5 at 5000 +0\n"
		"[2052.000] a > tux again at 5000\n"
		"[2053.000] b > tcp in frame 5 at 5000 +0\n");
	sim_finish_all(s, TUX_SEC(100));
}

/* The loop knows that the path is gone: nobody waits for a timer. */
static void told(struct sim *s)
{
	s->only = SIM_BACK | SIM_T(PLAIN_OUT) | SIM_T(COMMIT);
	sim_switched(s, &a, &b);
	sim_part(s, 0, 1, true);
	sim_write(a, 5000);
	sim_ms(s, 1);
	sim_stall(a);
	sim_host_turn(a->host);
	sim_ms(s, 4);
	SIM_CHECK(s, b->got == 5000);
	sim_part(s, 0, 1, false);
	sim_ms(s, 2000);
	SIM_TRACE(s,
		"[  51.000] a > back to tcp at 0\n"
		"[  51.000] a > plain out at 5000\n"
		"[1051.000] a > probe\n"
		"[1055.250] a > commit 2 at 5000\n");
	sim_finish_all(s, TUX_SEC(100));
}

/* a's link is closed for good, with nothing in flight.  b's is not, and what b
 * sends to a over it is lost: b has to learn of it before it finds out by its
 * own timers. */
static void asks_in_vain(struct sim *s)
{
	sim_switched(s, &a, &b);
	sim_write(a, 500);
	sim_ms(s, 20);
	SIM_CHECK(s, b->got == 500);
	sim_part(s, 0, 1, true);
	sim_stall(a);
	sim_host_turn(a->host);
	sim_ms(s, 5);
	SIM_CHECK(s, !tux_conn_tx_on_tux(a->c));
	sim_write(a, 500);
	sim_ms(s, 5);
	SIM_CHECK(s, b->got == 1000);
	sim_write(b, 5000);
	sim_ms(s, 5);
	SIM_CHECK(s, a->got == 5000);
	sim_ms(s, 3000);
	sim_part(s, 0, 1, false);
	sim_unstall(a);
	sim_host_turn(a->host);
	sim_ms(s, 100);
	SIM_CHECK(s, tux_conn_tx_on_tux(a->c) && tux_conn_tx_on_tux(b->c));
	sim_write(b, 5000);
	sim_finish_all(s, TUX_SEC(100));
}

static void trickle(struct sim *s, void *arg, uint64_t n, uint64_t left)
{
	sim_write(arg, n);
	if (left)
		sim_at(s, s->now + TUX_MSEC(7), trickle, arg, n, left - 1);
}

/* Five times, both directions busy, data in flight each time. */
static void often(struct sim *s)
{
	unsigned i;

	s->only = SIM_T(BACK) | SIM_T(AGAIN);
	sim_switched(s, &a, &b);
	trickle(s, a, 3000, 6000);
	trickle(s, b, 1000, 6000);
	for (i = 0; i < 5; i++) {
		sim_part(s, 0, 1, true);
		sim_ms(s, 1500);
		sim_part(s, 0, 1, false);
		sim_ms(s, 7000);
	}
	sim_run(s, TUX_SEC(50));
	sim_finish_all(s, TUX_SEC(100));
	SIM_CHECK(s, a->stats.backs >= 3 && b->stats.backs >= 3);
	SIM_CHECK(s, a->stats.frame_rx && a->stats.tux_rx);
}

/* One way only: b hears a, a does not hear b. */
static void one_way(struct sim *s)
{
	s->only = SIM_T(BACK) | SIM_T(AGAIN) | SIM_T(PLAIN_OUT) | SIM_T(COMMIT);
	sim_switched(s, &a, &b);
	s->link[1][0].down = true;
	sim_write(a, 20000);
	sim_write(b, 20000);
	sim_ms(s, 3000);
	SIM_CHECK(s, a->got == 20000 && b->got == 20000);
	s->link[1][0].down = false;
	sim_ms(s, 5000);
	sim_write(a, 20000);
	sim_write(b, 20000);
	sim_finish_all(s, TUX_SEC(100));
	SIM_TRACE(s,
		"[1050.000] a > back to tcp at 0\n"
		"[1050.000] b > back to tcp at 0\n"
		"[3586.000] a > plain out at 20000\n"
		"[3842.000] b > plain out at 20000\n"
		"[5588.000] a > commit 2 at 20000\n"
		"[5589.000] b > commit 2 at 20000\n");
}

/* The peer does not run for @ms, with data on its way to it.  How often did
 * that make a go back? */
static uint64_t backs_after(struct sim *s, unsigned ms)
{
	sim_switched(s, &a, &b);
	sim_write(a, 100);
	sim_ms(s, 10000);
	sim_stop(b->host, TUX_MSEC(ms));
	sim_write(a, 5000);
	sim_ms(s, 5000);
	SIM_CHECK(s, b->got == 5100);
	sim_finish_all(s, TUX_SEC(100));
	return a->stats.backs;
}

/* A starved machine: to go back would cost more than to wait, and TCP would
 * not be read any sooner. */
static void nap(struct sim *s)
{
	SIM_CHECK(s, backs_after(s, 900) == 0);
}

/* Nobody knows that this is the same, only longer. */
static void sleep_long(struct sim *s)
{
	SIM_CHECK(s, backs_after(s, 3000) == 1);
}

/* Down for good: TCP carries the rest, however long. */
static void for_good(struct sim *s)
{
	sim_switched(s, &a, &b);
	sim_part(s, 0, 1, true);
	sim_write(a, 1000000);
	sim_write(b, 1000000);
	sim_finish_all(s, TUX_SEC(100));
	SIM_CHECK(s, a->stats.backs == 1 && b->stats.backs == 1);
	SIM_CHECK(s, a->stats.frame_tx == 1000000);
}

/* Long packets vanish, short ones do not. */
static void narrow(struct sim *s)
{
	sim_switched(s, &a, &b);
	s->link[0][1].mtu = 1000;
	sim_write(a, 100000);
	sim_write(b, 100000);
	sim_ms(s, 3000);
	SIM_CHECK(s, b->got == 100000 && a->got == 100000);
	sim_finish_all(s, TUX_SEC(100));
}

/* TCP itself is slow when its turn comes: frames go as it lets them. */
static void slow_tcp(struct sim *s)
{
	sim_pair(s, &a, &b);
	a->conn->tcp.sndbuf = a->conn->tcp.rcvbuf = 2000;
	a->conn->tcp.mss = 100;
	a->conn->tcp.cut = true;
	sim_ms(s, 50);
	sim_part(s, 0, 1, true);
	sim_write(a, 100000);
	sim_write(b, 100000);
	sim_ms(s, 1200);
	sim_part(s, 0, 1, false);
	sim_finish_all(s, TUX_SEC(100));
}

/* Down for a hundred days.  Tries at every minute would use so many packet numbers
 * that no end took a packet of the other any more. */
static void for_months(struct sim *s)
{
	const uint64_t day = 24 * 3600 * UINT64_C(1000);

	sim_switched(s, &a, &b);
	sim_part(s, 0, 1, true);
	sim_write(a, 5000);
	sim_write(b, 5000);
	sim_ms(s, 100 * day);
	SIM_CHECK(s, a->got == 5000 && b->got == 5000);
	sim_part(s, 0, 1, false);
	sim_ms(s, 2 * day);
	SIM_CHECK(s, tux_conn_tx_on_tux(a->c) && tux_conn_tx_on_tux(b->c));
	SIM_CHECK(s, a->c->sentq.next - a->c->first < 10000);
	sim_write(a, 5000);
	sim_write(b, 5000);
	sim_finish_all(s, TUX_SEC(100));
}

const struct sim_story sim_stories[] = {
	{ "once", once },
	{ "told", told },
	{ "asks_in_vain", asks_in_vain },
	{ "often", often },
	{ "one_way", one_way },
	{ "nap", nap },
	{ "sleep_long", sleep_long },
	{ "for_good", for_good },
	{ "narrow", narrow },
	{ "slow_tcp", slow_tcp },
	{ "for_months", for_months },
	{ NULL, NULL },
};
