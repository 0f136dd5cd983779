/* SPDX-License-Identifier: BSD-2-Clause */
#include "loop/loop_busy.h"

#include <pthread.h>

#include "../test.h"

/* One for each test: it is large. */
static struct tux_loop *loop_at(tux_time now)
{
	static struct tux_loop loops[4];
	static unsigned n;
	struct tux_loop *l = &loops[n++ % N_OF(loops)];

	l->now = now;
	tux_cpu_busy_init(&l->busy);
	return l;
}

/* The kernel tells the times of the thread that asks. */
static void look__sees_its_own_thread(void **state)
{
	struct tux_loop *l = loop_at(TUX_SEC(1));
	volatile unsigned n = 0;
	tux_time ran;

	(void)state;
	assert_false(tux_loop_look_busy(l));
	if (!l->busy.begun) {
		print_message("the kernel does not tell\n");
		skip();
	}
	ran = l->busy.seen.ran;
	/* The kernel may count by the tick. */
	while (n < 100000000)
		n++;
	l->sleeps = l->packets = TUX_CPU_BUSY_SLEEPS;
	l->now = l->busy.next;
	assert_false(tux_loop_look_busy(l));
	assert_true(l->busy.seen.ran > ran);
	assert_int_equal(l->busy.seen.packets, TUX_CPU_BUSY_SLEEPS);
}

static void *look(void *arg)
{
	tux_loop_look_busy(arg);
	return NULL;
}

static void look__sees_another_thread(void **state)
{
	struct tux_loop *l = loop_at(TUX_SEC(1));
	pthread_t t;
	uintptr_t mine;

	(void)state;
	assert_false(tux_loop_look_busy(l));
	if (!l->busy.begun)
		skip();
	mine = l->busy.seen.thread;
	l->now = l->busy.next;
	assert_int_equal(pthread_create(&t, NULL, look, l), 0);
	assert_int_equal(pthread_join(t, NULL), 0);
	assert_true(l->busy.seen.thread != mine);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(look__sees_its_own_thread),
		cmocka_unit_test(look__sees_another_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
