/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gaps - what a machine takes from a thread that only looks at the clock
 *
 * Interrupts, other threads, and on a virtual machine its host.  No latency that
 * is measured there can be better, in as great a part of cases.
 */
#ifndef BENCH_GAPS_H
#define BENCH_GAPS_H

#include "base/time.h"

enum { GAPS = 3 };

struct gaps {
	tux_time all;			/* looked at, nanoseconds */
	tux_time in[GAPS];		/* of it, in gaps over 10, 100, 1000 us */
};

/* Looks for @time, on the processor that the caller is on. */
void gaps_look(struct gaps *g, tux_time time);

/* "gaps over 10 us: N %, 100 us: N %, 1000 us: N % of the time" */
void gaps_print(const struct gaps *g);

#endif
