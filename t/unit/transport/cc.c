/* SPDX-License-Identifier: BSD-2-Clause */
#include "transport/cc.h"

#include "../test.h"

enum { MSS = 1500 };

static struct tux_cc cc;

static void start(uint64_t cwnd)
{
	tux_cc_init(&cc, &tux_cc_newreno, MSS);
	cc.w.cwnd = cwnd;
}

static void ack(uint64_t bytes, tux_time sent_at, tux_time now)
{
	const struct tux_cc_ack a = {
		.bytes = bytes, .sent_at = sent_at, .full = true,
	};

	tux_cc_acked(&cc, &a, now);
}

static void acked__what_left_before_the_reduction_grows_nothing(void **state)
{
	(void)state;
	start(30000);
	tux_cc_lost(&cc, 10, 100);
	ack(15000, 99, 110);
	assert_int_equal(cc.w.cwnd, 15000);
	ack(15000, 100, 200);
	assert_int_equal(cc.w.cwnd, 15000 + MSS);
}

static void spurious__all_of_an_event_takes_it_back(void **state)
{
	(void)state;
	start(30000);
	tux_cc_lost(&cc, 10, 100);
	tux_cc_lost(&cc, 11, 100);
	tux_cc_lost(&cc, 99, 110);
	assert_false(tux_cc_spurious(&cc, 11));
	assert_false(tux_cc_spurious(&cc, 10));
	assert_int_equal(cc.w.cwnd, 15000);
	assert_true(tux_cc_spurious(&cc, 99));
	assert_int_equal(cc.w.cwnd, 30000);
	assert_true(cc.w.ssthresh == UINT64_MAX);
	/* No reduction is left to undo. */
	assert_false(tux_cc_spurious(&cc, 9));
}

static void spurious__one_real_loss_is_enough(void **state)
{
	(void)state;
	start(30000);
	tux_cc_lost(&cc, 10, 100);
	tux_cc_lost(&cc, 11, 100);
	assert_false(tux_cc_spurious(&cc, 10));
	assert_int_equal(cc.w.cwnd, 15000);
	/* The next event counts its own losses. */
	tux_cc_lost(&cc, 101, 200);
	assert_true(tux_cc_spurious(&cc, 101));
	assert_int_equal(cc.w.cwnd, 15000);
}

static void spurious__timeouts_in_a_row(void **state)
{
	unsigned i;

	(void)state;
	start(30000);
	tux_cc_timeout(&cc, 3, 100);
	tux_cc_timeout(&cc, 1, 200);
	assert_int_equal(cc.w.cwnd, MSS);
	for (i = 0; i < 3; i++)
		assert_false(tux_cc_spurious(&cc, 10 + i));
	assert_true(tux_cc_spurious(&cc, 100));
	assert_int_equal(cc.w.cwnd, 30000);
}

static void spurious__never_makes_it_smaller(void **state)
{
	(void)state;
	start(30000);
	tux_cc_lost(&cc, 10, 100);
	cc.w.cwnd = 60000;
	assert_true(tux_cc_spurious(&cc, 10));
	assert_int_equal(cc.w.cwnd, 60000);
}

static void marked__reduces_once_in_a_round(void **state)
{
	(void)state;
	start(40 * MSS);
	assert_true(tux_cc_marked(&cc, 10, 100));
	assert_int_equal(cc.w.cwnd, 20 * MSS);
	assert_false(tux_cc_marked(&cc, 99, 150));
	ack(20 * MSS, 99, 150);
	assert_int_equal(cc.w.cwnd, 20 * MSS);
	assert_true(tux_cc_marked(&cc, 100, 200));
	assert_int_equal(cc.w.cwnd, 10 * MSS);
}

static void marked__is_one_event_with_losses(void **state)
{
	(void)state;
	start(40 * MSS);
	assert_true(tux_cc_marked(&cc, 10, 100));
	tux_cc_lost(&cc, 99, 150);
	assert_int_equal(cc.w.cwnd, 20 * MSS);
	start(40 * MSS);
	tux_cc_lost(&cc, 10, 100);
	assert_false(tux_cc_marked(&cc, 99, 150));
	assert_int_equal(cc.w.cwnd, 20 * MSS);
}

/* A reduction for a mark stays even if all losses prove spurious. */
static void marked__stands(void **state)
{
	(void)state;
	start(40 * MSS);
	tux_cc_lost(&cc, 10, 100);
	assert_false(tux_cc_marked(&cc, 99, 150));
	assert_false(tux_cc_spurious(&cc, 10));
	assert_int_equal(cc.w.cwnd, 20 * MSS);
	assert_true(tux_cc_marked(&cc, 100, 200));
	assert_false(tux_cc_spurious(&cc, 99));
	assert_int_equal(cc.w.cwnd, 10 * MSS);
}

/* The window doubles in a round.  When the round trip grows by an eighth, the
 * window grows a quarter as fast; if the round trip stays long, slow start is
 * over. */
static void slow_start__ends_when_queues_build(void **state)
{
	struct tux_cc_ack a = { .bytes = 8 * MSS, .full = true };
	enum tux_hystart_pace pace = TUX_HYSTART_FAST;
	tux_time now = TUX_SEC(1);
	unsigned i, slow = 0;

	(void)state;
	start(10 * MSS);
	for (i = 0; i < 200 && cc.w.ssthresh == UINT64_MAX; i++) {
		struct tux_hystart h = cc.hystart;
		uint64_t before = cc.w.cwnd, left;

		/* Eight samples a round, first of 50 ms, later of 60. */
		a.rtt = TUX_MSEC(i < 20 ? 50 : 60);
		a.sent_at = now - a.rtt;
		now += a.rtt / 8;
		pace = tux_hystart_acked(&h, a.sent_at, a.rtt, now);
		left = tux_cc_slow_start(&cc, &a, now);
		assert_true(left == (pace == TUX_HYSTART_OVER ? a.bytes : 0));
		slow += pace == TUX_HYSTART_SLOW;
		assert_true(cc.w.cwnd - before ==
			    (pace == TUX_HYSTART_FAST ? a.bytes :
			     pace == TUX_HYSTART_SLOW ? a.bytes / 4 : 0));
	}
	assert_int_equal(pace, TUX_HYSTART_OVER);
	assert_true(slow > 8);
	assert_true(cc.w.ssthresh == cc.w.cwnd);
}

/* Slow start ends at ssthresh and leaves the rest of the bytes for congestion
 * avoidance.  HyStart++ is not used once ssthresh is set. */
static void slow_start__up_to_the_threshold(void **state)
{
	struct tux_cc_ack a = { .bytes = 3 * MSS };

	(void)state;
	start(10 * MSS);
	cc.w.ssthresh = 12 * MSS;
	assert_int_equal(tux_cc_slow_start(&cc, &a, 1), MSS);
	assert_int_equal(cc.w.cwnd, 12 * MSS);
	assert_int_equal(tux_cc_slow_start(&cc, &a, 1), 3 * MSS);
	assert_int_equal(cc.w.cwnd, 12 * MSS);
	cc.w.cwnd = 9 * MSS;
	assert_int_equal(tux_cc_slow_start(&cc, &a, 1), 0);
	assert_int_equal(cc.w.cwnd, 12 * MSS);
}

/* As TCP: ten packets at first, and never less than one. */
static void own__less_after_an_event(void **state)
{
	(void)state;
	start(30000);
	assert_int_equal(tux_cc_own(&cc), 10 * MSS);
	/* HyStart++ has ended slow start: nothing was lost. */
	cc.w.ssthresh = 30000;
	assert_int_equal(tux_cc_own(&cc), 10 * MSS);
	cc.mss = 1000;
	assert_int_equal(tux_cc_own(&cc), 14600);
	tux_cc_lost(&cc, 10, 100);
	assert_int_equal(tux_cc_own(&cc), 1000);
	assert_true(tux_cc_spurious(&cc, 10));
	assert_int_equal(tux_cc_own(&cc), 14600);
	assert_true(tux_cc_marked(&cc, 10, 100));
	assert_int_equal(tux_cc_own(&cc), 1000);
}

/* A controller without the function. */
static void idle__may_be_nothing(void **state)
{
	(void)state;
	start(10 * MSS);
	tux_cc_idle(&cc, TUX_SEC(100));
	assert_int_equal(cc.w.cwnd, 10 * MSS);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			acked__what_left_before_the_reduction_grows_nothing),
		cmocka_unit_test(spurious__all_of_an_event_takes_it_back),
		cmocka_unit_test(spurious__one_real_loss_is_enough),
		cmocka_unit_test(spurious__timeouts_in_a_row),
		cmocka_unit_test(spurious__never_makes_it_smaller),
		cmocka_unit_test(marked__reduces_once_in_a_round),
		cmocka_unit_test(marked__is_one_event_with_losses),
		cmocka_unit_test(marked__stands),
		cmocka_unit_test(slow_start__ends_when_queues_build),
		cmocka_unit_test(slow_start__up_to_the_threshold),
		cmocka_unit_test(own__less_after_an_event),
		cmocka_unit_test(idle__may_be_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
