/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * take - to wait for a latch
 *
 * Latches are held for a few instructions or one system call that does not
 * block, so that waiting means to spin, and to let the holder run if it is not
 * running.
 */
#ifndef TUX_SYS_TAKE_H
#define TUX_SYS_TAKE_H

#include <stdbool.h>

#include "base/latch.h"
#include "sys/sys.h"

enum { TUX_TAKE_SPINS = 100 };

static inline void tux_pause(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

/* Waits for latch @l, which a thread holds.  Most callers find a latch free: this
 * is kept out of them, so that they pay for no registers that only waiting needs. */
static __attribute__((noinline, cold, unused)) void
tux_latch_await(struct tux_latch *l)
{
	unsigned i = 0;

	do {
		if (++i % TUX_TAKE_SPINS)
			tux_pause();
		else
			tux_sys_yield();
	} while (!tux_latch_try(l));
}

static inline void tux_latch_take(struct tux_latch *l)
{
	if (!tux_latch_try(l))
		tux_latch_await(l);
}

/* Where the holder may never drop the latch: tries @tries times and yields in
 * between.  False: the latch was not to be had. */
static inline bool tux_latch_take_within(struct tux_latch *l, unsigned tries)
{
	while (!tux_latch_try(l)) {
		if (!--tries)
			return false;
		tux_sys_yield();
	}
	return true;
}

#endif
