/* SPDX-License-Identifier: BSD-2-Clause */
#include "transport/hystart.h"

#include "../test.h"

static struct tux_hystart h;
static tux_time now;

/* A round of TUX_HYSTART_SAMPLES round trips of @ms. */
static enum tux_hystart_pace round_of(unsigned ms)
{
	enum tux_hystart_pace p = TUX_HYSTART_FAST;
	unsigned i;

	now += TUX_MSEC(ms);
	p = tux_hystart_acked(&h, now, TUX_MSEC(ms), now);
	for (i = 1; i < TUX_HYSTART_SAMPLES; i++)
		p = tux_hystart_acked(&h, now - 1, TUX_MSEC(ms), now);
	return p;
}

static void start(void)
{
	tux_hystart_init(&h);
	now = TUX_SEC(1);
}

static void acked__a_steady_round_trip_is_no_queue(void **state)
{
	unsigned i;

	(void)state;
	start();
	for (i = 0; i < 20; i++)
		assert_int_equal(round_of(40), TUX_HYSTART_FAST);
}

static void acked__an_eighth_longer_slows_it_then_ends_it(void **state)
{
	unsigned i;

	(void)state;
	start();
	assert_int_equal(round_of(40), TUX_HYSTART_FAST);
	assert_int_equal(round_of(44), TUX_HYSTART_FAST);
	assert_int_equal(round_of(50), TUX_HYSTART_SLOW);
	for (i = 1; i < TUX_HYSTART_ROUNDS; i++)
		assert_int_equal(round_of(50), TUX_HYSTART_SLOW);
	assert_int_equal(round_of(50), TUX_HYSTART_OVER);
}

static void acked__shorter_again_was_no_queue(void **state)
{
	(void)state;
	start();
	round_of(40);
	assert_int_equal(round_of(46), TUX_HYSTART_SLOW);
	assert_int_equal(round_of(41), TUX_HYSTART_FAST);
}

/* Growth below 4 ms is noise; growth of 16 ms is always enough. */
static void acked__the_margin_has_bounds(void **state)
{
	(void)state;
	start();
	round_of(1);
	assert_int_equal(round_of(4), TUX_HYSTART_FAST);
	start();
	round_of(400);
	assert_int_equal(round_of(417), TUX_HYSTART_SLOW);
}

static void acked__few_samples_say_nothing(void **state)
{
	(void)state;
	start();
	round_of(40);
	now += TUX_MSEC(90);
	assert_int_equal(tux_hystart_acked(&h, now, TUX_MSEC(90), now),
			 TUX_HYSTART_FAST);
}

/* The verdict comes with sample TUX_HYSTART_SAMPLES of a round, not earlier. */
static void acked__neither_sooner_nor_later(void **state)
{
	enum tux_hystart_pace p;
	unsigned i;

	(void)state;
	start();
	round_of(40);
	now += TUX_MSEC(90);
	for (i = 1; i < TUX_HYSTART_SAMPLES; i++) {
		p = tux_hystart_acked(&h, i == 1 ? now : now - 1, TUX_MSEC(90),
				      now);
		assert_int_equal(p, TUX_HYSTART_FAST);
	}
	assert_int_equal(tux_hystart_acked(&h, now - 1, TUX_MSEC(90), now),
			 TUX_HYSTART_SLOW);
}

/* A packet that leaves at the moment a round begins belongs to that round, and
 * its acknowledgment ends the round. */
static void acked__a_round_ends_with_a_packet_of_its_beginning(void **state)
{
	tux_time first;

	(void)state;
	start();
	first = now;
	tux_hystart_acked(&h, first, TUX_MSEC(40), first);
	assert_true(h.round_at == first);
	now += TUX_MSEC(40);
	tux_hystart_acked(&h, first - 1, TUX_MSEC(40), now);
	assert_true(h.round_at == first);
	tux_hystart_acked(&h, first, TUX_MSEC(40), now);
	assert_true(h.round_at == now);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(acked__a_steady_round_trip_is_no_queue),
		cmocka_unit_test(
			acked__an_eighth_longer_slows_it_then_ends_it),
		cmocka_unit_test(acked__shorter_again_was_no_queue),
		cmocka_unit_test(acked__the_margin_has_bounds),
		cmocka_unit_test(acked__few_samples_say_nothing),
		cmocka_unit_test(acked__neither_sooner_nor_later),
		cmocka_unit_test(
			acked__a_round_ends_with_a_packet_of_its_beginning),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
