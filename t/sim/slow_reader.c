/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slow_reader - the window closes, and the path is not to blame
 */
#include "sim.h"

static struct sim_end *a, *b;

static void finish(struct sim *s)
{
	sim_finish_all(s, TUX_SEC(20));
	SIM_CHECK(s, !a->stats.backs && !b->stats.backs);
}

/* The reader stops: rings fill, the writer is told -EAGAIN, and asks for the
 * window now and then.  It goes on when the reader does. */
static void stops(struct sim *s)
{
	uint64_t packets;

	sim_switched(s, &a, &b);
	sim_pause(b, true);
	sim_write(a, 300000);
	sim_ms(s, 30000);
	SIM_CHECK(s, a->sent >= 2 * 65536 && a->sent < 3 * 65536);
	SIM_CHECK(s, tux_conn_tx_on_tux(a->c));
	packets = s->packets;
	sim_ms(s, 60000);
	SIM_CHECK(s, s->packets - packets < 200);
	sim_pause(b, false);
	sim_ms(s, 100);
	SIM_CHECK(s, b->got == 300000);
	finish(s);
}

/* The other direction does not care. */
static void other_way(struct sim *s)
{
	sim_switched(s, &a, &b);
	sim_pause(b, true);
	sim_write(a, 300000);
	sim_ms(s, 1000);
	sim_write(b, 1000000);
	sim_ms(s, 1000);
	SIM_CHECK(s, a->got == 1000000);
	sim_pause(b, false);
	finish(s);
}

static void sip(struct sim *s, void *arg, uint64_t n, uint64_t left)
{
	struct sim_end *e = arg;

	sim_pause(e, left % 2);
	if (left)
		sim_at(s, s->now + n, sip, e, n, left - 1);
}

/* A small ring, read in sips. */
static void sips(struct sim *s)
{
	sim_pair(s, &a, &b);
	a->conn->ring = 4096;
	sim_ms(s, 50);
	b->plan.rmax = 100;
	sim_write(a, 300000);
	sip(s, b, TUX_MSEC(3), 400);
	sim_ms(s, 3000);
	finish(s);
}

/* A reader that takes a little at a time does not bring out small packets. */
static void trickle(struct sim *s)
{
	sim_switched(s, &a, &b);
	b->plan.rmax = 300;
	b->plan.think = TUX_USEC(300);
	sim_write(a, 1000000);
	sim_ms(s, 2000);
	SIM_CHECK(s, b->got == 1000000);
	SIM_CHECK(s, tux_conn_stats(a->c)->pkts_tx < 1000000 / 1400 * 5 / 4);
	finish(s);
}

/* On the way back, too, the reader's pace is kept. */
static void on_tcp(struct sim *s)
{
	sim_switched(s, &a, &b);
	sim_part(s, 0, 1, true);
	sim_pause(b, true);
	sim_write(a, 500000);
	sim_ms(s, 20000);
	SIM_CHECK(s, a->sent < 300000);
	sim_pause(b, false);
	sim_ms(s, 1000);
	SIM_CHECK(s, b->got == 500000);
	sim_finish_all(s, TUX_SEC(20));
}

/* The same in frames, with a ring that is always full. */
static void sips_on_tcp(struct sim *s)
{
	sim_pair(s, &a, &b);
	a->conn->ring = 4096;
	sim_ms(s, 50);
	sim_part(s, 0, 1, true);
	b->plan.rmax = 100;
	sim_write(a, 200000);
	sim_write(b, 200000);
	sip(s, b, TUX_MSEC(30), 40);
	sim_ms(s, 1000);
	s->link[1][0].down = false;
	sim_ms(s, 2000);
	SIM_CHECK(s, a->got == 200000 && b->got == 200000);
	sim_part(s, 0, 1, false);
	sim_finish_all(s, TUX_SEC(20));
}

/* The end is known on TCP long before there is room for what comes before. */
static void end_waits(struct sim *s)
{
	sim_switched(s, &a, &b);
	sim_pause(b, true);
	sim_write(a, 120000);
	sim_finish(a);
	sim_ms(s, 1000);
	SIM_CHECK(s, a->shut && !b->got);
	sim_pause(b, false);
	finish(s);
}

const struct sim_story sim_stories[] = {
	{ "stops", stops },
	{ "other_way", other_way },
	{ "sips", sips },
	{ "trickle", trickle },
	{ "on_tcp", on_tcp },
	{ "sips_on_tcp", sips_on_tcp },
	{ "end_waits", end_waits },
	{ NULL, NULL },
};
