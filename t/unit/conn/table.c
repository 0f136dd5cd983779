/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn/table.h"

#include <errno.h>

#include "../test.h"

static const struct tux_key key = { 3, 4 };
static const struct tux_tuple tuple = {
	.active = { .ip = { 1 }, .port = 40000 },
	.passive = { .ip = { 2 }, .port = 6379 },
};

/* The table never dereferences the pointers that it keeps. */
static struct tux_conn *conn(uintptr_t n)
{
	return (struct tux_conn *)n;
}

static void add__finds_by_both(void **state)
{
	struct test_mem m;
	struct tux_table t;

	(void)state;
	test_mem_init(&m, -1);
	tux_table_init(&t, &key, &m.mem);
	assert_int_equal(tux_table_add(&t, 7, &tuple, true, conn(8)), 0);
	assert_ptr_equal(tux_table_by_id(&t, 7), conn(8));
	assert_ptr_equal(tux_table_by_tuple(&t, &tuple, true), conn(8));
	assert_null(tux_table_by_tuple(&t, &tuple, false));
	tux_table_fini(&t);
	assert_int_equal(m.live, 0);
}

static void add__both_ends_in_one_process(void **state)
{
	struct test_mem m;
	struct tux_table t;

	(void)state;
	test_mem_init(&m, -1);
	tux_table_init(&t, &key, &m.mem);
	assert_int_equal(tux_table_add(&t, 7, &tuple, true, conn(8)), 0);
	assert_int_equal(tux_table_add(&t, 9, &tuple, false, conn(16)), 0);
	assert_ptr_equal(tux_table_by_tuple(&t, &tuple, false), conn(16));
	tux_table_fini(&t);
}

static void add__twice_leaves_nothing(void **state)
{
	struct test_mem m;
	struct tux_table t;

	(void)state;
	test_mem_init(&m, -1);
	tux_table_init(&t, &key, &m.mem);
	assert_int_equal(tux_table_add(&t, 7, &tuple, true, conn(8)), 0);
	assert_int_equal(tux_table_add(&t, 9, &tuple, true, conn(16)), -EEXIST);
	assert_null(tux_table_by_id(&t, 9));
	tux_table_fini(&t);
}

static void add__without_memory(void **state)
{
	struct test_mem m;
	struct tux_table t;
	int left, err;

	(void)state;
	for (left = 0;; left++) {
		test_mem_init(&m, left);
		tux_table_init(&t, &key, &m.mem);
		err = tux_table_add(&t, 7, &tuple, true, conn(8));
		if (!err)
			break;
		assert_int_equal(err, -ENOMEM);
		assert_null(tux_table_by_id(&t, 7));
		tux_table_fini(&t);
		assert_int_equal(m.live, 0);
	}
	tux_table_fini(&t);
}

static void miss(const struct tux_table *t, uint8_t *byte,
		 const struct tux_tuple *other)
{
	*byte ^= 1;
	assert_null(tux_table_by_tuple(t, other, true));
	*byte ^= 1;
}

/* Tuples that differ in one byte are different. */
static void by_tuple__all_of_it(void **state)
{
	struct tux_tuple other = tuple;
	struct test_mem m;
	struct tux_table t;
	unsigned i;

	(void)state;
	test_mem_init(&m, -1);
	tux_table_init(&t, &key, &m.mem);
	assert_int_equal(tux_table_add(&t, 7, &tuple, true, conn(8)), 0);
	for (i = 0; i < 16; i++) {
		miss(&t, &other.active.ip[i], &other);
		miss(&t, &other.passive.ip[i], &other);
	}
	for (i = 0; i < 2; i++) {
		miss(&t, (uint8_t *)&other.active.port + i, &other);
		miss(&t, (uint8_t *)&other.passive.port + i, &other);
	}
	assert_ptr_equal(tux_table_by_tuple(&t, &other, true), conn(8));
	tux_table_fini(&t);
}

static void del__forgets_both(void **state)
{
	struct test_mem m;
	struct tux_table t;

	(void)state;
	test_mem_init(&m, -1);
	tux_table_init(&t, &key, &m.mem);
	assert_int_equal(tux_table_add(&t, 7, &tuple, true, conn(8)), 0);
	tux_table_del(&t, 7, &tuple, true);
	assert_null(tux_table_by_id(&t, 7));
	assert_null(tux_table_by_tuple(&t, &tuple, true));
	tux_table_fini(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(add__finds_by_both),
		cmocka_unit_test(add__both_ends_in_one_process),
		cmocka_unit_test(add__twice_leaves_nothing),
		cmocka_unit_test(add__without_memory),
		cmocka_unit_test(by_tuple__all_of_it),
		cmocka_unit_test(del__forgets_both),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
