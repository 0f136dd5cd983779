/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * frag - a small set of byte ranges of one message
 */
#include "transport/frag.h"

#include <errno.h>
#include <string.h>

/* Moves the ranges from index @from on to index @to. */
static void frag_move(struct tux_frag *f, uint32_t to, uint32_t from)
{
	memmove(&f->r[to], &f->r[from], (f->n - from) * sizeof(f->r[0]));
	f->n = f->n - from + to;
}

/* The index of the first range that ends at or behind @at. */
static uint32_t frag_find(const struct tux_frag *f, uint32_t at)
{
	uint32_t i = 0;

	while (i < f->n && f->r[i].end < at)
		i++;
	return i;
}

int tux_frag_add(struct tux_frag *f, uint32_t start, uint32_t end, uint32_t max)
{
	uint32_t i = frag_find(f, start), j = i;

	if (start >= end || (i < f->n && f->r[i].start <= start &&
			     end <= f->r[i].end))
		return 0;
	while (j < f->n && f->r[j].start <= end)
		j++;
	/* The new range overlaps or touches those with indices [i, j). */
	if (i == j) {
		if (f->n >= max)
			return -ENOSPC;
		frag_move(f, i + 1, i);
		f->r[i].start = start;
		f->r[i].end = end;
		return 1;
	}
	if (start < f->r[i].start)
		f->r[i].start = start;
	if (end < f->r[j - 1].end)
		end = f->r[j - 1].end;
	f->r[i].end = end;
	frag_move(f, i + 1, j);
	return 1;
}

void tux_frag_cover(struct tux_frag *f, uint32_t start, uint32_t end)
{
	uint32_t i;

	if (tux_frag_add(f, start, end, TUX_FRAG_MAX) != -ENOSPC)
		return;
	/* It touches no range, and there is no room for another: join it to the
	 * range before it, or else to the first. */
	i = frag_find(f, start);
	if (i)
		start = f->r[i - 1].end;
	else
		end = f->r[0].start;
	tux_frag_add(f, start, end, TUX_FRAG_MAX);
}

int tux_frag_sub(struct tux_frag *f, uint32_t start, uint32_t end)
{
	uint32_t i = frag_find(f, start), j;

	if (start >= end)
		return 0;
	if (i < f->n && f->r[i].start < start && f->r[i].end > end) {
		if (f->n == TUX_FRAG_MAX)
			return -ENOSPC;
		frag_move(f, i + 1, i);
		f->r[i + 1].start = end;
		f->r[i].end = start;
		return 0;
	}
	if (i < f->n && f->r[i].start < start)
		f->r[i++].end = start;
	for (j = i; j < f->n && f->r[j].end <= end; j++)
		;
	frag_move(f, i, j);
	if (i < f->n && f->r[i].start < end)
		f->r[i].start = end;
	return 0;
}

bool tux_frag_gap(const struct tux_frag *f, uint32_t start, uint32_t end,
		  uint32_t *gap_start, uint32_t *gap_end)
{
	uint32_t i = 0;

	for (; i < f->n && f->r[i].start <= start; i++) {
		if (f->r[i].end > start)
			start = f->r[i].end;
	}
	*gap_start = start;
	*gap_end = i < f->n && f->r[i].start < end ? f->r[i].start : end;
	return start < end;
}
