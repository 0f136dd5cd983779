/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Peers and neighbours as they come and go, played here: how often an interface
 * is taken, and how long it stays so in vain.
 */
#include "policy/backoff.h"

#include <stdbool.h>

#include "../test.h"

enum { MIN_S = 5, MAX_S = 320, CALM_S = 600, HOUR_S = 3600 };

static const struct tux_backoff_rule rule = {
	.min = TUX_SEC(MIN_S), .max = TUX_SEC(MAX_S), .calm = TUX_SEC(CALM_S),
};

static unsigned again(struct tux_backoff *h, unsigned s)
{
	return (unsigned)(tux_backoff_again(h, &rule, TUX_SEC(s)) / TUX_SEC(1));
}

static unsigned len(const struct tux_backoff *h, unsigned s)
{
	return (unsigned)(tux_backoff_len(h, &rule, TUX_SEC(s)) / TUX_SEC(1));
}

/* ---- the length ---- */

static void again__doubles_up_to_the_most(void **state)
{
	static const unsigned lens[] = { 5, 10, 20, 40, 80, 160, 320, 320 };
	struct tux_backoff h = { 0 };
	unsigned i;

	(void)state;
	for (i = 0; i < N_OF(lens); i++)
		assert_int_equal(again(&h, 1000 + 7 * i), lens[i]);
}

static void again__the_first_is_the_least(void **state)
{
	struct tux_backoff h = { 0 };

	(void)state;
	assert_int_equal(len(&h, 0), MIN_S);
	assert_int_equal(again(&h, 0), MIN_S);
	h = (struct tux_backoff){ 0 };
	assert_int_equal(again(&h, 1000000), MIN_S);
}

static void len__halves_when_it_is_calm(void **state)
{
	struct tux_backoff h = { 0 };
	unsigned i;

	(void)state;
	for (i = 0; i < 7; i++)
		again(&h, 1000);
	assert_int_equal(len(&h, 1000), 320);
	assert_int_equal(len(&h, 1599), 320);
	assert_int_equal(len(&h, 1600), 160);
	assert_int_equal(len(&h, 2200), 80);
	assert_int_equal(len(&h, 1000 + 6 * CALM_S), 5);
	assert_int_equal(len(&h, 1000 + 7 * CALM_S), 5);
	assert_int_equal(len(&h, 1000 + 64 * CALM_S), 5);
	assert_int_equal(len(&h, 1000000), 5);
}

static void again__goes_on_from_what_is_left(void **state)
{
	struct tux_backoff h = { 0 };
	unsigned i;

	(void)state;
	for (i = 0; i < 7; i++)
		again(&h, 1000);
	assert_int_equal(again(&h, 2200), 160);
	assert_int_equal(again(&h, 2200), 320);
	assert_int_equal(again(&h, 2200 + 64 * CALM_S), 5);
}

static void again__time_that_goes_back_is_no_calm(void **state)
{
	struct tux_backoff h = { 0 };

	(void)state;
	assert_int_equal(again(&h, 1000), 5);
	assert_int_equal(again(&h, 10), 10);
	assert_int_equal(len(&h, 5), 10);
}

static void next__is_what_again_returns(void **state)
{
	struct tux_backoff h = { 0 };

	(void)state;
	assert_int_equal(tux_backoff_next(&h, &rule, 0), TUX_SEC(5));
	again(&h, 1000);
	assert_int_equal(tux_backoff_next(&h, &rule, TUX_SEC(1000)),
			 TUX_SEC(10));
	assert_int_equal(len(&h, 1000), 5);
	assert_int_equal(again(&h, 1000), 10);
}

static void reset__begins_with_the_least(void **state)
{
	struct tux_backoff h = { 0 };

	(void)state;
	again(&h, 1000);
	again(&h, 1000);
	tux_backoff_reset(&h);
	assert_int_equal(len(&h, 1000), MIN_S);
	assert_int_equal(again(&h, 1000), MIN_S);
}

static void never_calm__only_reset_shortens(void **state)
{
	static const struct tux_backoff_rule never = {
		.min = TUX_SEC(MIN_S), .max = TUX_SEC(MAX_S),
		.calm = TUX_NEVER,
	};
	struct tux_backoff h = { 0 };

	(void)state;
	tux_backoff_again(&h, &never, 0);
	assert_int_equal(tux_backoff_again(&h, &never, TUX_SEC(1000000)),
			 TUX_SEC(10));
}

/* Holds grow with what they have lasted for in all: for ten years, some hundreds are
 * enough. */
static void slow__grows_with_all_of_them(void **state)
{
	static const struct tux_backoff_rule slow = {
		.min = TUX_SEC(1), .max = TUX_SEC(64), .calm = TUX_NEVER,
		.slow = 64,
	}, usual = {
		.min = TUX_SEC(1), .max = TUX_SEC(64), .calm = TUX_NEVER,
	};
	static const tux_time years = TUX_SEC(10 * UINT64_C(365) * 24 * 3600);
	struct tux_backoff h = { 0 };
	tux_time now = 0, hold = 0;
	unsigned i;

	(void)state;
	for (i = 0; i < 7; i++)
		assert_int_equal(tux_backoff_again(&h, &slow, 0),
				 TUX_SEC(1) << i);
	for (; h.all < TUX_SEC(64 * 64); i++)
		assert_int_equal(tux_backoff_again(&h, &slow, 0), TUX_SEC(64));
	assert_true(tux_backoff_again(&h, &slow, 0) > TUX_SEC(64));
	for (; now < years; now += hold, i++)
		hold = tux_backoff_again(&h, &slow, now);
	assert_in_range(i, 500, 1000);
	assert_in_range(hold, years / 70, years / 60);
	assert_int_equal(tux_backoff_again(&h, &usual, now), TUX_SEC(64));
	assert_int_equal(tux_backoff_again(&h, &slow, now), TUX_SEC(64));
	tux_backoff_reset(&h);
	assert_int_equal(tux_backoff_again(&h, &slow, 0), TUX_SEC(1));
}

/* ---- an interface that is taken while connections use it ---- */

struct iface {
	struct tux_backoff hold;
	bool taken;
	unsigned idle_at;		/* the last connection went */
	unsigned takes, vain;		/* seconds without a connection */
};

static unsigned gives_back_at(const struct iface *i)
{
	return i->idle_at + len(&i->hold, i->idle_at);
}

/* A connection from @from to @to. */
static void connection(struct iface *i, unsigned from, unsigned to)
{
	unsigned until;

	if (i->taken) {
		until = gives_back_at(i);
		i->taken = from < until;
		i->vain += (i->taken ? from : until) - i->idle_at;
	}
	if (!i->taken) {
		i->takes++;
		again(&i->hold, from);
	}
	i->taken = true;
	i->idle_at = to;
}

/* Connections of a second every @every seconds, for @for_s. */
static struct iface come_and_go(unsigned every, unsigned for_s)
{
	struct iface i = { .takes = 0 };
	unsigned t;

	for (t = 0; t < for_s; t += every)
		connection(&i, t, t + 1);
	return i;
}

/* As a peer did it: connect, close, and again after the interface was given
 * back.  With a hold of five seconds, that was 514 times in an hour. */
static void series__every_seven_seconds(void **state)
{
	struct iface i = come_and_go(7, HOUR_S);

	(void)state;
	assert_int_equal(i.takes, 1 + HOUR_S / CALM_S);
}

/* Whatever its rhythm, a peer cannot have the interface taken more often than
 * once in so long, after the first times. */
static void series__at_any_rhythm(void **state)
{
	unsigned every, takes, worst = 0;

	(void)state;
	for (every = 2; every < HOUR_S; every++) {
		takes = come_and_go(every, 24 * HOUR_S).takes;
		worst = takes > worst ? takes : worst;
	}
	assert_in_range(worst, 24 * HOUR_S / CALM_S, 24 * HOUR_S / MAX_S);
}

/* Nor one that sees the interface being given back, and then connects. */
static void series__at_the_worst_moment(void **state)
{
	struct iface i = { .takes = 0 };
	unsigned t = 0;

	(void)state;
	while (t < 24 * HOUR_S) {
		connection(&i, t, t + 1);
		t = gives_back_at(&i);
	}
	assert_in_range(i.takes, 7, 7 + 24 * HOUR_S / MAX_S);
}

static void series__now_and_then_is_given_back_soon(void **state)
{
	struct iface i = come_and_go(HOUR_S / 2, 24 * HOUR_S);

	(void)state;
	assert_int_equal(i.takes, 48);
	assert_int_equal(i.vain, 47 * MIN_S);
}

static void series__an_idle_connection_keeps_it(void **state)
{
	struct iface i = { .takes = 0 };

	(void)state;
	connection(&i, 0, 24 * HOUR_S);
	connection(&i, 24 * HOUR_S + 1, 24 * HOUR_S + 2);
	assert_int_equal(i.takes, 1);
}

/* ---- an interface that others need more, now and then ---- */

/* A neighbour's bulk is there until @busy_until, and is seen a second after the
 * interface was taken.  How often it is given back for it. */
static unsigned give_way(unsigned busy_until)
{
	struct tux_backoff h = { 0 };
	unsigned t = 1, n = 0;

	for (; t < busy_until; t++) {
		n++;
		t += again(&h, t);
	}
	return n;
}

static void series__a_neighbour_without_end(void **state)
{
	(void)state;
	assert_int_equal(give_way(3), 1);
	assert_int_equal(give_way(60), 4);
	assert_in_range(give_way(24 * HOUR_S), 24 * HOUR_S / (MAX_S + 1),
			24 * HOUR_S / (MAX_S + 1) + 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(again__doubles_up_to_the_most),
		cmocka_unit_test(again__the_first_is_the_least),
		cmocka_unit_test(len__halves_when_it_is_calm),
		cmocka_unit_test(again__goes_on_from_what_is_left),
		cmocka_unit_test(again__time_that_goes_back_is_no_calm),
		cmocka_unit_test(next__is_what_again_returns),
		cmocka_unit_test(reset__begins_with_the_least),
		cmocka_unit_test(never_calm__only_reset_shortens),
		cmocka_unit_test(slow__grows_with_all_of_them),
		cmocka_unit_test(series__every_seven_seconds),
		cmocka_unit_test(series__at_any_rhythm),
		cmocka_unit_test(series__at_the_worst_moment),
		cmocka_unit_test(series__now_and_then_is_given_back_soon),
		cmocka_unit_test(series__an_idle_connection_keeps_it),
		cmocka_unit_test(series__a_neighbour_without_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
