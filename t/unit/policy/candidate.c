/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/candidate.h"

#include "../test.h"

enum { PACKET = 1400 };

/* @n requests of @ask bytes, each with an answer of @answer bytes, as the active
 * end counts them. */
static void turn(struct tux_candidate *y, unsigned n, unsigned ask,
		 unsigned answer)
{
	while (n--) {
		tux_candidate_moved(y, true, ask);
		tux_candidate_moved(y, false, answer);
	}
}

static void moved__counts_both_directions(void **state)
{
	struct tux_candidate y = { .look_at = 0 };

	(void)state;
	turn(&y, 3, 10, 200);
	assert_int_equal(tux_burst_total(&y.sent), 30);
	assert_int_equal(tux_burst_total(&y.received), 600);
	/* A burst ends with the next one of its direction. */
	assert_int_equal(tux_candidate_turns(&y), 2);
}

static void begin__counts_bytes_and_no_turns(void **state)
{
	struct tux_candidate y = { .look_at = 0 };

	(void)state;
	tux_candidate_begin(&y, 5000, 3000);
	assert_int_equal(tux_candidate_compare(&y, 5000, 3000),
			 TUX_CANDIDATE_AGREE);
	turn(&y, TUX_CHOICE_TURNS_PASSIVE + 1, 10, 20);
	assert_int_equal(tux_candidate_turns(&y), TUX_CHOICE_TURNS_PASSIVE);
	assert_int_equal(tux_burst_len(&y.sent), 10);
	assert_int_equal(tux_burst_len(&y.received), 20);
}

static void asks__after_enough_turns(void **state)
{
	struct tux_candidate y = { .look_at = 0 };

	(void)state;
	turn(&y, TUX_CHOICE_TURNS_PASSIVE, 10, 10);
	assert_false(tux_candidate_asks(&y));
	turn(&y, 1, 10, 10);
	assert_true(tux_candidate_asks(&y));
}

static void asks__never_a_stream_one_way(void **state)
{
	struct tux_candidate y = { .look_at = 0 };
	unsigned i;

	(void)state;
	for (i = 0; i < 1000; i++)
		tux_candidate_moved(&y, true, 100);
	assert_false(tux_candidate_asks(&y));
}

/* After a return: the counts go on, and TCP has carried frames, too. */
static void again__goes_on_with_what_was_counted(void **state)
{
	struct tux_candidate old = { .look_at = 0 }, y;
	uint32_t turns;

	(void)state;
	turn(&old, 20, 100, 100);
	turns = tux_candidate_turns(&old);
	tux_candidate_again(&y, &old.sent, &old.received, 2500, 1000);
	assert_false(tux_candidate_asks(&y));
	assert_int_equal(tux_candidate_turns(&y), turns);
	assert_int_equal(tux_candidate_compare(&y, 2500, 1000),
			 TUX_CANDIDATE_AGREE);
	turn(&y, TUX_CHOICE_TURNS_AGAIN - 1, 100, 100);
	assert_false(tux_candidate_asks(&y));
	turn(&y, 1, 100, 100);
	assert_true(tux_candidate_asks(&y));
	assert_int_equal(tux_candidate_compare(&y, 2500 + 3200, 1000 + 3200),
			 TUX_CANDIDATE_AGREE);
	assert_int_equal(tux_candidate_compare(&y, 5000, 5000),
			 TUX_CANDIDATE_UNSURE);
}

static void wait__for_more_turns(void **state)
{
	struct tux_candidate y = { .look_at = 0 };

	(void)state;
	turn(&y, 11, 10, 10);
	tux_candidate_wait(&y, 64);
	turn(&y, 63, 10, 10);
	assert_false(tux_candidate_asks(&y));
	turn(&y, 1, 10, 10);
	assert_true(tux_candidate_asks(&y));
}

static enum tux_candidate_counts compare(struct tux_candidate *y,
					 int64_t more_sent,
					 int64_t more_received)
{
	return tux_candidate_compare(y, tux_burst_total(&y->sent) +
				    (uint64_t)more_sent,
				 tux_burst_total(&y->received) +
				 (uint64_t)more_received);
}

static void compare__agrees(void **state)
{
	struct tux_candidate y = { .look_at = 0 };

	(void)state;
	assert_int_equal(compare(&y, 0, 0), TUX_CANDIDATE_AGREE);
	turn(&y, 11, 16, 240);
	assert_int_equal(compare(&y, 0, 0), TUX_CANDIDATE_AGREE);
}

/* Bytes move between two questions: nothing follows from one difference. */
static void compare__once_is_nothing(void **state)
{
	struct tux_candidate y = { .look_at = 0 };

	(void)state;
	turn(&y, 11, 16, 240);
	assert_int_equal(compare(&y, -16, 0), TUX_CANDIDATE_UNSURE);
	assert_int_equal(compare(&y, 0, 0), TUX_CANDIDATE_AGREE);
}

static void compare__believes_the_same_in_a_row(void **state)
{
	struct tux_candidate y = { .look_at = 0 };

	(void)state;
	assert_int_equal(compare(&y, 16, 0), TUX_CANDIDATE_UNSURE);
	assert_int_equal(compare(&y, 16, 0), TUX_CANDIDATE_UNSURE);
	assert_int_equal(compare(&y, 16, 240), TUX_CANDIDATE_UNSURE);
	assert_int_equal(compare(&y, 16, 240), TUX_CANDIDATE_UNSURE);
	turn(&y, 8, 16, 240);
	assert_int_equal(compare(&y, 16, 240), TUX_CANDIDATE_MISSED);
}

/* Messages of one length: the same bytes are under way each time. */
static void compare__not_a_number_that_is_too_small(void **state)
{
	struct tux_candidate y = { .look_at = 0 };
	int i;

	(void)state;
	turn(&y, 11, 16, 240);
	for (i = 0; i < 7; i++)
		assert_int_equal(compare(&y, i % 2 ? -16 : 0, -240),
				 TUX_CANDIDATE_UNSURE);
	assert_int_equal(compare(&y, 0, 0), TUX_CANDIDATE_AGREE);
}

/* Another process had the connection, too, and has moved them. */
static void adopt__the_same_in_a_row(void **state)
{
	struct tux_candidate y = { .look_at = 0 };

	(void)state;
	turn(&y, 8, 16, 240);
	for (int i = 0; i < 3; i++)
		compare(&y, 5, 7);
	assert_true(tux_candidate_adopt(&y));
	assert_int_equal(tux_burst_total(&y.sent), 8 * 16 + 5);
	assert_int_equal(tux_burst_total(&y.received), 8 * 240 + 7);
	assert_int_equal(compare(&y, 0, 0), TUX_CANDIDATE_AGREE);
}

/* ... and does so yet. */
static void adopt__nothing_that_changes(void **state)
{
	struct tux_candidate y = { .look_at = 0 };
	int64_t i;

	(void)state;
	for (i = 1; compare(&y, i, i) == TUX_CANDIDATE_UNSURE; i++)
		;
	assert_false(tux_candidate_adopt(&y));
	assert_int_equal(tux_burst_total(&y.sent), 0);
}

static void compare__not_for_ever(void **state)
{
	struct tux_candidate y = { .look_at = 0 };
	int i;

	(void)state;
	turn(&y, 11, 16, 240);
	for (i = 0; i < 7; i++)
		assert_int_equal(compare(&y, -16, i), TUX_CANDIDATE_UNSURE);
	assert_int_equal(compare(&y, -16, i), TUX_CANDIDATE_MISSED);
}

/* Of an active end. */
static enum tux_reason why(const struct tux_candidate *y)
{
	return tux_candidate_why(y, true, TUX_REASON_NONE);
}

static void why__never_bulk_for_short_bursts(void **state)
{
	struct tux_candidate y = { .packet = 1448 };

	(void)state;
	assert_int_equal(why(&y), TUX_REASON_YOUNG);
	turn(&y, 2 * TUX_CHOICE_TURNS_ACTIVE, 10, 10);
	assert_int_equal(why(&y), TUX_REASON_YOUNG);
}

/* Each end can tell as soon as it has shown enough. */
static void why__bulk_from_the_limit_on(void **state)
{
	struct tux_candidate y = { .packet = 1448 };

	(void)state;
	turn(&y, TUX_CHOICE_TURNS_PASSIVE + 1, 10, 20000);
	assert_int_equal(why(&y), TUX_REASON_YOUNG);
	assert_int_equal(tux_candidate_why(&y, false, TUX_REASON_NONE),
			 TUX_REASON_BULK);
	turn(&y, TUX_CHOICE_TURNS_ACTIVE - TUX_CHOICE_TURNS_PASSIVE, 10, 20000);
	assert_int_equal(why(&y), TUX_REASON_BULK);
	y.packet = 0;		/* nothing has asked for the limit yet */
	assert_int_equal(why(&y), TUX_REASON_YOUNG);
}

static void why__the_gate_that_decided_last(void **state)
{
	struct tux_candidate y = { .packet = 1448 };

	(void)state;
	turn(&y, 20, 10, 10);
	assert_int_equal(tux_candidate_why(&y, true, TUX_REASON_BULK),
			 TUX_REASON_BULK);
	turn(&y, 20, 10, 20000);
	assert_int_equal(tux_candidate_why(&y, true, TUX_REASON_UNSURE),
			 TUX_REASON_UNSURE);
	assert_int_equal(tux_candidate_why(&y, true, TUX_REASON_YOUNG),
			 TUX_REASON_BULK);
}

static void why__bulk_before_any_turn(void **state)
{
	struct tux_candidate y = { .look_at = 0 };

	(void)state;
	tux_candidate_moved(&y, false, 65535);
	assert_int_equal(why(&y), TUX_REASON_YOUNG);
	tux_candidate_moved(&y, false, 1);
	assert_int_equal(why(&y), TUX_REASON_BULK);
}

static void grounds__are_what_was_counted(void **state)
{
	struct tux_candidate y = { .look_at = 0 };
	struct tux_grounds g;

	(void)state;
	turn(&y, 11, 16, 240);
	g = tux_candidate_grounds(&y);
	assert_int_equal(g.turns, 10);
	assert_int_equal(g.sent, 16);
	assert_int_equal(g.received, 240);
	assert_int_equal(g.limit, 0);	/* nobody has asked */
	y.packet = PACKET;
	assert_int_equal(tux_candidate_grounds(&y).limit,
			 tux_choice_limit(PACKET));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moved__counts_both_directions),
		cmocka_unit_test(begin__counts_bytes_and_no_turns),
		cmocka_unit_test(asks__after_enough_turns),
		cmocka_unit_test(asks__never_a_stream_one_way),
		cmocka_unit_test(again__goes_on_with_what_was_counted),
		cmocka_unit_test(wait__for_more_turns),
		cmocka_unit_test(compare__agrees),
		cmocka_unit_test(compare__once_is_nothing),
		cmocka_unit_test(compare__believes_the_same_in_a_row),
		cmocka_unit_test(compare__not_a_number_that_is_too_small),
		cmocka_unit_test(compare__not_for_ever),
		cmocka_unit_test(adopt__the_same_in_a_row),
		cmocka_unit_test(adopt__nothing_that_changes),
		cmocka_unit_test(why__never_bulk_for_short_bursts),
		cmocka_unit_test(why__bulk_from_the_limit_on),
		cmocka_unit_test(why__the_gate_that_decided_last),
		cmocka_unit_test(why__bulk_before_any_turn),
		cmocka_unit_test(grounds__are_what_was_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
