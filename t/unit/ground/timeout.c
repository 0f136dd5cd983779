/* SPDX-License-Identifier: BSD-2-Clause */
#include "ground/timeout.h"

#include <limits.h>

#include "../test.h"

static void ms__below_zero_is_for_ever(void **state)
{
	(void)state;
	assert_int_equal(timeout_ms(0), 0);
	assert_int_equal(timeout_ms(3), TUX_MSEC(3));
	assert_int_equal(timeout_ms(INT_MAX), TUX_MSEC(INT_MAX));
	assert_true(timeout_ms(-1) == TUX_NEVER);
	assert_true(timeout_ms(INT_MIN) == TUX_NEVER);
}

static void valid__as_the_kernel_has_it(void **state)
{
	const struct timespec good = { 0, 999999999 }, many = { 0, 1000000000 };
	const struct timespec neg = { -1, 0 }, nsec = { 0, -1 };

	(void)state;
	assert_true(timeout_valid(NULL));
	assert_true(timeout_valid(&good));
	assert_false(timeout_valid(&many));
	assert_false(timeout_valid(&neg));
	assert_false(timeout_valid(&nsec));
}

static void ts__does_not_overflow(void **state)
{
	const struct timespec some = { 2, 5 };
	const struct timespec most = { LONG_MAX, 999999999 };

	(void)state;
	assert_true(timeout_ts(NULL) == TUX_NEVER);
	assert_int_equal(timeout_ts(&some), TUX_SEC(2) + 5);
	assert_true(timeout_ts(&most) == TUX_NEVER);
}

static void until__is_zero_for_a_look(void **state)
{
	(void)state;
	assert_int_equal(timeout_until(0, TUX_SEC(7)), 0);
	assert_int_equal(timeout_until(5, TUX_SEC(7)), TUX_SEC(7) + 5);
	assert_true(timeout_until(TUX_NEVER, TUX_SEC(7)) == TUX_NEVER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ms__below_zero_is_for_ever),
		cmocka_unit_test(valid__as_the_kernel_has_it),
		cmocka_unit_test(ts__does_not_overflow),
		cmocka_unit_test(until__is_zero_for_a_look),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
