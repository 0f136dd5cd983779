/* SPDX-License-Identifier: BSD-2-Clause */
#include <tux.h>

#include "../test.h"
#include "config.h"

static void version__is_the_packages(void **state)
{
	(void)state;
	assert_string_equal(tux_version(), PACKAGE_VERSION);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(version__is_the_packages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
