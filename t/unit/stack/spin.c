/* SPDX-License-Identifier: BSD-2-Clause */
#include "stack/spin.h"

#include <limits.h>

#include "../test.h"

enum { RARELY = 400 };		/* of 100,000 waits: one in 256, and the first */

static tux_time now;
static uint64_t preemptions;

static uint64_t preempted(void)
{
	return preemptions;
}

/* A wait that ends after @in, looked at every microsecond.  Was all of it, or
 * the spin in it, enough to find the end without sleeping? */
static bool wait_for(struct tux_spin *s, tux_time in)
{
	tux_time end = now + in;
	bool awake = true;

	tux_spin_begin(s, now);
	while (awake && now < end) {
		now += TUX_USEC(1);
		awake = tux_spin_more(s, now);
	}
	now = end;
	tux_spin_end(s, now);
	return awake;
}

static void start(struct tux_spin *s)
{
	now = TUX_SEC(1);
	tux_spin_init(s, TUX_SPIN_IF_IT_PAYS);
}

static unsigned spins(struct tux_spin *s, unsigned n, tux_time in)
{
	unsigned i, won = 0;

	for (i = 0; i < n; i++)
		won += wait_for(s, in);
	return won;
}

static void more__not_before_waits_are_short(void **state)
{
	struct tux_spin s;

	(void)state;
	start(&s);
	assert_false(wait_for(&s, TUX_MSEC(10)));
	assert_false(wait_for(&s, TUX_USEC(10)));
	assert_int_equal(spins(&s, 100, TUX_MSEC(1)), 0);
}

static void more__when_waits_are_short(void **state)
{
	struct tux_spin s;

	(void)state;
	start(&s);
	spins(&s, 20, TUX_USEC(10));
	assert_int_equal(spins(&s, 100, TUX_USEC(10)), 100);
}

static void more__not_after_one_long_wait(void **state)
{
	struct tux_spin s;

	(void)state;
	start(&s);
	spins(&s, 30, TUX_USEC(10));
	assert_false(wait_for(&s, TUX_MSEC(100)));
	assert_false(wait_for(&s, TUX_USEC(10)));
}

/* The peer was stopped for a moment, once: both ends go on spinning.  If it happens again
 * soon, it is no chance. */
static void more__after_one_long_wait_behind_many_short_ones(void **state)
{
	struct tux_spin s;

	(void)state;
	start(&s);
	spins(&s, 200, TUX_USEC(10));
	assert_false(wait_for(&s, TUX_USEC(150)));
	assert_int_equal(spins(&s, 20, TUX_USEC(10)), 20);
	assert_false(wait_for(&s, TUX_USEC(150)));
	assert_int_equal(spins(&s, 4, TUX_USEC(10)), 0);
}

/* Both ends sleep, and each wait holds two wake-ups: one that spins finds out
 * how short the waits could be. */
static void more__out_of_a_common_sleep(void **state)
{
	struct tux_spin s;

	(void)state;
	start(&s);
	spins(&s, 100, TUX_USEC(60));
	assert_true(spins(&s, 10000, TUX_USEC(40)) > 5000);
}

/* One in a while is longer than the mean, but still shorter than a sleep. */
static void more__for_as_long_as_a_sleep_costs(void **state)
{
	struct tux_spin s;

	(void)state;
	start(&s);
	spins(&s, 100, TUX_USEC(8));
	assert_true(wait_for(&s, TUX_USEC(45)));
}

/* A peer that runs only when we sleep: each spin is in vain. */
static void more__less_and_less_when_it_never_helps(void **state)
{
	struct tux_spin s;
	unsigned i, tried = 0;

	(void)state;
	start(&s);
	for (i = 0; i < 100000; i++) {
		tux_spin_begin(&s, now);
		if (tux_spin_more(&s, now)) {
			tried++;
			now = s.until;
			assert_false(tux_spin_more(&s, now));
		}
		now += TUX_USEC(5);
		tux_spin_end(&s, now);
	}
	assert_in_range(tried, 1, RARELY);
}

/* Waits of 1 us, then 10 us without a look, then the end.  In each @nth of the
 * spins another thread runs meanwhile.  How many of 100,000 waits spin? */
static unsigned with_gaps(unsigned nth)
{
	struct tux_spin s;
	unsigned i, tried = 0;

	start(&s);
	s.preempted = preempted;
	for (i = 0; i < 100000; i++) {
		tux_spin_begin(&s, now);
		now += TUX_USEC(1);
		if (tux_spin_more(&s, now))
			preemptions += ++tried % nth == 0;
		now += TUX_USEC(10);
		tux_spin_end(&s, now);
	}
	return tried;
}

/* A peer that runs when our processor is taken from us: the spin has found
 * nothing by itself. */
static void more__less_and_less_when_it_only_delays(void **state)
{
	(void)state;
	assert_in_range(with_gaps(1), 1, RARELY);
}

/* The kernel takes packets in on our processor, or another thread runs on it for
 * a moment. */
static void more__when_something_else_ran_for_a_moment(void **state)
{
	(void)state;
	assert_true(with_gaps(UINT_MAX) > 99000);
	assert_true(with_gaps(2) > 99000);
}

/* ... and so also if each wait is followed by finding what came with its end.
 * Nothing was waited for then. */
static void more__not_for_what_is_there_at_once(void **state)
{
	struct tux_spin s;
	unsigned i, tried = 0;

	(void)state;
	start(&s);
	for (i = 0; i < 100000; i++) {
		tux_spin_begin(&s, now);
		if (tux_spin_more(&s, now)) {
			tried++;
			now = s.until;
			assert_false(tux_spin_more(&s, now));
		}
		now += TUX_USEC(5);
		tux_spin_end(&s, now);
		tux_spin_begin(&s, now);
		tux_spin_end(&s, now);
	}
	assert_in_range(tried, 1, RARELY);
}

/* What is there at once does not make long waits short. */
static void more__not_before_a_wait_was_short(void **state)
{
	struct tux_spin s;
	unsigned i;

	(void)state;
	start(&s);
	for (i = 0; i < 100; i++) {
		tux_spin_begin(&s, now);
		tux_spin_end(&s, now);
	}
	assert_false(wait_for(&s, TUX_USEC(10)));
}

static void more__always(void **state)
{
	struct tux_spin s;

	(void)state;
	now = TUX_SEC(1);
	tux_spin_init(&s, TUX_SPIN_ALWAYS);
	assert_true(wait_for(&s, TUX_MSEC(10)));
	assert_true(wait_for(&s, TUX_MSEC(10)));
}

/* A wait of @in that begins as the last ones say. */
static void wait_at_once(struct tux_spin *s, tux_time in)
{
	assert_true(tux_spin_sleeps_at_once(s));
	tux_spin_begin_asleep(s, now);
	now += in;
	assert_false(tux_spin_more(s, now));
	tux_spin_end(s, now);
}

static void at_once__when_waits_are_long(void **state)
{
	struct tux_spin s;

	(void)state;
	start(&s);
	assert_false(tux_spin_sleeps_at_once(&s));
	assert_false(wait_for(&s, TUX_MSEC(10)));
	wait_at_once(&s, TUX_MSEC(10));
	wait_at_once(&s, TUX_MSEC(10));
}

/* Where spins are in vain, too, but for the one that is tried now and then. */
static void at_once__when_spins_are_in_vain(void **state)
{
	struct tux_spin s;
	unsigned i, at_once = 0;

	(void)state;
	start(&s);
	spins(&s, 30, TUX_USEC(10));
	for (i = 0; i < 10000; i++) {
		if (tux_spin_sleeps_at_once(&s)) {
			at_once++;
			tux_spin_begin_asleep(&s, now);
			now += TUX_USEC(90);
			tux_spin_end(&s, now);
		} else {
			wait_for(&s, TUX_USEC(90));
		}
	}
	assert_in_range(at_once, 9000, 9999);
}

/* A wait for what is there already, or a sleep that took no time: look first. */
static void at_once__not_when_something_was_there(void **state)
{
	struct tux_spin s;

	(void)state;
	start(&s);
	assert_false(wait_for(&s, TUX_MSEC(10)));
	tux_spin_begin(&s, now);
	tux_spin_end(&s, now);
	assert_false(tux_spin_sleeps_at_once(&s));
	assert_false(wait_for(&s, TUX_MSEC(10)));
	wait_at_once(&s, TUX_USEC(1));
	assert_false(tux_spin_sleeps_at_once(&s));
}

static void at_once__never_where_it_always_spins(void **state)
{
	struct tux_spin s;

	(void)state;
	now = TUX_SEC(1);
	tux_spin_init(&s, TUX_SPIN_ALWAYS);
	tux_spin_begin(&s, now);
	assert_true(tux_spin_more(&s, now));
	now += TUX_SEC(1);
	tux_spin_end(&s, now);
	assert_false(tux_spin_sleeps_at_once(&s));
}

/* ---- two ends ---- */

struct machine {		/* ns */
	tux_time wake;		/* from what ends a sleep until the thread runs */
	tux_time waking;	/* for who ends the sleep of another */
};

struct side {			/* one of two that ask and answer each other */
	struct tux_spin spin;
	tux_time ready;		/* its wait begins */
	tux_time spun;		/* in all */
};

/* @to waits for what @from sends at @at: when does @to run?  Afterwards @from is
 * ready to wait. */
static tux_time carry(const struct machine *m, struct side *from,
		      struct side *to, tux_time at)
{
	enum { HOP_US = 3 };
	tux_time t = to->ready, come = at + TUX_USEC(HOP_US);
	struct tux_spin *s = &to->spin;
	bool awake = true, asleep;

	if (tux_spin_sleeps_at_once(s) && come > t) {
		tux_spin_begin_asleep(s, t);
		awake = false;
	} else {
		tux_spin_begin(s, t);
		while (t < come && (awake = tux_spin_more(s, t)))
			t += TUX_USEC(1);
	}
	to->spun += t - to->ready;
	asleep = !awake && t < come;
	from->ready = at + (asleep ? m->waking : 0);
	t = tux_time_max(t, come) + (asleep ? m->wake : 0);
	tux_spin_end(s, t);
	return t;
}

/* How long does a question take whose answer is @work?  *@spun: for how much of it
 * who asks spins. */
static tux_time ask(const struct machine *m, tux_time work, tux_time *spun)
{
	enum { LEARN = 10000, ASKS = 10000 };
	struct side client = { .ready = TUX_SEC(1) };
	struct side server = { .ready = TUX_SEC(1) };
	tux_time t = TUX_SEC(1), began = 0;

	tux_spin_init(&client.spin, TUX_SPIN_IF_IT_PAYS);
	tux_spin_init(&server.spin, TUX_SPIN_IF_IT_PAYS);
	client.spin.preempted = server.spin.preempted = preempted;
	for (int i = 0; i < LEARN + ASKS; i++) {
		if (i == LEARN) {
			began = t;
			client.spun = 0;
		}
		t = carry(m, &client, &server, t) + work;
		t = carry(m, &server, &client, t) + TUX_USEC(1);
	}
	*spun = client.spun / ASKS;
	return (t - began) / ASKS;
}

/* Whatever a sleep costs on a machine: two ends that need little time for what
 * they do find out that neither has to sleep. */
static void two_ends__stay_awake(void **state)
{
	tux_time spun;

	(void)state;
	for (unsigned us = 5; us <= 100; us += 5) {
		const struct machine slow = { TUX_USEC(us), TUX_USEC(1) };
		const struct machine calls = { TUX_USEC(5), TUX_USEC(us) };

		for (unsigned work = 1; work <= 30; work += 29) {
			assert_in_range(ask(&slow, TUX_USEC(work), &spun),
					TUX_USEC(work), TUX_USEC(work + 10));
			assert_in_range(ask(&calls, TUX_USEC(work), &spun),
					TUX_USEC(work), TUX_USEC(work + 10));
		}
	}
}

/* A client whose server works for much longer than a wake-up takes sleeps. */
static void two_ends__sleep_where_the_work_is_long(void **state)
{
	tux_time spun;

	(void)state;
	for (unsigned us = 5; us <= 100; us += 5) {
		const struct machine m = { TUX_USEC(us), TUX_USEC(us) };

		for (unsigned work = 4 * us + 50; work < 1000; work += 40) {
			ask(&m, TUX_USEC(work), &spun);
			assert_true(spun < TUX_USEC(work) / 12);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(more__not_before_waits_are_short),
		cmocka_unit_test(more__when_waits_are_short),
		cmocka_unit_test(more__not_after_one_long_wait),
		cmocka_unit_test(more__after_one_long_wait_behind_many_short_ones),
		cmocka_unit_test(more__out_of_a_common_sleep),
		cmocka_unit_test(more__for_as_long_as_a_sleep_costs),
		cmocka_unit_test(more__less_and_less_when_it_never_helps),
		cmocka_unit_test(more__less_and_less_when_it_only_delays),
		cmocka_unit_test(more__when_something_else_ran_for_a_moment),
		cmocka_unit_test(more__not_for_what_is_there_at_once),
		cmocka_unit_test(more__not_before_a_wait_was_short),
		cmocka_unit_test(more__always),
		cmocka_unit_test(at_once__when_waits_are_long),
		cmocka_unit_test(at_once__when_spins_are_in_vain),
		cmocka_unit_test(at_once__not_when_something_was_there),
		cmocka_unit_test(at_once__never_where_it_always_spins),
		cmocka_unit_test(two_ends__stay_awake),
		cmocka_unit_test(two_ends__sleep_where_the_work_is_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
