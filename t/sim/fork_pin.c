/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fork_pin - fork() pins a connection that has not switched
 */
#include "closing.h"

static struct sim_end *a, *b;

static void finish(struct sim *s)
{
	sim_write(a, 10000);
	sim_write(b, 10000);
	sim_ms(s, 3000);
	SIM_CHECK(s, a->got == 10000 && b->got == 10000);
	sim_finish_all(s, TUX_SEC(10));
}

/* Before anything is announced: it never will be. */
static void opening(struct sim *s)
{
	bring(s, OPENING, &a, &b);
	SIM_CHECK(s, sim_pin(a));
	finish(s);
	SIM_CHECK(s, !a->was_tx && !a->was_rx && !b->was_tx && !b->was_rx);
}

/* PREPARE is under way: the answer finds nobody. */
static void announced(struct sim *s)
{
	bring(s, ANNOUNCED, &a, &b);
	SIM_CHECK(s, a->dx->tx.state == TUX_TX_ANNOUNCED && sim_pin(a));
	finish(s);
	SIM_CHECK(s, !a->was_tx && !a->was_rx && !b->was_tx && !b->was_rx);
}

/* The peer has our PREPARED and may have committed: too late. */
static void armed(struct sim *s)
{
	bring(s, ARMED, &a, &b);
	SIM_CHECK(s, b->dx->rx.state == TUX_RX_ARMED && !sim_pin(b));
	finish(s);
	SIM_CHECK(s, a->was_tx && b->was_tx);
}

/* One end is pinned, then the other wants to switch: refused, for good. */
static void passive(struct sim *s)
{
	bring(s, ANNOUNCED, &a, &b);
	SIM_CHECK(s, sim_pin(b));
	finish(s);
	SIM_CHECK(s, !a->was_tx && !a->was_rx && !b->was_tx && !b->was_rx);
}

const struct sim_story sim_stories[] = {
	{ "opening", opening },
	{ "announced", announced },
	{ "armed", armed },
	{ "passive", passive },
	{ NULL, NULL },
};
