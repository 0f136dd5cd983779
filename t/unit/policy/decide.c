/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/decide.h"

#include "../test.h"

enum { PACKET = 1400, FITS = 3 * PACKET, SERIES = 500, ROUNDS = 100 };
enum { NOW = 1000, EVERY = ~0, SOME = 8, MORE = 64,
       SOON = TUX_CHOICE_TURNS_ACTIVE - TUX_CHOICE_TURNS_PASSIVE };

/* @n requests of @ask bytes, each with an answer of @answer bytes, as the active
 * end counts them. */
static void turn(struct tux_candidate *y, unsigned n, unsigned ask,
		 unsigned answer)
{
	while (n--) {
		tux_candidate_moved(y, true, ask);
		tux_candidate_moved(y, false, answer);
	}
}

/* ---- is it worth Tux? -------------------------------------------------- */

/* Nothing but its bursts keeps @y on TCP.  If it waits, it is asked again as
 * decided. */
static bool opens(struct tux_candidate *y, bool active)
{
	struct tux_view v = {
		.candidate = y, .mode = TUX_PATH_MODE_AUTO, .active = active,
		.known = EVERY,
	};
	struct tux_decision d = tux_decide(&v, NOW);

	if (d.verdict == TUX_DECIDE_WAIT) {
		assert_true(tux_reason_is_measured(d.why));
		tux_candidate_wait(y, d.turns);
	}
	return d.verdict == TUX_DECIDE_OPEN;
}

static void opens__the_passive_end_sooner(void **state)
{
	struct tux_candidate y = { .packet = PACKET };

	(void)state;
	turn(&y, TUX_CHOICE_TURNS_PASSIVE + 1, 10, 10);
	assert_true(opens(&y, false));
	assert_false(opens(&y, true));
	/* The active end asks again when it has shown enough. */
	assert_int_equal(y.look_at, TUX_CHOICE_TURNS_ACTIVE);
	turn(&y, TUX_CHOICE_TURNS_ACTIVE - TUX_CHOICE_TURNS_PASSIVE, 10, 10);
	assert_true(tux_candidate_asks(&y));
	assert_true(opens(&y, true));
}

static void opens__not_for_long_answers(void **state)
{
	struct tux_candidate y = { .packet = PACKET };

	(void)state;
	turn(&y, 21, 10, 2 * FITS + 100);
	assert_true(tux_candidate_asks(&y));
	assert_false(opens(&y, true));
	assert_false(opens(&y, false));
	/* It is asked again, but not at each turn. */
	assert_int_equal(y.look_at, 28);
	assert_false(tux_candidate_asks(&y));
	turn(&y, 8, 10, 10);
	assert_true(tux_candidate_asks(&y));
}

/* An end of a connection.  Its program reads and writes whole bursts. */
struct side {
	struct tux_candidate y;
	bool active, open;
};

/* The program's next call; then its bytes move. */
static void side_call(struct side *e, bool out, uint32_t n)
{
	if (!e->open && tux_candidate_asks(&e->y))
		e->open = opens(&e->y, e->active);
	tux_candidate_moved(&e->y, out, n);
}

static uint32_t draw(uint64_t *x, uint32_t n)
{
	*x = *x * 6364136223846793005u + 1442695040888963407u;
	return 1 + (uint32_t)(*x >> 33) % n;
}

/* Bursts of up to @most bytes.  The active end must never be open when the
 * passive end is not by its next call. */
static void ends_talk(struct side *a, struct side *p, uint32_t most,
		      uint64_t seed)
{
	for (int i = 0; i < ROUNDS && !a->open; i++) {
		uint32_t ask = draw(&seed, most), answer = draw(&seed, most);

		side_call(a, true, ask);
		side_call(p, false, ask);
		assert_true(p->open || !a->open);
		side_call(p, true, answer);
		side_call(a, false, answer);
		assert_true(p->open || !a->open);
	}
}

static void opens__the_passive_end_if_the_active_one_will(void **state)
{
	static const uint32_t packet[] = { 536, 1220, 1448, 3446, 8948 };
	unsigned opened = 0, vain = 0, i;

	(void)state;
	for (i = 0; i < sizeof(packet) / sizeof(*packet) * SERIES; i++) {
		uint32_t n = packet[i / SERIES], limit = tux_choice_limit(n);
		struct side a = { .y.packet = n, .active = true };
		struct side p = { .y.packet = n };

		/* Their mean lies around the limit. */
		ends_talk(&a, &p, limit + limit * (i % 4) / 2, i);
		opened += a.open;
		vain += p.open && !a.open;
	}
	assert_in_range(opened, i / 4, i - i / 10);
	/* In the turn-arounds by which the passive end is ahead. */
	assert_in_range(vain, 0, i / 50);
}

/* One end has learned of a shorter path. */
static void opens__both_ends_for_bursts_that_suit_both(void **state)
{
	static const uint32_t packet[][2] = {
		{ 1460, 1448 }, { 1448, 1460 }, { 1448, 1220 }, { 1220, 1448 },
		{ 1448, 1050 }, { 8948, 6500 }, { 1448, 8948 }, { 8948, 1448 },
	};
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(packet) / sizeof(*packet) * SERIES; i++) {
		const uint32_t *of = packet[i / SERIES];
		uint32_t least = of[0] < of[1] ? of[0] : of[1];
		struct side a = { .y.packet = of[0], .active = true };
		struct side p = { .y.packet = of[1] };

		ends_talk(&a, &p, tux_choice_limit(least), i);
		assert_true(a.open && p.open);
	}
}

/* A passive end with the longer packets is open whenever the active one is. */
static void opens__a_passive_end_with_longer_packets(void **state)
{
	static const uint32_t packet[][2] = {
		{ 1448, 1460 }, { 1220, 1448 }, { 1448, 8948 },
	};
	unsigned opened = 0, i;

	(void)state;
	for (i = 0; i < sizeof(packet) / sizeof(*packet) * SERIES; i++) {
		const uint32_t *of = packet[i / SERIES];
		uint32_t limit = tux_choice_limit(of[0]);
		struct side a = { .y.packet = of[0], .active = true };
		struct side p = { .y.packet = of[1] };

		ends_talk(&a, &p, limit + limit * (i % 4) / 2, i);
		opened += a.open;
	}
	assert_in_range(opened, i / 4, i - i / 10);
}

/* ---- the other gates --------------------------------------------------- */

/* A connection that is worth Tux, and of which nothing else is known. */
static struct tux_candidate worth;

static struct tux_view view(void)
{
	worth = (struct tux_candidate){ .packet = PACKET };
	turn(&worth, 20, 10, 10);
	return (struct tux_view){
		.candidate = &worth, .mode = TUX_PATH_MODE_AUTO, .active = true,
	};
}

/* Asks as a caller does; the facts are those in @v. */
static struct tux_decision ask(struct tux_view v)
{
	struct tux_decision d;

	while ((d = tux_decide(&v, NOW)).verdict == TUX_DECIDE_FIND) {
		assert_false(v.known & d.fact);
		v.known |= d.fact;
	}
	return d;
}

static void waits(struct tux_view v, uint32_t turns, enum tux_reason why)
{
	struct tux_decision d = ask(v);

	assert_int_equal(d.verdict, TUX_DECIDE_WAIT);
	assert_int_equal(d.turns, turns);
	assert_int_equal(d.why, why);
}

static void is_never(struct tux_view v, enum tux_reason why)
{
	struct tux_decision d = ask(v);

	assert_int_equal(d.verdict, TUX_DECIDE_NEVER);
	assert_int_equal(d.why, why);
}

static void decide__opens_if_every_gate_is(void **state)
{
	(void)state;
	assert_int_equal(ask(view()).verdict, TUX_DECIDE_OPEN);
	assert_int_equal(ask(view()).why, TUX_REASON_NONE);
}

/* From the last gate to the first: each stands before those behind it. */
static void decide__the_first_closed_gate(void **state)
{
	struct tux_view v = view();

	(void)state;
	v.counts = TUX_CANDIDATE_MISSED;
	is_never(v, TUX_REASON_UNSEEN);
	v.cpu_busy = true;
	waits(v, MORE, TUX_REASON_CPU_BUSY);
	v.forbids = TUX_REASON_LOOPBACK;
	is_never(v, TUX_REASON_LOOPBACK);
	v.peer_silent = true;
	waits(v, MORE, TUX_REASON_PEER_SILENT);
	v.held = TUX_REASON_IN_USE;
	waits(v, SOME, TUX_REASON_IN_USE);
	v.pause_until = NOW + 1;
	v.paused_for = TUX_REASON_PEER_SILENT;
	waits(v, MORE, TUX_REASON_PEER_SILENT);
	worth = (struct tux_candidate){ .packet = PACKET };
	turn(&worth, 20, 10, 2 * FITS + 100);
	waits(v, SOME, TUX_REASON_BULK);
}

/* Too few turn-arounds, or bursts that are too long: the passive end can tell
 * sooner. */
static void decide__young_or_bulk(void **state)
{
	struct tux_view v = view();

	(void)state;
	worth = (struct tux_candidate){ .packet = PACKET };
	waits(v, TUX_CHOICE_TURNS_ACTIVE, TUX_REASON_YOUNG);
	turn(&worth, TUX_CHOICE_TURNS_PASSIVE + 1, 10, 2 * FITS + 100);
	waits(v, SOON, TUX_REASON_YOUNG);
	v.active = false;
	waits(v, SOON, TUX_REASON_BULK);
}

static void decide__counts_that_may_agree_later(void **state)
{
	struct tux_view v = view();

	(void)state;
	v.counts = TUX_CANDIDATE_UNSURE;
	waits(v, SOME, TUX_REASON_UNSURE);
}

static void decide__finds_nothing_for_a_closed_gate(void **state)
{
	struct tux_view v = view();

	(void)state;
	v.pause_until = NOW + 1;
	assert_int_equal(tux_decide(&v, NOW).verdict, TUX_DECIDE_WAIT);
	assert_int_equal(tux_decide(&v, NOW + 1).verdict, TUX_DECIDE_FIND);
	worth = (struct tux_candidate){ .packet = PACKET };
	assert_int_equal(tux_decide(&v, NOW + 1).verdict, TUX_DECIDE_WAIT);
}

/* Another connection to a passive end's peer shows nothing. */
static void decide__the_peer_of_an_active_end(void **state)
{
	struct tux_view v = view();

	(void)state;
	v.known = EVERY & ~(unsigned)TUX_FACT_PEER;
	assert_int_equal(tux_decide(&v, NOW).fact, TUX_FACT_PEER);
	v.active = false;
	assert_int_equal(tux_decide(&v, NOW).verdict, TUX_DECIDE_OPEN);
}

/* Neither bursts nor the processors nor the past count. */
static void decide__a_path_that_the_user_has_chosen(void **state)
{
	struct tux_view v = view();

	(void)state;
	worth = (struct tux_candidate){ .packet = 0 };
	v.mode = TUX_PATH_MODE_TUX;
	v.known = TUX_FACT_ALONE | TUX_FACT_FORBIDS | TUX_FACT_COUNTS;
	assert_int_equal(tux_decide(&v, NOW).verdict, TUX_DECIDE_OPEN);
	v.mode = TUX_PATH_MODE_TCP;
	v.forbids = TUX_REASON_CHOSEN;
	is_never(v, TUX_REASON_CHOSEN);
}

/* Its peer has an announcement for it already. */
static void decide__an_end_that_the_peer_asks_for(void **state)
{
	struct tux_view v = view();

	(void)state;
	worth = (struct tux_candidate){ .packet = PACKET };
	v.pause_until = NOW + 1;
	v.called = true;
	assert_int_equal(ask(v).verdict, TUX_DECIDE_OPEN);
	v.cpu_busy = true;
	waits(v, MORE, TUX_REASON_CPU_BUSY);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(opens__the_passive_end_sooner),
		cmocka_unit_test(opens__not_for_long_answers),
		cmocka_unit_test(opens__the_passive_end_if_the_active_one_will),
		cmocka_unit_test(opens__both_ends_for_bursts_that_suit_both),
		cmocka_unit_test(opens__a_passive_end_with_longer_packets),
		cmocka_unit_test(decide__opens_if_every_gate_is),
		cmocka_unit_test(decide__the_first_closed_gate),
		cmocka_unit_test(decide__young_or_bulk),
		cmocka_unit_test(decide__counts_that_may_agree_later),
		cmocka_unit_test(decide__finds_nothing_for_a_closed_gate),
		cmocka_unit_test(decide__the_peer_of_an_active_end),
		cmocka_unit_test(decide__a_path_that_the_user_has_chosen),
		cmocka_unit_test(decide__an_end_that_the_peer_asks_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
