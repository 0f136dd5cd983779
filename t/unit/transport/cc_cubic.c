/* SPDX-License-Identifier: BSD-2-Clause */
#include "transport/cc.h"

#include "../test.h"

enum { MSS = 1000 };

static struct tux_cc cc;
static tux_time now;

static void start(uint64_t packets)
{
	tux_cc_init(&cc, &tux_cc_cubic, MSS);
	cc.w.cwnd = packets * MSS;
	now = TUX_SEC(1000);
}

/* A whole window is acknowledged after a round trip of @ms. */
static void round_of(unsigned ms)
{
	struct tux_cc_ack a = {
		.bytes = cc.w.cwnd / 8, .sent_at = now, .full = true,
		.rtt = TUX_MSEC(ms),
	};
	unsigned i;

	for (i = 0; i < 8; i++)
		tux_cc_acked(&cc, &a, now + TUX_MSEC(ms));
	now += TUX_MSEC(ms);
}

static void lose(void)
{
	tux_cc_lost(&cc, now, now);
}

static void init__is_cubic(void **state)
{
	(void)state;
	start(10);
	assert_string_equal(cc.ops->name, "cubic");
}

static void acked__slow_start_doubles_in_a_round(void **state)
{
	(void)state;
	start(10);
	round_of(100);
	assert_int_equal(cc.w.cwnd, 20 * MSS);
}

static void reduce__to_seven_tenths(void **state)
{
	(void)state;
	start(100);
	lose();
	assert_int_equal(cc.w.cwnd, 70 * MSS);
	assert_int_equal(cc.w.ssthresh, 70 * MSS);
	assert_int_equal(cc.w.cubic.w_max, 100 * MSS);
	/* Fast convergence: the second loss is at a smaller window. */
	now += 1;
	lose();
	assert_int_equal(cc.w.cwnd, 49 * MSS);
	assert_int_equal(cc.w.cubic.w_max, 59500);
}

/* 1000 segments, 300 to go: K is the cube root of 750, 9.086 s. */
static void acked__is_back_after_k(void **state)
{
	uint64_t half;

	(void)state;
	start(1000);
	lose();
	round_of(100);
	assert_in_range(cc.w.cubic.k, 9080, 9090);
	while (now < TUX_SEC(1000) + TUX_MSEC(4600))
		round_of(100);
	half = cc.w.cwnd;		/* 7/8 of the way after half of K */
	assert_in_range(half, 955 * MSS, 970 * MSS);
	while (now < TUX_SEC(1000) + TUX_MSEC(9200))
		round_of(100);
	assert_in_range(cc.w.cwnd, 998 * MSS, 1002 * MSS);
	while (now < TUX_SEC(1000) + TUX_MSEC(14000))
		round_of(100);
	assert_in_range(cc.w.cwnd, 1030 * MSS, 1060 * MSS);
}

/* With a short round trip NewReno is faster, so the window follows W_est: 9/17
 * of a packet a round, and a whole packet once it is beyond cwnd_prior. */
static void acked__no_slower_than_newreno(void **state)
{
	unsigned i;

	(void)state;
	start(20);
	lose();
	for (i = 0; i < 12; i++)
		round_of(1);
	assert_in_range(cc.w.cwnd, 19 * MSS, 21 * MSS);
	for (i = 0; i < 10; i++)
		round_of(1);
	assert_in_range(cc.w.cwnd, 28 * MSS, 31 * MSS);
}

/* Beyond cwnd_prior, W_est grows by a packet when exactly a window has been
 * acknowledged. */
static void acked__the_estimate_to_the_byte(void **state)
{
	struct tux_cc_ack a = { .bytes = 100 * MSS - 1, .full = true };

	(void)state;
	start(100);
	cc.w.ssthresh = 1;
	a.sent_at = now;
	tux_cc_acked(&cc, &a, now);
	assert_int_equal(cc.w.cubic.est, 100 * MSS);
	assert_int_equal(cc.w.cwnd, 100 * MSS);
	a.bytes = 1;
	tux_cc_acked(&cc, &a, now);
	assert_int_equal(cc.w.cubic.est, 101 * MSS);
	assert_int_equal(cc.w.cwnd, 101 * MSS);
}

static void idle__does_not_count_as_time(void **state)
{
	(void)state;
	start(1000);
	lose();
	round_of(100);
	now += TUX_SEC(100);
	tux_cc_idle(&cc, TUX_SEC(100));
	round_of(100);
	assert_in_range(cc.w.cwnd, 700 * MSS, 730 * MSS);
}

static void timeout__one_packet_and_slow_start(void **state)
{
	(void)state;
	start(100);
	tux_cc_timeout(&cc, 5, now);
	assert_int_equal(cc.w.cwnd, MSS);
	assert_int_equal(cc.w.ssthresh, 70 * MSS);
	tux_cc_timeout(&cc, 1, now + 10);
	assert_int_equal(cc.w.ssthresh, 70 * MSS);
	now += 20;
	round_of(100);
	assert_int_equal(cc.w.cwnd, 2 * MSS);
}

static void spurious__the_cubic_is_as_before(void **state)
{
	struct tux_cubic was;

	(void)state;
	start(1000);
	lose();
	round_of(100);
	was = cc.w.cubic;
	lose();
	assert_true(tux_cc_spurious(&cc, now - 1));
	assert_true(cc.w.cubic.epoch_at == was.epoch_at);
	assert_int_equal(cc.w.cubic.w_max, was.w_max);
}

/* In congestion avoidance after a loss at @w_max: a whole window is
 * acknowledged at once, @ms after the stage began. */
static void avoid(uint64_t cwnd, uint64_t w_max, unsigned ms)
{
	struct tux_cc_ack a = { .sent_at = now, .full = true };

	tux_cc_init(&cc, &tux_cc_cubic, MSS);
	cc.w.cwnd = cwnd;
	cc.w.ssthresh = 1;
	cc.w.cubic.w_max = w_max;
	now = a.sent_at = TUX_SEC(1000);
	a.bytes = 1;
	tux_cc_acked(&cc, &a, now);
	cc.w.cwnd = cwnd;
	now += TUX_MSEC(ms);
	a.sent_at = now;
	a.bytes = cwnd;
	tux_cc_acked(&cc, &a, now);
}

/* 50 segments to go; 50 / 0.4 is the cube of 5. */
static void acked__k_to_the_millisecond(void **state)
{
	(void)state;
	avoid(100 * MSS, 150 * MSS, 1);
	assert_int_equal(cc.w.cubic.k, 5000);
	avoid(100 * MSS, 150 * MSS - 1, 1);
	assert_int_equal(cc.w.cubic.k, 4999);
	avoid(100 * MSS, 50 * MSS, 1);
	assert_int_equal(cc.w.cubic.k, 0);
}

/* W_cubic is 0.4 segments times the cube of the seconds; the window grows by no
 * more than half of itself at once. */
static void acked__the_cubic_to_the_byte(void **state)
{
	(void)state;
	avoid(200000 * MSS, 0, 60000);
	assert_int_equal(cc.w.cwnd, 286400 * MSS);
	avoid(200000 * MSS, 0, 59000);
	assert_int_equal(cc.w.cwnd, 200000 * MSS + 82151600);
	avoid(200000 * MSS, 0, 90000);
	assert_int_equal(cc.w.cwnd, 286400 * MSS);
	avoid(100000 * MSS, 0, 60000);
	assert_int_equal(cc.w.cwnd, 150000 * MSS);
}

/* K was computed for short packets and the packets are longer now, so W_cubic
 * would be below 0. */
static void acked__the_path_got_wider(void **state)
{
	(void)state;
	start(100);
	lose();
	round_of(1);
	cc.mss = 10 * MSS;
	round_of(1);
	assert_true(cc.w.cwnd <= 80 * MSS);
}

static void acked__the_largest_numbers(void **state)
{
	(void)state;
	start(10);
	cc.mss = 16384;
	cc.w.cwnd = UINT64_C(1) << 32;
	lose();
	round_of(1);
	now += TUX_SEC(4000);
	round_of(1);
	assert_true(cc.w.cwnd >= UINT64_C(2) << 30);
	assert_true(cc.w.cwnd < UINT64_C(1) << 34);
}

/* The longest way to W_max that is computed: 2^30 packets, in about 1390
 * seconds.  Nothing overflows, and the window never shrinks. */
static void acked__from_the_largest_window(void **state)
{
	uint64_t before;

	(void)state;
	start(100);
	cc.w.ssthresh = 1;
	cc.w.cubic.w_max = (uint64_t)MSS << 40;
	round_of(100);
	assert_int_equal(cc.w.cubic.k, 1389781);
	before = cc.w.cwnd;
	now += TUX_SEC(1389);
	round_of(100);
	assert_true(cc.w.cwnd >= before);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(init__is_cubic),
		cmocka_unit_test(acked__slow_start_doubles_in_a_round),
		cmocka_unit_test(reduce__to_seven_tenths),
		cmocka_unit_test(acked__is_back_after_k),
		cmocka_unit_test(acked__no_slower_than_newreno),
		cmocka_unit_test(acked__the_estimate_to_the_byte),
		cmocka_unit_test(idle__does_not_count_as_time),
		cmocka_unit_test(timeout__one_packet_and_slow_start),
		cmocka_unit_test(spurious__the_cubic_is_as_before),
		cmocka_unit_test(acked__k_to_the_millisecond),
		cmocka_unit_test(acked__the_cubic_to_the_byte),
		cmocka_unit_test(acked__the_path_got_wider),
		cmocka_unit_test(acked__the_largest_numbers),
		cmocka_unit_test(acked__from_the_largest_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
