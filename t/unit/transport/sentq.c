/* SPDX-License-Identifier: BSD-2-Clause */
#include "transport/sentq.h"

#include "../test.h"

static struct tux_sentq q;

static void send_one(uint32_t size)
{
	struct tux_sent *s = tux_sentq_slot(&q);

	*s = (struct tux_sent){ .at = q.next, .off = 10 * q.next,
				.size = size };
	tux_sentq_push(&q);
}

static void init__is_empty(void **state)
{
	(void)state;
	tux_sentq_init(&q, 1000);
	assert_true(tux_sentq_empty(&q));
	assert_false(tux_sentq_full(&q));
	assert_null(tux_sentq_oldest(&q));
	assert_null(tux_sentq_find(&q, 1000));
	assert_null(tux_sentq_find(&q, 999));
	assert_int_equal(q.top, 1000);
}

static void push__counts(void **state)
{
	(void)state;
	tux_sentq_init(&q, 7);
	send_one(100);
	send_one(50);
	assert_int_equal(q.next, 9);
	assert_int_equal(q.floor, 7);
	assert_int_equal(q.in_flight, 150);
	assert_int_equal(tux_sentq_find(&q, 8)->off, 80);
	assert_null(tux_sentq_find(&q, 9));
	assert_null(tux_sentq_find(&q, 6));
	assert_int_equal(tux_sentq_oldest(&q)->off, 70);
}

static void retire__moves_the_floor_past_what_is_retired(void **state)
{
	(void)state;
	tux_sentq_init(&q, 0);
	send_one(1);
	send_one(2);
	send_one(4);
	send_one(8);
	tux_sentq_retire(&q, tux_sentq_find(&q, 1));
	assert_int_equal(q.floor, 0);
	assert_int_equal(q.in_flight, 13);
	assert_null(tux_sentq_find(&q, 1));
	tux_sentq_retire(&q, tux_sentq_find(&q, 2));
	assert_int_equal(q.floor, 0);
	tux_sentq_retire(&q, tux_sentq_find(&q, 0));
	assert_int_equal(q.floor, 3);
	assert_int_equal(tux_sentq_oldest(&q)->at, 3);
	tux_sentq_retire(&q, tux_sentq_find(&q, 3));
	assert_true(tux_sentq_empty(&q));
	assert_null(tux_sentq_oldest(&q));
	assert_int_equal(q.in_flight, 0);
}

static void full__until_the_oldest_is_retired(void **state)
{
	uint64_t i;

	(void)state;
	tux_sentq_init(&q, UINT32_MAX - 10);
	for (i = 0; i < TUX_SENTQ_CAP; i++) {
		assert_false(tux_sentq_full(&q));
		send_one(1);
	}
	assert_true(tux_sentq_full(&q));
	/* The next number shares the slot of the oldest, but is not found
	 * there. */
	assert_null(tux_sentq_find(&q, q.next));
	tux_sentq_retire(&q, tux_sentq_find(&q, q.next - 1));
	assert_true(tux_sentq_full(&q));
	tux_sentq_retire(&q, tux_sentq_oldest(&q));
	assert_false(tux_sentq_full(&q));
	/* A slot that is used again is not taken for the old number. */
	send_one(1);
	assert_null(tux_sentq_find(&q, q.next - 1 - TUX_SENTQ_CAP));
	assert_non_null(tux_sentq_find(&q, q.next - 1));
	assert_null(tux_sentq_find(&q, q.next - 1 + TUX_SENTQ_CAP));
}

static void lose__is_remembered_until_its_place_is_needed(void **state)
{
	uint64_t i;

	(void)state;
	tux_sentq_init(&q, 5);
	send_one(1);
	send_one(2);
	tux_sentq_lose(&q, tux_sentq_find(&q, 5));
	assert_int_equal(q.floor, 6);
	assert_int_equal(q.in_flight, 2);
	assert_int_equal(q.lost_n, 1);
	assert_null(tux_sentq_find(&q, 5));
	assert_int_equal(tux_sentq_lost(&q, 5)->size, 1);
	assert_null(tux_sentq_lost(&q, 6));
	tux_sentq_retire(&q, tux_sentq_find(&q, 6));
	for (i = 0; i < TUX_SENTQ_CAP - 2; i++)
		send_one(1);
	assert_non_null(tux_sentq_lost(&q, 5));
	send_one(1);
	assert_null(tux_sentq_lost(&q, 5));
	assert_int_equal(q.lost_n, 0);
}

static void lose__and_it_arrives(void **state)
{
	(void)state;
	tux_sentq_init(&q, 5);
	send_one(1);
	tux_sentq_lose(&q, tux_sentq_find(&q, 5));
	tux_sentq_retire(&q, tux_sentq_lost(&q, 5));
	assert_int_equal(q.in_flight, 0);
	assert_int_equal(q.lost_n, 0);
	assert_null(tux_sentq_lost(&q, 5));
}

/* A packet tells the floor at the time it left; its arrival closes all numbers
 * below. */
static void arrived__closes_what_the_packet_told(void **state)
{
	(void)state;
	tux_sentq_init(&q, 5);
	send_one(1);
	send_one(2);
	tux_sentq_arrived(&q, 6, tux_sentq_find(&q, 6));
	assert_int_equal(q.top, 7);
	assert_int_equal(q.closed, 5);
	tux_sentq_lose(&q, tux_sentq_find(&q, 5));
	send_one(3);
	tux_sentq_arrived(&q, 7, tux_sentq_find(&q, 7));
	assert_int_equal(q.closed, 6);
}

static void skip__leaves_out_a_number_and_waits_for_nothing(void **state)
{
	(void)state;
	tux_sentq_init(&q, 5);
	send_one(1);
	tux_sentq_lose(&q, tux_sentq_find(&q, 5));
	q.hold = 5;
	assert_int_equal(tux_sentq_skip(&q), 6);
	assert_true(tux_sentq_empty(&q));
	assert_int_equal(q.next, 7);
	assert_int_equal(tux_sentq_told(&q), 7);
	assert_null(tux_sentq_find(&q, 6));
	send_one(4);
	assert_int_equal(tux_sentq_oldest(&q)->size, 4);
	assert_int_equal(tux_sentq_find(&q, 7)->span, 0);
	assert_int_equal(q.in_flight, 4);
	assert_non_null(tux_sentq_lost(&q, 5));
}

/* The slot of a number that is left out may hold the entry of a lost packet. */
static void skip__takes_the_place_of_a_lost_one(void **state)
{
	unsigned i;

	(void)state;
	tux_sentq_init(&q, 0);
	send_one(1);
	tux_sentq_lose(&q, tux_sentq_find(&q, 0));
	for (i = 1; i < TUX_SENTQ_CAP; i++) {
		send_one(1);
		tux_sentq_retire(&q, tux_sentq_find(&q, i));
	}
	assert_int_equal(q.lost_n, 1);
	tux_sentq_skip(&q);
	assert_int_equal(q.lost_n, 0);
	assert_null(tux_sentq_lost(&q, TUX_SENTQ_CAP));
}

/* A packet that is given up without an answer may have told a floor. */
static void forget__leaves_nothing_that_was_lost(void **state)
{
	(void)state;
	tux_sentq_init(&q, 5);
	send_one(1);
	send_one(2);
	tux_sentq_lose(&q, tux_sentq_find(&q, 5));
	tux_sentq_retire(&q, tux_sentq_find(&q, 6));
	tux_sentq_forget(&q);
	assert_int_equal(q.lost_n, 0);
	assert_null(tux_sentq_lost(&q, 5));
	assert_int_equal(q.in_flight, 0);
}

static void newest__passes_over_what_is_retired(void **state)
{
	(void)state;
	tux_sentq_init(&q, 5);
	assert_null(tux_sentq_newest(&q));
	send_one(1);
	send_one(2);
	send_one(3);
	tux_sentq_retire(&q, tux_sentq_find(&q, 7));
	tux_sentq_lose(&q, tux_sentq_find(&q, 6));
	assert_int_equal(tux_sentq_newest(&q)->size, 1);
}

enum { NUMBERS = 3000 };

static void random__agrees_with_a_table(void **state)
{
	static bool flying[NUMBERS];
	uint64_t rnd = 1, floor = 0, next = 0, flight = 0, n;

	(void)state;
	tux_sentq_init(&q, 0);
	while (next < NUMBERS) {
		if (test_below(&rnd, 5) && !tux_sentq_full(&q)) {
			send_one((uint32_t)next);
			flight += next;
			flying[next++] = true;
		} else if (floor < next) {
			struct tux_sent *s;

			n = floor + test_below(&rnd, (uint32_t)(next - floor));
			s = tux_sentq_find(&q, n);
			assert_int_equal(s != NULL, flying[n]);
			if (!s)
				n = floor;
			tux_sentq_retire(&q, tux_sentq_find(&q, n));
			flying[n] = false;
			flight -= n;
		}
		while (floor < next && !flying[floor])
			floor++;
		assert_int_equal(q.floor, floor);
		assert_int_equal(q.next, next);
		assert_int_equal(q.in_flight, flight);
		if (floor < next)
			assert_int_equal(tux_sentq_oldest(&q)->at, floor);
	}
}

/* Not a number that was never sent, that is in flight, or that has lost its
 * slot. */
static void lost__only_what_is_remembered(void **state)
{
	unsigned i;

	(void)state;
	tux_sentq_init(&q, 1000);
	send_one(1);
	assert_null(tux_sentq_lost(&q, 1000));
	tux_sentq_lose(&q, tux_sentq_find(&q, 1000));
	assert_ptr_equal(tux_sentq_lost(&q, 1000), tux_sentq_at(&q, 1000));
	assert_null(tux_sentq_lost(&q, 1000 + TUX_SENTQ_CAP));
	for (i = 1; i < TUX_SENTQ_CAP; i++)
		send_one(1);
	assert_non_null(tux_sentq_lost(&q, 1000));
	assert_int_equal(q.lost_n, 1);
	send_one(1);
	assert_null(tux_sentq_lost(&q, 1000));
	assert_int_equal(q.lost_n, 0);
	tux_sentq_lose(&q, tux_sentq_find(&q, 1000 + TUX_SENTQ_CAP));
	assert_null(tux_sentq_lost(&q, 1000));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(init__is_empty),
		cmocka_unit_test(push__counts),
		cmocka_unit_test(retire__moves_the_floor_past_what_is_retired),
		cmocka_unit_test(full__until_the_oldest_is_retired),
		cmocka_unit_test(lose__is_remembered_until_its_place_is_needed),
		cmocka_unit_test(lose__and_it_arrives),
		cmocka_unit_test(arrived__closes_what_the_packet_told),
		cmocka_unit_test(skip__leaves_out_a_number_and_waits_for_nothing),
		cmocka_unit_test(skip__takes_the_place_of_a_lost_one),
		cmocka_unit_test(forget__leaves_nothing_that_was_lost),
		cmocka_unit_test(newest__passes_over_what_is_retired),
		cmocka_unit_test(random__agrees_with_a_table),
		cmocka_unit_test(lost__only_what_is_remembered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
