/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * alone - is this thread the only one of its process?
 *
 * libc keeps the answer for its own sake.  "Yes" stays true until this thread calls
 * pthread_create(); "no" may be too cautious, and threads that bare clone() makes
 * are not seen.  A thread that is alone needs no guard against other threads, but
 * needs those against its own signal handlers.
 */
#ifndef TUX_SYS_ALONE_H
#define TUX_SYS_ALONE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "sys/take.h"

#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>

static inline bool tux_alone(void)
{
	return __libc_single_threaded;
}
#else
static inline bool tux_alone(void)
{
	return false;
}
#endif

/* Adds @n to *@p, which no other process has, and returns what was there before.
 * A thread that is alone avoids the locked instruction, which costs more than the
 * rest of a hook: a signal handler cannot interrupt a single instruction. */
static inline uint64_t tux_alone_add(_Atomic uint64_t *p, uint64_t n)
{
#ifdef __x86_64__
	if (tux_alone()) {
		__asm__ volatile("xaddq %0, %1"
				 : "+r"(n), "+m"(*p) : : "memory", "cc");
		return n;
	}
#endif
	return atomic_fetch_add(p, n);
}

/* Takes latch @l, with the calling thread's signals deferred: only another thread
 * can hold it.  A thread that is alone avoids the locked instruction here, too. */
static inline void tux_alone_take(struct tux_latch *l)
{
	if (tux_alone())
		atomic_store_explicit(&l->held, 1, memory_order_relaxed);
	else
		tux_latch_take(l);
}

#endif
