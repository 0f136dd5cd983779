/* SPDX-License-Identifier: BSD-2-Clause */
#include "../../../tuxd/kernel.h"

#include "../test.h"

static void since__compares_both_numbers(void **state)
{
	(void)state;
	assert_true(kernel_since("6.12.0", 6, 12));
	assert_true(kernel_since("6.18.44-fc-v669", 6, 12));
	assert_true(kernel_since("7.0-rc1", 6, 12));
	assert_false(kernel_since("6.9.1", 6, 12));
	assert_false(kernel_since("5.15.0-91-generic", 5, 18));
	assert_false(kernel_since("", 5, 18));
	assert_false(kernel_since("unknown", 5, 18));
}

static void is_cgroup__knows_others(void **state)
{
	(void)state;
	assert_false(kernel_is_cgroup("/proc"));
	assert_false(kernel_is_bpffs("/proc"));
	assert_false(kernel_is_bpffs("/there is none"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(since__compares_both_numbers),
		cmocka_unit_test(is_cgroup__knows_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
