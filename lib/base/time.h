/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * time - instants and durations
 *
 * An instant counts nanoseconds on a clock that never goes back.  The core
 * reads no clock: its caller passes `now`.  TUX_NEVER is later than any
 * instant.
 */
#ifndef TUX_BASE_TIME_H
#define TUX_BASE_TIME_H

#include <stdint.h>

typedef uint64_t tux_time;

#define TUX_NEVER	UINT64_MAX
#define TUX_USEC(n)	((tux_time)(n) * 1000u)
#define TUX_MSEC(n)	((tux_time)(n) * 1000000u)
#define TUX_SEC(n)	((tux_time)(n) * 1000000000u)

/* The instant @in nanoseconds after @t; TUX_NEVER if there is no such
 * instant. */
static inline tux_time tux_time_add(tux_time t, tux_time in)
{
	return t > TUX_NEVER - in ? TUX_NEVER : t + in;
}

static inline tux_time tux_time_min(tux_time a, tux_time b)
{
	return a < b ? a : b;
}

static inline tux_time tux_time_max(tux_time a, tux_time b)
{
	return a > b ? a : b;
}

/* The time from @then to @now; 0 if @then is in the future. */
static inline tux_time tux_time_since(tux_time then, tux_time now)
{
	return now > then ? now - then : 0;
}

#endif
