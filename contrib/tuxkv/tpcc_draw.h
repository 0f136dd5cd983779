/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tpcc_draw - random values, as TPC-C draws them (clause 2.1.6)
 */
#ifndef TUXKV_TPCC_DRAW_H
#define TUXKV_TPCC_DRAW_H

#include <stdint.h>

struct tpcc_draws {
	uint64_t state;			/* the seed, at first */
};

/* splitmix64 (Steele et al., OOPSLA 2014). */
static inline uint64_t tpcc_draw(struct tpcc_draws *r)
{
	uint64_t x = r->state += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static inline uint32_t tpcc_between(struct tpcc_draws *r, uint32_t low,
				    uint32_t high)
{
	return low + (uint32_t)(tpcc_draw(r) % (high - low + 1));
}

/* NURand(): some values more often than others. */
static inline uint32_t tpcc_uneven(struct tpcc_draws *r, uint32_t a, uint32_t c,
				   uint32_t low, uint32_t high)
{
	uint32_t x = tpcc_between(r, 0, a), y = tpcc_between(r, low, high);

	return ((x | y) + c) % (high - low + 1) + low;
}

#endif
