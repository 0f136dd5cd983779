/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/setxid.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "../test.h"
#include "run/sched.h"
#include "run/switch.h"
#include "sys/clock.h"

enum { TIMES = 100, LIMIT_S = 30 };

static atomic_bool runs, set, late;

/* Never preempted: whoever needs that is late. */
static void run_until_set(struct tux_task *t)
{
	tux_time from = tux_clock_read();

	(void)t;
	atomic_store(&runs, true);
	while (!atomic_load(&set) && !atomic_load(&late))
		atomic_store(&late, tux_clock_read() - from > TUX_SEC(LIMIT_S));
	errno = 0;
}

static void *set_user(void *arg)
{
	unsigned i;

	while (!atomic_load(&runs))
		sched_yield();
	for (i = 0; i < TIMES; i++)
		if (setuid(getuid()))
			break;
	*(unsigned *)arg = i;
	atomic_store(&set, true);
	return NULL;
}

/* Another thread does, while the network thread is in a routine. */
static void setuid__by_a_thread_beside_a_routine(void **state)
{
	struct tux_sched_opts o = { .routines_max = 4 };
	struct tux_strand x;
	struct tux_task task;
	struct tux_sched *s;
	unsigned n = 0;
	pthread_t t;

	(void)state;
	if (!tux_switch_has_tls())
		skip();
	assert_int_equal(tux_sched_new(&s, &o), 0);
	tux_strand_init(&x);
	tux_task_init(&task, &x, run_until_set);
	tux_sched_put(s, &task);
	assert_int_equal(pthread_create(&t, NULL, set_user, &n), 0);
	while (tux_sched_run(s))
		;
	pthread_join(t, NULL);
	assert_false(atomic_load(&late));
	assert_int_equal(n, TIMES);
	tux_sched_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(setuid__by_a_thread_beside_a_routine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
