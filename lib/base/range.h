/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * range - a small ordered set of half-open ranges [start, end)
 *
 * The ranges are in ascending order; they neither overlap nor touch.  There is
 * room for TUX_RANGE_MAX of them: an operation that would need more fails and
 * changes nothing.
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

/* Adds [@start, @end) and merges it with the ranges that it overlaps or
 * touches.  Returns 0, or -ENOSPC. */
int tux_ranges_add(struct tux_ranges *s, uint64_t start, uint64_t end);

/* Removes [@start, @end), which may split a range.  Returns 0, or -ENOSPC. */
int tux_ranges_sub(struct tux_ranges *s, uint64_t start, uint64_t end);

/* Removes everything below @floor.  Cannot fail. */
void tux_ranges_below(struct tux_ranges *s, uint64_t floor);

/* Is @v in one of the ranges? */
bool tux_ranges_has(const struct tux_ranges *s, uint64_t v);

#endif
