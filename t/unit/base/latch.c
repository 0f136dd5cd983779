/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/latch.h"

#include <pthread.h>
#include <sched.h>

#include "../test.h"

static void try__succeeds_once(void **state)
{
	struct tux_latch l = { 0 };

	(void)state;
	assert_true(tux_latch_try(&l));
	assert_false(tux_latch_try(&l));
	assert_false(tux_latch_try(&l));
	tux_latch_drop(&l);
	assert_true(tux_latch_try(&l));
}

enum { THREADS = 4, TURNS = 20000 };

static struct tux_latch latch;
static unsigned long turns;	/* under the latch, and not atomic */

static void *take_turns(void *arg)
{
	unsigned i;

	for (i = 0; i < TURNS; i++) {
		while (!tux_latch_try(&latch))
			sched_yield();
		turns++;
		tux_latch_drop(&latch);
	}
	return arg;
}

static void threads__one_is_inside(void **state)
{
	pthread_t t[THREADS];
	unsigned i;

	(void)state;
	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&t[i], NULL, take_turns, NULL),
				 0);
	for (i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	assert_int_equal(turns, (unsigned long)THREADS * TURNS);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(try__succeeds_once),
		cmocka_unit_test(threads__one_is_inside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
