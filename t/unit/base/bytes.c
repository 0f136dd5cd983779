/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/bytes.h"

#include "../test.h"

static void get__reads_most_significant_first(void **state)
{
	static const uint8_t p[] = { 0x01, 0x23, 0x45, 0x67,
				     0x89, 0xab, 0xcd, 0xef };

	(void)state;
	assert_int_equal(tux_get16(p), 0x0123);
	assert_int_equal(tux_get32(p), 0x01234567);
	assert_true(tux_get64(p) == 0x0123456789abcdef);
}

static void put__writes_most_significant_first(void **state)
{
	static const uint8_t want[] = { 0x01, 0x23, 0x45, 0x67,
					0x89, 0xab, 0xcd, 0xef };
	uint8_t p[8];

	(void)state;
	tux_put16(p, 0x0123);
	assert_memory_equal(p, want, 2);
	tux_put32(p, 0x01234567);
	assert_memory_equal(p, want, 4);
	tux_put64(p, 0x0123456789abcdef);
	assert_memory_equal(p, want, 8);
}

static void put__needs_no_alignment(void **state)
{
	uint8_t p[24];
	unsigned i;

	(void)state;
	for (i = 0; i < 8; i++) {
		memset(p, 0xee, sizeof(p));
		tux_put64(p + i, 0xfedcba9876543210);
		assert_true(tux_get64(p + i) == 0xfedcba9876543210);
		assert_int_equal(p[i + 8], 0xee);
		tux_put32(p + i, 0x80000001);
		assert_int_equal(tux_get32(p + i), 0x80000001);
		tux_put16(p + i, 0x8001);
		assert_int_equal(tux_get16(p + i), 0x8001);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(get__reads_most_significant_first),
		cmocka_unit_test(put__writes_most_significant_first),
		cmocka_unit_test(put__needs_no_alignment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
