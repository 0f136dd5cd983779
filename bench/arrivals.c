/* SPDX-License-Identifier: BSD-2-Clause */
#include "arrivals.h"

#include <math.h>

/* In (0, 1], so that its logarithm is finite. */
static double unit(struct tux_rng *r)
{
	return (double)((tux_rng_u64(r) >> 11) + 1) * 0x1p-53;
}

void arrivals_step(struct arrivals *a)
{
	double gap = -log(unit(&a->rng)) * a->mean + a->left;
	tux_time whole = (tux_time)gap;

	a->left = gap - (double)whole;
	a->next = tux_time_add(a->next, whole);
}

void arrivals_init(struct arrivals *a, double rate, uint64_t seed,
		   tux_time now)
{
	struct tux_key key = { seed, 0 };

	*a = (struct arrivals){ .next = now, .mean = 1e9 / rate };
	tux_rng_init(&a->rng, &key);
	arrivals_step(a);
}
