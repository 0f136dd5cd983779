/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report - what came of a measurement, as one line of name=value
 */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include <stdint.h>

#include "base/time.h"
#include "cpu.h"
#include "histogram.h"

struct report {
	struct histogram latency;	/* nanoseconds, one per operation */
	struct histogram short_ones, long_ones;	/* the same for short and for
					 * long requests, if the protocol has
					 * both */
	uint64_t errors;
	tux_time began, took;
	struct cpu others;
	uint64_t own, all;		/* CPU, nanoseconds in that time */
};

void report_begin(struct report *r, tux_time now);
void report_end(struct report *r, tux_time now);

/* rate (1/s), latencies (us), errors, CPU of this process and of all (us per
 * operation). */
void report_print(const struct report *r);

/* CPU of the others in that time, in percent of a core. */
double report_percent(const struct report *r);

#endif
