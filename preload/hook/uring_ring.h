/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uring_ring - which rings there are
 */
#ifndef TUX_PRELOAD_URING_RING_H
#define TUX_PRELOAD_URING_RING_H

#include <linux/io_uring.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/latch.h"

struct uring {
	_Atomic int name;	/* the descriptor + 1; or 0, -1: no ring */
	struct tux_latch latch;	/* protects `seen`, and what is pending */
	char *map, *entries;	/* the kernel's memory; NULL: it is closed */
	size_t map_len, entries_len;
	const _Atomic uint32_t *head, *tail;
	const uint32_t *array;	/* NULL: entries go round by themselves */
	uint32_t mask, size;	/* of an entry */
	uint32_t seen;		/* entries before it were looked at */
	bool linked;		/* the last of them is linked to the next */
};

/* The ring of @fd; NULL: it is not known. */
struct uring *uring_find(int fd);

/* The known rings, one for each call: *@at is 0 at first.  NULL: that was
 * all. */
struct uring *uring_each(uint32_t *at);

/* The kernel has just made @fd, of which nothing is known.  False: its entries
 * cannot be read. */
bool uring_add(int fd, const struct io_uring_params *p);

/* @fd is about to be closed.  An observer (sock/observer.h) calls this, too. */
void uring_forget(int fd);

#endif
