/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arrivals - when independent clients would ask: a Poisson process with a seed
 *
 * The instants are fixed by the seed and the rate alone.  Whoever is late sends
 * late and counts from the instant meant, so a stall of the server is charged
 * to every request that would have come during it.
 */
#ifndef BENCH_ARRIVALS_H
#define BENCH_ARRIVALS_H

#include "base/rng.h"
#include "base/time.h"

struct arrivals {
	tux_time next;		/* the next one; read it, then go on */
	double mean;		/* nanoseconds between two */
	double left;		/* the part of a nanosecond not yet in `next` */
	struct tux_rng rng;
};

/* @rate in requests per second, above 0; the first comes after @now. */
void arrivals_init(struct arrivals *a, double rate, uint64_t seed,
		   tux_time now);
void arrivals_step(struct arrivals *a);

#endif
