/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * seat - which threads wait in the kernel's own epoll_wait(), and for which
 * instance
 *
 * A thread that attaches the first sock to an instance must wake the threads
 * that sleep there, because the kernel does not tell them of rings.  Each
 * thread writes the instance into a seat of its own.  So a wait costs one
 * atomic exchange and one store; seat_count() looks through all seats.
 *
 * There are 1024 seats.  A thread without one counts for every instance.  The
 * seat of a thread that has ended is taken over by the next thread with the
 * same memory for its thread-local storage.
 */
#ifndef TUX_PRELOAD_SEAT_H
#define TUX_PRELOAD_SEAT_H

#include <stdatomic.h>
#include <stdint.h>

struct seat {
	_Alignas(64) _Atomic uintptr_t thread;
	const void *_Atomic in;		/* the instance; NULL: none */
};

struct seated {			/* a thread that waits */
	struct seat *seat;
	const void *was;	/* the seat's instance before.  Not NULL in a
				 * signal handler that has interrupted a wait,
				 * and after a siglongjmp() out of one */
};

/* This thread is about to wait for @ep in the kernel's call, and seat_count()
 * counts it.  If another thread attaches a sock to @ep and then calls that, it
 * counts this thread, or this thread finds the sock when it looks next. */
void seat_enter(struct seated *s, const void *ep);
void seat_leave(const struct seated *s);

/* An upper bound of the threads that wait for @ep so. */
unsigned seat_count(const void *ep);

/* In a child, right after fork. */
void seat_forked(void);

#endif
