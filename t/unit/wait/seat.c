/* SPDX-License-Identifier: BSD-2-Clause */
#include "wait/seat.h"

#include <pthread.h>

#include "../test.h"

enum { THREADS = 1100 };	/* more than there are seats */

static int first, other;		/* instances */

static void enter__is_seen_until_the_thread_leaves(void **state)
{
	struct seated s;

	(void)state;
	assert_int_equal(seat_count(&first), 0);
	seat_enter(&s, &first);
	assert_int_not_equal(seat_count(&first), 0);
	assert_int_equal(seat_count(&other), 0);
	seat_leave(&s);
	assert_int_equal(seat_count(&first), 0);
}

/* A handler waits for another instance, while its thread waits. */
static void enter__within_another_gives_the_seat_back(void **state)
{
	struct seated s, t;

	(void)state;
	seat_enter(&s, &first);
	seat_enter(&t, &other);
	assert_int_not_equal(seat_count(&other), 0);
	assert_int_not_equal(seat_count(&first), 0);
	seat_leave(&t);
	assert_int_not_equal(seat_count(&first), 0);
	assert_int_equal(seat_count(&other), 0);
	seat_leave(&s);
	assert_int_equal(seat_count(&first), 0);
}

static pthread_barrier_t all_in, seen;

static void *waits(void *ep)
{
	struct seated s;

	seat_enter(&s, ep);
	pthread_barrier_wait(&all_in);
	pthread_barrier_wait(&seen);
	seat_leave(&s);
	return NULL;
}

/* Who has no seat may wait for any instance. */
static void enter__is_seen_of_more_threads_than_seats(void **state)
{
	static pthread_t t[THREADS];
	pthread_attr_t small;

	(void)state;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	pthread_barrier_init(&all_in, NULL, THREADS + 1);
	pthread_barrier_init(&seen, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&t[i], &small, waits, &first),
				 0);
	pthread_barrier_wait(&all_in);
	assert_int_not_equal(seat_count(&first), 0);
	assert_int_not_equal(seat_count(&other), 0);
	pthread_barrier_wait(&seen);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	assert_int_equal(seat_count(&first), 0);
	assert_int_equal(seat_count(&other), 0);
	pthread_attr_destroy(&small);
}

static void *comes_and_goes(void *ep)
{
	struct seated s;

	seat_enter(&s, ep);
	seat_leave(&s);
	return seat_count(ep) ? ep : NULL;
}

/* Threads that have ended need no seats of their own. */
static void enter__takes_over_what_ended_threads_had(void **state)
{
	struct seated s;
	pthread_t t;
	void *r;

	(void)state;
	seat_forked();
	for (int i = 0; i < 2 * THREADS; i++) {
		assert_int_equal(pthread_create(&t, NULL, comes_and_goes,
						&first), 0);
		pthread_join(t, &r);
		assert_null(r);
	}
	seat_enter(&s, &first);
	assert_non_null(s.seat);
	seat_leave(&s);
}

static void forked__forgets_the_other_threads(void **state)
{
	struct seated s;

	(void)state;
	seat_enter(&s, &first);
	seat_forked();
	assert_int_equal(seat_count(&first), 0);
	seat_enter(&s, &other);
	assert_int_not_equal(seat_count(&other), 0);
	seat_leave(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(enter__is_seen_until_the_thread_leaves),
		cmocka_unit_test(enter__within_another_gives_the_seat_back),
		cmocka_unit_test(enter__is_seen_of_more_threads_than_seats),
		cmocka_unit_test(enter__takes_over_what_ended_threads_had),
		cmocka_unit_test(forked__forgets_the_other_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
