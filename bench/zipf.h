/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * zipf - numbers of which few are drawn often: number i, counted from 0, with a
 * probability that is proportional to 1 / (i + 1)^THETA
 *
 * After Gray et al., "Quickly Generating Billion-Record Synthetic Databases"
 * (SIGMOD 1994), section 5, as YCSB has it.
 */
#ifndef BENCH_ZIPF_H
#define BENCH_ZIPF_H

#include <stdint.h>

#define ZIPF_YCSB 0.99			/* the theta of YCSB */

struct zipf {
	uint64_t n;
	double theta, alpha, zeta, eta, second;
};

/* Of @n numbers, 2 or more; @theta is between 0 and 1.  Takes time in proportion to
 * @n. */
void zipf_init(struct zipf *z, uint64_t n, double theta);

/* The number for @u, which is drawn evenly from [0, 1). */
uint64_t zipf_draw(const struct zipf *z, double u);

#endif
