/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uring - rings of io_uring(7) that the program makes by syscall(2)
 *
 * Each ring is mapped a second time, so that entries can be read before the
 * kernel takes them.  What an entry asks for is then done as the hook of the
 * matching call does it (uring_entry.c).  A ring that cannot be read puts all
 * connections on TCP.
 */
#ifndef TUX_PRELOAD_URING_H
#define TUX_PRELOAD_URING_H

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

/* ---- uring.c: the calls; they return what syscall(2) does ------------- */

long uring_setup(unsigned entries, struct io_uring_params *p);
long uring_enter(int fd, unsigned n, unsigned min, unsigned flags,
		 const void *arg, unsigned long len);
long uring_register(int fd, unsigned op, void *arg, unsigned n);

/* ---- uring_entry.c ---------------------------------------------------- */

/* The kernel is about to take @e: does what the hook of a call would do, and
 * changes @e if there is nothing left to do, or if it must fail.  @ordered: it
 * waits for the entry before it. */
void uring_entry(struct io_uring_sqe *e, bool ordered);

/* ---- uring_ring.c: which rings there are ------------------------------ */

/* The ring of @fd; NULL: it is not known. */
struct uring *uring_find(int fd);

/* The known rings, one for each call: *@at is 0 at first.  NULL: that was all. */
struct uring *uring_each(uint32_t *at);

/* The kernel has just made @fd.  False: its entries cannot be read. */
bool uring_add(int fd, const struct io_uring_params *p);

/* @fd is about to be closed. */
void uring_forget(int fd);

#endif
