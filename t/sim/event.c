/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * event - what happens next, and what a seed makes of it
 */
#include <stdlib.h>

#include "sim.h"

/* ---- numbers (splitmix64: Steele, Lea and Flood, 2014) ---- */

uint64_t sim_mix(uint64_t *rng)
{
	uint64_t z = *rng += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

uint64_t sim_rand(struct sim *s)
{
	return sim_mix(&s->rng);
}

uint64_t sim_below(struct sim *s, uint64_t n)
{
	return n ? sim_rand(s) % n : 0;
}

bool sim_chance(struct sim *s, uint32_t of_a_million)
{
	return of_a_million && sim_below(s, 1000000) < of_a_million;
}

/* ---- events: a binary heap by time, then by order of birth ---- */

static bool sooner(const struct sim_event *a, const struct sim_event *b)
{
	return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void swap(struct sim_event *a, struct sim_event *b)
{
	struct sim_event t = *a;

	*a = *b;
	*b = t;
}

void sim_at(struct sim *s, tux_time at, sim_fn *fn, void *arg, uint64_t n,
	    uint64_t m)
{
	struct sim_event *h;
	size_t i;

	if (s->heap_len == s->heap_cap) {
		s->heap_cap = s->heap_cap ? 2 * s->heap_cap : 64;
		s->heap = realloc(s->heap, s->heap_cap * sizeof(*s->heap));
	}
	h = s->heap;
	i = s->heap_len++;
	h[i] = (struct sim_event){ at, s->order++, fn, arg, n, m };
	for (; i && sooner(&h[i], &h[(i - 1) / 2]); i = (i - 1) / 2)
		swap(&h[i], &h[(i - 1) / 2]);
}

struct sim_event sim_pop(struct sim *s)
{
	struct sim_event *h = s->heap, first = h[0];
	size_t i = 0, k, len = --s->heap_len;

	h[0] = h[len];
	while ((k = 2 * i + 1) < len) {
		if (k + 1 < len && sooner(&h[k + 1], &h[k]))
			k++;
		if (!sooner(&h[k], &h[i]))
			break;
		swap(&h[i], &h[k]);
		i = k;
	}
	return first;
}
