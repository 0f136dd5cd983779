/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/heap.h"

#include <errno.h>

#include "../test.h"

enum { NODES = 200 };

static void check(const struct tux_heap *h)
{
	uint32_t i;

	for (i = 0; i < h->len; i++) {
		assert_int_equal(h->node[i]->place, i + 1);
		if (i)
			assert_true(h->node[(i - 1) / 2]->at <= h->node[i]->at);
	}
}

static void set__min_comes_first(void **state)
{
	struct tux_heap_node n[NODES];
	struct test_mem mem;
	struct tux_heap h;
	uint64_t seed = 1;
	tux_time last = 0;
	unsigned i;

	(void)state;
	memset(n, 0, sizeof(n));
	test_mem_init(&mem, -1);
	tux_heap_init(&h, &mem.mem);
	assert_null(tux_heap_min(&h));
	assert_int_equal(tux_heap_reserve(&h, NODES), 0);
	for (i = 0; i < NODES; i++)
		tux_heap_set(&h, &n[i], test_below(&seed, 50));
	check(&h);
	for (i = 0; i < NODES; i++) {
		struct tux_heap_node *m = tux_heap_min(&h);

		assert_true(m->at >= last);
		last = m->at;
		tux_heap_set(&h, m, TUX_NEVER);
		assert_int_equal(m->place, 0);
	}
	assert_null(tux_heap_min(&h));
	tux_heap_fini(&h);
	assert_int_equal(mem.live, 0);
}

static void set__never_takes_out_and_may_be_repeated(void **state)
{
	struct tux_heap_node n = { 0 };
	struct test_mem mem;
	struct tux_heap h;

	(void)state;
	test_mem_init(&mem, -1);
	tux_heap_init(&h, &mem.mem);
	assert_int_equal(tux_heap_reserve(&h, 1), 0);
	tux_heap_set(&h, &n, TUX_NEVER);
	assert_int_equal(h.len, 0);
	tux_heap_set(&h, &n, 5);
	assert_ptr_equal(tux_heap_min(&h), &n);
	tux_heap_set(&h, &n, 6);
	assert_int_equal(h.len, 1);
	tux_heap_set(&h, &n, TUX_NEVER);
	tux_heap_set(&h, &n, TUX_NEVER);
	assert_null(tux_heap_min(&h));
	tux_heap_fini(&h);
}

/* The model to compare with: a search of all nodes for the least. */
static tux_time least(const struct tux_heap_node *n)
{
	tux_time at = TUX_NEVER;
	unsigned i;

	for (i = 0; i < NODES; i++)
		if (n[i].place)
			at = tux_time_min(at, n[i].at);
	return at;
}

static void set__agrees_with_a_search(void **state)
{
	struct tux_heap_node n[NODES];
	struct test_mem mem;
	struct tux_heap h;
	uint64_t seed = 2;
	unsigned i;

	(void)state;
	memset(n, 0, sizeof(n));
	test_mem_init(&mem, -1);
	tux_heap_init(&h, &mem.mem);
	assert_int_equal(tux_heap_reserve(&h, NODES), 0);
	for (i = 0; i < 20000; i++) {
		struct tux_heap_node *m;

		tux_heap_set(&h, &n[test_below(&seed, NODES)],
			     test_below(&seed, 3) ? test_below(&seed, 1000) :
						    TUX_NEVER);
		m = tux_heap_min(&h);
		assert_true((m ? m->at : TUX_NEVER) == least(n));
		if (i % 100 == 0)
			check(&h);
	}
	tux_heap_fini(&h);
}

static void reserve__keeps_what_is_queued(void **state)
{
	struct tux_heap_node n[NODES];
	struct test_mem mem;
	struct tux_heap h;
	unsigned i;

	(void)state;
	memset(n, 0, sizeof(n));
	test_mem_init(&mem, -1);
	tux_heap_init(&h, &mem.mem);
	for (i = 0; i < NODES; i++) {
		assert_int_equal(tux_heap_reserve(&h, i + 1), 0);
		tux_heap_set(&h, &n[i], NODES - i);
	}
	check(&h);
	assert_int_equal(h.len, NODES);
	assert_ptr_equal(tux_heap_min(&h), &n[NODES - 1]);
	assert_int_equal(mem.live, 1);
	/* The array doubles; it does not grow with each node. */
	assert_in_range(mem.asked, 1, 6);
	tux_heap_fini(&h);
	assert_int_equal(mem.live, 0);
}

/* Queues all nodes, or as many as there is memory for. */
static int fill(struct tux_heap *h, struct tux_heap_node *n)
{
	unsigned i;

	for (i = 0; i < NODES; i++) {
		int err = tux_heap_reserve(h, i + 1);

		if (err)
			return err;
		tux_heap_set(h, &n[i], i);
	}
	return 0;
}

static void reserve__each_allocation_may_fail(void **state)
{
	struct tux_heap_node n[NODES];
	struct test_mem mem;
	struct tux_heap h;
	int left, err = -1;

	(void)state;
	for (left = 0; err; left++) {
		memset(n, 0, sizeof(n));
		test_mem_init(&mem, left);
		tux_heap_init(&h, &mem.mem);
		err = fill(&h, n);
		assert_true(!err || err == -ENOMEM);
		check(&h);
		if (h.len)
			assert_ptr_equal(tux_heap_min(&h), &n[0]);
		tux_heap_fini(&h);
		assert_int_equal(mem.live, 0);
	}
	assert_in_range(left, 2, 10);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(set__min_comes_first),
		cmocka_unit_test(set__never_takes_out_and_may_be_repeated),
		cmocka_unit_test(set__agrees_with_a_search),
		cmocka_unit_test(reserve__keeps_what_is_queued),
		cmocka_unit_test(reserve__each_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
