/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rng - the only randomness in the core
 *
 * SipHash in counter mode under a seed from outside: the same seed gives the
 * same numbers, and who does not know it cannot foretell them.
 */
#ifndef TUX_BASE_RNG_H
#define TUX_BASE_RNG_H

#include <stdint.h>

#include "base/sip.h"

struct tux_rng {
	struct tux_key seed;
	uint64_t n;
};

void tux_rng_init(struct tux_rng *r, const struct tux_key *seed);
uint64_t tux_rng_u64(struct tux_rng *r);
static inline uint32_t tux_rng_u32(struct tux_rng *r)
{
	return (uint32_t)tux_rng_u64(r);
}

#endif
