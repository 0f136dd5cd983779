/* SPDX-License-Identifier: BSD-2-Clause */
#include "transport/frag.h"

#include <errno.h>

#include "../test.h"

enum { WORLD = 80 };

static bool is(const struct tux_frag *f, const uint32_t *want, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < f->n && i < n; i++) {
		if (f->r[i].start != want[2 * i] ||
		    f->r[i].end != want[2 * i + 1])
			return false;
	}
	return f->n == n;
}
#define IS(f, ...) \
	is(f, (uint32_t[]){ __VA_ARGS__ }, \
	   sizeof((uint32_t[]){ __VA_ARGS__ }) / 8)

static int add(struct tux_frag *f, uint32_t start, uint32_t end)
{
	return tux_frag_add(f, start, end, TUX_FRAG_MAX);
}

static void add__joins_what_it_touches(void **state)
{
	struct tux_frag f;

	(void)state;
	tux_frag_init(&f);
	assert_int_equal(add(&f, 10, 20), 1);
	assert_int_equal(add(&f, 30, 40), 1);
	assert_true(IS(&f, 10, 20, 30, 40));
	assert_int_equal(add(&f, 12, 20), 0);
	assert_int_equal(add(&f, 15, 15), 0);
	assert_int_equal(add(&f, 20, 25), 1);
	assert_true(IS(&f, 10, 25, 30, 40));
	assert_int_equal(add(&f, 5, 35), 1);
	assert_true(IS(&f, 5, 40));
	assert_false(tux_frag_whole(&f, 40));
	assert_int_equal(add(&f, 0, 5), 1);
	assert_true(tux_frag_whole(&f, 40));
	assert_false(tux_frag_whole(&f, 41));
}

static void add__full(void **state)
{
	struct tux_frag f;
	uint32_t i;

	(void)state;
	tux_frag_init(&f);
	for (i = 0; i < TUX_FRAG_MAX; i++)
		assert_int_equal(add(&f, 10 * i, 10 * i + 5), 1);
	assert_int_equal(add(&f, 1000, 1001), -ENOSPC);
	assert_int_equal(add(&f, 6, 9), -ENOSPC);
	assert_int_equal(tux_frag_sub(&f, 1, 2), -ENOSPC);
	assert_int_equal(f.n, TUX_FRAG_MAX);
	assert_int_equal(add(&f, 5, 10), 1);
	assert_int_equal(f.n, TUX_FRAG_MAX - 1);
	assert_int_equal(tux_frag_add(&f, 1000, 1001, f.n), -ENOSPC);
	assert_int_equal(tux_frag_sub(&f, 1, 2), 0);
	assert_int_equal(f.n, TUX_FRAG_MAX);
}

static void cover__takes_a_gap_along(void **state)
{
	struct tux_frag f;
	uint32_t i;

	(void)state;
	tux_frag_init(&f);
	for (i = 1; i <= TUX_FRAG_MAX; i++)
		tux_frag_cover(&f, 10 * i, 10 * i + 5);
	assert_int_equal(f.n, TUX_FRAG_MAX);
	tux_frag_cover(&f, 27, 28);
	assert_int_equal(f.n, TUX_FRAG_MAX);
	assert_true(f.r[1].start == 20 && f.r[1].end == 28);
	tux_frag_cover(&f, 2, 3);
	assert_true(f.r[0].start == 2 && f.r[0].end == 15);
	tux_frag_cover(&f, 1000, 2000);
	assert_int_equal(f.n, TUX_FRAG_MAX);
	assert_int_equal(f.r[TUX_FRAG_MAX - 1].end, 2000);
}

static void sub__cuts(void **state)
{
	struct tux_frag f;

	(void)state;
	tux_frag_init(&f);
	add(&f, 10, 100);
	assert_int_equal(tux_frag_sub(&f, 50, 60), 0);
	assert_true(IS(&f, 10, 50, 60, 100));
	assert_int_equal(tux_frag_sub(&f, 0, 10), 0);
	assert_int_equal(tux_frag_sub(&f, 70, 70), 0);
	assert_int_equal(tux_frag_sub(&f, 50, 60), 0);
	assert_true(IS(&f, 10, 50, 60, 100));
	assert_int_equal(tux_frag_sub(&f, 40, 70), 0);
	assert_true(IS(&f, 10, 40, 70, 100));
	assert_int_equal(tux_frag_sub(&f, 5, 40), 0);
	assert_true(IS(&f, 70, 100));
	assert_int_equal(tux_frag_sub(&f, 90, 200), 0);
	assert_true(IS(&f, 70, 90));
}

static void gap__first(void **state)
{
	struct tux_frag f;
	uint32_t a, b;

	(void)state;
	tux_frag_init(&f);
	assert_true(tux_frag_gap(&f, 3, 9, &a, &b));
	assert_true(a == 3 && b == 9);
	add(&f, 0, 10);
	add(&f, 20, 30);
	assert_false(tux_frag_gap(&f, 0, 10, &a, &b));
	assert_true(tux_frag_gap(&f, 0, 100, &a, &b));
	assert_true(a == 10 && b == 20);
	assert_true(tux_frag_gap(&f, 12, 15, &a, &b));
	assert_true(a == 12 && b == 15);
	assert_true(tux_frag_gap(&f, 25, 100, &a, &b));
	assert_true(a == 30 && b == 100);
	assert_false(tux_frag_gap(&f, 22, 30, &a, &b));
}

static void whole__an_empty_message(void **state)
{
	struct tux_frag f;

	(void)state;
	tux_frag_init(&f);
	assert_true(tux_frag_whole(&f, 0));
	assert_false(tux_frag_whole(&f, 1));
}

static void check_gap(const struct tux_frag *f, const bool *has, uint64_t *seed)
{
	uint32_t start = test_below(seed, WORLD), end, a, b, x;

	end = start + test_below(seed, WORLD - start);
	for (x = start; x < end && has[x]; x++)
		;
	assert_int_equal(tux_frag_gap(f, start, end, &a, &b), x < end);
	if (x == end)
		return;
	assert_int_equal(a, x);
	for (; x < end && !has[x]; x++)
		;
	assert_int_equal(b, x);
}

/* The set agrees with an array of booleans. */
static void random__as_a_set(void **state)
{
	uint64_t seed = 7;
	struct tux_frag f;
	bool has[WORLD] = { false };
	unsigned i;

	(void)state;
	tux_frag_init(&f);
	for (i = 0; i < 100000; i++) {
		uint32_t start = test_below(&seed, WORLD), x, have = 0;
		uint32_t end = start + test_below(&seed, 8);
		bool more = test_below(&seed, 3), was[WORLD];
		int err;

		if (end > WORLD)
			end = WORLD;
		memcpy(was, has, sizeof(has));
		err = more ? add(&f, start, end) :
			    tux_frag_sub(&f, start, end);
		for (x = start; x < end && err != -ENOSPC; x++)
			has[x] = more;
		if (more && err >= 0)
			assert_int_equal(err, memcmp(was, has,
						     sizeof(has)) != 0);
		assert_true(err != -ENOSPC || f.n == TUX_FRAG_MAX);
		for (x = 0; x < f.n; x++) {
			assert_true(f.r[x].start < f.r[x].end);
			assert_true(!x || f.r[x - 1].end < f.r[x].start);
			have += f.r[x].end - f.r[x].start;
		}
		for (x = 0; x < WORLD; x++)
			have -= has[x];
		assert_int_equal(have, 0);
		check_gap(&f, has, &seed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(add__joins_what_it_touches),
		cmocka_unit_test(add__full),
		cmocka_unit_test(cover__takes_a_gap_along),
		cmocka_unit_test(sub__cuts),
		cmocka_unit_test(gap__first),
		cmocka_unit_test(whole__an_empty_message),
		cmocka_unit_test(random__as_a_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
