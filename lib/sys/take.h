/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * take - to wait for a latch, or for something else that takes as short a time
 *
 * Latches are held for a few instructions or one system call that does not
 * block.  So a thread that waits spins at first; then it yields, since the holder
 * may not be running; and then it sleeps between its looks.  It does not yield for
 * longer: since Linux 6.18 a thread that yields forfeits the rest of its slice, and
 * many that do nothing else upset the scheduler's order for all other processes.
 */
#ifndef TUX_SYS_TAKE_H
#define TUX_SYS_TAKE_H

#include <stdbool.h>

#include "base/latch.h"
#include "sys/clock.h"
#include "sys/sys.h"

enum {
	TUX_AWAIT_SPINS = 100,		/* looks, until a yield or a sleep */
	TUX_AWAIT_YIELDS = 10,		/* until the first sleep */
	TUX_AWAIT_US = 50,		/* of each */
};

static inline void tux_pause(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

/* Between look @i, counted from 1, and the next one. */
static inline void tux_await(unsigned i)
{
	if (i % TUX_AWAIT_SPINS)
		tux_pause();
	else if (i < TUX_AWAIT_SPINS * TUX_AWAIT_YIELDS)
		tux_sys_yield();
	else
		tux_sys_sleep(TUX_USEC(TUX_AWAIT_US));
}

/* Waits for latch @l, which a thread holds; from the first yield on, @for_ns at most.
 * Most callers find a latch free: this is kept out of them, so that they pay for no
 * registers that only waiting needs. */
static __attribute__((noinline, cold, unused)) bool
tux_latch_await(struct tux_latch *l, tux_time for_ns)
{
	tux_time until = TUX_NEVER, now;
	unsigned i = 0;

	do {
		if (++i % TUX_AWAIT_SPINS == 0) {
			now = tux_clock_read();
			if (now >= until)
				return tux_latch_try(l);
			until = tux_time_min(until, tux_time_add(now, for_ns));
		}
		tux_await(i);
	} while (!tux_latch_try(l));
	return true;
}

static inline void tux_latch_take(struct tux_latch *l)
{
	if (!tux_latch_try(l))
		tux_latch_await(l, TUX_NEVER);
}

/* Where the holder may never drop the latch.  False: it was not to be had for that
 * long. */
static inline bool tux_latch_take_within(struct tux_latch *l, tux_time for_ns)
{
	return tux_latch_try(l) || tux_latch_await(l, for_ns);
}

#endif
