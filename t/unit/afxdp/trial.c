/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Drivers as they have been met, played here: what they gave back and received
 * is all that a trial knows of them.
 */
#include "afxdp/trial.h"

#include "../test.h"

static struct tux_trial begin(void)
{
	struct tux_trial t;

	tux_trial_begin(&t);
	return t;
}

static enum tux_trial_state look(struct tux_trial *t, unsigned sent,
				 unsigned left, unsigned came, unsigned ms)
{
	return tux_trial_look(t, sent, left, came, TUX_SEC(100) + TUX_MSEC(ms));
}

static void none__is_never_over(void **state)
{
	struct tux_trial t = { TUX_TRIAL_NONE, 0 };

	(void)state;
	assert_int_equal(look(&t, 9, 0, 0, 0), TUX_TRIAL_NONE);
	assert_int_equal(look(&t, 9, 9, 9, 9999), TUX_TRIAL_NONE);
}

static void look__waits_for_the_first_packet(void **state)
{
	struct tux_trial t = begin();

	(void)state;
	assert_int_equal(look(&t, 0, 0, 0, 0), TUX_TRIAL_RUNS);
	assert_int_equal(look(&t, 0, 0, 0, 60000), TUX_TRIAL_RUNS);
	assert_int_equal(look(&t, 1, 0, 0, 61000), TUX_TRIAL_RUNS);
	assert_int_equal(look(&t, 4, 0, 0, 63999), TUX_TRIAL_RUNS);
	assert_int_equal(look(&t, 5, 1, 1, 64000), TUX_TRIAL_PASSED);
}

static void look__passes_a_round_trip(void **state)
{
	struct tux_trial t = begin();

	(void)state;
	assert_int_equal(look(&t, 1, 1, 0, 0), TUX_TRIAL_RUNS);
	assert_int_equal(look(&t, 2, 1, 1, 1000), TUX_TRIAL_PASSED);
	/* What comes later is the path's business, not the driver's. */
	assert_int_equal(look(&t, 9, 1, 1, 99000), TUX_TRIAL_PASSED);
}

/* ixgbe: packets leave when the program ends. */
static void look__finds_a_driver_that_keeps_packets(void **state)
{
	struct tux_trial t = begin();

	(void)state;
	assert_int_equal(look(&t, 1, 0, 3, 0), TUX_TRIAL_RUNS);
	assert_int_equal(look(&t, 5, 0, 3, 2999), TUX_TRIAL_RUNS);
	assert_int_equal(look(&t, 5, 0, 3, 3000), TUX_TRIAL_STUCK);
	assert_int_equal(look(&t, 5, 5, 5, 3001), TUX_TRIAL_STUCK);
}

/* ENA: nothing is ever redirected. */
static void look__finds_a_driver_that_receives_nothing(void **state)
{
	struct tux_trial t = begin();

	(void)state;
	assert_int_equal(look(&t, 1, 1, 0, 0), TUX_TRIAL_RUNS);
	assert_int_equal(look(&t, 5, 5, 0, 3000), TUX_TRIAL_DEAF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(none__is_never_over),
		cmocka_unit_test(look__waits_for_the_first_packet),
		cmocka_unit_test(look__passes_a_round_trip),
		cmocka_unit_test(look__finds_a_driver_that_keeps_packets),
		cmocka_unit_test(look__finds_a_driver_that_receives_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
