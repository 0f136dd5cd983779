/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/thread_times.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "../test.h"

/* The kernel may count by the tick. */
static void times__grow_while_it_runs(void **state)
{
	struct tux_thread_times a, b;
	volatile unsigned n = 0;

	(void)state;
	if (!tux_thread_times(&a))
		skip();
	while (n < 100000000)
		n++;
	assert_true(tux_thread_times(&b));
	assert_true(b.ran > a.ran);
	assert_true(b.waited >= a.waited);
	assert_true(b.ran - a.ran < TUX_SEC(60));
}

static void times__count_sleeps(void **state)
{
	struct timespec ms = { .tv_nsec = 1000000 };
	struct tux_thread_times a, b;

	(void)state;
	if (!tux_thread_times(&a))
		skip();
	for (int i = 0; i < 5; i++)
		nanosleep(&ms, NULL);
	assert_true(tux_thread_times(&b));
	assert_in_range(b.sleeps - a.sleeps, 5, 50);
}

static volatile bool enough;

static void *run(void *arg)
{
	while (!enough)
		;
	return arg;
}

/* On one processor, two threads are one too many. */
static void crowded__by_threads_that_run(void **state)
{
	pthread_t t[2];
	cpu_set_t all, first;
	bool crowded;
	int cpu = 0;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	while (!CPU_ISSET(cpu, &all))
		cpu++;
	CPU_ZERO(&first);
	CPU_SET(cpu, &first);
	assert_int_equal(sched_setaffinity(0, sizeof(first), &first), 0);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&t[i], NULL, run, NULL), 0);
	crowded = tux_processors_crowded();
	enough = true;
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(pthread_join(t[i], NULL), 0);
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
	assert_true(crowded);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(times__grow_while_it_runs),
		cmocka_unit_test(times__count_sleeps),
		cmocka_unit_test(crowded__by_threads_that_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
