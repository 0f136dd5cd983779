/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls that sleep.
 */
#include "hooks.h"

#include <stdint.h>

static const struct timespec before_all = { .tv_sec = -1 };
static struct timespec start;

static bool lasted(int64_t ns)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - start.tv_sec) * INT64_C(1000000000) +
	       now.tv_nsec - start.tv_nsec >= ns;
}

static void begin(void)
{
	clock_gettime(CLOCK_MONOTONIC, &start);
}

static void say_left(const struct timespec *t)
{
	printf("left: %s\n", t->tv_sec > HOOKS_LIMIT - 10 && t->tv_sec < HOOKS_LIMIT ?
	       "nearly all" : "something else");
}

static void in_nanosleep(void)
{
	nanosleep(&hooks_long_time, NULL);
}

void try_nanosleep(void)
{
	struct timespec left = { 1, 2 };

	begin();
	TRY(nanosleep(&hooks_a_while, &left));
	printf("long enough: %d; left %ld, %ld\n", lasted(hooks_a_while.tv_nsec),
	       (long)left.tv_sec, left.tv_nsec);
	TRY(nanosleep(&hooks_no_time, NULL));
	TRY(nanosleep(&hooks_bad_time, NULL));
	TRY(nanosleep(&before_all, &left));
	TRY_INTERRUPTED(nanosleep(&hooks_long_time, &left));
	say_left(&left);
	TRY_INTERRUPTED(nanosleep(&hooks_long_time, NULL));
	hooks_cancel_in("nanosleep", in_nanosleep);
}

static void in_clock_nanosleep(void)
{
	clock_nanosleep(CLOCK_MONOTONIC, 0, &hooks_long_time, NULL);
}

void try_clock_nanosleep(void)
{
	struct timespec left = { 1, 2 };
	clockid_t mono = CLOCK_MONOTONIC, real = CLOCK_REALTIME;

	begin();
	TRY(clock_nanosleep(mono, 0, &hooks_a_while, &left));
	printf("long enough: %d\n", lasted(hooks_a_while.tv_nsec));
	TRY(clock_nanosleep(real, TIMER_ABSTIME, &hooks_a_while, NULL));
	TRY(clock_nanosleep(mono, 0, &hooks_bad_time, NULL));
	TRY(clock_nanosleep(real, 0, &before_all, NULL));
	TRY(clock_nanosleep(CLOCK_THREAD_CPUTIME_ID, 0, &hooks_a_while, NULL));
	TRY(clock_nanosleep(12345, 0, &hooks_a_while, NULL));
	TRY(clock_nanosleep(CLOCK_BOOTTIME, 0, &hooks_a_while, NULL));
	TRY_INTERRUPTED(clock_nanosleep(mono, 0, &hooks_long_time, &left));
	say_left(&left);
	hooks_cancel_in("clock_nanosleep", in_clock_nanosleep);
}

static void in_usleep(void)
{
	usleep(2000000);
}

void try_usleep(void)
{
	TRY(usleep(0));
	begin();
	TRY(usleep(10000));
	printf("long enough: %d\n", lasted(10000000));
	TRY_INTERRUPTED(usleep(2000000));
	hooks_cancel_in("usleep", in_usleep);
}

static void in_sleep(void)
{
	sleep(HOOKS_LIMIT);
}

void try_sleep(void)
{
	TRY(sleep(0));
	TRY_INTERRUPTED(sleep(HOOKS_LIMIT) > HOOKS_LIMIT - 10);
	begin();
	TRY(sleep(1));
	printf("long enough: %d\n", lasted(1000000000));
	hooks_cancel_in("sleep", in_sleep);
}

void try_sched_yield(void)
{
	TRY(sched_yield());
}
