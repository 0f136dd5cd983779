/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/alone.h"

#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "../test.h"

enum { TIMES = 2000000 };

static _Atomic uint64_t count;
static volatile sig_atomic_t handled;

static void add__returns_what_was(void **state)
{
	(void)state;
	count = 5;
	assert_int_equal(tux_alone_add(&count, 3), 5);
	assert_int_equal(tux_alone_add(&count, (uint64_t)-8), 8);
	assert_int_equal(count, 0);
}

static void on_alarm(int sig)
{
	(void)sig;
	tux_alone_add(&count, 1);
	handled++;
}

/* What a handler adds in between is not lost. */
static void add__counts_what_a_handler_adds(void **state)
{
	const struct itimerval often = { { 0, 50 }, { 0, 50 } }, never = { 0 };

	(void)state;
	count = 0;
	handled = 0;
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < TIMES; i++)
		tux_alone_add(&count, 1);
	while (!handled)
		usleep(1);	/* where the thread sanitizer lets signals in */
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_IGN);
	assert_int_equal(count, (uint64_t)TIMES + (uint64_t)handled);
}

static void *adds(void *arg)
{
	for (int i = 0; i < TIMES; i++)
		tux_alone_add(&count, 1);
	return arg;
}

static void add__counts_what_threads_add(void **state)
{
	pthread_t t;

	(void)state;
	count = 0;
	assert_int_equal(pthread_create(&t, NULL, adds, NULL), 0);
	assert_false(tux_alone());
	adds(NULL);
	pthread_join(t, NULL);
	assert_int_equal(count, 2 * TIMES);
}

static struct tux_latch latch;

static void *takes(void *arg)
{
	for (int i = 0; i < TIMES / 10; i++) {
		tux_alone_take(&latch);
		atomic_store(&count, atomic_load(&count) + 1);
		tux_latch_drop(&latch);
	}
	return arg;
}

static void take__keeps_threads_out(void **state)
{
	pthread_t t;

	(void)state;
	count = 0;
	tux_alone_take(&latch);
	assert_false(tux_latch_try(&latch));
	tux_latch_drop(&latch);
	assert_int_equal(pthread_create(&t, NULL, takes, NULL), 0);
	takes(NULL);
	pthread_join(t, NULL);
	assert_int_equal(count, 2 * (TIMES / 10));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(add__returns_what_was),
		cmocka_unit_test(add__counts_what_a_handler_adds),
		cmocka_unit_test(add__counts_what_threads_add),
		cmocka_unit_test(take__keeps_threads_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
