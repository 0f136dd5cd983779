/* SPDX-License-Identifier: BSD-2-Clause */
#include "loop/forward.h"

#include "../test.h"

static const struct tux_addr someone = { .port = 9 };

static struct tux_forward box;

static void put__can_be_taken(void **state)
{
	struct tux_forwarded l;
	struct tux_forward_walk m;

	(void)state;
	assert_true(tux_forward_empty(&box));
	tux_forward_put(&box, &someone, (const uint8_t *)"hello", 5);
	tux_forward_put(&box, &someone, (const uint8_t *)"you", 3);
	assert_false(tux_forward_empty(&box));
	m = tux_forward_take(&box);
	assert_true(tux_forward_empty(&box));
	/* What comes now does not disturb what is being read. */
	tux_forward_put(&box, &someone, (const uint8_t *)"later", 5);
	assert_true(tux_forward_next(&m, &l));
	assert_int_equal(l.len, 5);
	assert_memory_equal(l.p, "hello", 5);
	assert_true(tux_addr_same(&l.from, &someone));
	assert_true(tux_forward_next(&m, &l));
	assert_memory_equal(l.p, "you", 3);
	assert_false(tux_forward_next(&m, &l));
	m = tux_forward_take(&box);
	assert_true(tux_forward_next(&m, &l));
	assert_memory_equal(l.p, "later", 5);
}

static void put__drops_what_has_no_room(void **state)
{
	static uint8_t p[TUX_FORWARD_LEN];
	struct tux_forwarded l;
	struct tux_forward_walk m;
	int i, n = 0;

	(void)state;
	tux_forward_put(&box, &someone, p, sizeof(p));
	assert_true(tux_forward_empty(&box));
	for (i = 0; i < 5; i++)
		tux_forward_put(&box, &someone, p, sizeof(p) / 3);
	m = tux_forward_take(&box);
	while (tux_forward_next(&m, &l))
		n++;
	assert_int_equal(n, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(put__can_be_taken),
		cmocka_unit_test(put__drops_what_has_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
