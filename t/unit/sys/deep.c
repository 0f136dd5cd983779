/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/deep.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>

#include "../test.h"

enum { MUCH = 200 * 1024, FAR = 16 * 1024 * 1024 };

static uintptr_t at;

static void needs_much(void *arg)
{
	volatile char local[MUCH];

	for (unsigned i = 0; i < MUCH; i += 1024)
		local[i] = 1;
	at = (uintptr_t)local;
	*(int *)arg += local[1024];
}

/* A call from there has a stack of its own, too. */
static void calls_again(void *arg)
{
	assert_int_equal(tux_deep_call(needs_much, arg), 0);
}

static void call__within_a_call(void **state)
{
	int called = 0;

	(void)state;
	assert_int_equal(tux_deep_call(calls_again, &called), 0);
	assert_int_equal(called, 1);
}

#ifndef __SANITIZE_ADDRESS__
static void call__on_a_stack_of_its_own(void **state)
{
	int called = 0;
	uintptr_t here = (uintptr_t)&called;

	(void)state;
	for (int i = 1; i <= 3; i++) {
		assert_int_equal(tux_deep_call(needs_much, &called), 0);
		assert_int_equal(called, i);
		assert_true(at + FAR < here || here + FAR < at);
	}
}

static void call__without_memory(void **state)
{
	struct rlimit none = { 0, 0 }, was;
	int called = 0, err;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_AS, &was), 0);
	none.rlim_max = was.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_AS, &none), 0);
	err = tux_deep_call(needs_much, &called);
	assert_int_equal(setrlimit(RLIMIT_AS, &was), 0);
	assert_int_equal(err, -ENOMEM);
	assert_int_equal(called, 0);
}
#endif

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(call__within_a_call),
#ifndef __SANITIZE_ADDRESS__
		cmocka_unit_test(call__on_a_stack_of_its_own),
		cmocka_unit_test(call__without_memory),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
