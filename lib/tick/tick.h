/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tick - the clock that slices are measured with
 *
 * It is read after each callback and in a signal handler, so it has to be
 * cheap: the processor's time stamp counter where that runs evenly, else the
 * monotonic clock.
 */
#ifndef TUX_TICK_TICK_H
#define TUX_TICK_TICK_H

#include <stdint.h>

#include "base/time.h"
#include "sys/clock.h"

typedef uint64_t tux_tick;

#if defined(__x86_64__)

extern int tux_tick_is_tsc __attribute__((visibility("hidden")));

static inline tux_tick tux_tick_read(void)
{
	uint32_t low, high;

	if (!tux_tick_is_tsc)
		return tux_clock_read();
	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (tux_tick)high << 32 | low;
}

#else

static inline tux_tick tux_tick_read(void)
{
	return tux_clock_read();
}

#endif

/* Finds out how long a tick is; the first call takes some milliseconds.  Any
 * thread. */
void tux_tick_init(void);

/* After tux_tick_init(). */
tux_tick tux_tick_of(tux_time ns);
tux_time tux_tick_ns(tux_tick t);

#endif
