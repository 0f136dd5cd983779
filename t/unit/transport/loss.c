/* SPDX-License-Identifier: BSD-2-Clause */
#include "transport/loss.h"

#include "../test.h"

static struct tux_sentq q;
static struct tux_loss l;
static struct tux_rtt rtt;
static uint64_t lost[TUX_SENTQ_CAP];
static unsigned lost_n;

static void on_lost(void *arg, const struct tux_sent *s)
{
	assert_ptr_equal(arg, &q);
	/* The entry is still in flight, so its content can be read. */
	assert_int_equal(s->state, TUX_SENT_FLIGHT);
	lost[lost_n++] = s->off;
}

/* @n packets from number @first on leave at 100, 101, ... */
static void start(uint64_t first, unsigned n)
{
	unsigned i;

	lost_n = 0;
	tux_loss_init(&l);
	tux_rtt_init(&rtt, 0);
	tux_rtt_sample(&rtt, TUX_MSEC(4), 0);
	tux_sentq_init(&q, first);
	for (i = 0; i < n; i++) {
		*tux_sentq_slot(&q) = (struct tux_sent){
			.at = 100 + i, .off = first + i, .size = 10,
		};
		tux_sentq_push(&q);
	}
}

/* Number @seq is acknowledged. */
static void ack(uint64_t seq)
{
	tux_sentq_retire(&q, tux_sentq_find(&q, seq));
	if (q.top <= seq)
		q.top = seq + 1;
}

static unsigned detect(tux_time now)
{
	return tux_loss_detect(&l, &q, &rtt, on_lost, &q, now);
}

static void by_order__three_behind(void **state)
{
	(void)state;
	start(50, 6);
	ack(51);
	ack(52);
	assert_int_equal(detect(200), 0);
	ack(53);
	assert_int_equal(detect(200), 1);
	assert_int_equal(lost[0], 50);
	assert_int_equal(q.floor, 54);
	assert_int_equal(q.in_flight, 20);
	/* Once only. */
	assert_int_equal(detect(200), 0);
}

static void by_order__several_and_in_order(void **state)
{
	(void)state;
	start(0, 10);
	ack(2);
	ack(9);
	assert_int_equal(detect(200), 6);
	assert_int_equal(lost[0], 0);
	assert_int_equal(lost[1], 1);
	assert_int_equal(lost[2], 3);
	assert_int_equal(lost[5], 6);
	assert_int_equal(q.floor, 7);
}

static void by_order__at_the_beginning_of_numbers(void **state)
{
	(void)state;
	start(0, 4);
	assert_int_equal(detect(200), 0);
	ack(2);
	assert_int_equal(detect(200), 0);
	ack(3);
	assert_int_equal(detect(200), 1);
	assert_int_equal(lost[0], 0);
}

/* The reordering window is a quarter of the least round trip. */
static void by_time__a_round_trip_and_a_quarter(void **state)
{
	(void)state;
	start(0, 2);
	ack(1);
	assert_int_equal(detect(200), 0);
	assert_true(l.at == 100 + TUX_MSEC(5));
	assert_int_equal(detect(l.at - 1), 0);
	assert_int_equal(detect(l.at), 1);
	assert_int_equal(lost[0], 0);
	assert_true(l.at == TUX_NEVER);
}

/* A packet that left after the newest acknowledged packet is not lost. */
static void by_time__not_beyond_the_top(void **state)
{
	(void)state;
	start(0, 3);
	ack(1);
	assert_int_equal(detect(TUX_SEC(1)), 1);
	assert_int_equal(lost[0], 0);
	assert_non_null(tux_sentq_find(&q, 2));
}

static void by_time__a_short_path_waits_for_a_turn(void **state)
{
	(void)state;
	start(0, 2);
	tux_rtt_init(&rtt, 0);
	tux_rtt_sample(&rtt, TUX_USEC(20), 0);
	ack(1);
	detect(200);
	assert_true(l.at == 100 + TUX_USEC(20 + TUX_LOSS_WINDOW_US));
}

static void spurious__order_says_nothing_any_more(void **state)
{
	(void)state;
	start(0, 10);
	tux_loss_spurious(&l, &q, 0);
	ack(9);
	assert_int_equal(detect(200), 0);
	assert_true(l.at == 100 + TUX_MSEC(5));
	assert_int_equal(detect(100 + TUX_MSEC(5)), 1);
	assert_true(l.at == 101 + TUX_MSEC(5));
}

static void spurious__the_window_grows_up_to_a_round_trip(void **state)
{
	unsigned i;

	(void)state;
	start(0, 2);
	ack(1);
	tux_loss_spurious(&l, &q, 0);
	tux_loss_spurious(&l, &q, q.next);
	detect(200);
	assert_true(l.at == 100 + TUX_MSEC(6));
	/* Once in a round trip. */
	tux_loss_spurious(&l, &q, q.next - 1);
	assert_int_equal(l.wide, 1);
	for (i = 0; i < 9; i++)
		tux_loss_spurious(&l, &q, q.next);
	detect(200);
	assert_true(l.at == 100 + TUX_MSEC(8));
}

static void spurious__sixteen_losses_shrink_it(void **state)
{
	(void)state;
	start(0, 2 + TUX_LOSS_KEEP);
	tux_loss_spurious(&l, &q, 0);
	tux_loss_spurious(&l, &q, q.next);
	ack(TUX_LOSS_KEEP - 1);
	assert_int_equal(detect(TUX_SEC(1)), TUX_LOSS_KEEP - 1);
	assert_int_equal(l.wide, 1);
	ack(TUX_LOSS_KEEP + 1);
	assert_int_equal(detect(TUX_SEC(1)), 1);
	assert_int_equal(l.wide, 0);
	assert_true(l.reordered);
}

static void all__empties_the_queue(void **state)
{
	(void)state;
	start(UINT32_MAX - 1, TUX_SENTQ_CAP);
	ack(UINT32_MAX + (uint64_t)10);
	assert_int_equal(tux_loss_all(&l, &q, on_lost, &q), TUX_SENTQ_CAP - 1);
	assert_int_equal(lost_n, TUX_SENTQ_CAP - 1);
	assert_true(tux_sentq_empty(&q));
	assert_int_equal(q.in_flight, 0);
	assert_int_equal(tux_loss_all(&l, &q, on_lost, &q), 0);
}

/* An entry tells whether its packet was lost by the timer. */
static void all__are_lost_by_the_timer(void **state)
{
	(void)state;
	start(0, 5);
	ack(4);
	tux_loss_detect(&l, &q, &rtt, on_lost, &q, 105);
	assert_non_null(tux_sentq_lost(&q, 0));
	assert_false(tux_sentq_lost(&q, 0)->timed);
	start(0, 2);
	tux_loss_all(&l, &q, on_lost, &q);
	assert_true(tux_sentq_lost(&q, 0)->timed);
	assert_true(tux_sentq_lost(&q, 1)->timed);
}

static void deadline__a_probe_first_then_the_timer(void **state)
{
	tux_time pto, rto;

	(void)state;
	start(0, 3);
	pto = tux_rtt_pto(&rtt);
	rto = tux_rtt_rto(&rtt);
	assert_true(tux_loss_may_probe(&l, &rtt));
	assert_true(tux_loss_deadline(&l, &q, &rtt, 0) == 100 + pto);
	assert_true(tux_loss_deadline(&l, &q, &rtt, 5000) == 5000 + pto);
	ack(0);
	assert_true(tux_loss_deadline(&l, &q, &rtt, 0) == 101 + pto);
	l.probe_at = 7000;
	assert_false(tux_loss_may_probe(&l, &rtt));
	assert_true(tux_loss_deadline(&l, &q, &rtt, 0) == 7000 + rto);
	/* After a timeout there is no probe until an answer comes. */
	l.probe_at = 0;
	tux_rtt_backoff(&rtt);
	assert_false(tux_loss_may_probe(&l, &rtt));
	assert_true(tux_loss_deadline(&l, &q, &rtt, 0) == 101 + 2 * rto);
	ack(1);
	ack(2);
	assert_true(tux_loss_deadline(&l, &q, &rtt, 5000) == TUX_NEVER);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_order__three_behind),
		cmocka_unit_test(by_order__several_and_in_order),
		cmocka_unit_test(by_order__at_the_beginning_of_numbers),
		cmocka_unit_test(by_time__a_round_trip_and_a_quarter),
		cmocka_unit_test(by_time__not_beyond_the_top),
		cmocka_unit_test(by_time__a_short_path_waits_for_a_turn),
		cmocka_unit_test(spurious__order_says_nothing_any_more),
		cmocka_unit_test(spurious__the_window_grows_up_to_a_round_trip),
		cmocka_unit_test(spurious__sixteen_losses_shrink_it),
		cmocka_unit_test(all__empties_the_queue),
		cmocka_unit_test(all__are_lost_by_the_timer),
		cmocka_unit_test(deadline__a_probe_first_then_the_timer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
