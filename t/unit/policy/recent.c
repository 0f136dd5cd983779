/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/recent.h"

#include "../test.h"

enum { MANY = 1000 };

static const char conn[MANY][128];

static void count__tells_few_apart(void **state)
{
	struct tux_recent r = { .now = 0 };

	(void)state;
	assert_int_equal(tux_recent_count(&r, TUX_SEC(1)), 0);
	for (unsigned i = 0; i < 10; i++)
		tux_recent_mark(&r, conn[0]);
	assert_int_equal(tux_recent_count(&r, TUX_SEC(1)), 1);
	for (unsigned i = 0; i < 8; i++)
		tux_recent_mark(&r, conn[i]);
	assert_in_range(tux_recent_count(&r, TUX_SEC(1)), 5, 8);
}

static void count__has_an_end(void **state)
{
	struct tux_recent r = { .now = 0 };

	(void)state;
	for (unsigned i = 0; i < MANY; i++)
		tux_recent_mark(&r, conn[i]);
	assert_in_range(tux_recent_count(&r, TUX_SEC(1)), 48, 64);
}

static void count__forgets(void **state)
{
	struct tux_recent r = { .now = 0 };
	tux_time t = TUX_SEC(1);

	(void)state;
	tux_recent_count(&r, t);
	tux_recent_mark(&r, conn[0]);
	assert_int_equal(tux_recent_count(&r, t += TUX_MSEC(99)), 1);
	assert_int_equal(tux_recent_count(&r, t += TUX_MSEC(1)), 1);
	assert_int_equal(tux_recent_count(&r, t += TUX_MSEC(100)), 1);
	assert_int_equal(tux_recent_count(&r, t += TUX_MSEC(1)), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(count__tells_few_apart),
		cmocka_unit_test(count__has_an_end),
		cmocka_unit_test(count__forgets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
