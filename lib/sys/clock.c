/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/clock.h"

#include <errno.h>

#include "sys/sys.h"

/* By way of the vdso: no system call, and no hook takes it. */
static tux_time clock_of(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
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
