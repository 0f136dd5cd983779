/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/name.h"

#include <errno.h>

#include <arpa/inet.h>

#include "../test.h"

static void put__v4_of_a_mapped_address(void **state)
{
	struct tux_addr a = { .ip = { [10] = 0xff, 0xff, 10, 1, 2, 3 },
			      .port = 6379 };
	union tux_name n;

	(void)state;
	assert_int_equal(tux_name_put(&n, &a, AF_INET), sizeof(n.v4));
	assert_int_equal(n.v4.sin_family, AF_INET);
	assert_int_equal(ntohs(n.v4.sin_port), 6379);
	assert_int_equal(ntohl(n.v4.sin_addr.s_addr), 0x0a010203);
}

static void get__is_the_inverse(void **state)
{
	struct tux_addr a, b;
	union tux_name n;
	int i;

	(void)state;
	for (i = 0; i < 16; i++)
		a.ip[i] = (uint8_t)(i * 17);
	a.port = 65535;
	assert_int_equal(tux_name_put(&n, &a, AF_INET6), sizeof(n.v6));
	assert_int_equal(tux_name_get(&b, &n), 0);
	assert_true(tux_addr_same(&a, &b));
}

static void get__maps_v4(void **state)
{
	union tux_name n = { .v4 = { .sin_family = AF_INET } };
	struct tux_addr a;

	(void)state;
	n.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	n.v4.sin_port = htons(80);
	assert_int_equal(tux_name_get(&a, &n), 0);
	assert_true(tux_addr_is_v4(&a));
	assert_int_equal(a.ip[12], 127);
	assert_int_equal(a.port, 80);
}

static void get__knows_no_other_family(void **state)
{
	union tux_name n = { .sa = { .sa_family = AF_UNIX } };
	struct tux_addr a;

	(void)state;
	assert_int_equal(tux_name_get(&a, &n), -EAFNOSUPPORT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(put__v4_of_a_mapped_address),
		cmocka_unit_test(get__is_the_inverse),
		cmocka_unit_test(get__maps_v4),
		cmocka_unit_test(get__knows_no_other_family),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
