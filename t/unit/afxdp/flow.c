/* SPDX-License-Identifier: BSD-2-Clause */
#include "afxdp/flow.h"

#include "../test.h"

enum { MANY = 5000 };

static struct tux_addr addr(uint8_t last, uint16_t port)
{
	struct tux_addr a = { .ip = { [10] = 0xff, 0xff, 10, 0, 0, last },
			      .port = port };

	return a;
}

static void find__tells_flows_apart(void **state)
{
	struct tux_addr a = addr(1, 1), b = addr(2, 1), c = addr(2, 2);
	struct tux_flow *f, *g;
	struct tux_flows t;
	struct test_mem m;

	(void)state;
	test_mem_init(&m, -1);
	assert_int_equal(tux_flows_init(&t, &m.mem), 0);
	f = tux_flows_add(&t, &a, &b);
	g = tux_flows_add(&t, &a, &c);
	assert_non_null(f);
	assert_non_null(g);
	assert_ptr_equal(tux_flows_find(&t, &a, &b), f);
	assert_ptr_equal(tux_flows_find(&t, &a, &c), g);
	assert_null(tux_flows_find(&t, &b, &a));	/* the other way round */
	assert_null(tux_flows_find(&t, &c, &c));
	tux_flows_fini(&t);
	assert_int_equal(m.live, 0);
}

static void del__forgets_it(void **state)
{
	struct tux_addr a = addr(1, 1), b = addr(2, 1);
	struct tux_flow *f;
	struct tux_flows t;
	struct test_mem m;

	(void)state;
	test_mem_init(&m, -1);
	assert_int_equal(tux_flows_init(&t, &m.mem), 0);
	f = tux_flows_add(&t, &a, &b);
	assert_ptr_equal(tux_flows_find(&t, &a, &b), f);
	tux_flows_hold(&t, f);
	assert_int_equal(t.live_n, 1);
	tux_flows_release(&t, f, 5);
	assert_int_equal(t.live_n, 1);
	tux_flows_release(&t, f, 7);
	assert_int_equal(t.live_n, 0);
	assert_int_equal(f->gone_at, 7);
	assert_ptr_equal(tux_flows_find(&t, &a, &b), f);
	tux_flows_del(&t, f);
	assert_int_equal(t.n, 0);
	assert_null(tux_flows_find(&t, &a, &b));
	/* Its place is used again. */
	assert_ptr_equal(tux_flows_add(&t, &b, &a), f);
	tux_flows_fini(&t);
}

static void add__survives_want_of_memory(void **state)
{
	struct tux_addr a = addr(1, 1), b = addr(2, 1);
	struct tux_flows t;
	struct test_mem m;

	(void)state;
	test_mem_init(&m, 0);
	assert_int_equal(tux_flows_init(&t, &m.mem), 0);
	assert_null(tux_flows_add(&t, &a, &b));
	assert_int_equal(t.n, 0);
	m.left = -1;
	assert_non_null(tux_flows_add(&t, &a, &b));
	tux_flows_fini(&t);
}

static void many__are_all_found(void **state)
{
	struct tux_addr a = addr(1, 6379);
	struct tux_flows t;
	struct test_mem m;
	unsigned i;

	(void)state;
	test_mem_init(&m, -1);
	assert_int_equal(tux_flows_init(&t, &m.mem), 0);
	for (i = 0; i < MANY; i++) {
		struct tux_addr b = addr((uint8_t)(i % 7), (uint16_t)(i + 1));

		assert_non_null(tux_flows_add(&t, &a, &b));
	}
	for (i = 0; i < MANY; i++) {
		struct tux_addr b = addr((uint8_t)(i % 7), (uint16_t)(i + 1));
		struct tux_flow *f = tux_flows_find(&t, &a, &b);

		assert_non_null(f);
		assert_true(tux_addr_same(&f->peer, &b));
	}
	assert_int_equal(t.n, MANY);
	tux_flows_fini(&t);
	assert_int_equal(m.live, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(find__tells_flows_apart),
		cmocka_unit_test(del__forgets_it),
		cmocka_unit_test(add__survives_want_of_memory),
		cmocka_unit_test(many__are_all_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
