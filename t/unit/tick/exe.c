/* SPDX-License-Identifier: BSD-2-Clause */
#include "tick/exe.h"

#include "../test.h"
#include "tick/critical.h"

/* Two functions of an allocator, one that is static between them, and others
 * beyond what is taken for a gap. */
__asm__(".pushsection .text.probe, \"ax\"\n"
	".balign 16\n"
	"before_it: .skip 8192, 0xc3\n"
	".globl je_probe_one\n"
	".type je_probe_one, @function\n"
	"je_probe_one: .skip 64, 0xc3\n"
	".size je_probe_one, . - je_probe_one\n"
	"between_them: .skip 512, 0xc3\n"
	".globl zmalloc_probe\n"
	".type zmalloc_probe, @function\n"
	"zmalloc_probe: .skip 64, 0xc3\n"
	".size zmalloc_probe, . - zmalloc_probe\n"
	"after_it: .skip 8192, 0xc3\n"
	".popsection\n");

extern const char before_it[], je_probe_one[], between_them[], zmalloc_probe[],
	after_it[];

static void guard__finds_an_allocator_in_the_executable(void **state)
{
	(void)state;
	assert_false(tux_critical_has((uintptr_t)je_probe_one));
	assert_true(tux_exe_critical() > 0);
	assert_true(tux_critical_has((uintptr_t)je_probe_one));
	assert_true(tux_critical_has((uintptr_t)je_probe_one + 63));
	assert_true(tux_critical_has((uintptr_t)between_them));
	assert_true(tux_critical_has((uintptr_t)zmalloc_probe + 63));
	assert_false(tux_critical_has((uintptr_t)zmalloc_probe + 64));
	assert_false(tux_critical_has((uintptr_t)je_probe_one - 1));
}

static void guard__once(void **state)
{
	int n = tux_exe_critical();

	(void)state;
	assert_int_equal(tux_exe_critical(), n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(guard__finds_an_allocator_in_the_executable),
		cmocka_unit_test(guard__once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
