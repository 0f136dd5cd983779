/* SPDX-License-Identifier: BSD-2-Clause */
#include "stack/driver.h"

#include <pthread.h>
#include <sched.h>

#include "../test.h"

enum { TRIES = 20, SERIES = 50 };

static struct tux_driver d;
static _Atomic bool stop;

static void begin(void)
{
	tux_driver_init(&d, NULL, false);
	atomic_store(&stop, false);
}

static void acquire__what_is_free(void **state)
{
	(void)state;
	begin();
	assert_true(tux_driver_acquire(&d));
	assert_false(tux_driver_acquire(&d));
	tux_driver_drop(&d);
	assert_true(tux_driver_acquire(&d));
}

static void acquire__not_what_the_helper_drives(void **state)
{
	(void)state;
	begin();
	atomic_store(&d.helper, TUX_DRIVES);
	assert_false(tux_driver_acquire(&d));
}

/* All threads of the test on the processor that this one is on. */
static bool on_one_processor(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	return !sched_setaffinity(0, sizeof(set), &set);
}

/* The helper: each turn of its takes no longer than it is let run. */
static void *turns(void *arg)
{
	(void)arg;
	while (!atomic_load(&stop)) {
		tux_driver_drop(&d);
		sched_yield();
	}
	return NULL;
}

/* A turn of the helper ends soon only if the helper runs. */
static void acquire__lets_the_helper_run(void **state)
{
	unsigned i, k, n = 0;
	pthread_t t;

	(void)state;
	begin();
	if (!on_one_processor())
		skip();
	atomic_store(&d.helper, TUX_FILLS_IN);
	assert_true(tux_driver_take(&d));
	assert_int_equal(pthread_create(&t, NULL, turns, NULL), 0);
	/* Other programs may have the processor in the meantime. */
	for (k = 0; k < SERIES && n < TRIES / 2; k++)
		for (n = i = 0; i < TRIES; i++)
			n += tux_driver_acquire(&d);
	atomic_store(&stop, true);
	assert_int_equal(pthread_join(t, NULL), 0);
	assert_in_range(n, TRIES / 2, TRIES);
}

static void watch__less_often_while_threads_drive(void **state)
{
	tux_time in;

	(void)state;
	begin();
	assert_int_equal(d.watch, TUX_MSEC(2));
	in = tux_watch_next(d.watch, true);
	assert_int_equal(in, TUX_MSEC(4));
	in = tux_watch_next(tux_watch_next(in, true), true);
	assert_int_equal(in, TUX_MSEC(8));
	assert_int_equal(tux_watch_next(in, false), TUX_MSEC(2));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(acquire__what_is_free),
		cmocka_unit_test(acquire__not_what_the_helper_drives),
		cmocka_unit_test(acquire__lets_the_helper_run),
		cmocka_unit_test(watch__less_often_while_threads_drive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
