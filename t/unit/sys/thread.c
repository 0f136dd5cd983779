/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/thread.h"

#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

#include "../test.h"

enum { LIMIT_S = 10 };

static sem_t begun, may_end;
static sigset_t mask;

static void *wait_there(void *arg)
{
	(void)arg;
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	sem_post(&begun);
	while (sem_wait(&may_end))
		;
	return NULL;
}

static void begin(pthread_t *t, const pthread_attr_t *attr)
{
	assert_int_equal(tux_thread_start(t, attr, wait_there, NULL), 0);
	while (sem_wait(&begun))
		;
}

static void end(pthread_t t)
{
	sem_post(&may_end);
	assert_int_equal(pthread_join(t, NULL), 0);
}

static void start__signals_are_the_programs(void **state)
{
	sigset_t before, after;
	pthread_t t;

	(void)state;
	pthread_sigmask(SIG_SETMASK, NULL, &before);
	begin(&t, NULL);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	end(t);
	for (int s = 1; s <= SIGRTMAX; s++) {
		assert_int_equal(sigismember(&after, s),
				 sigismember(&before, s));
		/* libc refuses its own, the kernel keeps these two open. */
		if (sigismember(&mask, s) < 0 || s == SIGKILL || s == SIGSTOP ||
		    (s > SIGSYS && s < SIGRTMIN))
			continue;
		assert_int_equal(sigismember(&mask, s), 1);
	}
}

/* libc opens its signals with the first thread, so another one comes before. */
static void start__the_user_can_be_changed(void **state)
{
	pthread_t first, t;

	(void)state;
	assert_int_equal(pthread_create(&first, NULL, wait_there, NULL), 0);
	while (sem_wait(&begun))
		;
	begin(&t, NULL);
	alarm(LIMIT_S);		/* ends the test: setuid() would wait for ever */
	assert_int_equal(setuid(getuid()), 0);
	alarm(0);
	sem_post(&may_end);
	end(t);
	assert_int_equal(pthread_join(first, NULL), 0);
}

static void start__with_attributes(void **state)
{
	pthread_attr_t attr;
	pthread_t t;

	(void)state;
	assert_int_equal(pthread_attr_init(&attr), 0);
	assert_int_equal(pthread_attr_setstacksize(&attr, 1 << 20), 0);
	begin(&t, &attr);
	end(t);
	pthread_attr_destroy(&attr);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(start__signals_are_the_programs),
		cmocka_unit_test(start__the_user_can_be_changed),
		cmocka_unit_test(start__with_attributes),
	};

	sem_init(&begun, 0, 0);
	sem_init(&may_end, 0, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
