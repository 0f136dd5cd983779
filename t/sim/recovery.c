/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * recovery - what is lost, what only seems so, and what that does to the window
 */
#include "sim.h"

static struct sim_end *a, *b;

static void finish(struct sim *s)
{
	sim_finish_all(s, TUX_SEC(60));
	SIM_CHECK(s, !a->stats.backs && !b->stats.backs);
}

/* Two packets are too few for order to tell, but time does: a round trip and a
 * quarter after the first one left. */
static void by_time(struct sim *s)
{
	sim_switched(s, &a, &b);
	sim_write(a, 100);
	sim_ms(s, 50);
	s->only = SIM_STREAM;
	s->net_lines = true;
	sim_drop(sim_link(a->host, b->host), SIM_DATA, 0, 1);
	sim_write(a, 2000);
	sim_ms(s, 20);
	SIM_TRACE(s,
		"[ 100.000] a > send 3 stream 100 +1420\n"
		"[ 100.000] net lost data from a\n"
		"[ 100.000] a > send 4 stream 1520 +580\n"
		"[ 101.000] b > recv 4 stream 1520 +580\n"
		"[ 102.500] a > lost 0 stream 100 +1420\n"
		"[ 102.500] a > send 5 stream 100 +1420\n"
		"[ 103.500] b > recv 5 stream 100 +1420\n");
	finish(s);
}

/* The last three of a burst: the probe brings the last one, and its
 * acknowledgment tells of the two before.  No timer passes. */
static void tail(struct sim *s)
{
	sim_switched(s, &a, &b);
	sim_write(a, 100);
	sim_ms(s, 50);
	s->only = SIM_STREAM;
	s->net_lines = true;
	sim_drop(sim_link(a->host, b->host), SIM_DATA, 1, 3);
	sim_write(a, 5600);
	sim_ms(s, 30);
	SIM_CHECK(s, b->got == 5700);
	SIM_TRACE(s,
		"[ 100.000] a > send 3 stream 100 +1420\n"
		"[ 100.000] a > send 4 stream 1520 +1420\n"
		"[ 100.000] net lost data from a\n"
		"[ 100.000] a > send 5 stream 2940 +1420\n"
		"[ 100.000] net lost data from a\n"
		"[ 100.000] a > send 6 stream 4360 +1340\n"
		"[ 100.000] net lost data from a\n"
		"[ 101.000] b > recv 3 stream 100 +1420\n"
		"[ 106.956] a > probe the tail, 4336 in flight\n"
		"[ 106.956] a > send 7 stream 4360 +1340\n"
		"[ 107.956] b > recv 7 stream 4360 +1340\n"
		"[ 108.956] a > lost 0 stream 1520 +1420\n"
		"[ 108.956] a > lost 0 stream 2940 +1420\n"
		"[ 108.956] a > lost 0 stream 4360 +0\n"
		"[ 108.956] a > send 8 stream 1520 +1420\n"
		"[ 108.956] a > send 9 stream 2940 +1420\n"
		"[ 109.956] b > recv 8 stream 1520 +1420\n"
		"[ 109.956] b > recv 9 stream 2940 +1420\n");
	SIM_CHECK(s, !tux_conn_stats(a->c)->timeouts);
	finish(s);
}

/* The peer does not run for a while.  The timer passes, again and again; then
 * everything that it had declared lost arrives, and the window is as before. */
static void spike(struct sim *s)
{
	sim_switched(s, &a, &b);
	sim_write(a, 100000);
	sim_ms(s, 100);
	s->only = SIM_STREAM & ~SIM_T(RECV);
	sim_stop(b->host, TUX_MSEC(40));
	sim_write(a, 4000);
	sim_ms(s, 100);
	SIM_CHECK(s, b->got == 104000);
	SIM_TRACE(s,
		"[ 150.000] a > send 73 stream 100000 +1420\n"
		"[ 150.000] a > send 74 stream 101420 +1420\n"
		"[ 150.000] a > send 75 stream 102840 +1160\n"
		"[ 154.003] a > probe the tail, 4156 in flight\n"
		"[ 154.003] a > send 76 stream 102840 +1160\n"
		"[ 160.003] a > timeout, 5368 in flight\n"
		"[ 160.003] a > lost 0 stream 100000 +1420\n"
		"[ 160.003] a > lost 0 stream 101420 +1420\n"
		"[ 160.003] a > lost 0 stream 102840 +0\n"
		"[ 160.003] a > lost 0 stream 102840 +1160\n"
		"[ 160.003] a > send 77 stream 100000 +1420\n"
		"[ 172.003] a > timeout, 1472 in flight\n"
		"[ 172.003] a > lost 0 stream 100000 +1420\n"
		"[ 172.003] a > send 78 stream 100000 +460\n"
		"[ 172.003] a > send 79 stream 100460 +460\n"
		"[ 172.003] a > send 80 stream 100920 +460\n"
		"[ 191.000] a > 77 was not lost\n"
		"[ 191.000] a > 76 was not lost\n"
		"[ 191.000] a > 75 was not lost\n"
		"[ 191.000] a > 74 was not lost\n"
		"[ 191.000] a > 73 was not lost\n"
		"[ 191.000] a > window back to 60352\n");
	finish(s);
	SIM_CHECK(s, a->stats.spurious == a->stats.lost);
}

/* An old packet comes after three later ones, time and again: it is sent twice
 * once, and not again. */
static void late_one(struct sim *s)
{
	unsigned i;

	sim_switched(s, &a, &b);
	sim_write(a, 100);
	sim_ms(s, 50);
	s->only = SIM_T(LOST) | SIM_T(SPURIOUS) | SIM_T(UNDO);
	for (i = 0; i < 3; i++) {
		s->link[0][1].delay = TUX_USEC(1300);
		sim_write(a, 100);
		sim_run(s, s->now);
		s->link[0][1].delay = TUX_MSEC(1);
		sim_write(a, 8000);
		sim_ms(s, 50);
	}
	SIM_TRACE(s,
		"[ 102.000] a > lost 0 stream 100 +100\n"
		"[ 102.300] a > 3 was not lost\n"
		"[ 102.300] a > window back to 14720\n");
	finish(s);
}

/* The path itself is slow for a while, in both directions: what left before and
 * what the timer sent again arrives in the end, and nothing was lost. */
static void slow_path(struct sim *s)
{
	sim_switched(s, &a, &b);
	sim_write(a, 100000);
	sim_ms(s, 100);
	s->link[0][1].delay = s->link[1][0].delay = TUX_MSEC(40);
	sim_write(a, 20000);
	sim_ms(s, 30);
	SIM_CHECK(s, tux_conn_stats(a->c)->timeouts > 0);
	s->link[0][1].delay = s->link[1][0].delay = TUX_MSEC(1);
	sim_ms(s, 200);
	SIM_CHECK(s, b->got == 120000);
	SIM_CHECK(s, tux_conn_stats(a->c)->undone == 1);
	finish(s);
	SIM_CHECK(s, a->stats.spurious == a->stats.lost);
}

/* So many of a million acknowledgments are lost.  Where the timer passes for
 * that, it shows in the end that no packet was. */
static void acks(struct sim *s, uint32_t loss)
{
	sim_switched(s, &a, &b);
	s->link[1][0].loss = loss;
	sim_write(a, 3000000);
	sim_ms(s, 1000);
	SIM_CHECK(s, b->got == 3000000);
	s->link[1][0].loss = 0;
	finish(s);
	SIM_CHECK(s, a->stats.spurious == a->stats.lost);
}

static void acks_fifth(struct sim *s)
{
	acks(s, 200000);
}

static void acks_third(struct sim *s)
{
	acks(s, 333333);
}

/* All of them for half a second, too short to go back: the first that comes
 * tells of everything. */
static void acks_gone(struct sim *s)
{
	sim_switched(s, &a, &b);
	sim_write(a, 50000);
	sim_ms(s, 100);
	s->link[1][0].down = true;
	sim_write(a, 50000);
	sim_ms(s, 500);
	SIM_CHECK(s, tux_conn_stats(a->c)->timeouts > 2);
	s->link[1][0].down = false;
	sim_ms(s, 500);
	SIM_CHECK(s, b->got == 100000);
	sim_write(a, 1000000);
	sim_ms(s, 500);
	SIM_CHECK(s, b->got == 1100000);
	finish(s);
	SIM_CHECK(s, a->stats.spurious == a->stats.lost);
}

/* Half of a window of ten packets is in flight: what leaves then is acknowledged
 * at once, and what left before with it. */
static void few(struct sim *s)
{
	sim_switched(s, &a, &b);
	s->only = SIM_T(SEND_ACK);
	sim_write(a, 5 * 1420);
	sim_ms(s, 50);
	sim_write(a, 7 * 1420);
	sim_ms(s, 50);
	SIM_TRACE(s,
		"[  51.250] b > send ack 7 got 7100\n"
		"[ 101.000] b > send ack 13 got 15620\n"
		"[ 101.000] b > send ack 14 got 17040\n");
	finish(s);
}

const struct sim_story sim_stories[] = {
	{ "by_time", by_time },
	{ "tail", tail },
	{ "spike", spike },
	{ "late_one", late_one },
	{ "slow_path", slow_path },
	{ "acks_fifth", acks_fifth },
	{ "acks_third", acks_third },
	{ "acks_gone", acks_gone },
	{ "few", few },
	{ NULL, NULL },
};
