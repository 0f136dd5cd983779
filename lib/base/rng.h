/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rng - the only source of random numbers in the core
 *
 * SipHash-2-4 of a counter under a seed that the caller gives.  The same seed
 * gives the same numbers, so a run can be repeated; without the seed, the next
 * number cannot be predicted from those before it.
 */
#ifndef TUX_BASE_RNG_H
#define TUX_BASE_RNG_H

#include <stdint.h>

#include "base/sip.h"

struct tux_rng {
	struct tux_key seed;
	uint64_t n;		/* numbers drawn so far */
};

void tux_rng_init(struct tux_rng *r, const struct tux_key *seed);
uint64_t tux_rng_u64(struct tux_rng *r);
static inline uint32_t tux_rng_u32(struct tux_rng *r)
{
	return (uint32_t)tux_rng_u64(r);
}

#endif
