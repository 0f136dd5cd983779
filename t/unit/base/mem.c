/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/mem.h"

#include "../test.h"

static void alloc__asks_its_owner(void **state)
{
	struct test_mem m;
	void *p;

	(void)state;
	test_mem_init(&m, 1);
	p = tux_mem_alloc(&m.mem, 8);
	assert_non_null(p);
	assert_int_equal(m.asked, 1);
	assert_null(tux_mem_alloc(&m.mem, 8));
	assert_int_equal(m.asked, 2);
	tux_mem_free(&m.mem, p);
	assert_int_equal(m.live, 0);
	tux_mem_free(&m.mem, NULL);
	assert_int_equal(m.live, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(alloc__asks_its_owner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
