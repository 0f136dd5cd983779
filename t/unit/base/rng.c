/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/rng.h"

#include "../test.h"

static const struct tux_key seed = { 0x0706050403020100, 0x0f0e0d0c0b0a0908 };

static void u64__is_sip_of_the_counter(void **state)
{
	struct tux_rng r;
	uint64_t i;

	(void)state;
	tux_rng_init(&r, &seed);
	for (i = 0; i < 10; i++)
		assert_true(tux_rng_u64(&r) == tux_sip(&seed, &i, sizeof(i)));
}

static void u64__same_seed_same_numbers(void **state)
{
	struct tux_rng a, b;
	unsigned i;

	(void)state;
	tux_rng_init(&a, &seed);
	tux_rng_init(&b, &seed);
	for (i = 0; i < 100; i++)
		assert_true(tux_rng_u64(&a) == tux_rng_u64(&b));
}

static void u64__other_seed_other_numbers(void **state)
{
	struct tux_key other = seed;
	struct tux_rng a, b;
	unsigned i;

	(void)state;
	other.k1 ^= 1;
	tux_rng_init(&a, &seed);
	tux_rng_init(&b, &other);
	for (i = 0; i < 100; i++)
		assert_true(tux_rng_u64(&a) != tux_rng_u64(&b));
}

static void u64__each_bit_is_fair(void **state)
{
	struct tux_rng r;
	unsigned one[64] = { 0 };
	unsigned i, bit;

	(void)state;
	tux_rng_init(&r, &seed);
	for (i = 0; i < 10000; i++) {
		uint64_t v = tux_rng_u64(&r);

		for (bit = 0; bit < 64; bit++)
			one[bit] += (unsigned)(v >> bit) & 1;
	}
	/* Five standard deviations of a fair coin. */
	for (bit = 0; bit < 64; bit++)
		assert_in_range(one[bit], 4750, 5250);
}

static void u32__takes_one_step(void **state)
{
	struct tux_rng a, b;

	(void)state;
	tux_rng_init(&a, &seed);
	tux_rng_init(&b, &seed);
	assert_int_equal(tux_rng_u32(&a), (uint32_t)tux_rng_u64(&b));
	assert_true(tux_rng_u64(&a) == tux_rng_u64(&b));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(u64__is_sip_of_the_counter),
		cmocka_unit_test(u64__same_seed_same_numbers),
		cmocka_unit_test(u64__other_seed_other_numbers),
		cmocka_unit_test(u64__each_bit_is_fair),
		cmocka_unit_test(u32__takes_one_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
