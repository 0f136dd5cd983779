/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/clock.h"

#include <errno.h>
#include <stdatomic.h>

#include "sys/sys.h"
#include "sys/vdso.h"

#if defined(__x86_64__)
#define CLOCK_GETTIME "__vdso_clock_gettime"
#elif defined(__aarch64__)
#define CLOCK_GETTIME "__kernel_clock_gettime"
#endif

typedef int (*gettime_fn)(clockid_t id, struct timespec *ts);

static int gettime_first(clockid_t id, struct timespec *ts);

static _Atomic(gettime_fn) gettime = gettime_first;

static int gettime_call(clockid_t id, struct timespec *ts)
{
	return (int)TUX_SYS(SYS_clock_gettime, id, ts, 0, 0, 0, 0);
}

/* Several threads may be the first: they find the same. */
static int gettime_first(clockid_t id, struct timespec *ts)
{
	gettime_fn fn = (gettime_fn)tux_vdso_find(CLOCK_GETTIME);

	if (!fn)
		fn = gettime_call;
	atomic_store_explicit(&gettime, fn, memory_order_relaxed);
	return fn(id, ts);
}

/* The kernel's clock, without libc's function: another preloaded library may replace
 * that by a clock which stands still or runs faster. */
static tux_time clock_of(clockid_t id)
{
	struct timespec ts;

	atomic_load_explicit(&gettime, memory_order_relaxed)(id, &ts);
	return TUX_SEC(ts.tv_sec) + (tux_time)ts.tv_nsec;
}

tux_time tux_clock_read(void)
{
	return clock_of(CLOCK_MONOTONIC);
}

tux_time tux_clock_coarse(void)
{
	return clock_of(CLOCK_MONOTONIC_COARSE);
}

struct timespec *tux_clock_until(struct timespec *ts, tux_time t, tux_time now)
{
	tux_time in = t > now ? t - now : 0;

	if (t == TUX_NEVER)
		return NULL;
	ts->tv_sec = (time_t)(in / TUX_SEC(1));
	ts->tv_nsec = (long)(in % TUX_SEC(1));
	return ts;
}

int tux_clock_seed(struct tux_key *seed)
{
	size_t have = 0;

	while (have < sizeof(*seed)) {
		long n = tux_sys_getrandom((char *)seed + have,
					   sizeof(*seed) - have);

		if (n > 0)
			have += (size_t)n;
		else if (n != -EINTR)
			return n ? (int)n : -EIO;
	}
	return 0;
}
