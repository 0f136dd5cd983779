/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/key.h"

#include <string.h>

#include "../test.h"

static const struct tux_said one = { 0x1111111111111111, 0x80000000 };
static const struct tux_said two = { 0x2222222222222222, 1 };

static const struct tux_tuple v4 = {
	{ { [10] = 0xff, 0xff, 10, 0, 0, 1 }, 50000 },
	{ { [10] = 0xff, 0xff, 10, 0, 0, 2 }, 6379 },
};
static const struct tux_tuple v6 = {
	{ { 0x20, 0x01, 0x0d, 0xb8, [15] = 1 }, 443 },
	{ { 0x20, 0x01, 0x0d, 0xb8, [15] = 2 }, 50000 },
};

/* Computed by another program from the text of tux-wire(7). */
static void make__golden(void **state)
{
	static const struct tux_said a = { 0x0123456789abcdef, 0xdeadbeef };
	static const struct tux_said p = { 0xfedcba9876543210, 0x01020304 };
	struct tux_key k;

	(void)state;
	tux_key_make(&k, &one, &two);
	assert_true(k.k0 == 0xc91e1dbe9adb02da);
	assert_true(k.k1 == 0xb4de4693d859ed3a);
	tux_key_make(&k, &a, &p);
	assert_true(k.k0 == 0x6edc0108fa3c49cc);
	assert_true(k.k1 == 0xb47beaa03610fd52);
}

static void make__every_part_counts(void **state)
{
	struct tux_said a[5] = { one, one, one, one, one };
	struct tux_said p[5] = { two, two, two, two, two };
	struct tux_key k[5];
	unsigned i, j;

	(void)state;
	a[1].nonce++;
	a[2].isn++;
	p[3].nonce++;
	p[4].isn++;
	for (i = 0; i < 5; i++) {
		tux_key_make(&k[i], &a[i], &p[i]);
		for (j = 0; j < i; j++)
			assert_true(k[i].k0 != k[j].k0 && k[i].k1 != k[j].k1);
	}
	/* The key depends on which end is active. */
	tux_key_make(&k[1], &two, &one);
	assert_true(k[0].k0 != k[1].k0 && k[0].k1 != k[1].k1);
}

static void places__golden(void **state)
{
	(void)state;
	assert_int_equal(tux_key_places(&v4, one.nonce), 0x9c38808a);
	assert_int_equal(tux_key_places(&v6, two.nonce), 0x4b3b8386);
}

static void places__every_part_counts(void **state)
{
	uint32_t is = tux_key_places(&v4, one.nonce);
	struct tux_tuple t = v4;

	(void)state;
	assert_int_not_equal(tux_key_places(&v4, two.nonce), is);
	t.active.port++;
	assert_int_not_equal(tux_key_places(&t, one.nonce), is);
	t = v4;
	t.passive.port++;
	assert_int_not_equal(tux_key_places(&t, one.nonce), is);
	t = v4;
	t.active.ip[15]++;
	assert_int_not_equal(tux_key_places(&t, one.nonce), is);
	t = v4;
	t.passive.ip[15]++;
	assert_int_not_equal(tux_key_places(&t, one.nonce), is);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(make__golden),
		cmocka_unit_test(make__every_part_counts),
		cmocka_unit_test(places__golden),
		cmocka_unit_test(places__every_part_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
