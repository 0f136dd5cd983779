/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/addr.h"

#include "../test.h"

static const struct tux_addr v4 = {
	{ [10] = 0xff, 0xff, 10, 0, 0, 1 }, 6379
};
static const struct tux_addr v6 = {
	{ 0x20, 0x01, 0x0d, 0xb8, [15] = 1 }, 6379
};

static void same__compares_address_and_port(void **state)
{
	struct tux_addr other = v4;

	(void)state;
	assert_true(tux_addr_same(&v4, &other));
	other.port++;
	assert_false(tux_addr_same(&v4, &other));
	assert_true(tux_addr_same_ip(&v4, &other));
	other = v4;
	other.ip[15]++;
	assert_false(tux_addr_same(&v4, &other));
	assert_false(tux_addr_same_ip(&v4, &other));
}

static void tuple_same__tells_the_ends_apart(void **state)
{
	const struct tux_tuple t = { v4, v6 }, turned = { v6, v4 };
	struct tux_tuple other = t;

	(void)state;
	assert_true(tux_tuple_same(&t, &other));
	assert_false(tux_tuple_same(&t, &turned));
	other.passive.port++;
	assert_false(tux_tuple_same(&t, &other));
}

static void is_v4__means_mapped(void **state)
{
	const struct tux_addr any = { { 0 }, 0 };
	/* ::10.0.0.1, the deprecated "IPv4-compatible" form, is IPv6. */
	const struct tux_addr compatible = { { [12] = 10, [15] = 1 }, 0 };

	(void)state;
	assert_true(tux_addr_is_v4(&v4));
	assert_false(tux_addr_is_v4(&v6));
	assert_false(tux_addr_is_v4(&any));
	assert_false(tux_addr_is_v4(&compatible));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(same__compares_address_and_port),
		cmocka_unit_test(tuple_same__tells_the_ends_apart),
		cmocka_unit_test(is_v4__means_mapped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
