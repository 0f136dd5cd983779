/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * alone - is this thread the only one of its process?
 *
 * libc keeps the answer for its own sake.  A thread that is alone stays so
 * until it makes another itself, by libc.  So what guards against other threads can be
 * left out meanwhile; what guards against its own signal handlers cannot.
 */
#ifndef TUX_SYS_ALONE_H
#define TUX_SYS_ALONE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

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

/* Adds @n to *@p, and returns what was there before.  A thread that is alone
 * spares the locked instruction, which costs more than the rest of a hook: a
 * handler comes before or after an instruction, not within. */
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

#endif
