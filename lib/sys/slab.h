/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slab - a tux_mem for one core
 *
 * Pieces in sizes of powers of two, cut from mapped chunks.  One thread at a
 * time, as for the core itself.  A forked child does not get the memory.
 */
#ifndef TUX_SYS_SLAB_H
#define TUX_SYS_SLAB_H

#include "base/mem.h"

enum { TUX_SLAB_CLASSES = 12 };		/* 32 bytes to 64 KiB */

struct tux_slab {
	struct tux_mem mem;		/* what the core is given */
	void *free[TUX_SLAB_CLASSES];	/* each starts with the next one */
	char *at, *end;			/* what is left of the newest chunk */
	void *chunks;			/* each starts with the next one */
};

void tux_slab_init(struct tux_slab *s);

/* Gives all memory back, but for pieces above 64 KiB: free those before. */
void tux_slab_fini(struct tux_slab *s);

#endif
