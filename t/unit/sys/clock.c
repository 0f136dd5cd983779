/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/clock.h"

#include "../test.h"

/* A clock that stands still, in place of libc's. */
static unsigned asked;

int clock_gettime(clockid_t id, struct timespec *ts)
{
	(void)id;
	asked++;
	*ts = (struct timespec){ .tv_sec = 1 };
	return 0;
}

static void read__not_from_the_programs_clock(void **state)
{
	tux_time began;

	(void)state;
	asked = 0;
	began = tux_clock_read();
	while (tux_clock_read() == began || tux_clock_coarse() <= began)
		;
	assert_int_equal(asked, 0);
}

static void read__does_not_go_back(void **state)
{
	tux_time last = tux_clock_read();
	int i;

	(void)state;
	for (i = 0; i < 1000; i++) {
		tux_time now = tux_clock_read();

		assert_true(now >= last);
		last = now;
	}
}

static void coarse__is_at_most_a_tick_late(void **state)
{
	tux_time until = tux_clock_read() + TUX_SEC(60), before, now;

	(void)state;
	/* The processor that counts the ticks may be late itself. */
	do {
		before = tux_clock_read();
		now = tux_clock_coarse();
	} while (now + TUX_MSEC(10) < before && before < until);
	assert_true(now + TUX_MSEC(10) >= before);
	assert_true(now <= tux_clock_read());
}

static void until__is_what_is_left(void **state)
{
	struct timespec ts;

	(void)state;
	assert_ptr_equal(tux_clock_until(&ts, TUX_SEC(5) + 7, TUX_SEC(2)), &ts);
	assert_int_equal(ts.tv_sec, 3);
	assert_int_equal(ts.tv_nsec, 7);
}

static void until__is_nothing_when_past(void **state)
{
	struct timespec ts;

	(void)state;
	assert_ptr_equal(tux_clock_until(&ts, 1, 2), &ts);
	assert_int_equal(ts.tv_sec, 0);
	assert_int_equal(ts.tv_nsec, 0);
}

static void until__never_is_no_limit(void **state)
{
	struct timespec ts;

	(void)state;
	assert_null(tux_clock_until(&ts, TUX_NEVER, 2));
}

static void seed__differs(void **state)
{
	struct tux_key a = { 0, 0 }, b = { 0, 0 };

	(void)state;
	assert_int_equal(tux_clock_seed(&a), 0);
	assert_int_equal(tux_clock_seed(&b), 0);
	assert_memory_not_equal(&a, &b, sizeof(a));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(read__not_from_the_programs_clock),
		cmocka_unit_test(read__does_not_go_back),
		cmocka_unit_test(coarse__is_at_most_a_tick_late),
		cmocka_unit_test(until__is_what_is_left),
		cmocka_unit_test(until__is_nothing_when_past),
		cmocka_unit_test(until__never_is_no_limit),
		cmocka_unit_test(seed__differs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
