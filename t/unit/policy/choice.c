/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/choice.h"

#include "../test.h"

enum { PACKET = 1432, SHORT = 1000, LONG = 100000 };

static struct tux_choice p;
static tux_time now;

static void start(enum tux_path_mode mode)
{
	tux_choice_init(&p, mode, PACKET);
	now = TUX_SEC(100);
}

static enum tux_move look(bool on_tux, uint64_t burst, uint32_t turns,
			  uint64_t rate)
{
	struct tux_evidence e = {
		.burst = burst, .mean = (uint32_t)burst, .turns = turns,
		.rate = rate,
	};
	enum tux_move m = tux_choice_look(&p, on_tux, &e, now);

	if (m == TUX_MOVE)
		tux_choice_moved(&p, &e, now);
	if (m == TUX_RETURN)
		tux_choice_returned(&p, &e, now);
	return m;
}

/* @n requests of @ask bytes and answers of @answer bytes. */
static void talk(struct tux_burst *tx, struct tux_burst *rx, unsigned n,
		 uint64_t ask, uint64_t answer)
{
	while (n--) {
		tux_burst_moved(tx, rx, ask);
		tux_burst_moved(rx, tx, answer);
	}
}

static bool opens(bool active, unsigned n, uint64_t ask, uint64_t answer)
{
	struct tux_burst tx = { 0 }, rx = { 0 };

	talk(&tx, &rx, n, ask, answer);
	return tux_choice_opens(active, &tx, &rx, PACKET);
}

/* What bench/border has measured: the payload of a packet, the burst's bytes, and
 * the rate over Tux in percent of that over TCP.  Over xdp, packets are no longer
 * than 3498 bytes. */
static const struct { uint32_t packet, burst, ratio; } curve[] = {
	/* xdp, an MTU of 1500 */
	{ 1420, 108, 386 }, { 1420, 1033, 294 }, { 1420, 2057, 182 },
	{ 1420, 2066, 104 }, { 1420, 3081, 142 }, { 1420, 4105, 104 },
	{ 1420, 4132, 126 }, { 1420, 6153, 73 }, { 1420, 8201, 51 },
	{ 1420, 8264, 78 }, { 1420, 12298, 38 }, { 1420, 16394, 30 },
	{ 1420, 16528, 55 }, { 1420, 32778, 24 }, { 1420, 33056, 54 },
	{ 1420, 65546, 23 }, { 1420, 66112, 76 },
	/* udp, an MTU of 1500 */
	{ 1420, 108, 362 }, { 1420, 1033, 378 }, { 1420, 2057, 263 },
	{ 1420, 2066, 164 }, { 1420, 3081, 132 }, { 1420, 4105, 103 },
	{ 1420, 4132, 91 }, { 1420, 6153, 76 }, { 1420, 8201, 61 },
	{ 1420, 8264, 53 }, { 1420, 12298, 41 }, { 1420, 16394, 33 },
	{ 1420, 16528, 37 }, { 1420, 32778, 25 }, { 1420, 33056, 29 },
	{ 1420, 65546, 24 }, { 1420, 66112, 32 },
	/* xdp, an MTU of 3498 */
	{ 3418, 108, 211 }, { 3418, 1033, 361 }, { 3418, 2057, 294 },
	{ 3418, 2066, 219 }, { 3418, 3081, 262 }, { 3418, 4105, 199 },
	{ 3418, 4132, 141 }, { 3418, 6153, 130 }, { 3418, 8201, 105 },
	{ 3418, 8264, 84 }, { 3418, 12298, 73 }, { 3418, 16394, 64 },
	{ 3418, 16528, 67 }, { 3418, 32778, 50 }, { 3418, 33056, 51 },
	{ 3418, 65546, 41 }, { 3418, 66112, 48 },
	/* udp, an MTU of 3498 */
	{ 3418, 108, 221 }, { 3418, 1033, 369 }, { 3418, 2057, 225 },
	{ 3418, 2066, 196 }, { 3418, 3081, 234 }, { 3418, 4105, 156 },
	{ 3418, 4132, 116 }, { 3418, 6153, 122 }, { 3418, 8201, 100 },
	{ 3418, 8264, 86 }, { 3418, 12298, 67 }, { 3418, 16394, 57 },
	{ 3418, 16528, 58 }, { 3418, 32778, 43 }, { 3418, 33056, 47 },
	{ 3418, 65546, 37 }, { 3418, 66112, 44 },
	/* xdp, an MTU of 9000 */
	{ 3418, 108, 201 }, { 3418, 1033, 316 }, { 3418, 2057, 203 },
	{ 3418, 2066, 161 }, { 3418, 3081, 245 }, { 3418, 4105, 188 },
	{ 3418, 4132, 256 }, { 3418, 6153, 156 }, { 3418, 8201, 128 },
	{ 3418, 8264, 132 }, { 3418, 12298, 93 }, { 3418, 16394, 61 },
	{ 3418, 16528, 61 }, { 3418, 32778, 49 }, { 3418, 33056, 51 },
	{ 3418, 65546, 45 }, { 3418, 66112, 48 },
	/* udp, an MTU of 9000 */
	{ 8920, 108, 243 }, { 8920, 1033, 285 }, { 8920, 2057, 213 },
	{ 8920, 2066, 199 }, { 8920, 3081, 455 }, { 8920, 4105, 207 },
	{ 8920, 4132, 298 }, { 8920, 6153, 184 }, { 8920, 8201, 155 },
	{ 8920, 8264, 180 }, { 8920, 12298, 83 }, { 8920, 16394, 80 },
	{ 8920, 16528, 124 }, { 8920, 32778, 64 }, { 8920, 33056, 61 },
	{ 8920, 65546, 60 }, { 8920, 66112, 61 },
};

/* The points between are as far from 1 as two measurements of the same are from
 * each other. */
static void limit__is_where_the_curve_crosses_one(void **state)
{
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(curve) / sizeof(*curve); i++) {
		uint32_t limit = tux_choice_limit(curve[i].packet);

		if (curve[i].ratio >= 140)
			assert_in_range(curve[i].burst, 0, limit);
		if (curve[i].ratio <= 80)
			assert_true(curve[i].burst > limit);
		if (curve[i].ratio <= 67)
			assert_true(curve[i].burst > tux_choice_beyond(limit));
	}
}

static void opens__a_request_for_each_connection_never(void **state)
{
	(void)state;
	assert_false(opens(true, 1, 100, 1000));
	assert_false(opens(false, 2, 100, 1000));
}

static void opens__after_short_requests_and_answers(void **state)
{
	(void)state;
	assert_false(opens(true, TUX_CHOICE_TURNS_ACTIVE, 40, 1000));
	assert_true(opens(true, TUX_CHOICE_TURNS_ACTIVE + 1, 40, 1000));
}

static void opens__the_passive_end_sooner(void **state)
{
	(void)state;
	assert_true(opens(false, TUX_CHOICE_TURNS_ACTIVE, 40, 1000));
	assert_false(opens(true, TUX_CHOICE_TURNS_ACTIVE, 40, 1000));
}

static void opens__both_ends_up_to_the_same_limit(void **state)
{
	uint32_t limit = tux_choice_limit(PACKET);
	unsigned active;

	(void)state;
	for (active = 0; active < 2; active++) {
		assert_true(opens(active, 9, 40, limit));
		assert_true(opens(active, 9, limit, 40));
		assert_false(opens(active, 9, 40, limit + 1));
		assert_false(opens(active, 9, limit + 1, 40));
	}
}

static void opens__not_for_long_answers(void **state)
{
	(void)state;
	assert_false(opens(true, 100, 40, LONG));
	assert_false(opens(false, 100, LONG, 40));
}

static void look__tux_whenever_both_can_never_returns(void **state)
{
	(void)state;
	start(TUX_PATH_MODE_TUX);
	assert_int_equal(look(false, LONG, 0, 0), TUX_MOVE);
	assert_int_equal(look(true, LONG, 0, 1000), TUX_STAY);
}

static void look__short_bursts_move_and_stay(void **state)
{
	uint32_t i;

	(void)state;
	start(TUX_PATH_MODE_AUTO);
	assert_int_equal(look(false, SHORT, 5, 0), TUX_STAY);
	assert_int_equal(look(false, SHORT, 6, 0), TUX_MOVE);
	for (i = 7; i < 1000; i++, now += TUX_MSEC(1))
		assert_int_equal(look(true, SHORT, i, 0), TUX_STAY);
}

static void look__between_the_limits_nothing_moves(void **state)
{
	uint64_t between = tux_choice_limit(PACKET) + PACKET / 2;

	(void)state;
	start(TUX_PATH_MODE_AUTO);
	assert_int_equal(look(false, between, 100, 0), TUX_STAY);
	assert_int_equal(look(false, SHORT, 100, 0), TUX_MOVE);
	assert_int_equal(look(true, between, 101, 0), TUX_STAY);
}

static void look__long_bursts_return_and_hold(void **state)
{
	(void)state;
	start(TUX_PATH_MODE_AUTO);
	look(false, SHORT, 10, 0);
	assert_int_equal(look(true, LONG, 11, 0), TUX_RETURN);
	now += TUX_MSEC(99);
	assert_int_equal(look(false, SHORT, 1000, 0), TUX_STAY);
	now += TUX_MSEC(1);
	/* and it has to show short bursts again */
	assert_int_equal(look(false, SHORT, 11 + TUX_CHOICE_TURNS_AGAIN - 1, 0),
			 TUX_STAY);
	assert_int_equal(look(false, SHORT, 11 + TUX_CHOICE_TURNS_AGAIN, 0),
			 TUX_MOVE);
}

/* One long burst among short ones has to be under way for long enough to tell how
 * fast it is. */
static void look__one_long_burst_returns_with_a_rate(void **state)
{
	struct tux_evidence e = { .burst = LONG, .mean = SHORT, .turns = 11 };

	(void)state;
	start(TUX_PATH_MODE_AUTO);
	look(false, SHORT, 10, 0);
	assert_int_equal(tux_choice_look(&p, true, &e, now), TUX_STAY);
	e.rate = 1;
	assert_int_equal(tux_choice_look(&p, true, &e, now), TUX_RETURN);
}

/* Bursts that alternate between short and long, a hundred turn-arounds each:
 * ever fewer moves. */
static void look__an_oscillation_moves_ever_less(void **state)
{
	unsigned i, moves = 0, early = 0;
	bool tux = false;

	(void)state;
	start(TUX_PATH_MODE_AUTO);
	for (i = 0; i < 100000; i++, now += TUX_USEC(100)) {
		uint64_t burst = i / 100 % 2 ? LONG : SHORT;
		enum tux_move m = look(tux, burst, i, 0);

		if (m == TUX_STAY)
			continue;
		tux = m == TUX_MOVE;
		moves += m == TUX_MOVE;
		if (i < 50000)
			early = moves;
	}
	assert_in_range(moves, 2, 8);
	assert_in_range(moves - early, 0, 1);
}

static void look__after_long_peace_the_hold_is_short_again(void **state)
{
	unsigned i;

	(void)state;
	start(TUX_PATH_MODE_AUTO);
	for (i = 0; i < 5; i++) {
		now += TUX_SEC(10);
		assert_int_equal(look(false, SHORT, 100 * (i + 1), 0),
				 TUX_MOVE);
		now += TUX_MSEC(1);
		look(true, LONG, 100 * (i + 1), 0);
	}
	assert_true(p.hold.len > TUX_SEC(1));
	now += TUX_SEC(10);
	look(false, SHORT, 1000, 0);
	now += TUX_SEC(3600);
	look(true, LONG, 100000, 0);
	assert_int_equal(p.until - now, TUX_MSEC(100));
}

static void look__back_to_tux_if_tcp_is_slower(void **state)
{
	(void)state;
	start(TUX_PATH_MODE_AUTO);
	look(false, SHORT, 10, 0);
	assert_int_equal(look(true, LONG, 11, 2000000), TUX_RETURN);
	assert_int_equal(look(false, LONG, 11, 0), TUX_STAY);
	assert_int_equal(look(false, LONG, 11, 1000000), TUX_MOVE);
	/* and does not try TCP again at once */
	assert_int_equal(look(true, LONG, 11, 2000000), TUX_STAY);
	now += TUX_SEC(1);
	assert_int_equal(look(true, LONG, 11, 2000000), TUX_RETURN);
}

static void look__stays_on_tcp_if_that_is_faster(void **state)
{
	(void)state;
	start(TUX_PATH_MODE_AUTO);
	look(false, SHORT, 10, 0);
	assert_int_equal(look(true, LONG, 11, 1000000), TUX_RETURN);
	assert_int_equal(look(false, LONG, 11, 2000000), TUX_STAY);
	now += TUX_SEC(100);
	assert_int_equal(look(false, LONG, 11, 2000000), TUX_STAY);
}

static void packet__longer_datagrams_allow_longer_bursts(void **state)
{
	(void)state;
	start(TUX_PATH_MODE_AUTO);
	assert_int_equal(look(false, 8000, 100, 0), TUX_STAY);
	tux_choice_packet(&p, 8972);
	assert_int_equal(look(false, 8000, 100, 0), TUX_MOVE);
}

static void look_turns__is_when_the_answer_can_change(void **state)
{
	(void)state;
	start(TUX_PATH_MODE_AUTO);
	assert_int_equal(tux_choice_look_turns(&p, 0),
			 TUX_CHOICE_TURNS_PASSIVE);
	look(false, SHORT, 10, 0);
	look(true, LONG, 11, 0);
	assert_int_equal(tux_choice_look_turns(&p, 11),
			 11 + TUX_CHOICE_TURNS_AGAIN);
	assert_true(tux_choice_look_turns(&p, 500) > 500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(limit__is_where_the_curve_crosses_one),
		cmocka_unit_test(opens__a_request_for_each_connection_never),
		cmocka_unit_test(opens__after_short_requests_and_answers),
		cmocka_unit_test(opens__the_passive_end_sooner),
		cmocka_unit_test(opens__both_ends_up_to_the_same_limit),
		cmocka_unit_test(opens__not_for_long_answers),
		cmocka_unit_test(look__tux_whenever_both_can_never_returns),
		cmocka_unit_test(look__short_bursts_move_and_stay),
		cmocka_unit_test(look__between_the_limits_nothing_moves),
		cmocka_unit_test(look__long_bursts_return_and_hold),
		cmocka_unit_test(look__one_long_burst_returns_with_a_rate),
		cmocka_unit_test(look__an_oscillation_moves_ever_less),
		cmocka_unit_test(look__after_long_peace_the_hold_is_short_again),
		cmocka_unit_test(look__back_to_tux_if_tcp_is_slower),
		cmocka_unit_test(look__stays_on_tcp_if_that_is_faster),
		cmocka_unit_test(packet__longer_datagrams_allow_longer_bursts),
		cmocka_unit_test(look_turns__is_when_the_answer_can_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
