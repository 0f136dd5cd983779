/* SPDX-License-Identifier: BSD-2-Clause */
#include "afxdp/places.h"

#include "../test.h"

static struct tux_addr addr(uint8_t last, uint16_t port)
{
	struct tux_addr a = { .ip = { [10] = 0xff, 0xff, 10, 0, 0, last },
			      .port = port };

	return a;
}

static void hold__counts_flows_of_an_address(void **state)
{
	struct tux_addr a = addr(1, 80), b = addr(1, 81), c = addr(2, 80), was;
	struct tux_places p = { .n = 0 };

	(void)state;
	assert_int_equal(tux_places_hold(&p, &a, 7000)->flows, 1);
	assert_int_equal(tux_places_hold(&p, &b, 7000)->flows, 2);
	assert_int_equal(tux_places_hold(&p, &c, 7000)->flows, 1);
	assert_int_equal(p.n, 2);
	assert_false(tux_places_release(&p, &a, &was));
	assert_true(tux_places_release(&p, &b, &was));
	assert_true(tux_addr_same_ip(&was, &a));
	assert_int_equal(was.port, 7000);
	assert_int_equal(p.n, 1);
	assert_true(tux_places_release(&p, &c, &was));
	assert_false(tux_places_release(&p, &c, &was));
	assert_int_equal(p.n, 0);
}

static void hold__has_a_limit(void **state)
{
	struct tux_places p = { .n = 0 };
	struct tux_addr a = addr(0, 80);
	unsigned i;

	(void)state;
	for (i = 0; i <= TUX_PLACES; i++) {
		a.ip[15] = (uint8_t)i;
		a.ip[14] = (uint8_t)(i >> 8);
		assert_int_equal(tux_places_hold(&p, &a, 1) != NULL,
				 i < TUX_PLACES);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hold__counts_flows_of_an_address),
		cmocka_unit_test(hold__has_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
