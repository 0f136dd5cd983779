/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * directions - each direction switches by itself, when its writer rests
 */
#include "sim.h"

static struct sim_end *a, *b;

static void more(struct sim *s, void *arg, uint64_t n, uint64_t left)
{
	sim_write(arg, n);
	if (left)
		sim_at(s, s->now + TUX_USEC(300), more, arg, n + n / 8,
		       left - 1);
}

static void finish(struct sim *s)
{
	sim_write(a, 3000);
	sim_write(b, 3000);
	sim_finish_all(s, TUX_SEC(10));
}

/* a is quiet and switches at once.  b writes ever more and leaves each N behind
 * before it is acknowledged, until it has to rest. */
static void one_later(struct sim *s)
{
	s->only = SIM_DONE;
	sim_pair(s, &a, &b);
	sim_at(s, TUX_MSEC(3), more, b, 100, 60);
	sim_run(s, TUX_MSEC(6));
	SIM_CHECK(s, a->was_tx && !b->was_tx);
	sim_ms(s, 400);
	SIM_CHECK(s, b->was_tx);
	SIM_TRACE(s,
		"[   4.000] a > commit 1 at 0\n"
		"[   5.000] b > receive switched at 0\n"
		"[  81.000] b > commit 9 at 1015757\n"
		"[  82.000] a > receive switched at 1015757\n");
	finish(s);
}

/* One direction is all that moves: the other end is pinned by its program. */
static void only_one(struct sim *s)
{
	s->only = SIM_DONE;
	sim_pair(s, &a, &b);
	sim_run(s, 0);
	b->dx->tx.pinned = 1;
	sim_ms(s, 100);
	SIM_CHECK(s, a->was_tx && !a->was_rx && b->was_rx && !b->was_tx);
	finish(s);
	SIM_CHECK(s, !b->was_tx);
	SIM_TRACE(s,
		"[   4.000] a > commit 1 at 0\n"
		"[   5.000] b > receive switched at 0\n");
}

const struct sim_story sim_stories[] = {
	{ "one_later", one_later },
	{ "only_one", only_one },
	{ NULL, NULL },
};
