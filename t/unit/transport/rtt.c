/* SPDX-License-Identifier: BSD-2-Clause */
#include "transport/rtt.h"

#include "../test.h"

#define DELAY TUX_MSEC(25)

static void init__waits_for_the_first_timeout(void **state)
{
	struct tux_rtt r;

	(void)state;
	tux_rtt_init(&r, DELAY);
	assert_true(r.min == TUX_NEVER);
	assert_true(tux_rtt_rto(&r) == TUX_USEC(TUX_RTO_FIRST_US) + DELAY);
}

static void sample__the_first_sets_all(void **state)
{
	struct tux_rtt r;

	(void)state;
	tux_rtt_init(&r, DELAY);
	tux_rtt_sample(&r, TUX_MSEC(40), 0);
	assert_true(r.srtt == TUX_MSEC(40));
	assert_true(r.rttvar == TUX_MSEC(20));
	assert_true(r.min == TUX_MSEC(40));
	assert_true(tux_rtt_rto(&r) == TUX_MSEC(40 + 80) + DELAY);
}

static void sample__smooths(void **state)
{
	struct tux_rtt r;

	(void)state;
	tux_rtt_init(&r, 0);
	tux_rtt_sample(&r, TUX_USEC(800), 0);
	tux_rtt_sample(&r, TUX_USEC(1600), 0);
	/* RFC 6298: 3/4 * 400 + 1/4 * |800 - 1600|, 7/8 * 800 + 1/8 * 1600 */
	assert_true(r.rttvar == TUX_USEC(500));
	assert_true(r.srtt == TUX_USEC(900));
	tux_rtt_sample(&r, TUX_USEC(100), 0);
	assert_true(r.rttvar == TUX_USEC(575));
	assert_true(r.srtt == TUX_USEC(800));
	assert_true(r.min == TUX_USEC(100));
}

static void sample__takes_the_delay_off(void **state)
{
	struct tux_rtt r;

	(void)state;
	tux_rtt_init(&r, TUX_MSEC(5));
	tux_rtt_sample(&r, TUX_MSEC(8), 0);
	tux_rtt_sample(&r, TUX_MSEC(12), TUX_MSEC(4));
	assert_true(r.srtt == TUX_MSEC(8));
	/* No more is subtracted than the announced longest delay. */
	tux_rtt_sample(&r, TUX_MSEC(21), TUX_MSEC(100));
	assert_true(r.srtt == TUX_MSEC(9));
	/* Nothing is subtracted if the result would be below the least. */
	tux_rtt_sample(&r, TUX_MSEC(9), TUX_MSEC(4));
	assert_true(r.srtt == TUX_MSEC(9));
	assert_true(r.min == TUX_MSEC(8));
}

static void rto__has_a_floor(void **state)
{
	struct tux_rtt r;
	unsigned i;

	(void)state;
	tux_rtt_init(&r, DELAY);
	for (i = 0; i < 100; i++)
		tux_rtt_sample(&r, TUX_USEC(30), 0);
	assert_true(tux_rtt_rto(&r) == TUX_USEC(TUX_RTO_MIN_US) + DELAY);
}

static void rto__leaves_slack_on_a_steady_path(void **state)
{
	struct tux_rtt r;
	unsigned i;

	(void)state;
	tux_rtt_init(&r, 0);
	for (i = 0; i < 100; i++)
		tux_rtt_sample(&r, TUX_MSEC(80), 0);
	assert_true(tux_rtt_rto(&r) == TUX_MSEC(81));
}

static void backoff__doubles_up_to_the_limit(void **state)
{
	tux_time want = TUX_USEC(TUX_RTO_FIRST_US);
	struct tux_rtt r;
	unsigned i;

	(void)state;
	tux_rtt_init(&r, 0);
	for (i = 0; i < 200; i++) {
		assert_true(tux_rtt_rto(&r) == want);
		tux_rtt_backoff(&r);
		want = tux_time_min(2 * want, TUX_USEC(TUX_RTO_MAX_US));
	}
	assert_true(want == TUX_USEC(TUX_RTO_MAX_US));
	r.backoff = UINT32_MAX;
	tux_rtt_backoff(&r);
	assert_true(tux_rtt_rto(&r) == TUX_USEC(TUX_RTO_MAX_US));
}

static void sample__ends_the_backoff(void **state)
{
	struct tux_rtt r;

	(void)state;
	tux_rtt_init(&r, 0);
	tux_rtt_backoff(&r);
	tux_rtt_backoff(&r);
	tux_rtt_sample(&r, TUX_MSEC(10), 0);
	assert_int_equal(r.backoff, 0);
	assert_true(tux_rtt_rto(&r) == TUX_MSEC(30));
}

static void sample__of_no_time_at_all(void **state)
{
	struct tux_rtt r;

	(void)state;
	/* In a simulation a round trip may take no time. */
	tux_rtt_init(&r, 0);
	tux_rtt_sample(&r, 0, TUX_MSEC(1));
	assert_true(tux_rtt_rto(&r) == TUX_USEC(TUX_RTO_MIN_US));
	tux_rtt_sample(&r, TUX_MSEC(8), 0);
	assert_true(r.srtt == TUX_MSEC(1));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(init__waits_for_the_first_timeout),
		cmocka_unit_test(sample__the_first_sets_all),
		cmocka_unit_test(sample__smooths),
		cmocka_unit_test(sample__takes_the_delay_off),
		cmocka_unit_test(rto__has_a_floor),
		cmocka_unit_test(rto__leaves_slack_on_a_steady_path),
		cmocka_unit_test(backoff__doubles_up_to_the_limit),
		cmocka_unit_test(sample__ends_the_backoff),
		cmocka_unit_test(sample__of_no_time_at_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
