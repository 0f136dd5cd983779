/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * range - a small ordered set of half-open ranges [start, end)
 */
#include "base/range.h"

#include <errno.h>
#include <string.h>

/* Removes the ranges with indices [@i, @j). */
static void ranges_cut(struct tux_ranges *s, uint32_t i, uint32_t j)
{
	if (i == j)
		return;
	memmove(&s->r[i], &s->r[j], (s->n - j) * sizeof(s->r[0]));
	s->n -= j - i;
}

/* Inserts [@start, @end) at index @i. */
static int ranges_insert(struct tux_ranges *s, uint32_t i, uint64_t start,
			 uint64_t end)
{
	if (s->n == TUX_RANGE_MAX)
		return -ENOSPC;
	memmove(&s->r[i + 1], &s->r[i], (s->n - i) * sizeof(s->r[0]));
	s->r[i] = (struct tux_range){ start, end };
	s->n++;
	return 0;
}

int tux_ranges_add(struct tux_ranges *s, uint64_t start, uint64_t end)
{
	uint32_t i = 0, j;

	if (start >= end)
		return 0;
	/* The new range overlaps or touches those with indices [i, j). */
	while (i < s->n && s->r[i].end < start)
		i++;
	for (j = i; j < s->n && s->r[j].start <= end; j++)
		;
	if (i == j)
		return ranges_insert(s, i, start, end);
	if (s->r[i].start > start)
		s->r[i].start = start;
	if (s->r[j - 1].end > end)
		end = s->r[j - 1].end;
	s->r[i].end = end;
	ranges_cut(s, i + 1, j);
	return 0;
}

int tux_ranges_sub(struct tux_ranges *s, uint64_t start, uint64_t end)
{
	uint32_t i = 0, j;

	if (start >= end)
		return 0;
	while (i < s->n && s->r[i].end <= start)
		i++;
	if (i < s->n && s->r[i].start < start) {
		uint64_t old = s->r[i].end;

		if (old > end) {
			int err = ranges_insert(s, i + 1, end, old);

			if (err)
				return err;
		}
		s->r[i++].end = start;
	}
	for (j = i; j < s->n && s->r[j].end <= end; j++)
		;
	if (j < s->n && s->r[j].start < end)
		s->r[j].start = end;
	ranges_cut(s, i, j);
	return 0;
}

void tux_ranges_below(struct tux_ranges *s, uint64_t floor)
{
	uint32_t i = 0;

	while (i < s->n && s->r[i].end <= floor)
		i++;
	ranges_cut(s, 0, i);
	if (s->n && s->r[0].start < floor)
		s->r[0].start = floor;
}

bool tux_ranges_has(const struct tux_ranges *s, uint64_t v)
{
	uint32_t i = 0;

	while (i < s->n && s->r[i].end <= v)
		i++;
	return i < s->n && s->r[i].start <= v;
}
