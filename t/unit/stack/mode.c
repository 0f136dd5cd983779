/* SPDX-License-Identifier: BSD-2-Clause */
#include "stack/mode.h"

#include "../test.h"

static void threads__are_counted(void **state)
{
	(void)state;
	assert_int_equal(tux_mode_threads("inline"), 0);
	assert_int_equal(tux_mode_threads("threads=1"), 1);
	assert_int_equal(tux_mode_threads("threads=16"), TUX_LOOPS_MAX);
	assert_int_equal(tux_mode_threads("threads=007"), 7);
}

static void threads__have_a_limit(void **state)
{
	(void)state;
	assert_int_equal(tux_mode_threads("threads=0"), -1);
	assert_int_equal(tux_mode_threads("threads=17"), -1);
	assert_int_equal(tux_mode_threads("threads=160"), -1);
	assert_int_equal(tux_mode_threads("threads=4294967297"), -1);
	assert_int_equal(tux_mode_threads("threads=99999999999999999999"), -1);
}

static void threads__are_a_number(void **state)
{
	(void)state;
	assert_int_equal(tux_mode_threads(""), -1);
	assert_int_equal(tux_mode_threads("threads"), -1);
	assert_int_equal(tux_mode_threads("threads="), -1);
	assert_int_equal(tux_mode_threads("threads=-1"), -1);
	assert_int_equal(tux_mode_threads("threads= 1"), -1);
	assert_int_equal(tux_mode_threads("threads=3x"), -1);
	assert_int_equal(tux_mode_threads("Inline"), -1);
	assert_int_equal(tux_mode_threads("inline,"), -1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads__are_counted),
		cmocka_unit_test(threads__have_a_limit),
		cmocka_unit_test(threads__are_a_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
