/* SPDX-License-Identifier: BSD-2-Clause */
#include "part/cc.h"

#include "../test.h"

enum { MSS = 1500 };

static void start(struct tux_cc *cc)
{
	tux_cc_init(cc, &tux_cc_newreno, MSS);
}

static void init__initial_window(void **state)
{
	struct tux_cc cc;

	(void)state;
	start(&cc);
	assert_ptr_equal(cc.ops, &tux_cc_newreno);
	assert_string_equal(cc.ops->name, "newreno");
	assert_int_equal(cc.cwnd, 15000);
	assert_true(cc.ssthresh == UINT64_MAX);
	tux_cc_init(&cc, &tux_cc_newreno, 1200);
	assert_int_equal(cc.cwnd, 14600);
	tux_cc_init(&cc, &tux_cc_newreno, 9000);
	assert_int_equal(cc.cwnd, 90000);
}

static void acked__slow_start_doubles_in_a_round(void **state)
{
	struct tux_cc cc;
	unsigned i;

	(void)state;
	start(&cc);
	for (i = 0; i < 10; i++)
		cc.ops->acked(&cc, MSS, 1, 100);
	assert_int_equal(cc.cwnd, 30000);
}

static void acked__not_full_does_not_grow(void **state)
{
	struct tux_cc cc;

	(void)state;
	start(&cc);
	cc.ops->acked(&cc, 100 * MSS, 0, 100);
	assert_int_equal(cc.cwnd, 15000);
	assert_int_equal(cc.acked, 0);
}

static void acked__avoidance_adds_one_packet_in_a_round(void **state)
{
	struct tux_cc cc;
	unsigned i;

	(void)state;
	start(&cc);
	cc.ssthresh = cc.cwnd;
	for (i = 0; i < 9; i++)
		cc.ops->acked(&cc, MSS, 1, 100);
	assert_int_equal(cc.cwnd, 10 * MSS);
	cc.ops->acked(&cc, MSS, 1, 100);
	assert_int_equal(cc.cwnd, 11 * MSS);
	/* Several windows at once: 11 and 12 packets, and one left over. */
	cc.ops->acked(&cc, 24 * MSS, 1, 100);
	assert_int_equal(cc.cwnd, 13 * MSS);
	assert_int_equal(cc.acked, MSS);
}

static void acked__slow_start_ends_at_ssthresh(void **state)
{
	struct tux_cc cc;

	(void)state;
	start(&cc);
	cc.ssthresh = 11 * MSS;
	cc.ops->acked(&cc, 4 * MSS, 1, 100);
	assert_int_equal(cc.cwnd, 11 * MSS);
	assert_int_equal(cc.acked, 3 * MSS);
}

static void lost__one_event_reduces_once(void **state)
{
	struct tux_cc cc;

	(void)state;
	start(&cc);
	cc.acked = 7;
	cc.ops->lost(&cc, 10, 100);
	assert_int_equal(cc.cwnd, 7500);
	assert_int_equal(cc.ssthresh, 7500);
	assert_int_equal(cc.acked, 0);
	cc.ops->lost(&cc, 11, 105);
	cc.ops->lost(&cc, 99, 110);
	assert_int_equal(cc.cwnd, 7500);
	assert_int_equal(cc.recover_at, 100);
	/* One that left after the reduction is another. */
	cc.ops->lost(&cc, 101, 200);
	assert_int_equal(cc.cwnd, 3750);
	assert_int_equal(cc.recover_at, 200);
}

static void lost__at_time_zero(void **state)
{
	struct tux_cc cc;

	(void)state;
	start(&cc);
	cc.ops->lost(&cc, 0, 0);
	assert_int_equal(cc.cwnd, 7500);
}

static void lost__never_below_two_packets(void **state)
{
	struct tux_cc cc;
	tux_time t;

	(void)state;
	start(&cc);
	for (t = 1; t < 20; t++)
		cc.ops->lost(&cc, 10 * t, 10 * t);
	assert_int_equal(cc.cwnd, 2 * MSS);
	assert_int_equal(cc.ssthresh, 2 * MSS);
}

static void timeout__begins_again_with_one_packet(void **state)
{
	struct tux_cc cc;

	(void)state;
	start(&cc);
	cc.ops->timeout(&cc, 100);
	assert_int_equal(cc.cwnd, MSS);
	assert_int_equal(cc.ssthresh, 7500);
	/* Again, without progress between: ssthresh stays. */
	cc.ops->timeout(&cc, 300);
	cc.ops->timeout(&cc, 700);
	assert_int_equal(cc.cwnd, MSS);
	assert_int_equal(cc.ssthresh, 7500);
	/* What it lost is no event of its own. */
	cc.ops->lost(&cc, 90, 700);
	assert_int_equal(cc.cwnd, MSS);
	cc.ops->acked(&cc, MSS, 1, 800);
	assert_int_equal(cc.cwnd, 2 * MSS);
	cc.ops->acked(&cc, 2 * MSS, 1, 900);
	assert_int_equal(cc.cwnd, 4 * MSS);
	cc.ops->timeout(&cc, 1000);
	assert_int_equal(cc.ssthresh, 2 * MSS);
	assert_int_equal(cc.cwnd, MSS);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(init__initial_window),
		cmocka_unit_test(acked__slow_start_doubles_in_a_round),
		cmocka_unit_test(acked__not_full_does_not_grow),
		cmocka_unit_test(acked__avoidance_adds_one_packet_in_a_round),
		cmocka_unit_test(acked__slow_start_ends_at_ssthresh),
		cmocka_unit_test(lost__one_event_reduces_once),
		cmocka_unit_test(lost__at_time_zero),
		cmocka_unit_test(lost__never_below_two_packets),
		cmocka_unit_test(timeout__begins_again_with_one_packet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
