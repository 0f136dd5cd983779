/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/range.h"

#include <errno.h>

#include "../test.h"

static void expect(const struct tux_ranges *s, unsigned n,
		   const struct tux_range *want)
{
	assert_int_equal(s->n, n);
	if (n)
		assert_memory_equal(s->r, want, n * sizeof(*want));
}

#define EXPECT(s, ...) \
	expect(s, N_OF(((struct tux_range[]){ __VA_ARGS__ })), \
	       (struct tux_range[]){ __VA_ARGS__ })

static void add__merges_what_it_touches(void **state)
{
	struct tux_ranges s;

	(void)state;
	tux_ranges_init(&s);
	assert_int_equal(tux_ranges_add(&s, 10, 20), 0);
	assert_int_equal(tux_ranges_add(&s, 30, 40), 0);
	assert_int_equal(tux_ranges_add(&s, 0, 5), 0);
	EXPECT(&s, { 0, 5 }, { 10, 20 }, { 30, 40 });
	tux_ranges_add(&s, 20, 25);
	EXPECT(&s, { 0, 5 }, { 10, 25 }, { 30, 40 });
	tux_ranges_add(&s, 9, 10);
	EXPECT(&s, { 0, 5 }, { 9, 25 }, { 30, 40 });
	tux_ranges_add(&s, 12, 13);
	EXPECT(&s, { 0, 5 }, { 9, 25 }, { 30, 40 });
	tux_ranges_add(&s, 25, 30);
	EXPECT(&s, { 0, 5 }, { 9, 40 });
	tux_ranges_add(&s, 2, 100);
	EXPECT(&s, { 0, 100 });
}

static void add__ignores_the_empty_range(void **state)
{
	struct tux_ranges s;

	(void)state;
	tux_ranges_init(&s);
	assert_int_equal(tux_ranges_add(&s, 5, 5), 0);
	assert_int_equal(tux_ranges_add(&s, 6, 5), 0);
	assert_int_equal(s.n, 0);
}

static void sub__trims_and_splits(void **state)
{
	struct tux_ranges s;

	(void)state;
	tux_ranges_init(&s);
	tux_ranges_add(&s, 0, 100);
	assert_int_equal(tux_ranges_sub(&s, 40, 60), 0);
	EXPECT(&s, { 0, 40 }, { 60, 100 });
	tux_ranges_sub(&s, 30, 70);
	EXPECT(&s, { 0, 30 }, { 70, 100 });
	tux_ranges_sub(&s, 0, 10);
	EXPECT(&s, { 10, 30 }, { 70, 100 });
	tux_ranges_sub(&s, 90, 200);
	EXPECT(&s, { 10, 30 }, { 70, 90 });
	tux_ranges_sub(&s, 30, 70);
	EXPECT(&s, { 10, 30 }, { 70, 90 });
	tux_ranges_sub(&s, 80, 80);
	EXPECT(&s, { 10, 30 }, { 70, 90 });
	tux_ranges_sub(&s, 5, 80);
	EXPECT(&s, { 80, 90 });
	tux_ranges_sub(&s, 80, 90);
	assert_int_equal(s.n, 0);
}

static void below__cannot_fail(void **state)
{
	struct tux_ranges s;

	(void)state;
	tux_ranges_init(&s);
	tux_ranges_below(&s, 10);
	tux_ranges_add(&s, 10, 20);
	tux_ranges_add(&s, 30, 40);
	tux_ranges_below(&s, 10);
	EXPECT(&s, { 10, 20 }, { 30, 40 });
	tux_ranges_below(&s, 15);
	EXPECT(&s, { 15, 20 }, { 30, 40 });
	tux_ranges_below(&s, 20);
	EXPECT(&s, { 30, 40 });
	tux_ranges_below(&s, UINT64_MAX);
	assert_int_equal(s.n, 0);
}

/* A set with no room left: [10i, 10i + 5). */
static void fill(struct tux_ranges *s)
{
	uint64_t i;

	tux_ranges_init(s);
	for (i = 0; i < TUX_RANGE_MAX; i++)
		assert_int_equal(tux_ranges_add(s, 10 * i, 10 * i + 5), 0);
}

static void full__fails_and_changes_nothing(void **state)
{
	struct tux_ranges s, old;

	(void)state;
	fill(&s);
	old = s;
	assert_int_equal(tux_ranges_add(&s, 6, 8), -ENOSPC);
	assert_int_equal(tux_ranges_add(&s, 5000, 5001), -ENOSPC);
	assert_int_equal(tux_ranges_sub(&s, 1, 2), -ENOSPC);
	assert_memory_equal(&s, &old, sizeof(s));
}

static void full__takes_what_needs_no_room(void **state)
{
	struct tux_ranges s;

	(void)state;
	fill(&s);
	assert_int_equal(tux_ranges_add(&s, 5, 6), 0);
	assert_int_equal(tux_ranges_sub(&s, 0, 1), 0);
	assert_int_equal(tux_ranges_sub(&s, 13, 15), 0);
	assert_int_equal(tux_ranges_sub(&s, 22, 42), 0);
	assert_int_equal(s.n, TUX_RANGE_MAX - 1);
	assert_int_equal(tux_ranges_sub(&s, 53, 54), 0);
	assert_int_equal(tux_ranges_add(&s, 7, 10), 0);
}

static void limits__the_largest_offsets(void **state)
{
	struct tux_ranges s;

	(void)state;
	tux_ranges_init(&s);
	tux_ranges_add(&s, UINT64_MAX - 1, UINT64_MAX);
	tux_ranges_add(&s, 0, 1);
	assert_true(tux_ranges_has(&s, UINT64_MAX - 1));
	assert_false(tux_ranges_has(&s, UINT64_MAX));
	assert_true(tux_ranges_has(&s, 0));
	tux_ranges_add(&s, 0, UINT64_MAX);
	EXPECT(&s, { 0, UINT64_MAX });
}

enum { SPACE = 400 };

/* The set agrees with a bitmap of single numbers; its ranges are in order and
 * do not touch. */
static void compare(const struct tux_ranges *s, const bool *model)
{
	uint32_t i, n = 0;

	for (i = 0; i < SPACE; i++) {
		assert_int_equal(tux_ranges_has(s, i), model[i]);
		n += model[i] && (!i || !model[i - 1]);
	}
	assert_int_equal(s->n, n);
	for (i = 0; i < s->n; i++) {
		assert_true(s->r[i].start < s->r[i].end);
		if (i)
			assert_true(s->r[i - 1].end < s->r[i].start);
	}
}

static void random__agrees_with_a_bitmap(void **state)
{
	static const unsigned longest[] = { 5, 12, 60 };
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 60; seed++) {
		bool model[SPACE] = { false };
		uint64_t rnd = seed;
		struct tux_ranges s;
		unsigned i;

		tux_ranges_init(&s);
		for (i = 0; i < 500; i++) {
			uint32_t len = test_below(&rnd, longest[seed % 3]);
			uint32_t at = test_below(&rnd, SPACE - len);
			uint32_t what = test_below(&rnd, 40);
			struct tux_ranges old = s;
			int err = 0;

			if (what < 20) {
				err = tux_ranges_add(&s, at, at + len);
			} else if (what < 39) {
				err = tux_ranges_sub(&s, at, at + len);
			} else {
				tux_ranges_below(&s, at);
				len = at;
				at = 0;
			}
			if (err) {
				assert_int_equal(old.n, TUX_RANGE_MAX);
				assert_memory_equal(&s, &old, sizeof(s));
				continue;
			}
			memset(model + at, what < 20, len);
			compare(&s, model);
		}
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(add__merges_what_it_touches),
		cmocka_unit_test(add__ignores_the_empty_range),
		cmocka_unit_test(sub__trims_and_splits),
		cmocka_unit_test(below__cannot_fail),
		cmocka_unit_test(full__fails_and_changes_nothing),
		cmocka_unit_test(full__takes_what_needs_no_room),
		cmocka_unit_test(limits__the_largest_offsets),
		cmocka_unit_test(random__agrees_with_a_bitmap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
