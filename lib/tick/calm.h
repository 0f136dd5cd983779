/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * calm - how often the watcher looks at a network thread
 *
 * A look wakes a processor on which others work: on a small machine the very client
 * that asks.  While callbacks end in time, looks find nothing.  So they are rare until
 * callbacks have taken more than a slice each, in all for more than a two-hundredth of
 * the time: less does not reach the 99th percentile of what waits for them.  Then each
 * slice is watched, until two seconds have passed without.
 *
 * A slice that many short callbacks have filled, and that ends late because of an
 * interrupt, does not count.
 *
 * The price: a callback that is the first to be too long for a while is preempted late,
 * by two milliseconds at most, or 20 slices if that is less.  In all, callbacks may
 * be late by 12 ms before each slice is watched.
 *
 * What is taken away from the thread by the kernel or a hypervisor looks like a long
 * callback.  That is why a single one does not count.
 */
#ifndef TUX_TICK_CALM_H
#define TUX_TICK_CALM_H

#include <stdbool.h>

#include "tick/tick.h"

struct tux_calm {			/* all zero at first */
	tux_tick from;			/* the present second began, */
	tux_tick over;			/* ... when it was so much, */
	tux_tick strict;		/* each slice is watched until then */
};

/* @over: by how much callbacks have been too long so far, all together.  Returns how
 * long the next look may wait: @slice if each slice is to be watched. */
tux_tick tux_calm_look(struct tux_calm *c, tux_tick over, tux_tick slice,
		       tux_tick now);

/* The running routine is in a region without preemption, and its next tick is due after
 * @left (tux_watch_later()).  Returns how long the next look may wait: @left, but at least
 * @gap, and at most as long as while callbacks end in time.  A callback that begins right
 * after the region is preempted late by at most that. */
tux_tick tux_calm_later(tux_tick gap, tux_tick left, tux_tick slice);

#endif
