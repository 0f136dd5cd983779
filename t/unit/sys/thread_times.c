/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/thread_times.h"

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
	/* A timer that expires before the thread is off is no sleep. */
	for (int i = 0; i < 10; i++)
		nanosleep(&ms, NULL);
	assert_true(tux_thread_times(&b));
	assert_in_range(b.sleeps - a.sleeps, 5, 60);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(times__grow_while_it_runs),
		cmocka_unit_test(times__count_sleeps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
