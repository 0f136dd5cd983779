/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/take.h"

#include <pthread.h>
#include <sys/resource.h>

#include "../test.h"

enum { TIMES = 20000, WAIT_MS = 50 };

static struct tux_latch latch;
static unsigned inside, most, sum;

static void *worker(void *arg)
{
	unsigned i;

	(void)arg;
	for (i = 0; i < TIMES; i++) {
		tux_latch_take(&latch);
		if (++inside > most)
			most = inside;
		sum++;
		inside--;
		tux_latch_drop(&latch);
	}
	return NULL;
}

/* A thread waits for the one inside, and no turn is lost. */
static void take__one_at_a_time(void **state)
{
	pthread_t t[2];
	unsigned i;

	(void)state;
	for (i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&t[i], NULL, worker, NULL), 0);
	for (i = 0; i < 2; i++)
		assert_int_equal(pthread_join(t[i], NULL), 0);
	assert_int_equal(most, 1);
	assert_int_equal(sum, 2 * TIMES);
	assert_true(tux_latch_try(&latch));
	assert_false(tux_latch_try(&latch));
}

static void *drop_soon(void *arg)
{
	tux_sys_yield();
	tux_latch_drop(arg);
	return NULL;
}

static void take_within__gives_up(void **state)
{
	struct tux_latch l = { 0 };
	pthread_t t;

	(void)state;
	assert_true(tux_latch_take_within(&l, 0));
	assert_false(tux_latch_take_within(&l, 0));
	assert_false(tux_latch_take_within(&l, TUX_USEC(1)));
	assert_int_equal(pthread_create(&t, NULL, drop_soon, &l), 0);
	while (!tux_latch_take_within(&l, TUX_USEC(100)))
		;
	assert_int_equal(pthread_join(t, NULL), 0);
	assert_false(tux_latch_try(&l));
}

/* How often this thread has slept: a yield does not count. */
static long sleeps(void)
{
	struct rusage u;

	assert_int_equal(getrusage(RUSAGE_THREAD, &u), 0);
	return u.ru_nvcsw;
}

/* The holder is gone: waiting for it neither ends early nor only yields. */
static void take_within__sleeps(void **state)
{
	struct tux_latch l = { 1 };
	tux_time began = tux_clock_read();
	long before = sleeps();

	(void)state;
	assert_false(tux_latch_take_within(&l, TUX_MSEC(WAIT_MS)));
	assert_true(tux_clock_read() - began >= TUX_MSEC(WAIT_MS));
	assert_true(sleeps() > before);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(take__one_at_a_time),
		cmocka_unit_test(take_within__gives_up),
		cmocka_unit_test(take_within__sleeps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
