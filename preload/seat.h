/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * seat - which threads wait in the kernel's own epoll_wait(), and for what
 *
 * Who brings the first sock into an instance has to wake the threads that wait
 * there: they would not hear of it.  Each thread writes that it waits into a seat
 * of its own.  So to enter costs a thread one exchange, and to leave one store;
 * the rare one who asks looks through all seats.
 *
 * A thread that has ended leaves its seat behind.  The next thread with the same
 * memory for its thread-local storage takes it over.
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
	const void *was;	/* in the seat before: this is a handler, or one
				 * was left by siglongjmp() */
};

/* This thread is about to wait for @ep in the kernel's call: seat_count() counts
 * it.  If a thread brings a sock into @ep and then calls seat_count(), either it
 * finds this one, or this one finds the sock when it looks after this call. */
void seat_enter(struct seated *s, const void *ep);
void seat_leave(const struct seated *s);

/* How many threads wait for @ep so, at most. */
unsigned seat_count(const void *ep);

/* In a child, right after fork. */
void seat_forked(void);

#endif
