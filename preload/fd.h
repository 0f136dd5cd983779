/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fd - which descriptor is which sock
 *
 * The table is lock-free.  A sock's memory stays a sock's for good, so a reader
 * takes a reference first and looks afterwards whether it was the right one.
 */
#ifndef TUX_PRELOAD_FD_H
#define TUX_PRELOAD_FD_H

#include <stdatomic.h>
#include <stddef.h>

#include "sock.h"

enum { FD_MAX = 1 << 20 };	/* descriptors above it stay on TCP */

extern struct sock *_Atomic fd_table[FD_MAX];

/* The entry of @fd, which may change or be recycled at any moment. */
static inline struct sock *fd_peek(int fd)
{
	return (unsigned)fd < FD_MAX ?
	       atomic_load_explicit(&fd_table[fd], memory_order_acquire) : NULL;
}

/* One more than the highest descriptor that ever had an entry. */
int fd_top(void);

/* A sock in @stage that no descriptor names yet, with one reference, or NULL:
 * no memory. */
struct sock *sock_new(enum sock_stage stage);

/* @fd names @s (and takes a reference of its own).  False: it cannot. */
bool fd_add(int fd, struct sock *s);

/* Descriptors that name a sock, not counting listeners. */
extern _Atomic uint32_t fd_live;

/* Claimed socks that still exist.  While there is none, the kernel's poll() knows
 * all that is ready. */
extern _Atomic uint32_t fd_moved;

/* @s is about to be claimed: counts it.  fd_unmoves(): this process has closed it,
 * or it is free. */
void fd_moves(struct sock *s);
void fd_unmoves(struct sock *s);

/* Takes @fd's entry away and hands its reference to the caller; NULL if there
 * is none. */
struct sock *fd_take(int fd);

/* @s is the kernel's for good: no descriptor names it any more, and those that did
 * are left (kind_leave).  Frees @s unless the caller holds a reference. */
void fd_leave(struct sock *s);

/* Calls @fn for each descriptor that names a sock, with a reference to the sock.  A
 * sock may have several descriptors. */
static inline void fd_each(void (*fn)(struct sock *s, int fd, void *arg),
			   void *arg)
{
	for (int fd = 0; fd < fd_top(); fd++) {
		struct sock *s = sock_get(fd);

		if (!s)
			continue;
		fn(s, fd, arg);
		sock_put(s);
	}
}

/* In a child, right after fork. */
void fd_forked(void);

#endif
