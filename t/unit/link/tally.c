/* SPDX-License-Identifier: BSD-2-Clause */
#include "link/tally.h"

#include "../test.h"

static void missing__what_is_in_no_place(void **state)
{
	struct tux_tally t = {
		.frames = 100, .free = 40, .fill = 30, .held = 5, .built = 4,
		.sent = 20,
	};

	(void)state;
	assert_int_equal(tux_tally_missing(&t), 1);
	t.sent++;
	assert_int_equal(tux_tally_missing(&t), 0);
	/* One that is in two places is worse than one that is in none. */
	t.free++;
	assert_true(tux_tally_missing(&t) == -1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(missing__what_is_in_no_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
