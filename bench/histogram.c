/* SPDX-License-Identifier: BSD-2-Clause */
#include "histogram.h"

#include <math.h>
#include <string.h>

/* How often the values of a slot are doubled: 0 below 2048. */
static unsigned shift_of(uint64_t v)
{
	unsigned bits = 64 - (unsigned)__builtin_clzll(v | 1);

	return bits > HISTOGRAM_BITS ? bits - HISTOGRAM_BITS : 0;
}

/* What is left of @v has its highest bit at one place, so each shift begins
 * HALF slots after the one before. */
static unsigned slot_of(uint64_t v)
{
	unsigned shift = shift_of(v);

	return shift * HISTOGRAM_HALF + (unsigned)(v >> shift);
}

static uint64_t last_in(unsigned slot)
{
	unsigned shift = 0;

	if (slot >= 2 * HISTOGRAM_HALF)
		shift = slot / HISTOGRAM_HALF - 1;
	slot -= shift * HISTOGRAM_HALF;
	return ((uint64_t)slot << shift) + ((uint64_t)1 << shift) - 1;
}

void histogram_clear(struct histogram *h)
{
	memset(h, 0, sizeof(*h));
}

void histogram_add(struct histogram *h, uint64_t v)
{
	h->slot[slot_of(v)]++;
	h->n++;
	if (v > h->max)
		h->max = v;
}

uint64_t histogram_at(const struct histogram *h, double per_mille)
{
	uint64_t want = (uint64_t)ceil((double)h->n * per_mille / 1000);
	uint64_t seen = 0, v;
	unsigned i;

	if (!h->n)
		return 0;
	if (!want)
		want = 1;
	for (i = 0; i < HISTOGRAM_SLOTS; i++) {
		seen += h->slot[i];
		if (seen >= want)
			break;
	}
	v = i < HISTOGRAM_SLOTS ? last_in(i) : h->max;
	return v < h->max ? v : h->max;
}
