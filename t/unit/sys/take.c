/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/take.h"

#include <pthread.h>

#include "../test.h"

enum { TIMES = 20000 };

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

/* It waits for who is inside, and nobody is lost. */
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

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(take__one_at_a_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
