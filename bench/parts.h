/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * parts - what bench/parts runs: parts of the stack, alone and together
 */
#ifndef BENCH_PARTS_H
#define BENCH_PARTS_H

#include "base/time.h"
#include "sys/clock.h"

/* Time counts only while it goes; it does when a part begins, and must when it
 * ends. */
struct watch {
	tux_time since, took;
};

static inline void watch_go(struct watch *w)
{
	w->since = tux_clock_read();
}

static inline void watch_stop(struct watch *w)
{
	w->took += tux_clock_read() - w->since;
}

struct part {
	const char *name;	/* NULL ends a list */
	/* Does it @n times, or a few more; how many. */
	unsigned (*run)(struct watch *w, unsigned n);
};

enum {
	PARTS_SMALL = 64,	/* stream bytes in a packet: little, */
	PARTS_FULL = 1408,	/* or as many as fit */
	PARTS_RING = 1 << 18,	/* of a connection, bytes */
	PARTS_LANE = 1 << 18,	/* of a connection's messages, bytes */
	PARTS_BURST = 32,	/* questions that are under way at once */
	PARTS_CROWD = 32,	/* connections that take turns */
};

extern const struct part parts_alone[], parts_whole[];

#endif
