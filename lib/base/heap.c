/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * heap - intrusive binary min-heap of deadlines
 */
#include "base/heap.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

enum { HEAP_FIRST_CAP = 16 };

static void heap_put(struct tux_heap *h, uint32_t i, struct tux_heap_node *n)
{
	h->node[i] = n;
	n->place = i + 1;
}

/* Fills the hole at @i: moves the hole towards the root until @n fits there,
 * and puts @n into it.  Returns where that is. */
static uint32_t sift_up(struct tux_heap *h, uint32_t i, struct tux_heap_node *n)
{
	while (i) {
		uint32_t parent = (i - 1) / 2;

		if (h->node[parent]->at <= n->at)
			break;
		heap_put(h, i, h->node[parent]);
		i = parent;
	}
	heap_put(h, i, n);
	return i;
}

/* The same, away from the root. */
static void sift_down(struct tux_heap *h, uint32_t i, struct tux_heap_node *n)
{
	for (;;) {
		uint32_t child = 2 * i + 1;

		if (child >= h->len)
			break;
		if (child + 1 < h->len &&
		    h->node[child + 1]->at < h->node[child]->at)
			child++;
		if (n->at <= h->node[child]->at)
			break;
		heap_put(h, i, h->node[child]);
		i = child;
	}
	heap_put(h, i, n);
}

/* Fills the hole at @i with @n, which may have to move either way. */
static void heap_fill(struct tux_heap *h, uint32_t i, struct tux_heap_node *n)
{
	sift_down(h, sift_up(h, i, n), n);
}

static void heap_remove(struct tux_heap *h, struct tux_heap_node *n)
{
	uint32_t i = n->place - 1;
	struct tux_heap_node *last = h->node[--h->len];

	n->place = 0;
	if (last != n)
		heap_fill(h, i, last);
}

void tux_heap_init(struct tux_heap *h, const struct tux_mem *mem)
{
	*h = (struct tux_heap){ .mem = mem };
}

void tux_heap_fini(struct tux_heap *h)
{
	tux_mem_free(h->mem, h->node);
	h->node = NULL;
	h->len = h->cap = 0;
}

int tux_heap_reserve(struct tux_heap *h, uint32_t n)
{
	struct tux_heap_node **node;
	size_t cap = h->cap ? h->cap : HEAP_FIRST_CAP;

	if (n <= h->cap)
		return 0;
	while (cap < n)
		cap *= 2;
	/* A node's place, 1 + index, has 32 bits. */
	if (cap > UINT32_MAX)
		cap = UINT32_MAX;
	node = tux_mem_alloc(h->mem, cap * sizeof(*node));
	if (!node)
		return -ENOMEM;
	if (h->len)
		memcpy(node, h->node, h->len * sizeof(*node));
	tux_mem_free(h->mem, h->node);
	h->node = node;
	h->cap = (uint32_t)cap;
	return 0;
}

void tux_heap_set(struct tux_heap *h, struct tux_heap_node *n, tux_time at)
{
	n->at = at;
	if (at == TUX_NEVER) {
		if (n->place)
			heap_remove(h, n);
	} else if (n->place) {
		heap_fill(h, n->place - 1, n);
	} else {
		assert(h->len < h->cap && "the caller has reserved room");
		sift_up(h, h->len++, n);
	}
}

struct tux_heap_node *tux_heap_min(const struct tux_heap *h)
{
	return h->len ? h->node[0] : NULL;
}
