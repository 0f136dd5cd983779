/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * draw - what world_draw.c and world_fault.c share: a world that is being
 * drawn, and the seed's numbers
 */
#ifndef SIM_DRAW_H
#define SIM_DRAW_H

#include "sim.h"
#include "world.h"

struct sim_draw {
	struct sim_world *w;
	uint64_t rng;
	uint64_t size;		/* how much is said, as a multiple */
	tux_time span;		/* most of it happens in so long */
	unsigned hosts, conns;
};

static inline uint64_t below(struct sim_draw *d, uint64_t n)
{
	return n ? sim_mix(&d->rng) % n : 0;
}

/* One of @n times. */
static inline bool rarely(struct sim_draw *d, unsigned n)
{
	return !below(d, n);
}

/* From @low to @high; small numbers as often as large ones. */
static inline uint64_t scale(struct sim_draw *d, uint64_t low, uint64_t high)
{
	uint64_t most = low;

	while (most < high && below(d, 64 - (unsigned)
				       __builtin_clzll(high / low)))
		most *= 2;
	if (most > high)
		most = high;
	return low + below(d, most - low + 1);
}

/* Of a million, one of @n times. */
static inline uint64_t part(struct sim_draw *d, unsigned n, uint64_t most)
{
	return rarely(d, n) ? scale(d, 1000, most) : 0;
}

/* A connection more: its number is d->conns before.  It begins at @at, on the
 * ports of connection @after - 1 if that is not 0. */
void sim_draw_conn(struct sim_draw *d, unsigned a, unsigned b, unsigned after,
		   tux_time at);

/* Something goes wrong. */
void sim_draw_fault(struct sim_draw *d);

#endif
