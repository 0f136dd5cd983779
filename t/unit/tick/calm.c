/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Slices of a network thread, and how often the watcher looks at them.
 */
#include "tick/calm.h"

#include "../test.h"

static struct tux_calm calm;
static tux_tick slice, now, over;

static int begin(void **state)
{
	(void)state;
	tux_tick_init();
	calm = (struct tux_calm){ 0 };
	slice = tux_tick_of(TUX_USEC(100));
	now = tux_tick_of(TUX_SEC(1000));
	over = 0;
	return 0;
}

static tux_tick look(void)
{
	return tux_calm_look(&calm, over, slice, now);
}

/* @ms pass, with looks as often as they are wanted, and so much of each second is too
 * much.  Returns the last answer. */
static tux_tick pass(unsigned ms, double share)
{
	tux_tick end = now + tux_tick_of(TUX_MSEC(ms)), gap = 0;

	while (now < end) {
		gap = look();
		now += gap;
		over += (tux_tick)((double)gap * share);
	}
	return gap;
}

static void look__rare_while_all_is_short(void **state)
{
	(void)state;
	assert_true(look() == 20 * slice);
	assert_true(pass(60000, 0) == 20 * slice);
	slice = tux_tick_of(TUX_USEC(200));
	assert_true(look() == tux_tick_of(TUX_MSEC(2)));
	slice = tux_tick_of(TUX_USEC(5));
	assert_true(look() == 20 * slice);
	slice = tux_tick_of(TUX_MSEC(10));
	assert_true(look() == slice);
}

/* What the machine takes away now and then. */
static void look__rare_in_spite_of_a_few(void **state)
{
	(void)state;
	assert_true(pass(60000, 0.004) > slice);
	over += tux_tick_of(TUX_USEC(900));
	assert_true(look() > slice);
}

static void look__each_slice_when_callbacks_are_long(void **state)
{
	tux_tick from;

	(void)state;
	look();
	from = now;
	while (look() > slice) {
		now += tux_tick_of(TUX_MSEC(2));
		over += tux_tick_of(TUX_MSEC(2)) - slice;
	}
	assert_in_range(now - from, 1, tux_tick_of(TUX_MSEC(7)));
	assert_true(pass(60000, 0.01) == slice);
}

static void look__rare_again_after_two_seconds(void **state)
{
	(void)state;
	look();
	over += tux_tick_of(TUX_MSEC(6));
	assert_true(look() == slice);
	assert_true(pass(1900, 0) == slice);
	assert_true(pass(200, 0) > slice);
	/* Each time that it is too much, two seconds begin. */
	over += tux_tick_of(TUX_MSEC(6));
	assert_true(look() == slice);
	pass(1500, 0);
	over += tux_tick_of(TUX_MSEC(6));
	assert_true(pass(1500, 0) == slice);
}

/* In a long region the watcher looks as seldom as the routine is told, but no less often
 * than while callbacks end in time. */
static void later__no_longer_than_calm(void **state)
{
	const tux_tick len = tux_tick_of(TUX_USEC(50)), most = 20 * len;

	(void)state;
	assert_int_equal(tux_calm_later(len, len / 2, len), len);
	assert_int_equal(tux_calm_later(len, 4 * len, len), 4 * len);
	assert_int_equal(tux_calm_later(len, 40 * len, len), most);
	assert_int_equal(tux_calm_later(most, 4 * len, len), most);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(look__rare_while_all_is_short, begin),
		cmocka_unit_test_setup(look__rare_in_spite_of_a_few, begin),
		cmocka_unit_test_setup(look__each_slice_when_callbacks_are_long,
				       begin),
		cmocka_unit_test_setup(look__rare_again_after_two_seconds,
				       begin),
		cmocka_unit_test(later__no_longer_than_calm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
