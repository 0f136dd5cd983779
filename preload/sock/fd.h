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

#include "sock/kind.h"
#include "sock/sock.h"

extern struct sock *_Atomic fd_table[FD_MAX];

/* The entry of @fd, which may change or be recycled at any moment. */
static inline struct sock *fd_peek(int fd)
{
	return (unsigned)fd < FD_MAX ?
	       atomic_load_explicit(&fd_table[fd], memory_order_acquire) : NULL;
}

/* One more than the highest descriptor that ever had an entry, here or in a
 * table of the floors above (fd_seen): close_range() looks that far. */
int fd_top(void);
void fd_seen(int fd);

/* Descriptors below it can be tracked. */
int fd_limit(void);

/* The sock of @fd with a reference, or NULL: not one of ours.  Lock-free. */
struct sock *sock_get(int fd);

/* The same, for a thread that takes a candidate into the kernel, and the end of
 * that: as long as it is there, the candidate cannot be claimed. */
struct sock *sock_pass(int fd);
void sock_passed(struct sock *s);

/* @fd, which named no sock (close_fresh), names @s from now on, and takes a
 * reference of its own.  False: it cannot. */
bool fd_add(int fd, struct sock *s);

/* Descriptors that name a sock, not counting listeners. */
extern _Atomic uint32_t fd_live;

/* Takes @fd's entry away and hands its reference to the caller; NULL if there
 * is none. */
struct sock *fd_take(int fd);

/* @s is the kernel's for good: no descriptor names it any more, and those that
 * did are left (kind_leave).  Frees @s unless the caller holds a reference. */
void fd_leave(struct sock *s);

/* Calls @fn for each descriptor that names a sock, with a reference to the
 * sock.  A sock may have several descriptors. */
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

#endif
