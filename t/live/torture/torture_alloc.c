/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What one routine allocates, another frees, or a plain thread.
 *
 * A block says its own length and seed and is filled from it; whoever takes it
 * out of the shared places checks every byte.
 */
#include "torture.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
	PLACES = 256,
};

struct block {
	uint32_t len;		/* with this head */
	uint32_t seed;
	uint8_t data[];
};

static _Atomic(struct block *) place[PLACES];
static atomic_long made, freed;

static uint8_t byte_of(const struct block *b, uint32_t i)
{
	return (uint8_t)(b->seed + i * 7);
}

static void fill(struct block *b, uint32_t len, uint32_t seed)
{
	uint32_t i;

	b->len = len;
	b->seed = seed;
	for (i = 0; i < len - sizeof(*b); i++)
		b->data[i] = byte_of(b, i);
}

static bool whole(const struct block *b)
{
	uint32_t i;

	for (i = 0; i < b->len - sizeof(*b); i++)
		if (b->data[i] != byte_of(b, i))
			return false;
	return true;
}

/* Mostly small, as in the thread caches; sometimes what is mapped alone. */
static uint32_t draw_len(struct hand *h)
{
	unsigned kind = hand_below(h, 64), room;

	room = kind == 0 ? 300000 : kind < 8 ? 20000 : 900;
	return (uint32_t)(sizeof(struct block) + 8 + hand_below(h, room));
}

static bool all_zero(const uint8_t *p, size_t n)
{
	while (n && !p[n - 1])
		n--;
	return !n;
}

static struct block *make(struct hand *h, uint32_t len)
{
	void *p = NULL;

	switch (hand_below(h, 8)) {
	case 0:
		p = calloc(1, len);
		must(p && all_zero(p, len));
		break;
	case 1:
		must(!posix_memalign(&p, 256, len));
		must((uintptr_t)p % 256 == 0);
		break;
	default:
		p = malloc(len);
	}
	must(p && malloc_usable_size(p) >= len);
	return p;
}

static struct block *grown(struct hand *h, struct block *b)
{
	uint32_t len = draw_len(h), seed = b->seed;

	if (len < b->len)
		return b;
	b = realloc(b, len);
	must(b && whole(b));
	fill(b, len, seed + 1);
	return b;
}

static void give_back(struct block *b)
{
	must(whole(b));
	free(b);
	atomic_fetch_add(&freed, 1);
}

static void step(struct hand *h)
{
	uint32_t len = draw_len(h);
	struct block *b = make(h, len), *old;

	atomic_fetch_add(&made, 1);
	fill(b, len, (uint32_t)hand_random(h));
	if (hand_below(h, 8) == 0)
		b = grown(h, b);
	old = atomic_exchange(&place[hand_below(h, PLACES)], b);
	if (old)
		give_back(old);
}

static void finish(void)
{
	struct block *b;
	unsigned i;

	for (i = 0; i < PLACES; i++) {
		b = atomic_exchange(&place[i], NULL);
		if (b)
			give_back(b);
	}
	must(atomic_load(&made) == atomic_load(&freed));
}

const struct work work_malloc = {
	.name = "malloc", .hands = 4, .thread = true,
	.step = step, .close = finish,
};
