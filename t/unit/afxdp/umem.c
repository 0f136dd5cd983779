/* SPDX-License-Identifier: BSD-2-Clause */
#include "afxdp/umem.h"

#include <stdbool.h>

#include "../test.h"

enum { N = 16 };

static void get__hands_out_each_frame_once(void **state)
{
	bool seen[N] = { false };
	struct tux_umem u;
	unsigned i;

	(void)state;
	assert_int_equal(tux_umem_init(&u, N), 0);
	for (i = 0; i < N; i++) {
		uint16_t f = tux_umem_get(&u, TUX_UMEM_BUILT);

		assert_in_range(f, 0, N - 1);
		assert_false(seen[f]);
		seen[f] = true;
		memset(tux_umem_at(&u, f), (int)i, TUX_UMEM_CHUNK);
	}
	assert_int_equal(tux_umem_get(&u, TUX_UMEM_BUILT), TUX_UMEM_NONE);
	assert_int_equal(tux_umem_count(&u, TUX_UMEM_BUILT), N);
	tux_umem_fini(&u);
}

static void pass__changes_the_owner(void **state)
{
	struct tux_umem u;
	uint16_t f;

	(void)state;
	assert_int_equal(tux_umem_init(&u, N), 0);
	f = tux_umem_get(&u, TUX_UMEM_FILL);
	tux_umem_pass(&u, f, TUX_UMEM_FILL, TUX_UMEM_HELD);
	assert_int_equal(tux_umem_count(&u, TUX_UMEM_FILL), 0);
	assert_int_equal(tux_umem_count(&u, TUX_UMEM_HELD), 1);
	assert_int_equal(tux_umem_count(&u, TUX_UMEM_FREE), N - 1);
	tux_umem_pass(&u, f, TUX_UMEM_HELD, TUX_UMEM_FREE);
	assert_int_equal(tux_umem_count(&u, TUX_UMEM_FREE), N);
	/* The last one back is the first one out: it is in the cache. */
	assert_int_equal(tux_umem_get(&u, TUX_UMEM_BUILT), f);
	tux_umem_fini(&u);
}

static void fini__takes_what_was_never_begun(void **state)
{
	struct tux_umem u = { 0 };

	(void)state;
	tux_umem_fini(&u);
	assert_null(u.mem);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(get__hands_out_each_frame_once),
		cmocka_unit_test(pass__changes_the_owner),
		cmocka_unit_test(fini__takes_what_was_never_begun),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
