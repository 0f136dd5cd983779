/* SPDX-License-Identifier: BSD-2-Clause */
#include "sock/allow.h"

#include "ground/conf.h"
#include "ground/process.h"
#include "sock/iface.h"
#include "../test.h"

struct conf conf;

static bool on_iface, sandboxed;

bool process_is_sandboxed(void)
{
	return sandboxed;
}

bool iface_has(const struct tux_addr *a)
{
	assert_non_null(a);
	return on_iface;
}

static struct tux_addr v4(uint8_t first, uint8_t last)
{
	return (struct tux_addr){
		.ip = { [10] = 0xff, [11] = 0xff, [12] = first, [15] = last },
	};
}

static int set_up(void **state)
{
	(void)state;
	conf = (struct conf){ .path = TUX_PATH_MODE_AUTO };
	on_iface = true;
	return 0;
}

static void connection__as_the_user_has_chosen(void **state)
{
	struct tux_addr a = v4(10, 1), b = v4(10, 2), lo = v4(127, 1);

	(void)state;
	conf.path = TUX_PATH_MODE_TUX;
	assert_int_equal(allow_connection(&a, &b), TUX_REASON_NONE);
	conf.path = TUX_PATH_MODE_TCP;
	assert_int_equal(allow_connection(&a, &b), TUX_REASON_CHOSEN);
	assert_int_equal(allow_connection(&lo, &lo), TUX_REASON_CHOSEN);
	assert_int_equal(allow_listener(&lo), TUX_REASON_CHOSEN);
	assert_int_equal(allow_peer(NULL), TUX_REASON_CHOSEN);
}

static void connection__of_this_host(void **state)
{
	struct tux_addr a = v4(10, 1), b = v4(10, 2), lo = v4(127, 1);
	struct tux_addr lo6 = { .ip = { [15] = 1 } };

	(void)state;
	assert_int_equal(allow_connection(&a, &b), TUX_REASON_NONE);
	assert_int_equal(allow_connection(&a, &a), TUX_REASON_LOOPBACK);
	assert_int_equal(allow_connection(&lo, &lo), TUX_REASON_LOOPBACK);
	assert_int_equal(allow_connection(&lo6, &lo6), TUX_REASON_LOOPBACK);
	assert_int_equal(allow_peer(&lo), TUX_REASON_LOOPBACK);
	assert_int_equal(allow_peer(&b), TUX_REASON_NONE);
	assert_int_equal(allow_peer(NULL), TUX_REASON_NONE);
	assert_int_equal(allow_listener(&lo6), TUX_REASON_LOOPBACK);
}

static void connection__over_lo_if_that_was_named(void **state)
{
	struct tux_addr a = v4(10, 1), b = v4(10, 2), lo = v4(127, 1);

	(void)state;
	conf.lo = true;
	assert_int_equal(allow_connection(&lo, &lo), TUX_REASON_NONE);
	assert_int_equal(allow_connection(&a, &b), TUX_REASON_OTHER_INTERFACE);
	assert_int_equal(allow_peer(&lo), TUX_REASON_NONE);
	assert_int_equal(allow_listener(&lo), TUX_REASON_NONE);
}

static void connection__of_another_interface(void **state)
{
	struct tux_addr a = v4(10, 1), b = v4(10, 2), any = v4(0, 0);

	(void)state;
	conf.iface = "eth0";
	assert_int_equal(allow_connection(&a, &b), TUX_REASON_NONE);
	on_iface = false;
	assert_int_equal(allow_connection(&a, &b), TUX_REASON_OTHER_INTERFACE);
	assert_int_equal(allow_listener(&a), TUX_REASON_OTHER_INTERFACE);
	assert_int_equal(allow_listener(&any), TUX_REASON_NONE);
}

/* For good: the last case. */
static void stop__no_connection_is_allowed(void **state)
{
	struct tux_addr a = v4(10, 1), b = v4(10, 2);

	(void)state;
	assert_true(allow_stop(TUX_REASON_BYPASSED));
	assert_false(allow_stop(TUX_REASON_BYPASSED));
	assert_true(allow_stopped());
	assert_false(allow_sandboxed());
	assert_int_equal(allow_connection(&a, &a), TUX_REASON_LOOPBACK);
	assert_int_equal(allow_connection(&a, &b), TUX_REASON_BYPASSED);
	assert_int_equal(allow_listener(&a), TUX_REASON_BYPASSED);
	assert_int_equal(allow_peer(NULL), TUX_REASON_BYPASSED);
	assert_true(allow_stop(TUX_REASON_SANDBOXED));
	assert_false(allow_stop(TUX_REASON_BYPASSED));
	assert_true(allow_sandboxed());
	assert_int_equal(allow_connection(&a, &b), TUX_REASON_SANDBOXED);
	sandboxed = true;
	allow_forked();
	assert_true(allow_sandboxed());
	sandboxed = false;
	allow_forked();
	assert_false(allow_sandboxed());
	assert_true(allow_stopped());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(connection__as_the_user_has_chosen, set_up),
		cmocka_unit_test_setup(connection__of_this_host, set_up),
		cmocka_unit_test_setup(connection__over_lo_if_that_was_named,
				       set_up),
		cmocka_unit_test_setup(connection__of_another_interface, set_up),
		cmocka_unit_test_setup(stop__no_connection_is_allowed, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
