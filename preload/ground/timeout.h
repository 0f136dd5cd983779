/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * timeout - how long a POSIX call may take, in nanoseconds
 *
 * 0 means not to wait at all, TUX_NEVER to wait for ever.
 */
#ifndef TUX_PRELOAD_TIMEOUT_H
#define TUX_PRELOAD_TIMEOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/time.h>
#include <time.h>

#include "base/time.h"

static inline tux_time timeout_ms(int ms)
{
	return ms < 0 ? TUX_NEVER : TUX_MSEC(ms);
}

/* Something the kernel would take; NULL is for ever. */
static inline bool timeout_valid(const struct timespec *t)
{
	return !t || (t->tv_sec >= 0 && t->tv_nsec >= 0 &&
		      t->tv_nsec < 1000000000);
}

/* @sec seconds and @ns nanoseconds, both valid. */
static inline tux_time timeout_sum(time_t sec, long ns)
{
	if ((uint64_t)sec >= TUX_NEVER / TUX_SEC(1) - 1)
		return TUX_NEVER;
	return TUX_SEC(sec) + (tux_time)ns;
}

static inline tux_time timeout_ts(const struct timespec *t)
{
	return t ? timeout_sum(t->tv_sec, t->tv_nsec) : TUX_NEVER;
}

/* The instant in @ns from @now; 0 stays 0. */
static inline tux_time timeout_until(tux_time ns, tux_time now)
{
	return ns ? tux_time_add(now, ns) : 0;
}

#endif
