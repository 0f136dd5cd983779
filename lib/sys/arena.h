/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arena - blocks of one size, for what threads and a loop share of a connection
 *
 * Blocks are recycled, never unmapped before the arena ends: a thread that comes
 * too late finds stale bytes there, but no hole.  A forked child has no memory
 * there: it can neither write what its parent believes nor read what comes later.
 * Any thread may call.
 */
#ifndef TUX_SYS_ARENA_H
#define TUX_SYS_ARENA_H

#include <stddef.h>
#include <stdint.h>

#include "base/latch.h"

struct tux_arena_chunk;

struct tux_arena {
	struct tux_latch latch;
	size_t size;		/* of a block, in whole pages */
	size_t head;		/* bytes at a block's front that come zeroed */
	size_t chunk_n;		/* blocks that are mapped at once */
	size_t warm_n;		/* free blocks that keep their pages */
	void *free;		/* a free block; its first word is the next */
	uint32_t free_n;
	struct tux_arena_chunk *chunks;
};

/* Blocks of at least @size bytes; the first @head bytes of each are zero. */
void tux_arena_init(struct tux_arena *a, size_t size, size_t head);

/* Gives all memory back, also of blocks in use. */
void tux_arena_fini(struct tux_arena *a);

/* A block, or NULL: no memory. */
void *tux_arena_get(struct tux_arena *a);
void tux_arena_put(struct tux_arena *a, void *p);

#endif
