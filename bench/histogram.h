/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * histogram - how often each value occurred, to three significant digits
 *
 * Values below 2048 have a slot each.  Above, each doubling is divided into
 * 1024 slots, so that a value is known to one part in 1024 at least: the
 * precision of an HdrHistogram with three digits, over all 64 bits, without a
 * limit to be chosen beforehand.
 */
#ifndef BENCH_HISTOGRAM_H
#define BENCH_HISTOGRAM_H

#include <stdint.h>

enum {
	HISTOGRAM_BITS = 11,		/* a slot each below 1 << BITS */
	HISTOGRAM_HALF = 1 << (HISTOGRAM_BITS - 1),
	HISTOGRAM_SLOTS = (64 - HISTOGRAM_BITS + 2) * HISTOGRAM_HALF,
};

struct histogram {
	uint64_t n, max;		/* values so far; the greatest, exact */
	uint64_t slot[HISTOGRAM_SLOTS];
};

void histogram_clear(struct histogram *h);
void histogram_add(struct histogram *h, uint64_t v);

/* The value that @per_mille of all values do not exceed: the greatest that
 * shares its slot, but not more than the maximum.  0 if there are none. */
uint64_t histogram_at(const struct histogram *h, double per_mille);

#endif
