/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * observer - what the floors above are told of socks and descriptors
 *
 * A part of the preload that keeps something of its own for a descriptor is an
 * observer, from its first such descriptor on and for good.  So a program
 * without epoll or io_uring pays for neither.
 */
#ifndef TUX_PRELOAD_OBSERVER_H
#define TUX_PRELOAD_OBSERVER_H

#include "sock/sock.h"

/* Each member may be NULL.  Any thread may call one, but holds no lock of the
 * socket floor. */
struct observer {
	/* @fd is about to be closed or replaced, or has been. */
	void (*gone)(int fd);
	/* @s, of which @fd is a descriptor, has become SOCK_CLAIMED, or its
	 * calls have gone back to the kernel (unclaim.h).  Its stage says
	 * which: another thread may have changed it again by now. */
	void (*moved)(struct sock *s, int fd);
	/* @fd is the kernel's from now on (kind_leave). */
	void (*left)(int fd);
	/* The loop that threads run while they wait for @fd, as in struct
	 * tux_waiter; 0: there is none yet. */
	unsigned (*loop)(int fd);
	/* No sock is claimed any more, and none will be.  over(): all observers
	 * have been told that. */
	void (*stopped)(void);
	void (*over)(void);
	struct observer *next;
};

/* Tells @o from now on.  A later call with the same @o does nothing. */
void observer_add(struct observer *o);

void observer_gone(int fd);
void observer_left(int fd);
void observer_stopped(void);
unsigned observer_loop(int fd);

/* Threads in poll(), which wait for @s, are rung first. */
void observer_moved(struct sock *s, int fd);

/* In a child, right after fork. */
void observer_forked(void);

#endif
