/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mem - memory that is put back as it was
 *
 * A target makes what it needs once, and each input begins with a copy of that.
 * Under ASan, what lies between two pieces, and what was freed, is poisoned.
 */
#ifndef FUZZ_MEM_H
#define FUZZ_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"

enum { FUZZ_PIECES = 48 };

struct fuzz_piece {
	uint8_t *p, *saved;
	size_t len;
	size_t kept;		/* so many bytes of it are put back */
	bool freed;
};

struct fuzz_mem {
	struct tux_mem mem;	/* for a core */
	uint8_t *base;
	size_t used, cap;
	struct fuzz_piece piece[FUZZ_PIECES];
	unsigned n, saved_n;
	unsigned asked;		/* pieces that were asked for since */
	unsigned live;		/* pieces that are not freed */
};

/* Up to @cap bytes in all. */
void fuzz_mem_init(struct fuzz_mem *m, size_t cap);

/* @len bytes of zeros, @kept of which are put back. */
void *fuzz_mem_get(struct fuzz_mem *m, size_t len, size_t kept);

/* This is how it will be again; and now it is. */
void fuzz_mem_save(struct fuzz_mem *m);
void fuzz_mem_restore(struct fuzz_mem *m);
/* Only piece @i, of those that nobody frees. */
void fuzz_mem_restore_piece(struct fuzz_mem *m, unsigned i);

#endif
