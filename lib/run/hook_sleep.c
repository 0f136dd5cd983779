/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sleep.  Code outside of routines sleeps as libc does it, and so does a routine
 * with preemption off, or of a scheduler that is not to preempt: no other code runs
 * in the middle of what it does, unless it asks for that by name.
 */
#include "run/hook.h"

#if TUX_HOOKED

#include <errno.h>

#include "run/mask.h"
#include "run/sched_in.h"

enum { SECOND = 1000000000 };

static bool alone(void)
{
	const struct tux_routine *r = tux_here.routine;

	return r && r->sched->o.preempt && tux_sched_may_leave();
}

/* On the routine's own stack it has a mask, which must not be the others'. */
static void sleep_for(tux_time ns)
{
	tux_mask_own(tux_here.routine);
	tux_sched_sleep(ns);
}

static bool hook_sleep_valid(const struct timespec *t)
{
	return t->tv_sec >= 0 && t->tv_nsec >= 0 && t->tv_nsec < SECOND;
}

static tux_time duration(const struct timespec *t)
{
	return t->tv_sec > UINT32_MAX ? TUX_NEVER :
	       TUX_SEC(t->tv_sec) + (tux_time)t->tv_nsec;
}

/* Until @clock says @t, also if somebody sets it meanwhile. */
static void hook_sleep_sleep_until(clockid_t clock, const struct timespec *t)
{
	struct timespec now;

	while (!clock_gettime(clock, &now) &&
	       duration(&now) < duration(t))
		sleep_for(duration(t) - duration(&now));
}

TUX_HOOK int nanosleep(const struct timespec *t, struct timespec *left)
{
	if (!alone() || !hook_sleep_valid(t))
		return tux_real()->nanosleep(t, left);
	sleep_for(duration(t));
	return 0;
}

TUX_HOOK int clock_nanosleep(clockid_t clock, int flags,
			     const struct timespec *t, struct timespec *left)
{
	bool known = clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;

	if (!alone() || !hook_sleep_valid(t) || !known)
		return tux_real()->clock_nanosleep(clock, flags, t, left);
	if (flags & TIMER_ABSTIME)
		hook_sleep_sleep_until(clock, t);
	else
		sleep_for(duration(t));
	return 0;
}

TUX_HOOK int usleep(useconds_t us)
{
	if (!alone())
		return tux_real()->usleep(us);
	sleep_for(TUX_USEC((tux_time)us));
	return 0;
}

TUX_HOOK unsigned sleep(unsigned s)
{
	if (!alone())
		return tux_real()->sleep(s);
	sleep_for(TUX_SEC((tux_time)s));
	return 0;
}

/* A routine that spins for a lock lets the routine run that holds it. */
TUX_HOOK int sched_yield(void)
{
	if (!alone())
		return tux_real()->sched_yield();
	tux_mask_own(tux_here.routine);
	tux_sched_yield();
	return 0;
}

#endif
