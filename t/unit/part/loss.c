/* SPDX-License-Identifier: BSD-2-Clause */
#include "part/loss.h"

#include "../test.h"

static struct tux_sentq q;
static uint64_t lost[TUX_SENTQ_CAP];
static unsigned lost_n;

static void on_lost(void *arg, const struct tux_sent *s)
{
	assert_ptr_equal(arg, &q);
	/* Not yet settled: what it carried can still be read. */
	assert_int_equal(s->state, TUX_SENT_FLIGHT);
	lost[lost_n++] = s->off;
}

/* @n packets from number @first on leave at 100, 101, ... */
static void start(uint64_t first, unsigned n)
{
	unsigned i;

	lost_n = 0;
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
	tux_sentq_settle(&q, tux_sentq_find(&q, seq));
	if (q.top <= seq)
		q.top = seq + 1;
}

static void by_order__three_behind(void **state)
{
	(void)state;
	start(50, 6);
	ack(51);
	ack(52);
	assert_int_equal(tux_loss_by_order(&q, on_lost, &q), 0);
	ack(53);
	assert_int_equal(tux_loss_by_order(&q, on_lost, &q), 1);
	assert_int_equal(lost[0], 50);
	assert_int_equal(q.floor, 54);
	assert_int_equal(q.in_flight, 20);
	/* Once only. */
	assert_int_equal(tux_loss_by_order(&q, on_lost, &q), 0);
}

static void by_order__several_and_in_order(void **state)
{
	(void)state;
	start(0, 10);
	ack(2);
	ack(9);
	assert_int_equal(tux_loss_by_order(&q, on_lost, &q), 6);
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
	assert_int_equal(tux_loss_by_order(&q, on_lost, &q), 0);
	ack(2);
	assert_int_equal(tux_loss_by_order(&q, on_lost, &q), 0);
	ack(3);
	assert_int_equal(tux_loss_by_order(&q, on_lost, &q), 1);
	assert_int_equal(lost[0], 0);
}

static void all__empties_the_queue(void **state)
{
	(void)state;
	start(UINT32_MAX - 1, TUX_SENTQ_CAP);
	ack(UINT32_MAX + (uint64_t)10);
	assert_int_equal(tux_loss_all(&q, on_lost, &q), TUX_SENTQ_CAP - 1);
	assert_int_equal(lost_n, TUX_SENTQ_CAP - 1);
	assert_true(tux_sentq_empty(&q));
	assert_int_equal(q.in_flight, 0);
	assert_int_equal(tux_loss_all(&q, on_lost, &q), 0);
}

static void deadline__from_the_oldest_or_the_last_ack(void **state)
{
	struct tux_rtt r;
	tux_time rto;

	(void)state;
	tux_rtt_init(&r, TUX_MSEC(25));
	rto = tux_rtt_rto(&r);
	start(0, 3);
	assert_true(tux_loss_deadline(&q, &r, 0) == 100 + rto);
	assert_true(tux_loss_deadline(&q, &r, 5000) == 5000 + rto);
	ack(0);
	assert_true(tux_loss_deadline(&q, &r, 0) == 101 + rto);
	tux_rtt_backoff(&r);
	assert_true(tux_loss_deadline(&q, &r, 0) == 101 + 2 * rto);
	ack(1);
	ack(2);
	assert_true(tux_loss_deadline(&q, &r, 5000) == TUX_NEVER);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_order__three_behind),
		cmocka_unit_test(by_order__several_and_in_order),
		cmocka_unit_test(by_order__at_the_beginning_of_numbers),
		cmocka_unit_test(all__empties_the_queue),
		cmocka_unit_test(deadline__from_the_oldest_or_the_last_ack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
