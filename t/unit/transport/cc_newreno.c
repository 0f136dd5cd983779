/* SPDX-License-Identifier: BSD-2-Clause */
#include "transport/cc.h"

#include "../test.h"

enum { MSS = 1500 };

static void start(struct tux_cc *cc)
{
	tux_cc_init(cc, &tux_cc_newreno, MSS);
}

/* At @now, @bytes that left just before are acknowledged. */
static void ack(struct tux_cc *cc, uint64_t bytes, bool full, tux_time now)
{
	const struct tux_cc_ack a = {
		.bytes = bytes, .sent_at = now - 1, .full = full, .rtt = 1,
	};

	tux_cc_acked(cc, &a, now);
}

static void init__initial_window(void **state)
{
	struct tux_cc cc;

	(void)state;
	start(&cc);
	assert_ptr_equal(cc.ops, &tux_cc_newreno);
	assert_string_equal(cc.ops->name, "newreno");
	assert_int_equal(cc.w.cwnd, 15000);
	assert_true(cc.w.ssthresh == UINT64_MAX);
	tux_cc_init(&cc, &tux_cc_newreno, 1200);
	assert_int_equal(cc.w.cwnd, 14600);
	tux_cc_init(&cc, &tux_cc_newreno, 9000);
	assert_int_equal(cc.w.cwnd, 90000);
}

static void acked__slow_start_doubles_in_a_round(void **state)
{
	struct tux_cc cc;
	unsigned i;

	(void)state;
	start(&cc);
	for (i = 0; i < 10; i++)
		ack(&cc, MSS, 1, 100);
	assert_int_equal(cc.w.cwnd, 30000);
}

static void acked__not_full_does_not_grow(void **state)
{
	struct tux_cc cc;

	(void)state;
	start(&cc);
	ack(&cc, 100 * MSS, 0, 100);
	assert_int_equal(cc.w.cwnd, 15000);
	assert_int_equal(cc.w.acked, 0);
}

static void acked__avoidance_adds_one_packet_in_a_round(void **state)
{
	struct tux_cc cc;
	unsigned i;

	(void)state;
	start(&cc);
	cc.w.ssthresh = cc.w.cwnd;
	for (i = 0; i < 9; i++)
		ack(&cc, MSS, 1, 100);
	assert_int_equal(cc.w.cwnd, 10 * MSS);
	ack(&cc, MSS, 1, 100);
	assert_int_equal(cc.w.cwnd, 11 * MSS);
	/* Several windows at once: 11 and 12 packets, and one remains. */
	ack(&cc, 24 * MSS, 1, 100);
	assert_int_equal(cc.w.cwnd, 13 * MSS);
	assert_int_equal(cc.w.acked, MSS);
}

static void acked__slow_start_ends_at_ssthresh(void **state)
{
	struct tux_cc cc;

	(void)state;
	start(&cc);
	cc.w.ssthresh = 11 * MSS;
	ack(&cc, 4 * MSS, 1, 100);
	assert_int_equal(cc.w.cwnd, 11 * MSS);
	assert_int_equal(cc.w.acked, 3 * MSS);
}

static void lost__one_event_reduces_once(void **state)
{
	struct tux_cc cc;

	(void)state;
	start(&cc);
	cc.w.acked = 7;
	tux_cc_lost(&cc, 10, 100);
	assert_int_equal(cc.w.cwnd, 7500);
	assert_int_equal(cc.w.ssthresh, 7500);
	assert_int_equal(cc.w.acked, 0);
	tux_cc_lost(&cc, 11, 105);
	tux_cc_lost(&cc, 99, 110);
	assert_int_equal(cc.w.cwnd, 7500);
	assert_int_equal(cc.recover_at, 100);
	/* A loss of a packet that left after the reduction is a new event. */
	tux_cc_lost(&cc, 101, 200);
	assert_int_equal(cc.w.cwnd, 3750);
	assert_int_equal(cc.recover_at, 200);
}

static void lost__at_time_zero(void **state)
{
	struct tux_cc cc;

	(void)state;
	start(&cc);
	tux_cc_lost(&cc, 0, 0);
	assert_int_equal(cc.w.cwnd, 7500);
}

static void lost__never_below_two_packets(void **state)
{
	struct tux_cc cc;
	tux_time t;

	(void)state;
	start(&cc);
	for (t = 1; t < 20; t++) {
		tux_cc_lost(&cc, 10 * t, 10 * t);
		assert_true(cc.w.cwnd >= 2 * MSS);
	}
	assert_int_equal(cc.w.cwnd, 2 * MSS);
	assert_int_equal(cc.w.ssthresh, 2 * MSS);
}

static void timeout__begins_again_with_one_packet(void **state)
{
	struct tux_cc cc;

	(void)state;
	start(&cc);
	tux_cc_timeout(&cc, 1, 100);
	assert_int_equal(cc.w.cwnd, MSS);
	assert_int_equal(cc.w.ssthresh, 7500);
	/* A second timeout without progress in between keeps ssthresh. */
	tux_cc_timeout(&cc, 1, 300);
	tux_cc_timeout(&cc, 1, 700);
	assert_int_equal(cc.w.cwnd, MSS);
	assert_int_equal(cc.w.ssthresh, 7500);
	/* A loss from before the timeout is the same event. */
	tux_cc_lost(&cc, 90, 700);
	assert_int_equal(cc.w.cwnd, MSS);
	ack(&cc, MSS, 1, 800);
	assert_int_equal(cc.w.cwnd, 2 * MSS);
	ack(&cc, 2 * MSS, 1, 900);
	assert_int_equal(cc.w.cwnd, 4 * MSS);
	tux_cc_timeout(&cc, 1, 1000);
	assert_int_equal(cc.w.ssthresh, 2 * MSS);
	assert_int_equal(cc.w.cwnd, MSS);
}

/* A reduction or a timeout resets the bytes counted towards growth. */
static void acked__counts_anew_after_a_reduction(void **state)
{
	struct tux_cc cc;

	(void)state;
	start(&cc);
	tux_cc_lost(&cc, 10, 10);
	assert_int_equal(cc.w.cwnd, 7500);
	ack(&cc, 7000, 20, 30);
	tux_cc_lost(&cc, 40, 40);
	assert_int_equal(cc.w.cwnd, 3750);
	ack(&cc, 3749, 50, 60);
	assert_int_equal(cc.w.cwnd, 3750);
	ack(&cc, 1, 50, 60);
	assert_int_equal(cc.w.cwnd, 3750 + MSS);
	ack(&cc, 4000, 50, 60);
	tux_cc_timeout(&cc, 1, 70);
	cc.w.ssthresh = MSS;
	ack(&cc, MSS - 1, 80, 90);
	assert_int_equal(cc.w.cwnd, MSS);
	ack(&cc, 1, 80, 90);
	assert_int_equal(cc.w.cwnd, 2 * MSS);
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
		cmocka_unit_test(acked__counts_anew_after_a_reduction),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
