/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/time.h"

#include "../test.h"

static void units__are_nanoseconds(void **state)
{
	(void)state;
	assert_true(TUX_USEC(3) == 3000);
	assert_true(TUX_MSEC(3) == 3000000);
	/* A duration that does not fit 32 bits. */
	assert_true(TUX_SEC(100) == 100000000000);
}

static void add__adds(void **state)
{
	(void)state;
	assert_true(tux_time_add(5, 7) == 12);
	assert_true(tux_time_add(0, TUX_NEVER) == TUX_NEVER);
}

static void add__saturates(void **state)
{
	(void)state;
	assert_true(tux_time_add(TUX_NEVER, 0) == TUX_NEVER);
	assert_true(tux_time_add(TUX_NEVER, 1) == TUX_NEVER);
	assert_true(tux_time_add(TUX_NEVER - 1, 1) == TUX_NEVER);
	assert_true(tux_time_add(TUX_NEVER - 1, 2) == TUX_NEVER);
	assert_true(tux_time_add(2, TUX_NEVER) == TUX_NEVER);
}

static void min__is_the_earlier(void **state)
{
	(void)state;
	assert_true(tux_time_min(1, 2) == 1);
	assert_true(tux_time_min(2, 1) == 1);
	assert_true(tux_time_min(TUX_NEVER, 2) == 2);
}

static void since__is_never_negative(void **state)
{
	(void)state;
	assert_true(tux_time_since(10, 25) == 15);
	assert_true(tux_time_since(25, 25) == 0);
	assert_true(tux_time_since(25, 10) == 0);
	assert_true(tux_time_since(TUX_NEVER, 10) == 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(units__are_nanoseconds),
		cmocka_unit_test(add__adds),
		cmocka_unit_test(add__saturates),
		cmocka_unit_test(min__is_the_earlier),
		cmocka_unit_test(since__is_never_negative),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
