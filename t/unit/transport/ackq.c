/* SPDX-License-Identifier: BSD-2-Clause */
#include "transport/ackq.h"

#include "../test.h"

#define WAIT TUX_MSEC(10)

static void expand__nearest(void **state)
{
	const uint64_t lap = (uint64_t)1 << 32;

	(void)state;
	assert_true(tux_seq_expand(5, 5) == 5);
	assert_true(tux_seq_expand(5, 9) == 9);
	assert_true(tux_seq_expand(9, 5) == 5);
	assert_true(tux_seq_expand(lap - 1, 3) == lap + 3);
	assert_true(tux_seq_expand(lap + 3, 0xffffffff) == lap - 1);
	assert_true(tux_seq_expand(7 * lap + 3, 4) == 7 * lap + 4);
	assert_true(tux_seq_expand(2 * lap, 0x7fffffff) == 2 * lap + 0x7fffffff);
	assert_true(tux_seq_expand(2 * lap, 0x80000001) == lap + 0x80000001);
}

static void expand__nothing_is_before_zero(void **state)
{
	(void)state;
	assert_true(tux_seq_expand(5, 0xfffffffe) == 0xfffffffe);
	assert_true(tux_seq_expand(0, 0x80000000) == 0x80000000);
	assert_true(tux_seq_expand(0, 0) == 0);
}

static void add__in_order_waits(void **state)
{
	struct tux_ackq q;
	uint64_t i;

	(void)state;
	tux_ackq_init(&q, 100);
	assert_true(q.due_at == TUX_NEVER);
	for (i = 0; i < TUX_ACKQ_EVERY - 1; i++) {
		assert_int_equal(tux_ackq_check(&q, 100 + i, 0), TUX_ACKQ_NEW);
		tux_ackq_add(&q, 100 + i, 1000 + i, WAIT);
		/* The oldest packet that waits sets the time. */
		assert_true(q.due_at == 1000 + WAIT);
	}
	tux_ackq_add(&q, 100 + i, 1000 + i, WAIT);
	assert_true(q.due_at == 1000 + i);
	assert_int_equal(q.next, 108);
	assert_int_equal(q.owed_n, TUX_ACKQ_EVERY);
	tux_ackq_sent(&q);
	assert_true(q.due_at == TUX_NEVER);
	assert_int_equal(q.owed_n, 0);
}

static void add__a_shorter_wait_counts(void **state)
{
	struct tux_ackq q;

	(void)state;
	tux_ackq_init(&q, 0);
	tux_ackq_add(&q, 0, 1000, WAIT);
	tux_ackq_add(&q, 1, 1001, 5);
	assert_true(q.due_at == 1006);
}

static void add__a_hole_is_told_at_once(void **state)
{
	struct tux_ackq q;

	(void)state;
	tux_ackq_init(&q, 0);
	tux_ackq_add(&q, 1, 1000, WAIT);
	assert_true(q.due_at == 1000);
	tux_ackq_sent(&q);
	/* As long as the gap is open, and when it closes. */
	tux_ackq_add(&q, 2, 2000, WAIT);
	assert_true(q.due_at == 2000);
	tux_ackq_sent(&q);
	tux_ackq_add(&q, 0, 3000, WAIT);
	assert_true(q.due_at == 3000);
	assert_int_equal(q.next, 3);
	assert_int_equal(q.seen.n, 0);
	tux_ackq_sent(&q);
	tux_ackq_add(&q, 3, 4000, WAIT);
	assert_true(q.due_at == 4000 + WAIT);
}

static void add__remembers_when_the_newest_came(void **state)
{
	struct tux_ackq q;

	(void)state;
	tux_ackq_init(&q, 10);
	assert_int_equal(q.newest, 10);
	tux_ackq_add(&q, 12, 1000, WAIT);
	tux_ackq_add(&q, 10, 2000, WAIT);
	assert_int_equal(q.newest, 13);
	assert_int_equal(q.newest_at, 1000);
	tux_ackq_add(&q, 13, 3000, WAIT);
	assert_int_equal(q.newest, 14);
	assert_int_equal(q.newest_at, 3000);
}

static void check__knows_duplicates(void **state)
{
	struct tux_ackq q;

	(void)state;
	tux_ackq_init(&q, 10);
	assert_int_equal(tux_ackq_check(&q, 9, 0), TUX_ACKQ_OLD);
	tux_ackq_add(&q, 10, 0, 0);
	tux_ackq_add(&q, 12, 0, 0);
	assert_int_equal(tux_ackq_check(&q, 10, 0), TUX_ACKQ_OLD);
	assert_int_equal(tux_ackq_check(&q, 11, 0), TUX_ACKQ_NEW);
	assert_int_equal(tux_ackq_check(&q, 12, 0), TUX_ACKQ_OLD);
	assert_int_equal(tux_ackq_check(&q, 13, 0), TUX_ACKQ_NEW);
}

static void again__makes_an_ack_due(void **state)
{
	struct tux_ackq q;

	(void)state;
	tux_ackq_init(&q, 0);
	tux_ackq_again(&q, 500);
	assert_true(q.due_at == 500);
	tux_ackq_again(&q, 600);
	assert_true(q.due_at == 500);
}

static void floor__closes_holes(void **state)
{
	struct tux_ackq q;

	(void)state;
	tux_ackq_init(&q, 0);
	tux_ackq_add(&q, 2, 0, 0);
	tux_ackq_add(&q, 5, 0, 0);
	tux_ackq_add(&q, 6, 0, 0);
	tux_ackq_floor(&q, 0);
	assert_int_equal(q.next, 0);
	tux_ackq_floor(&q, 1);
	assert_int_equal(q.next, 1);
	/* `next` moves past the range that begins at the floor. */
	tux_ackq_floor(&q, 2);
	assert_int_equal(q.next, 3);
	tux_ackq_floor(&q, 6);
	assert_int_equal(q.next, 7);
	assert_int_equal(q.seen.n, 0);
	assert_int_equal(tux_ackq_check(&q, 4, 0), TUX_ACKQ_OLD);
	/* A floor may be above all that arrived; it never goes back. */
	tux_ackq_floor(&q, 20);
	assert_int_equal(q.next, 20);
	tux_ackq_floor(&q, 10);
	assert_int_equal(q.next, 20);
	tux_ackq_add(&q, 20, 77, 0);
	assert_int_equal(q.next, 21);
	assert_int_equal(q.newest_at, 77);
}

static void full__takes_what_needs_no_range(void **state)
{
	struct tux_ackq q;
	uint64_t i;

	(void)state;
	tux_ackq_init(&q, 0);
	for (i = 1; i <= TUX_RANGE_MAX; i++) {
		assert_int_equal(tux_ackq_check(&q, 4 * i, 0), TUX_ACKQ_NEW);
		tux_ackq_add(&q, 4 * i, 0, 0);
	}
	assert_int_equal(tux_ackq_check(&q, 2, 0), TUX_ACKQ_FULL);
	assert_int_equal(tux_ackq_check(&q, 10, 0), TUX_ACKQ_FULL);
	assert_int_equal(tux_ackq_check(&q, 1000, 0), TUX_ACKQ_FULL);
	/* The floor that the packet itself tells makes room for it. */
	assert_int_equal(tux_ackq_check(&q, 1000, 4), TUX_ACKQ_FULL);
	assert_int_equal(tux_ackq_check(&q, 1000, 5), TUX_ACKQ_NEW);
	assert_int_equal(tux_ackq_check(&q, 1000, 1000), TUX_ACKQ_NEW);
	assert_int_equal(tux_ackq_check(&q, 8, 0), TUX_ACKQ_OLD);
	assert_int_equal(tux_ackq_check(&q, 0, 0), TUX_ACKQ_NEW);
	assert_int_equal(tux_ackq_check(&q, 7, 0), TUX_ACKQ_NEW);
	tux_ackq_add(&q, 7, 0, 0);
	assert_int_equal(tux_ackq_check(&q, 9, 0), TUX_ACKQ_NEW);
	tux_ackq_add(&q, 9, 0, 0);
	tux_ackq_add(&q, 0, 0, 0);
	assert_int_equal(q.next, 1);
	assert_int_equal(q.seen.n, TUX_RANGE_MAX);
	tux_ackq_floor(&q, 4);
	assert_int_equal(tux_ackq_check(&q, 1000, 0), TUX_ACKQ_NEW);
}

enum { NUMBERS = 300 };

/* Numbers in random order, some twice, some never, and floors in between: the
 * queue agrees with a table of all numbers. */
static void random__agrees_with_a_table(void **state)
{
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 50; seed++) {
		bool seen[NUMBERS + 1] = { false };
		uint64_t rnd = seed, floor = 0, next = 0, n;
		const uint64_t first = ((uint64_t)1 << 32) - 100;
		struct tux_ackq q;
		unsigned i;

		tux_ackq_init(&q, first);
		for (i = 0; i < 2000; i++) {
			enum tux_ackq_verdict v;

			/* Near the lowest number that is missing. */
			n = next + test_below(&rnd, 60);
			n = n > 20 ? n - 20 : 0;
			if (n >= NUMBERS)
				break;
			v = tux_ackq_check(&q, tux_seq_expand(q.next,
						(uint32_t)(first + n)), 0);
			assert_int_equal(v == TUX_ACKQ_OLD,
					 n < floor || seen[n]);
			if (v == TUX_ACKQ_NEW) {
				tux_ackq_add(&q, first + n, i, 0);
				seen[n] = true;
			}
			if (!test_below(&rnd, 20) && next > floor) {
				floor = next + test_below(&rnd, 3);
				tux_ackq_floor(&q, first + floor);
			}
			while (next < NUMBERS && (seen[next] || next < floor))
				next++;
			assert_true(q.next == first + next);
		}
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(expand__nearest),
		cmocka_unit_test(expand__nothing_is_before_zero),
		cmocka_unit_test(add__in_order_waits),
		cmocka_unit_test(add__a_shorter_wait_counts),
		cmocka_unit_test(add__a_hole_is_told_at_once),
		cmocka_unit_test(add__remembers_when_the_newest_came),
		cmocka_unit_test(check__knows_duplicates),
		cmocka_unit_test(again__makes_an_ack_due),
		cmocka_unit_test(floor__closes_holes),
		cmocka_unit_test(full__takes_what_needs_no_range),
		cmocka_unit_test(random__agrees_with_a_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
