/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/arena.h"

#include <string.h>

#include "sys/area.h"
#include "sys/take.h"

enum {
	PAGE = 4096,
	CHUNK = 16 << 20,	/* bytes that are mapped at once, */
	CHUNK_N = 16,		/* or so many blocks, or one */
	WARM = 32 << 20,	/* bytes of free blocks that keep their pages, */
	WARM_N = 64,		/* or so many blocks */
};

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

struct tux_arena_chunk {	/* its own page, before the blocks */
	struct tux_arena_chunk *next;
};

void tux_arena_init(struct tux_arena *a, size_t size, size_t head)
{
	memset(a, 0, sizeof(*a));
	a->size = (size + PAGE - 1) & ~(size_t)(PAGE - 1);
	a->head = head;
	a->chunk_n = least(CHUNK / a->size, CHUNK_N);
	if (!a->chunk_n)
		a->chunk_n = 1;
	a->warm_n = least(WARM / a->size, WARM_N);
}

static size_t chunk_len(const struct tux_arena *a)
{
	return PAGE + a->chunk_n * a->size;
}

void tux_arena_fini(struct tux_arena *a)
{
	struct tux_arena_chunk *c, *next;

	for (c = a->chunks; c; c = next) {
		next = c->next;
		tux_area_unmap(c, chunk_len(a));
	}
	memset(a, 0, sizeof(*a));
}

static void arena_push(struct tux_arena *a, void *p)
{
	memcpy(p, &a->free, sizeof(a->free));
	a->free = p;
	a->free_n++;
}

static void *arena_pop(struct tux_arena *a)
{
	void *p = a->free;

	if (p) {
		memcpy(&a->free, p, sizeof(a->free));
		a->free_n--;
	}
	return p;
}

static void arena_grow(struct tux_arena *a)
{
	struct tux_arena_chunk *c;
	size_t i;

	if (tux_area_map((void **)&c, chunk_len(a), TUX_AREA_OWN))
		return;
	c->next = a->chunks;
	a->chunks = c;
	for (i = a->chunk_n; i-- > 0;)
		arena_push(a, (char *)c + PAGE + i * a->size);
}

void *tux_arena_get(struct tux_arena *a)
{
	void *p;

	tux_latch_take(&a->latch);
	if (!a->free)
		arena_grow(a);
	p = arena_pop(a);
	tux_latch_drop(&a->latch);
	if (p)
		memset(p, 0, a->head);
	return p;
}

void tux_arena_put(struct tux_arena *a, void *p)
{
	bool warm;

	tux_latch_take(&a->latch);
	warm = a->free_n < a->warm_n;
	tux_latch_drop(&a->latch);
	/* A block that carried much keeps much; a few such are enough. */
	if (!warm)
		tux_area_drop((char *)p + PAGE, a->size - PAGE);
	tux_latch_take(&a->latch);
	arena_push(a, p);
	tux_latch_drop(&a->latch);
}
