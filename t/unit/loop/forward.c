/* SPDX-License-Identifier: BSD-2-Clause */
#include "loop/forward.h"

#include "../test.h"

static const struct tux_addr someone = { .port = 9 };

static struct tux_forward box;

static void put(const void *p, size_t len, uint8_t ecn)
{
	struct tux_dgram d = {
		.from = someone, .p = p, .len = len, .ecn = ecn, .queue = 3,
	};

	tux_forward_put(&box, &d);
}

static void put__can_be_taken(void **state)
{
	struct tux_dgram l;
	struct tux_forward_walk m;

	(void)state;
	assert_true(tux_forward_empty(&box));
	put("hello", 5, TUX_ECN_ECT0);
	put("you", 3, TUX_ECN_CE);
	assert_false(tux_forward_empty(&box));
	m = tux_forward_take(&box);
	assert_true(tux_forward_empty(&box));
	/* What comes now does not disturb what is being read. */
	put("later", 5, TUX_ECN_NONE);
	assert_true(tux_forward_next(&m, &l));
	assert_int_equal(l.len, 5);
	assert_memory_equal(l.p, "hello", 5);
	assert_true(tux_addr_same(&l.from, &someone));
	assert_int_equal(l.ecn, TUX_ECN_ECT0);
	assert_int_equal(l.queue, -1);
	assert_true(tux_forward_next(&m, &l));
	assert_memory_equal(l.p, "you", 3);
	assert_int_equal(l.ecn, TUX_ECN_CE);
	assert_false(tux_forward_next(&m, &l));
	m = tux_forward_take(&box);
	assert_true(tux_forward_next(&m, &l));
	assert_memory_equal(l.p, "later", 5);
}

static void put__drops_what_has_no_room(void **state)
{
	static uint8_t p[TUX_FORWARD_LEN];
	struct tux_dgram l;
	struct tux_forward_walk m;
	int i, n = 0;

	(void)state;
	put(p, sizeof(p), 0);
	assert_true(tux_forward_empty(&box));
	for (i = 0; i < 5; i++)
		put(p, sizeof(p) / 3, 0);
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
