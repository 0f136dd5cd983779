/* SPDX-License-Identifier: BSD-2-Clause */
#include "io/inbox.h"

#include "../test.h"

static const struct tux_addr someone = { .port = 9 };

static void put__can_be_taken(void **state)
{
	static struct tux_inbox b;
	struct tux_letter l;

	(void)state;
	assert_true(tux_inbox_empty(&b));
	assert_false(tux_inbox_take(&b, &l));
	tux_inbox_put(&b, &someone, (const uint8_t *)"hello", 5);
	assert_false(tux_inbox_empty(&b));
	assert_true(tux_inbox_take(&b, &l));
	assert_int_equal(l.len, 5);
	assert_memory_equal(l.p, "hello", 5);
	assert_true(tux_addr_same(&l.from, &someone));
	assert_true(tux_inbox_empty(&b));
}

static void put__drops_what_has_no_place(void **state)
{
	static struct tux_inbox b;
	struct tux_letter l;
	uint8_t p[TUX_INBOX_LEN + 1] = { 0 };
	int i, n = 0;

	(void)state;
	tux_inbox_put(&b, &someone, p, sizeof(p));
	assert_true(tux_inbox_empty(&b));
	for (i = 0; i < TUX_INBOX_N + 5; i++)
		tux_inbox_put(&b, &someone, p, TUX_INBOX_LEN);
	while (tux_inbox_take(&b, &l))
		n++;
	assert_int_equal(n, TUX_INBOX_N);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(put__can_be_taken),
		cmocka_unit_test(put__drops_what_has_no_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
