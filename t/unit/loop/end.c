/* SPDX-License-Identifier: BSD-2-Clause */
#include "loop/end.h"

#include "../test.h"

static void get__starts_empty(void **state)
{
	struct tux_ends t;
	struct tux_end *e;

	(void)state;
	assert_int_equal(tux_ends_init(&t), 0);
	e = tux_ends_get(&t);
	assert_int_equal(e->index, 0);
	assert_int_equal(e->fd, -1);
	assert_int_equal(e->line.fd, -1);
	assert_int_equal(e->stage, TUX_END_FRESH);
	assert_ptr_equal(tux_ends_at(&t, 0), e);
	assert_null(tux_ends_at(&t, 1));
	tux_ends_fini(&t);
}

static void put__is_used_again(void **state)
{
	struct tux_ends t;
	struct tux_end *e, *f;

	(void)state;
	assert_int_equal(tux_ends_init(&t), 0);
	e = tux_ends_get(&t);
	f = tux_ends_get(&t);
	assert_ptr_not_equal(e, f);
	e->stage = TUX_END_OVER;
	tux_ends_put(&t, e);
	assert_ptr_equal(tux_ends_get(&t), e);
	assert_int_equal(e->stage, TUX_END_FRESH);
	assert_int_equal(e->index, 0);
	tux_ends_fini(&t);
}

static void get__ends_at_the_limit(void **state)
{
	struct tux_ends t;
	struct tux_end *last = NULL;
	int i;

	(void)state;
	assert_int_equal(tux_ends_init(&t), 0);
	for (i = 0; i < TUX_ENDS_MAX; i++)
		last = tux_ends_get(&t);
	assert_int_equal(last->index, TUX_ENDS_MAX - 1);
	assert_null(tux_ends_get(&t));
	tux_ends_put(&t, last);
	assert_ptr_equal(tux_ends_get(&t), last);
	tux_ends_fini(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(get__starts_empty),
		cmocka_unit_test(put__is_used_again),
		cmocka_unit_test(get__ends_at_the_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
