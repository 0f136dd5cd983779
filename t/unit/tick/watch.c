/* SPDX-License-Identifier: BSD-2-Clause */
#include "tick/watch.h"

#include "../test.h"

enum { SLICE = 4000000, AGAIN = SLICE / 4, UNTIL = 5000000 };

static struct tux_watch watch;
static tux_tick now;

static void begin(void)
{
	watch = (struct tux_watch){ .slice = SLICE };
	now = UNTIL;
	tux_watch_slice(&watch, now);
	assert_int_equal(watch.next, now);
}

/* At the time when the next tick is due. */
static bool sends(bool expected)
{
	now = watch.next;
	return tux_watch_sends(&watch, now, expected);
}

static tux_tick pause_len(void)
{
	return watch.next - now;
}

static void sends__ticks_that_arrive_in_time(void **state)
{
	unsigned i;

	(void)state;
	begin();
	for (i = 0; i < 8; i++) {
		assert_true(sends(false));
		assert_int_equal(pause_len(), AGAIN);
	}
}

/* One is late: how long until the next is sent? */
static tux_tick after_late(unsigned looks)
{
	tux_tick from;

	while (looks--) {
		assert_false(sends(true));
		assert_int_equal(pause_len(), AGAIN);
	}
	assert_false(sends(false));
	from = now;
	assert_true(sends(false));
	return now - from;
}

static void sends__longer_after_each_late_tick(void **state)
{
	(void)state;
	begin();
	assert_true(sends(false));
	assert_int_equal(after_late(1), 2 * AGAIN);
	assert_int_equal(pause_len(), 2 * AGAIN);
	assert_int_equal(after_late(5), 4 * AGAIN);
}

/* Some ticks a second are left. */
static void sends__not_longer_without_end(void **state)
{
	tux_tick most = 0;
	unsigned i;

	(void)state;
	begin();
	assert_true(sends(false));
	for (i = 0; i < 64; i++)
		most = after_late(1);
	assert_in_range(most, TUX_MSEC(10), TUX_MSEC(20));
}

static void slice__the_next_begins_anew(void **state)
{
	(void)state;
	begin();
	assert_true(sends(false));
	assert_int_equal(after_late(1), 2 * AGAIN);
	assert_false(sends(true));
	tux_watch_slice(&watch, now);
	assert_true(sends(false));
	assert_int_equal(pause_len(), AGAIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sends__ticks_that_arrive_in_time),
		cmocka_unit_test(sends__longer_after_each_late_tick),
		cmocka_unit_test(sends__not_longer_without_end),
		cmocka_unit_test(slice__the_next_begins_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
