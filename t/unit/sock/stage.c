/* SPDX-License-Identifier: BSD-2-Clause */
#include "sock/stage.h"

#include <pthread.h>

#include "../test.h"

static bool may(enum sock_stage from, enum sock_stage to)
{
	return stage_next[from] >> to & 1;
}

static void table__a_sock_is_closed_once(void **state)
{
	(void)state;
	for (int from = SOCK_LISTENER; from < SOCK_CLOSED; from++) {
		assert_true(may((enum sock_stage)from, SOCK_CLOSED));
		assert_false(may(SOCK_CLOSED, (enum sock_stage)from));
	}
}

/* What is claimed, or plain TCP, has been SOCK_CLAIMING: one thread has
 * decided. */
static void table__one_thread_decides(void **state)
{
	(void)state;
	for (int from = 0; from < SOCK_STAGES; from++) {
		assert_int_equal(may((enum sock_stage)from, SOCK_CLAIMED),
				 from == SOCK_CLAIMING);
		/* ... back from LOST, when an exec has failed. */
		assert_int_equal(may((enum sock_stage)from, SOCK_TCP),
				 from == SOCK_CLAIMING || from == SOCK_LOST);
		assert_int_equal(may((enum sock_stage)from, SOCK_PLAIN),
				 from == SOCK_CLAIMED);
	}
}

static void try__only_from_the_stage_it_is_in(void **state)
{
	struct sock s = { .stage = SOCK_CANDIDATE };

	(void)state;
	assert_false(stage_try(&s, SOCK_CLAIMED, SOCK_CLAIMING));
	assert_int_equal(stage_of(&s), SOCK_CANDIDATE);
	assert_true(stage_try(&s, SOCK_CANDIDATE, SOCK_CLAIMING));
	assert_false(stage_try(&s, SOCK_CANDIDATE, SOCK_CLAIMING));
	assert_true(stage_try(&s, SOCK_CLAIMING, SOCK_CLAIMED));
	stage_close(&s);
	assert_int_equal(stage_of(&s), SOCK_CLOSED);
}

static void hold__is_for_candidates(void **state)
{
	(void)state;
	for (int stage = SOCK_LISTENER; stage < SOCK_STAGES; stage++) {
		struct sock s = { .stage = (uint8_t)stage };

		if (stage == SOCK_CLAIMING)
			continue;
		assert_int_equal(stage_hold(&s), stage == SOCK_CANDIDATE);
		assert_int_equal(stage_of(&s), stage == SOCK_CANDIDATE ?
					       SOCK_CLAIMING : stage);
	}
}

static struct sock held = { .stage = SOCK_CLAIMING };

static void *leaves(void *arg)
{
	assert_true(stage_try(&held, SOCK_CLAIMING, SOCK_CANDIDATE));
	return arg;
}

static void hold__waits_for_the_thread_that_claims(void **state)
{
	pthread_t t;

	(void)state;
	assert_int_equal(pthread_create(&t, NULL, leaves, NULL), 0);
	assert_true(stage_hold(&held));
	pthread_join(t, NULL);
	assert_int_equal(stage_of(&held), SOCK_CLAIMING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table__a_sock_is_closed_once),
		cmocka_unit_test(table__one_thread_decides),
		cmocka_unit_test(try__only_from_the_stage_it_is_in),
		cmocka_unit_test(hold__is_for_candidates),
		cmocka_unit_test(hold__waits_for_the_thread_that_claims),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
