/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rng - the only source of random numbers in the core
 */
#include "base/rng.h"

void tux_rng_init(struct tux_rng *r, const struct tux_key *seed)
{
	r->seed = *seed;
	r->n = 0;
}

uint64_t tux_rng_u64(struct tux_rng *r)
{
	uint64_t n = r->n++;

	return tux_sip(&r->seed, &n, sizeof(n));
}
