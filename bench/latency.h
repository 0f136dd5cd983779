/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * latency - one-way latencies, as a line and as a distribution
 */
#ifndef BENCH_LATENCY_H
#define BENCH_LATENCY_H

#include "base/time.h"
#include "histogram.h"

/* "messages=N p50=US p90=US p99=US p99.9=US max=US"; @h has nanoseconds. */
void latency_print(const struct histogram *h);

/* Lines "US FRACTION" into file @name: what part of all took no longer.
 * -errno. */
int latency_write(const struct histogram *h, const char *name);

#endif
