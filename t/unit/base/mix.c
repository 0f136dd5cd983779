/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/mix.h"

#include "../test.h"

/* The result depends on both halves of the product. */
static void mix__folds_the_product(void **state)
{
	(void)state;
	assert_true(tux_mix(3, 5) == 15);
	assert_true(tux_mix(UINT64_C(1) << 63, 2) == 1);
	assert_true(tux_mix(UINT64_MAX, UINT64_MAX) == UINT64_MAX);
	assert_true(tux_mix(UINT64_C(0x100000001), UINT64_C(0x100000003)) ==
		    (UINT64_C(0x400000003) ^ 1));
}

/* Sequential keys spread: of 256 keys in a table of 256 slots, the fullest slot
 * has few. */
static void mix__spreads_neighbours(void **state)
{
	const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
	unsigned n[256] = { 0 }, most = 0;
	uint64_t i;

	(void)state;
	for (i = 0; i < 256; i++) {
		unsigned *at = &n[tux_mix(i ^ 77, odd) & 255];

		if (++*at > most)
			most = *at;
	}
	assert_true(most <= 8);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(mix__folds_the_product),
		cmocka_unit_test(mix__spreads_neighbours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
