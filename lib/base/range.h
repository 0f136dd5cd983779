/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * range - a small ordered set of half-open ranges [start, end)
 *
 * Ranges in the set neither touch nor overlap, and stand in ascending order.
 * The room is fixed: an operation that would need one range more than there
 * is room for fails and changes nothing.
 */
#ifndef TUX_BASE_RANGE_H
#define TUX_BASE_RANGE_H

#include <stdbool.h>
#include <stdint.h>

enum { TUX_RANGE_MAX = 32 };

struct tux_range {
	uint64_t start, end;
};

struct tux_ranges {
	uint32_t n;
	struct tux_range r[TUX_RANGE_MAX];
};

static inline void tux_ranges_init(struct tux_ranges *s)
{
	s->n = 0;
}

/* Adds [@start, @end), merging what it touches.  0, or -ENOSPC. */
int tux_ranges_add(struct tux_ranges *s, uint64_t start, uint64_t end);

/* Takes [@start, @end) out, splitting a range if need be.  0, or -ENOSPC. */
int tux_ranges_sub(struct tux_ranges *s, uint64_t start, uint64_t end);

/* Takes out all below @floor.  Cannot fail. */
void tux_ranges_below(struct tux_ranges *s, uint64_t floor);

/* Is @v in one of the ranges? */
bool tux_ranges_has(const struct tux_ranges *s, uint64_t v);

#endif
