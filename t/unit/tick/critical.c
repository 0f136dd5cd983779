/* SPDX-License-Identifier: BSD-2-Clause */
#include "tick/critical.h"

#include <dlfcn.h>
#include <errno.h>

#include "../test.h"

/* What no sanitizer replaces. */
static uintptr_t libc_code(void)
{
	return (uintptr_t)dlsym(RTLD_DEFAULT, "getdate");
}

static void has__libc_and_not_the_program(void **state)
{
	(void)state;
	assert_int_equal(tux_critical_refresh(), 0);
	assert_true(tux_critical_has(libc_code()));
	assert_false(tux_critical_has((uintptr_t)has__libc_and_not_the_program));
	assert_false(tux_critical_has(0));
	assert_false(tux_critical_has(UINTPTR_MAX));
}

static void add__a_range_of_ones_own(void **state)
{
	static const char code[100];
	uintptr_t at = (uintptr_t)code;

	(void)state;
	assert_false(tux_critical_has(at));
	assert_int_equal(tux_critical_add(code + 10, code + 20), 0);
	assert_false(tux_critical_has(at + 9));
	assert_true(tux_critical_has(at + 10));
	assert_true(tux_critical_has(at + 19));
	assert_false(tux_critical_has(at + 20));
}

static void refresh__what_was_loaded_since(void **state)
{
	static const char unwinder[] = "libgcc_s.so.1";
	void *lib, *code;

	(void)state;
	assert_int_equal(tux_critical_refresh(), 0);
	if (dlopen(unwinder, RTLD_NOW | RTLD_NOLOAD))
		skip();
	lib = dlopen(unwinder, RTLD_NOW);
	code = lib ? dlsym(lib, "_Unwind_Backtrace") : NULL;
	if (!code)
		skip();
	assert_false(tux_critical_has((uintptr_t)code));
	assert_int_equal(tux_critical_refresh(), 0);
	assert_true(tux_critical_has((uintptr_t)code));
	dlclose(lib);
}

static void add__as_many_as_there_is_room_for(void **state)
{
	static const char code[2];
	int err = 0;
	unsigned i;

	(void)state;
	for (i = 0; i < 100 && !err; i++)
		err = tux_critical_add(code, code + 1);
	assert_int_equal(err, -ENOSPC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(has__libc_and_not_the_program),
		cmocka_unit_test(add__a_range_of_ones_own),
		cmocka_unit_test(refresh__what_was_loaded_since),
		cmocka_unit_test(add__as_many_as_there_is_room_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
