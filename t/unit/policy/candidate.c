/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/candidate.h"

#include "../test.h"

enum { PACKET = 1400, FITS = 3 * PACKET, SERIES = 500, ROUNDS = 100 };

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

static void opens__the_passive_end_sooner(void **state)
{
	struct tux_candidate y = { .look_at = 0 };

	(void)state;
	turn(&y, TUX_CHOICE_TURNS_PASSIVE + 1, 10, 10);
	assert_true(tux_candidate_opens(&y, false, PACKET));
	y.look_at = 0;
	assert_false(tux_candidate_opens(&y, true, PACKET));
	/* The active end asks again when it has shown enough. */
	assert_int_equal(y.look_at, TUX_CHOICE_TURNS_ACTIVE);
	turn(&y, TUX_CHOICE_TURNS_ACTIVE - TUX_CHOICE_TURNS_PASSIVE, 10, 10);
	assert_true(tux_candidate_asks(&y));
	assert_true(tux_candidate_opens(&y, true, PACKET));
}

static void opens__not_for_long_answers(void **state)
{
	struct tux_candidate y = { .look_at = 0 };

	(void)state;
	turn(&y, 21, 10, 2 * FITS + 100);
	assert_true(tux_candidate_asks(&y));
	assert_false(tux_candidate_opens(&y, true, PACKET));
	assert_false(tux_candidate_opens(&y, false, PACKET));
	/* It is asked again, but not at each turn. */
	assert_int_equal(y.look_at, 28);
	assert_false(tux_candidate_asks(&y));
	turn(&y, 8, 10, 10);
	assert_true(tux_candidate_asks(&y));
}

/* One end of a connection whose program reads and writes in whole bursts. */
struct side {
	struct tux_candidate y;
	uint32_t packet;
	bool active, open;
};

/* The program's next call; then its bytes move. */
static void side_call(struct side *e, bool out, uint32_t n)
{
	if (!e->open && tux_candidate_asks(&e->y))
		e->open = tux_candidate_opens(&e->y, e->active, e->packet);
	tux_candidate_moved(&e->y, out, n);
}

static uint32_t draw(uint64_t *x, uint32_t n)
{
	*x = *x * 6364136223846793005u + 1442695040888963407u;
	return 1 + (uint32_t)(*x >> 33) % n;
}

/* Bursts of up to @most bytes.  The active end must never be open when the
 * passive end is not by its next call. */
static void ends_talk(struct side *a, struct side *p, uint32_t most,
		      uint64_t seed)
{
	for (int i = 0; i < ROUNDS && !a->open; i++) {
		uint32_t ask = draw(&seed, most), answer = draw(&seed, most);

		side_call(a, true, ask);
		side_call(p, false, ask);
		assert_true(p->open || !a->open);
		side_call(p, true, answer);
		side_call(a, false, answer);
		assert_true(p->open || !a->open);
	}
}

static void opens__the_passive_end_if_the_active_one_will(void **state)
{
	static const uint32_t packet[] = { 536, 1220, 1448, 3446, 8948 };
	unsigned opened = 0, vain = 0, i;

	(void)state;
	for (i = 0; i < sizeof(packet) / sizeof(*packet) * SERIES; i++) {
		uint32_t n = packet[i / SERIES], limit = tux_choice_limit(n);
		struct side a = { .packet = n, .active = true };
		struct side p = { .packet = n };

		/* Their mean lies around the limit. */
		ends_talk(&a, &p, limit + limit * (i % 4) / 2, i);
		opened += a.open;
		vain += p.open && !a.open;
	}
	assert_in_range(opened, i / 4, i - i / 10);
	/* In the turn-arounds by which the passive end is ahead. */
	assert_in_range(vain, 0, i / 50);
}

/* One end has learned of a shorter path. */
static void opens__both_ends_for_bursts_that_suit_both(void **state)
{
	static const uint32_t packet[][2] = {
		{ 1460, 1448 }, { 1448, 1460 }, { 1448, 1220 }, { 1220, 1448 },
		{ 1448, 1050 }, { 8948, 6500 }, { 1448, 8948 }, { 8948, 1448 },
	};
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(packet) / sizeof(*packet) * SERIES; i++) {
		const uint32_t *of = packet[i / SERIES];
		uint32_t least = of[0] < of[1] ? of[0] : of[1];
		struct side a = { .packet = of[0], .active = true };
		struct side p = { .packet = of[1] };

		ends_talk(&a, &p, tux_choice_limit(least), i);
		assert_true(a.open && p.open);
	}
}

/* A passive end with the longer packets is open whenever the active one is. */
static void opens__a_passive_end_with_longer_packets(void **state)
{
	static const uint32_t packet[][2] = {
		{ 1448, 1460 }, { 1220, 1448 }, { 1448, 8948 },
	};
	unsigned opened = 0, i;

	(void)state;
	for (i = 0; i < sizeof(packet) / sizeof(*packet) * SERIES; i++) {
		const uint32_t *of = packet[i / SERIES];
		uint32_t limit = tux_choice_limit(of[0]);
		struct side a = { .packet = of[0], .active = true };
		struct side p = { .packet = of[1] };

		ends_talk(&a, &p, limit + limit * (i % 4) / 2, i);
		opened += a.open;
	}
	assert_in_range(opened, i / 4, i - i / 10);
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

static void wait__for_a_silent_peer(void **state)
{
	struct tux_candidate y = { .look_at = 0 };

	(void)state;
	turn(&y, 11, 10, 10);
	tux_candidate_wait(&y);
	assert_false(tux_candidate_asks(&y));
	turn(&y, 1023, 10, 10);
	assert_false(tux_candidate_asks(&y));
	turn(&y, 1, 10, 10);
	assert_true(tux_candidate_asks(&y));
}

static void busy__waits_for_some_turns(void **state)
{
	struct tux_candidate y = { .look_at = 0 };

	(void)state;
	turn(&y, 11, 10, 10);
	tux_candidate_busy(&y);
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
static void compare__looks_again_after_turns(void **state)
{
	struct tux_candidate y = { .look_at = 0 };

	(void)state;
	turn(&y, 11, 16, 240);
	assert_int_equal(compare(&y, -16, 0), TUX_CANDIDATE_UNSURE);
	assert_int_equal(tux_candidate_why(&y), TUX_REASON_YOUNG);
	assert_false(tux_candidate_asks(&y));
	turn(&y, 8, 16, 240);
	assert_true(tux_candidate_asks(&y));
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

static void why__young_or_bulk(void **state)
{
	struct tux_candidate y = { .look_at = 0 };

	(void)state;
	assert_int_equal(tux_candidate_why(&y), TUX_REASON_YOUNG);
	turn(&y, TUX_CHOICE_TURNS_ACTIVE, 10, 10);
	assert_int_equal(tux_candidate_why(&y), TUX_REASON_YOUNG);
	turn(&y, 1, 10, 10);
	assert_int_equal(tux_candidate_why(&y), TUX_REASON_BULK);
}

static void why__bulk_before_any_turn(void **state)
{
	struct tux_candidate y = { .look_at = 0 };

	(void)state;
	tux_candidate_moved(&y, false, 65535);
	assert_int_equal(tux_candidate_why(&y), TUX_REASON_YOUNG);
	tux_candidate_moved(&y, false, 1);
	assert_int_equal(tux_candidate_why(&y), TUX_REASON_BULK);
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
	assert_true(tux_candidate_opens(&y, true, PACKET));
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
		cmocka_unit_test(opens__the_passive_end_sooner),
		cmocka_unit_test(opens__not_for_long_answers),
		cmocka_unit_test(opens__the_passive_end_if_the_active_one_will),
		cmocka_unit_test(opens__both_ends_for_bursts_that_suit_both),
		cmocka_unit_test(opens__a_passive_end_with_longer_packets),
		cmocka_unit_test(again__goes_on_with_what_was_counted),
		cmocka_unit_test(wait__for_a_silent_peer),
		cmocka_unit_test(busy__waits_for_some_turns),
		cmocka_unit_test(compare__agrees),
		cmocka_unit_test(compare__looks_again_after_turns),
		cmocka_unit_test(compare__believes_the_same_in_a_row),
		cmocka_unit_test(compare__not_a_number_that_is_too_small),
		cmocka_unit_test(compare__not_for_ever),
		cmocka_unit_test(why__young_or_bulk),
		cmocka_unit_test(why__bulk_before_any_turn),
		cmocka_unit_test(grounds__are_what_was_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
