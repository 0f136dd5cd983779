/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reordering - datagrams overtake one another
 */
#include "sim.h"

static struct sim_end *a, *b;

/* All of them, by up to ten times the delay. */
static void storm(struct sim *s)
{
	sim_pair(s, &a, &b);
	s->link[0][1].jitter = s->link[1][0].jitter = TUX_MSEC(10);
	sim_write(a, 1000);
	sim_ms(s, 200);
	sim_write(a, 1000000);
	sim_write(b, 1000000);
	sim_finish_all(s, TUX_SEC(60));
	SIM_CHECK(s, a->stats.tux_tx > 900000 && b->stats.tux_tx > 900000);
	SIM_CHECK(s, !a->stats.backs && !b->stats.backs);
}

/* By up to fifty times the delay, messages and stream: nearly everything is out
 * of order, and what comes late was often sent again. */
static void wild(struct sim *s)
{
	unsigned i;

	sim_messages(s, &a, &b);
	sim_ms(s, 50);
	s->link[0][1].jitter = s->link[1][0].jitter = TUX_MSEC(50);
	for (i = 0; i < 50; i++) {
		sim_send(a, i * 100, i % 2);
		sim_send(b, i % 10 ? 50 : 30000, i % 3 == 0);
	}
	sim_write(a, 200000);
	sim_write(b, 200000);
	sim_finish_all(s, TUX_SEC(60));
	sim_check_messages(s, true);
	SIM_CHECK(s, !a->stats.backs && !b->stats.backs);
}

/* The same, with packets so short that a report of gaps nearly fills one. */
static void small(struct sim *s)
{
	sim_pair(s, &a, &b);
	a->conn->mtu = 600;
	s->link[0][1].jitter = s->link[1][0].jitter = TUX_MSEC(10);
	s->link[0][1].loss = 50000;
	sim_write(a, 1000);
	sim_ms(s, 200);
	sim_write(a, 200000);
	sim_write(b, 200000);
	sim_finish_all(s, TUX_SEC(60));
}

/* Two neighbours change places: too little to call anything lost. */
static void neighbours(struct sim *s)
{
	s->only = SIM_STREAM;
	sim_switched(s, &a, &b);
	s->link[0][1].delay = TUX_USEC(1400);
	sim_write(a, 100);
	sim_run(s, s->now);
	s->link[0][1].delay = TUX_MSEC(1);
	sim_write(a, 100);
	sim_ms(s, 10);
	SIM_CHECK(s, b->got == 200);
	SIM_TRACE(s,
		"[  50.000] a > send 2 stream 0 +100\n"
		"[  50.000] a > send 3 stream 100 +100\n"
		"[  51.000] b > recv 3 stream 100 +100\n"
		"[  51.400] b > recv 2 stream 0 +100\n");
	sim_finish_all(s, TUX_SEC(60));
}

/* The switch itself: an old PREPARE comes after a newer one. */
static void old_prepare(struct sim *s)
{
	s->only = SIM_SWITCH & ~SIM_T(SEND_PREPARED);
	sim_pair(s, &a, &b);
	sim_write(a, 100);
	sim_run(s, TUX_USEC(1900));
	s->link[0][1].delay = TUX_MSEC(3);
	sim_run(s, TUX_USEC(2200));
	s->link[0][1].delay = TUX_MSEC(1);
	sim_write(a, 100);
	sim_ms(s, 50);
	SIM_TRACE(s,
		"[   2.000] a > send prepare 1 at 100\n"
		"[   2.200] a > generation 1 void\n"
		"[   2.250] a > send prepare 2 at 456\n"
		"[   3.250] b > armed 2 at 456\n"
		"[   3.250] b > send prepare 1 at 0\n"
		"[   4.250] a > recv prepared 2\n"
		"[   4.250] a > armed 1 at 0\n"
		"[   4.500] a > send prepare 2 at 456\n"
		"[   5.250] b > recv prepared 1\n"
		"[   5.250] b > commit 1 at 0\n"
		"[   6.250] a > receive switched at 0\n"
		"[   6.500] a > recv prepared 2\n"
		"[  14.500] a > generation 2 void\n"
		"[  16.500] a > recv prepared 3\n"
		"[  16.500] a > send prepare 4 at 200\n"
		"[  17.500] b > armed 4 at 200\n"
		"[  18.500] a > recv prepared 4\n"
		"[  18.500] a > commit 4 at 200\n"
		"[  19.500] b > receive switched at 200\n");
	sim_finish_all(s, TUX_SEC(60));
}

const struct sim_story sim_stories[] = {
	{ "storm", storm },
	{ "wild", wild },
	{ "small", small },
	{ "neighbours", neighbours },
	{ "old_prepare", old_prepare },
	{ NULL, NULL },
};
