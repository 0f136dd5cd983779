/* SPDX-License-Identifier: BSD-2-Clause */
#include "tick/tick.h"

#include <pthread.h>
#include <time.h>

#include "sys/sys.h"

static double per_ns = 1;

#if defined(__x86_64__)

#include <cpuid.h>

enum {
	LEAF = (int)0x80000007,		/* "advanced power management" */
	INVARIANT = 1 << 8,
	MEASURE_MS = 3,
	TRIES = 5,
};

int tux_tick_is_tsc;

/* Both clocks at one instant: of several tries, the one that took least. */
static void both(tux_tick *tick, tux_time *ns)
{
	tux_tick best = UINT64_MAX;
	unsigned i;

	for (i = 0; i < TRIES; i++) {
		tux_tick a = tux_tick_read();
		tux_time t = tux_clock_read();
		tux_tick b = tux_tick_read();

		if (b - a < best) {
			best = b - a;
			*tick = a + (b - a) / 2;
			*ns = t;
		}
	}
}

static void measure(void)
{
	unsigned a, b, c, d;
	tux_tick t0, t1;
	tux_time n0, n1;

	if (!__get_cpuid((unsigned)LEAF, &a, &b, &c, &d) || !(d & INVARIANT))
		return;
	tux_tick_is_tsc = 1;
	both(&t0, &n0);
	tux_sys_sleep(TUX_MSEC(MEASURE_MS));
	both(&t1, &n1);
	per_ns = (double)(t1 - t0) / (double)(n1 - n0);
}

#else

static void measure(void)
{
}

#endif

void tux_tick_init(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, measure);
}

tux_tick tux_tick_of(tux_time ns)
{
	return (tux_tick)((double)ns * per_ns);
}

tux_time tux_tick_ns(tux_tick t)
{
	return (tux_time)((double)t / per_ns);
}
