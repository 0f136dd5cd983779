/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/bell.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>

#include "../test.h"

static struct tux_bell *bell_new(uint32_t cap)
{
	struct tux_bell *b = calloc(1, tux_bell_size(cap));

	assert_non_null(b);
	tux_bell_init(b, cap);
	return b;
}

static void take__of_a_quiet_bell(void **state)
{
	struct tux_bell *b = bell_new(4);
	uint32_t i = 99;

	(void)state;
	assert_true(tux_bell_quiet(b));
	assert_false(tux_bell_take(b, &i));
	assert_int_equal(i, 99);
	free(b);
}

static void take__in_the_order_of_ringing(void **state)
{
	struct tux_bell *b = bell_new(4);
	uint32_t i, got;

	(void)state;
	for (i = 0; i < 4; i++)
		assert_false(tux_bell_ring(b, 3 - i));
	assert_false(tux_bell_quiet(b));
	for (i = 0; i < 4; i++) {
		assert_true(tux_bell_take(b, &got));
		assert_int_equal(got, 3 - i);
	}
	assert_false(tux_bell_take(b, &got));
	free(b);
}

static void ring__goes_round_and_counters_wrap(void **state)
{
	struct tux_bell *b = bell_new(4);
	uint32_t i, got;

	(void)state;
	atomic_store(&b->head, UINT32_MAX - 10);
	atomic_store(&b->tail, UINT32_MAX - 10);
	for (i = 0; i < 50; i++) {
		tux_bell_ring(b, i);
		tux_bell_ring(b, i + 1000);
		assert_true(tux_bell_take(b, &got));
		assert_int_equal(got, i);
		assert_true(tux_bell_take(b, &got));
		assert_int_equal(got, i + 1000);
		assert_true(tux_bell_quiet(b));
	}
	free(b);
}

static void ring__tells_one_caller_to_wake(void **state)
{
	struct tux_bell *b = bell_new(4);

	(void)state;
	assert_false(tux_bell_ring(b, 0));
	tux_bell_set_asleep(b, true);
	assert_true(tux_bell_ring(b, 1));
	assert_false(tux_bell_ring(b, 2));
	tux_bell_set_asleep(b, true);
	tux_bell_set_asleep(b, false);
	assert_false(tux_bell_ring(b, 3));
	free(b);
}

enum { RINGERS = 3, EACH = 20000 };

static struct tux_bell *shared;
static sem_t wake;
static _Atomic uint32_t queued[RINGERS];	/* is the index in the bell? */
static _Atomic uint32_t rung[RINGERS];		/* events of each producer */

/* A producer does as an application does with the bell of a loop: it notes an
 * event, and rings unless its index is in the bell already. */
static void *ringer(void *arg)
{
	uint32_t id = (uint32_t)(uintptr_t)arg, i;

	for (i = 0; i < EACH; i++) {
		atomic_fetch_add(&rung[id], 1);
		if (!atomic_exchange(&queued[id], 1) &&
		    tux_bell_ring(shared, id))
			sem_post(&wake);
	}
	return NULL;
}

/* The consumer.  A lost wake-up would make it sleep for ever. */
static void hear(uint32_t *seen)
{
	uint32_t id, done = 0;

	while (done < RINGERS) {
		if (tux_bell_take(shared, &id)) {
			assert_in_range(id, 0, RINGERS - 1);
			atomic_store(&queued[id], 0);
			seen[id] = atomic_load(&rung[id]);
			for (done = 0, id = 0; id < RINGERS; id++)
				done += seen[id] == EACH;
			continue;
		}
		tux_bell_set_asleep(shared, true);
		if (tux_bell_quiet(shared))
			sem_wait(&wake);
		tux_bell_set_asleep(shared, false);
	}
}

static void threads__nothing_rung_is_slept_through(void **state)
{
	uint32_t seen[RINGERS] = { 0 }, i;
	pthread_t t[RINGERS];

	(void)state;
	shared = bell_new(4);
	sem_init(&wake, 0, 0);
	for (i = 0; i < RINGERS; i++)
		assert_int_equal(pthread_create(&t[i], NULL, ringer,
						(void *)(uintptr_t)i), 0);
	hear(seen);
	for (i = 0; i < RINGERS; i++) {
		pthread_join(t[i], NULL);
		assert_int_equal(seen[i], EACH);
	}
	sem_destroy(&wake);
	free(shared);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(take__of_a_quiet_bell),
		cmocka_unit_test(take__in_the_order_of_ringing),
		cmocka_unit_test(ring__goes_round_and_counters_wrap),
		cmocka_unit_test(ring__tells_one_caller_to_wake),
		cmocka_unit_test(threads__nothing_rung_is_slept_through),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
