/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/slab.h"

#include <stdbool.h>

#include "../test.h"

enum { PIECES = 500, LARGE = 300000 };

static bool all(const uint8_t *p, size_t len, uint8_t v)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (p[i] != v)
			return false;
	return true;
}

static void alloc__is_zeroed_and_aligned(void **state)
{
	struct tux_slab s;
	size_t len;

	(void)state;
	tux_slab_init(&s);
	for (len = 1; len < LARGE; len = len * 3 / 2 + 1) {
		uint8_t *p = tux_mem_alloc(&s.mem, len);

		assert_non_null(p);
		assert_int_equal((uintptr_t)p % 16, 0);
		assert_true(all(p, len, 0));
		memset(p, 0xff, len);
		tux_mem_free(&s.mem, p);
		p = tux_mem_alloc(&s.mem, len);
		assert_true(all(p, len, 0));
		memset(p, 0xff, len);
		tux_mem_free(&s.mem, p);
	}
	tux_slab_fini(&s);
}

static void alloc__pieces_do_not_overlap(void **state)
{
	struct tux_slab s;
	uint8_t *p[PIECES];
	size_t len[PIECES];
	uint64_t seed = 11;
	int i, j;

	(void)state;
	tux_slab_init(&s);
	memset(p, 0, sizeof(p));
	for (j = 0; j < 4 * PIECES; j++) {
		i = (int)test_below(&seed, PIECES);
		if (p[i])
			assert_true(all(p[i], len[i], (uint8_t)i));
		tux_mem_free(&s.mem, p[i]);
		len[i] = 1 + test_below(&seed, i % 50 ? 4000 : LARGE);
		p[i] = tux_mem_alloc(&s.mem, len[i]);
		assert_non_null(p[i]);
		memset(p[i], i, len[i]);
	}
	for (i = 0; i < PIECES; i++) {
		if (p[i])
			assert_true(all(p[i], len[i], (uint8_t)i));
		tux_mem_free(&s.mem, p[i]);
	}
	tux_slab_fini(&s);
}

static void free__takes_null(void **state)
{
	struct tux_slab s;

	(void)state;
	tux_slab_init(&s);
	tux_mem_free(&s.mem, NULL);
	tux_slab_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(alloc__is_zeroed_and_aligned),
		cmocka_unit_test(alloc__pieces_do_not_overlap),
		cmocka_unit_test(free__takes_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
