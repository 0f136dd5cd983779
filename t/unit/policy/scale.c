/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loads as they rise and fall, played on threads that do as much as they can: how
 * many threads there are then, and how often that changes.
 */
#include "policy/scale.h"

#include "../test.h"

enum {
	LOOPS = 4,
	PER_S = 20,			/* looks */
	FULL = 1000,			/* a thread has no more time */
};

/* What each loop has to do, in thousandths of a thread's time. */
struct machine {
	struct tux_scale s;
	unsigned wants[TUX_SCALE_LOOPS];
	unsigned moves;			/* looks that changed something */
	unsigned most;			/* threads, ever */
};

static void machine_init(struct machine *m, unsigned loops, unsigned least,
			 unsigned most)
{
	*m = (struct machine){ .most = least };
	tux_scale_init(&m->s, loops, least, most);
}

static unsigned wanted_of(const struct machine *m, unsigned thread)
{
	unsigned i, all = 0;

	for (i = 0; i < m->s.loops; i++)
		if (m->s.thread[i] == thread)
			all += m->wants[i];
	return all;
}

/* A thread that has too much to do gives each of its loops less. */
static void look(struct machine *m)
{
	unsigned share[TUX_SCALE_LOOPS], i;

	for (i = 0; i < m->s.loops; i++) {
		unsigned all = wanted_of(m, m->s.thread[i]);

		share[i] = all > FULL ? m->wants[i] * FULL / all : m->wants[i];
	}
	m->moves += tux_scale_look(&m->s, share);
	if (tux_scale_threads(&m->s) > m->most)
		m->most = tux_scale_threads(&m->s);
}

static void want_each(struct machine *m, unsigned each)
{
	unsigned i;

	for (i = 0; i < m->s.loops; i++)
		m->wants[i] = each;
}

/* For @looks looks, each loop has @each to do. */
static void play(struct machine *m, unsigned each, unsigned looks)
{
	want_each(m, each);
	while (looks--)
		look(m);
}

static unsigned threads(const struct machine *m)
{
	return tux_scale_threads(&m->s);
}

/* ---- the beginning ---- */

static void init__the_least_have_as_much(void **state)
{
	struct tux_scale s;
	unsigned i, n[3] = { 0 };

	(void)state;
	tux_scale_init(&s, 9, 3, 9);
	for (i = 0; i < 9; i++)
		n[s.thread[i]]++;
	for (i = 0; i < 3; i++)
		assert_int_equal(n[i], 3);
	assert_int_equal(s.thread[0], 0);
	assert_int_equal(tux_scale_threads(&s), 3);
}

/* ---- series ---- */

static void step__up_and_down(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m, LOOPS, 1, LOOPS);
	play(&m, 20, 10);
	assert_int_equal(threads(&m), 1);
	play(&m, 900, TUX_SCALE_UP_LOOKS);
	assert_int_equal(threads(&m), 2);
	play(&m, 900, 2 * TUX_SCALE_UP_LOOKS);
	assert_int_equal(threads(&m), LOOPS);
	assert_int_equal(m.moves, LOOPS - 1);
	play(&m, 900, 10 * PER_S);
	assert_int_equal(m.moves, LOOPS - 1);
	play(&m, 20, TUX_SCALE_DOWN_LOOKS - 1);
	assert_int_equal(threads(&m), LOOPS);
	play(&m, 20, 10 * PER_S);
	assert_int_equal(threads(&m), 1);
	assert_int_equal(m.moves, 2 * (LOOPS - 1));
}

static void step__up_to_what_is_enough(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m, LOOPS, 1, LOOPS);
	play(&m, 400, 60 * PER_S);
	assert_int_equal(threads(&m), 2);
	assert_int_equal(m.moves, 1);
}

static void ramp__a_thread_at_a_time(void **state)
{
	struct machine m;
	unsigned i, last = 1;

	(void)state;
	machine_init(&m, LOOPS, 1, LOOPS);
	for (i = 0; i <= 900; i++) {
		play(&m, i, 1);
		assert_in_range(threads(&m), last, last + 1);
		last = threads(&m);
		/* They have enough time. */
		assert_true(threads(&m) * FULL >= i * LOOPS);
	}
	assert_int_equal(threads(&m), LOOPS);
	for (i = 900; i; i--) {
		play(&m, i, 1);
		assert_in_range(threads(&m), last - 1, last);
		last = threads(&m);
		assert_true(threads(&m) * FULL >= i * LOOPS);
	}
	assert_int_equal(threads(&m), 1);
	assert_int_equal(m.moves, 2 * (LOOPS - 1));
}

static void spike__changes_nothing(void **state)
{
	struct machine m;
	unsigned i;

	(void)state;
	machine_init(&m, LOOPS, 1, LOOPS);
	for (i = 0; i < 100; i++) {
		play(&m, 50, 5);
		play(&m, 900, TUX_SCALE_UP_LOOKS - 1);
	}
	assert_int_equal(m.moves, 0);
}

static void gap__changes_nothing(void **state)
{
	struct machine m;
	unsigned i;

	(void)state;
	machine_init(&m, 2, 1, 2);
	play(&m, 800, 10);
	assert_int_equal(threads(&m), 2);
	for (i = 0; i < 100; i++) {
		play(&m, 0, TUX_SCALE_DOWN_LOOKS - 1);
		play(&m, 800, 5);
	}
	assert_int_equal(m.moves, 1);
}

/* On for a second, off for a second: the loops stay where they are soon. */
static void oscillation__rests(void **state)
{
	struct machine m;
	unsigned i, before;

	(void)state;
	machine_init(&m, 2, 1, 2);
	for (i = 0; i < 10; i++) {
		play(&m, 800, PER_S);
		play(&m, 50, PER_S);
	}
	assert_int_equal(threads(&m), 2);
	assert_in_range(m.moves, 1, 6);
	before = m.moves;
	for (i = 0; i < 100; i++) {
		play(&m, 800, PER_S);
		play(&m, 50, PER_S);
	}
	assert_int_equal(m.moves, before);
	/* When it is over, one goes all the same; and soon, the next time. */
	play(&m, 50, TUX_SCALE_DOWN_MOST);
	assert_int_equal(threads(&m), 1);
	play(&m, 50, TUX_SCALE_SOON);
	play(&m, 800, PER_S);
	assert_int_equal(threads(&m), 2);
	play(&m, 50, TUX_SCALE_DOWN_LOOKS);
	assert_int_equal(threads(&m), 1);
}

/* Of whatever length: changes get rare. */
static void oscillation__of_any_period(void **state)
{
	unsigned half, i;

	(void)state;
	for (half = 1; half < TUX_SCALE_DOWN_MOST; half++) {
		struct machine m;

		machine_init(&m, LOOPS, 1, LOOPS);
		/* An hour. */
		for (i = 0; i < 3600 * PER_S / (2 * half); i++) {
			play(&m, 240, half);
			play(&m, 20, half);
		}
		assert_in_range(m.moves, 0, 2 * 3600 * PER_S /
					    TUX_SCALE_DOWN_MOST);
	}
}

/* ---- borders ---- */

static void borders__are_the_papers(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m, 2, 1, 2);
	play(&m, 450, 10 * PER_S);		/* 0.9 */
	assert_int_equal(threads(&m), 1);
	play(&m, 451, TUX_SCALE_UP_LOOKS);
	assert_int_equal(threads(&m), 2);
	play(&m, 200, 10 * PER_S);
	assert_int_equal(threads(&m), 2);
	play(&m, 199, TUX_SCALE_DOWN_LOOKS);
	assert_int_equal(threads(&m), 1);
}

static void less__not_if_one_had_too_much_then(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m, 2, 1, 2);
	play(&m, 800, 10);
	m.wants[0] = 650;
	m.wants[1] = 100;
	while (m.moves < 2 && m.s.since < TUX_SCALE_SOON)
		look(&m);
	assert_int_equal(threads(&m), 2);
	m.wants[0] = 600;
	while (m.moves < 2)
		look(&m);
	assert_int_equal(threads(&m), 1);
}

static void more__not_for_what_one_loop_does(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m, 2, 1, 2);
	m.wants[0] = FULL;
	while (m.s.since < TUX_SCALE_SOON)
		look(&m);
	assert_int_equal(threads(&m), 1);
	/* The other one goes, not the first. */
	m.wants[0] = 100;
	m.wants[1] = FULL;
	play(&m, 500, TUX_SCALE_UP_LOOKS);
	assert_int_equal(m.s.thread[0], 0);
	assert_int_equal(m.s.thread[1], 1);
}

/* The busiest thread has one loop that takes all of its time, and one more. */
static void more__for_the_one_that_can_be_helped(void **state)
{
	struct machine m;
	unsigned i;

	(void)state;
	machine_init(&m, LOOPS, 2, 3);
	m.wants[0] = 990;
	m.wants[2] = 5;
	m.wants[1] = m.wants[3] = 470;
	for (i = 0; i < 2 * TUX_SCALE_UP_LOOKS; i++)
		look(&m);
	assert_int_equal(threads(&m), 3);
	assert_int_not_equal(m.s.thread[1], m.s.thread[3]);
}

/* Loops that cannot leave make no thread stay for longer. */
static void undo__is_as_before(void **state)
{
	struct machine m;
	unsigned i;

	(void)state;
	machine_init(&m, 2, 1, 2);
	play(&m, 800, 10);
	assert_int_equal(threads(&m), 2);
	for (i = 0; i < 10; i++) {
		struct tux_scale before = m.s;

		while (threads(&m) == 2) {
			before = m.s;
			play(&m, 10, 1);
		}
		tux_scale_undo(&m.s, &before);
		assert_int_equal(threads(&m), 2);
		assert_int_equal(m.s.down_looks, TUX_SCALE_DOWN_LOOKS);
	}
	play(&m, 10, TUX_SCALE_DOWN_LOOKS);
	assert_int_equal(threads(&m), 1);
}

static void more__to_those_that_are_there(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m, LOOPS, 2, 2);
	assert_int_equal(m.s.thread[0], m.s.thread[2]);
	m.wants[0] = m.wants[2] = 800;
	m.wants[1] = m.wants[3] = 50;
	while (!m.moves)
		look(&m);
	assert_int_equal(threads(&m), 2);
	assert_int_not_equal(m.s.thread[0], m.s.thread[2]);
	assert_int_equal(m.s.thread[0], 0);
}

static void range__is_kept(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m, LOOPS, 2, 3);
	play(&m, 900, 10 * PER_S);
	assert_int_equal(threads(&m), 3);
	play(&m, 0, 100 * PER_S);
	assert_int_equal(threads(&m), 2);
	assert_int_equal(m.most, 3);
}

/* Whatever it is told, each loop has a thread, and the first has its own. */
static void look__of_anything(void **state)
{
	uint32_t x = 1;
	unsigned i, n;

	(void)state;
	for (n = 1; n <= TUX_SCALE_LOOPS; n++) {
		struct machine m;

		machine_init(&m, n, 1 + n / 4, n - n / 4);
		for (i = 0; i < 20000; i++) {
			x = x * 1664525 + 1013904223;
			m.wants[(x >> 24) % n] = (x >> 8) % 1500;
			look(&m);
			assert_int_equal(m.s.thread[0], 0);
			assert_in_range(threads(&m), 1 + n / 4, n - n / 4);
		}
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(init__the_least_have_as_much),
		cmocka_unit_test(step__up_and_down),
		cmocka_unit_test(step__up_to_what_is_enough),
		cmocka_unit_test(ramp__a_thread_at_a_time),
		cmocka_unit_test(spike__changes_nothing),
		cmocka_unit_test(gap__changes_nothing),
		cmocka_unit_test(oscillation__rests),
		cmocka_unit_test(oscillation__of_any_period),
		cmocka_unit_test(borders__are_the_papers),
		cmocka_unit_test(less__not_if_one_had_too_much_then),
		cmocka_unit_test(more__not_for_what_one_loop_does),
		cmocka_unit_test(more__for_the_one_that_can_be_helped),
		cmocka_unit_test(undo__is_as_before),
		cmocka_unit_test(more__to_those_that_are_there),
		cmocka_unit_test(range__is_kept),
		cmocka_unit_test(look__of_anything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
