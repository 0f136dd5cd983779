/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * heap - intrusive binary min-heap of deadlines
 *
 * The heap owns an array of pointers to nodes and nothing else.  A node holds
 * its own place in the array, so moving or removing it needs no search.
 */
#ifndef TUX_BASE_HEAP_H
#define TUX_BASE_HEAP_H

#include <stdint.h>

#include "base/mem.h"
#include "base/time.h"

struct tux_heap_node {
	tux_time at;		/* the key; change it with tux_heap_set() only */
	uint32_t place;		/* 1 + index in the array; 0 if not queued */
};

struct tux_heap {
	struct tux_heap_node **node;
	uint32_t len, cap;
	const struct tux_mem *mem;
};

void tux_heap_init(struct tux_heap *h, const struct tux_mem *mem);
void tux_heap_fini(struct tux_heap *h);

/* Makes room for @n nodes in total, so that tux_heap_set() cannot fail.
 * Returns 0 or -ENOMEM. */
int tux_heap_reserve(struct tux_heap *h, uint32_t n);

/* Makes @n due at @at: queues it, or moves it if it is queued.  TUX_NEVER
 * removes it.  The caller has reserved room.  Cannot fail. */
void tux_heap_set(struct tux_heap *h, struct tux_heap_node *n, tux_time at);

/* The node that is due first; NULL if the heap is empty. */
struct tux_heap_node *tux_heap_min(const struct tux_heap *h);

#endif
