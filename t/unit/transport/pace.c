/* SPDX-License-Identifier: BSD-2-Clause */
#include "transport/pace.h"

#include "../test.h"

enum { MSS = 1000 };

/* How many packets leave at @now. */
static unsigned burst_at(struct tux_pace *p, tux_time now)
{
	unsigned n;

	for (n = 0; n < 100 && tux_pace_open(p, now); n++)
		tux_pace_sent(p, MSS, now);
	return n;
}

static void open__a_short_round_trip_is_not_paced(void **state)
{
	struct tux_pace p = { 0 };

	(void)state;
	assert_int_equal(burst_at(&p, 5), 100);
	tux_pace_set(&p, 10 * MSS, TUX_USEC(999), false, MSS);
	assert_int_equal(burst_at(&p, 5), 100);
}

/* 100 packets in a round trip of 10 ms, at 1.25 times that rate: a packet every
 * 80 us. */
static void sent__ten_at_once_then_evenly(void **state)
{
	struct tux_pace p = { 0 };
	tux_time now = TUX_SEC(1);

	(void)state;
	tux_pace_set(&p, 100 * MSS, TUX_MSEC(10), false, MSS);
	assert_in_range(burst_at(&p, now), 10, 11);
	assert_in_range(burst_at(&p, now + TUX_USEC(800)), 9, 11);
	/* A pause allows no more than one burst. */
	assert_in_range(burst_at(&p, now + TUX_SEC(9)), 10, 11);
	assert_in_range(tux_pace_wake_at(&p) - now - TUX_SEC(9),
			TUX_USEC(400), TUX_USEC(500));
}

static void set__slow_start_goes_twice_as_fast(void **state)
{
	struct tux_pace p = { 0 };
	tux_time now = TUX_SEC(1);

	(void)state;
	tux_pace_set(&p, 100 * MSS, TUX_MSEC(10), true, MSS);
	burst_at(&p, now);
	assert_in_range(burst_at(&p, now + TUX_USEC(500)), 9, 11);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(open__a_short_round_trip_is_not_paced),
		cmocka_unit_test(sent__ten_at_once_then_evenly),
		cmocka_unit_test(set__slow_start_goes_twice_as_fast),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
