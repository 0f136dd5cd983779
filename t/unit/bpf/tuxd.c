/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tuxd - what tuxd's programs compute
 */
#include "tuxd_bpf.h"

#include "../test.h"

/* Before Linux 6.13, a single reference counts as 1. */
static void held__counted_from_one(void **state)
{
	(void)state;
	assert_int_equal(tux_bpf_held(1, 1, 0), 1);
	assert_int_equal(tux_bpf_held(3, 1, 0), 3);
}

static void held__counted_from_zero(void **state)
{
	(void)state;
	assert_int_equal(tux_bpf_held(0, 0, 0), 1);
	assert_int_equal(tux_bpf_held(2, 0, 0), 3);
}

/* In a process with threads, the call that asks has a reference of its own. */
static void held__not_the_calls_own(void **state)
{
	(void)state;
	assert_int_equal(tux_bpf_held(2, 1, 1), 1);
	assert_int_equal(tux_bpf_held(1, 0, 1), 1);
}

static void held__no_more_than_a_word_has(void **state)
{
	(void)state;
	assert_int_equal(tux_bpf_held(255, 1, 0), 255);
	assert_int_equal(tux_bpf_held(256, 1, 0), 255);
	assert_int_equal(tux_bpf_held(1u << 31, 1, 1), 255);
}

static void held__never_of_no_reference(void **state)
{
	(void)state;
	assert_true(tux_bpf_held(0, 1, 1) < 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(held__counted_from_one),
		cmocka_unit_test(held__counted_from_zero),
		cmocka_unit_test(held__not_the_calls_own),
		cmocka_unit_test(held__no_more_than_a_word_has),
		cmocka_unit_test(held__never_of_no_reference),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
