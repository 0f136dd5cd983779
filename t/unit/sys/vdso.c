/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/vdso.h"

#include <sys/auxv.h>
#include <time.h>

#include "../test.h"

static void find__none(void **state)
{
	(void)state;
	assert_null(tux_vdso_find("clock_gettim"));
	assert_null(tux_vdso_find(""));
}

/* One of them, as the processor has it; each of them is one that works. */
static void find__the_clock(void **state)
{
	static const char *const names[] = {
		"__vdso_clock_gettime", "__kernel_clock_gettime",
	};
	unsigned found = 0;

	(void)state;
	if (!getauxval(AT_SYSINFO_EHDR))
		skip();
	for (unsigned i = 0; i < 2; i++) {
		tux_vdso_fn fn = tux_vdso_find(names[i]);
		struct timespec ts = { .tv_nsec = -1 };

		if (!fn)
			continue;
		found++;
		assert_int_equal(((int (*)(clockid_t, struct timespec *))fn)(
					 CLOCK_MONOTONIC, &ts), 0);
		assert_in_range(ts.tv_nsec, 0, 999999999);
	}
	assert_int_equal(found, 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(find__none),
		cmocka_unit_test(find__the_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
