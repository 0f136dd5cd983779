/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/map.h"

#include <errno.h>
#include <stdbool.h>

#include "../test.h"

enum { KEYS = 600, SECRET = 42 };

static char val[KEYS];		/* only their addresses count */

/* Keys that look alike: sequential, far apart, and in the high bits only. */
static uint64_t key_of(unsigned i)
{
	switch (i % 3) {
	case 0:
		return i;
	case 1:
		return (uint64_t)i << 32;
	default:
		return UINT64_MAX - (uint64_t)i * 4096;
	}
}

static void get__of_an_empty_map(void **state)
{
	struct test_mem mem;
	struct tux_map m;

	(void)state;
	test_mem_init(&mem, -1);
	tux_map_init(&m, SECRET, &mem.mem);
	assert_null(tux_map_get(&m, 0));
	assert_null(tux_map_del(&m, 0));
	tux_map_fini(&m);
	assert_int_equal(mem.asked, 0);
}

static void put__then_get(void **state)
{
	struct test_mem mem;
	struct tux_map m;
	unsigned i;

	(void)state;
	test_mem_init(&mem, -1);
	tux_map_init(&m, SECRET, &mem.mem);
	for (i = 0; i < KEYS; i++)
		assert_int_equal(tux_map_put(&m, key_of(i), &val[i]), 0);
	assert_int_equal(m.len, KEYS);
	for (i = 0; i < KEYS; i++)
		assert_ptr_equal(tux_map_get(&m, key_of(i)), &val[i]);
	assert_null(tux_map_get(&m, 0x123456789));
	tux_map_fini(&m);
	assert_int_equal(mem.live, 0);
}

static void put__of_a_known_key_changes_nothing(void **state)
{
	struct test_mem mem;
	struct tux_map m;

	(void)state;
	test_mem_init(&mem, -1);
	tux_map_init(&m, SECRET, &mem.mem);
	assert_int_equal(tux_map_put(&m, 7, &val[0]), 0);
	assert_int_equal(tux_map_put(&m, 7, &val[1]), -EEXIST);
	assert_ptr_equal(tux_map_get(&m, 7), &val[0]);
	assert_int_equal(m.len, 1);
	tux_map_fini(&m);
}

static void del__returns_the_value_once(void **state)
{
	struct test_mem mem;
	struct tux_map m;

	(void)state;
	test_mem_init(&mem, -1);
	tux_map_init(&m, SECRET, &mem.mem);
	assert_int_equal(tux_map_put(&m, 0, &val[3]), 0);
	assert_null(tux_map_del(&m, 1));
	assert_ptr_equal(tux_map_del(&m, 0), &val[3]);
	assert_null(tux_map_del(&m, 0));
	assert_int_equal(m.len, 0);
	assert_int_equal(tux_map_put(&m, 0, &val[4]), 0);
	assert_ptr_equal(tux_map_get(&m, 0), &val[4]);
	tux_map_fini(&m);
}

/* Adds and removes at random and stays near the load limit, so that runs of
 * slots wrap around the end of the array and are shifted back in every way. */
static void random__agrees_with_an_array(void **state)
{
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 20; seed++) {
		/* From a handful of keys up to all of them. */
		unsigned keys = KEYS * (unsigned)seed / 20;
		bool in[KEYS] = { false };
		uint64_t rnd = seed;
		struct test_mem mem;
		struct tux_map m;
		unsigned i, k;

		test_mem_init(&mem, -1);
		tux_map_init(&m, seed, &mem.mem);
		for (i = 0; i < 10000; i++) {
			k = test_below(&rnd, keys);
			if (test_below(&rnd, 2))
				assert_int_equal(tux_map_put(&m, key_of(k),
							     &val[k]),
						 in[k] ? -EEXIST : 0);
			else
				assert_ptr_equal(tux_map_del(&m, key_of(k)),
						 in[k] ? &val[k] : NULL);
			in[k] = tux_map_get(&m, key_of(k));
			k = test_below(&rnd, keys);
			assert_ptr_equal(tux_map_get(&m, key_of(k)),
					 in[k] ? &val[k] : NULL);
		}
		for (k = 0; k < keys; k++)
			assert_ptr_equal(tux_map_del(&m, key_of(k)),
					 in[k] ? &val[k] : NULL);
		assert_int_equal(m.len, 0);
		tux_map_fini(&m);
		assert_int_equal(mem.live, 0);
	}
}

static void secret__changes_the_places(void **state)
{
	struct tux_map m[2];
	struct test_mem mem;
	unsigned i, j, same = 0;

	(void)state;
	test_mem_init(&mem, -1);
	for (j = 0; j < 2; j++) {
		tux_map_init(&m[j], j, &mem.mem);
		for (i = 0; i < KEYS; i++)
			assert_int_equal(tux_map_put(&m[j], i, &val[i]), 0);
	}
	assert_int_equal(m[0].cap, m[1].cap);
	for (i = 0; i < m[0].cap; i++)
		same += m[0].slot[i].val &&
			m[0].slot[i].val == m[1].slot[i].val;
	/* A few keys share a slot in both maps by chance. */
	assert_true(same < 20);
	tux_map_fini(&m[0]);
	tux_map_fini(&m[1]);
}

static void put__each_allocation_may_fail(void **state)
{
	int left, err = -1;

	(void)state;
	for (left = 0; err; left++) {
		struct test_mem mem;
		struct tux_map m;
		unsigned i, j;

		test_mem_init(&mem, left);
		tux_map_init(&m, SECRET, &mem.mem);
		err = 0;
		for (i = 0; i < KEYS && !err; i++)
			err = tux_map_put(&m, key_of(i), &val[i]);
		assert_true(!err || err == -ENOMEM);
		/* The failure has not changed what was there. */
		for (j = 0; j < m.len; j++)
			assert_ptr_equal(tux_map_get(&m, key_of(j)), &val[j]);
		assert_int_equal(m.len, err ? i - 1 : KEYS);
		tux_map_fini(&m);
		assert_int_equal(mem.live, 0);
	}
	assert_in_range(left, 2, 12);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(get__of_an_empty_map),
		cmocka_unit_test(put__then_get),
		cmocka_unit_test(put__of_a_known_key_changes_nothing),
		cmocka_unit_test(del__returns_the_value_once),
		cmocka_unit_test(random__agrees_with_an_array),
		cmocka_unit_test(secret__changes_the_places),
		cmocka_unit_test(put__each_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
