/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Traffic of other programs beside connections on Tux, played here: when the
 * interface is given up, and when it is taken again.
 */
#include "policy/give_way.h"

#include <stdbool.h>

#include "../test.h"

enum { MTU = 1500, JUMBO = 9000, MB = 1000000, TICK_MS = 1000, HOUR_S = 3600 };

struct play {
	struct tux_give_way y;
	struct tux_give_way_seen seen;
	tux_time now;
	unsigned gives, takes;
};

static struct play begin(void)
{
	struct play p = { .now = TUX_SEC(1000) };

	tux_give_way_init(&p.y);
	tux_give_way_look(&p.y, &p.seen, MTU, p.now);
	return p;
}

/* @ms pass in which others carry @others bytes in a second, and the connections
 * @requests of @len bytes with their answers.  Away, those go over TCP. */
static void pass(struct play *p, unsigned ms, uint64_t others,
		 uint64_t requests, unsigned len)
{
	uint64_t n = requests * ms / 1000;
	enum tux_give_way_do what;

	p->now += TUX_MSEC(ms);
	p->seen.link += others * ms / 1000 + n * len;
	if (!p->y.away) {
		p->seen.own += n * len;
		p->seen.rx += n;
		p->seen.tx += n;
	}
	what = tux_give_way_look(&p->y, &p->seen, MTU, p->now);
	p->gives += what == TUX_GIVE_WAY_GIVE;
	p->takes += what == TUX_GIVE_WAY_TAKE;
}

/* For @s seconds; how long it took until the interface was given up or taken,
 * or @s. */
static unsigned pass_until(struct play *p, unsigned s, uint64_t others,
			   uint64_t requests, unsigned len)
{
	unsigned i, before = p->gives + p->takes;

	for (i = 0; i < s && p->gives + p->takes == before; i++)
		pass(p, TICK_MS, others, requests, len);
	return i;
}

/* ---- giving up ---- */

static void look__bulk_beside_an_idle_connection(void **state)
{
	struct play p = begin();

	(void)state;
	assert_int_equal(pass_until(&p, 10, 700 * MB, 0, 0), 1);
	assert_int_equal(p.gives, 1);
	assert_int_equal(p.y.others, 700 * MB);
	assert_int_equal(p.y.gain, 0);
}

static void look__bulk_at_a_gigabit_within_two_seconds(void **state)
{
	struct play p = begin();

	(void)state;
	assert_in_range(pass_until(&p, 10, 125 * MB, 0, 0), 1, 2);
	assert_int_equal(p.gives, 1);
}

/* Others begin to carry @others bytes in a second, @after ms after a look; how
 * many ms after that the interface is given up. */
static unsigned given_up_after(uint64_t others, uint32_t mtu, unsigned after)
{
	struct play p = begin();
	tux_time at;
	unsigned ms;

	pass(&p, TICK_MS, 0, 0, 0);
	at = tux_give_way_next(&p.y);
	p.now += TUX_MSEC(after);
	for (ms = 0; ms < 10000; ms++) {
		p.now += TUX_MSEC(1);
		p.seen.link += others / 1000;
		if (p.now < at)
			continue;
		if (tux_give_way_look(&p.y, &p.seen, mtu, p.now) ==
		    TUX_GIVE_WAY_GIVE)
			return ms + 1;
		at = tux_give_way_next(&p.y);
	}
	return ms;
}

static void next__bulk_is_seen_soon(void **state)
{
	unsigned after;

	(void)state;
	for (after = 0; after < 100; after++) {
		assert_in_range(given_up_after(700 * MB, MTU, after), 25, 45);
		assert_in_range(given_up_after(500 * MB, MTU, after), 35, 60);
		assert_in_range(given_up_after(1800 * MB, JUMBO, after), 25, 45);
		assert_in_range(given_up_after(350 * MB, MTU, after), 50, 80);
	}
}

static void next__seldom_beside_nothing(void **state)
{
	struct play p = begin();

	(void)state;
	pass(&p, TICK_MS, 0, 0, 0);
	assert_int_equal(tux_give_way_next(&p.y) - p.now, TUX_MSEC(25));
	pass_until(&p, 10, 700 * MB, 0, 0);
	assert_int_equal(tux_give_way_next(&p.y) - p.now, TUX_SEC(1));
}

static void look__how_often_does_not_matter(void **state)
{
	struct play p = begin();
	unsigned i;

	(void)state;
	for (i = 0; i < 100 && !p.gives; i++)
		pass(&p, 20, 125 * MB, 0, 0);
	assert_in_range(i * 20, 150, 250);
}

static void look__nothing_at_all(void **state)
{
	struct play p = begin();

	(void)state;
	assert_int_equal(pass_until(&p, HOUR_S, 0, 0, 0), HOUR_S);
}

static void look__a_trickle_beside_an_idle_connection(void **state)
{
	struct play p = begin();

	(void)state;
	assert_int_equal(pass_until(&p, HOUR_S, 20 * MB, 0, 0), HOUR_S);
}

static void look__a_trickle_beside_a_busy_server(void **state)
{
	struct play p = begin();

	(void)state;
	assert_int_equal(pass_until(&p, HOUR_S, 50 * MB, 150000, 1200),
			 HOUR_S);
	assert_int_equal(p.y.gain, TUX_MSEC(1500));
}

static void look__own_bytes_are_not_others(void **state)
{
	struct play p = begin();

	(void)state;
	assert_int_equal(pass_until(&p, HOUR_S, 0, 20000, 30000), HOUR_S);
	assert_int_equal(p.y.others, 0);
}

static void look__bulk_beside_a_slow_server(void **state)
{
	struct play p = begin();

	(void)state;
	assert_int_equal(pass_until(&p, 10, 700 * MB, 1000, 1200), 1);
	assert_int_equal(p.gives, 1);
}

static void look__a_ramp(void **state)
{
	struct play p = begin();
	unsigned s;

	(void)state;
	for (s = 0; s < 100 && !p.gives; s++)
		pass(&p, TICK_MS, s * 5 * (uint64_t)MB, 0, 0);
	assert_in_range(s * 5, 25, 80);		/* MB in a second */
}

/* How often the interface is given up in an hour in which others carry @mb each
 * ten seconds, and the connections @requests in a second. */
static unsigned spikes(unsigned mb, uint64_t requests)
{
	struct play p = begin();
	unsigned i;

	for (i = 0; i < 360; i++) {
		pass(&p, 25, 40 * (uint64_t)mb * MB, requests, 1200);
		pass(&p, 9975, 0, requests, 1200);
	}
	return p.gives;
}

static void look__a_spike(void **state)
{
	(void)state;
	assert_int_equal(spikes(15, 0), 0);
	assert_int_equal(spikes(70, 15000), 0);
}

/* Where nothing is gained, nothing is lost by giving up; and it gets rare. */
static void look__a_spike_beside_an_idle_connection(void **state)
{
	(void)state;
	assert_in_range(spikes(30, 0), 5, 25);
}

/* The more the connections gain, the longer the others wait, up to a limit. */
static void look__what_is_gained_is_kept_longer(void **state)
{
	struct play p = begin();
	unsigned i, requests[] = { 0, 5000, 50000 }, ms[3];

	(void)state;
	for (i = 0; i < 3; i++) {
		p = begin();
		pass(&p, TICK_MS, 0, requests[i], 1200);
		for (ms[i] = 0; ms[i] < 1000 && !p.gives; ms[i] += 5)
			pass(&p, 5, 700 * MB, requests[i], 1200);
	}
	assert_in_range(ms[0], 25, 35);
	assert_in_range(ms[1], 55, 75);
	assert_in_range(ms[2], 120, 180);
}

/* Connections that gain much leave a debt behind them when they end: what others
 * have lost before is no reason to give up an interface that hardly anything uses
 * any more.  If the bulk goes on, it is. */
static struct play debt_outlives_connections(void)
{
	struct play p = begin();

	pass(&p, 400, 150 * MB, 10000, 1100);
	assert_int_equal(p.gives, 0);
	assert_true(p.y.debt > TUX_MSEC(50));
	return p;
}

static void look__debt_of_connections_that_end(void **state)
{
	struct play p = debt_outlives_connections();
	unsigned i;

	(void)state;
	for (i = 0; i < 100; i++)
		pass(&p, 10, 3 * MB, 0, 0);
	assert_int_equal(p.gives, 0);
}

static void look__debt_of_connections_that_end_before_the_bulk(void **state)
{
	struct play p = debt_outlives_connections();

	(void)state;
	pass(&p, 10, 150 * MB, 0, 0);
	assert_int_equal(p.gives, 1);
}

static void look__spikes_without_end(void **state)
{
	struct play p = begin();
	unsigned i;

	(void)state;
	for (i = 0; i < 10 && !p.gives; i++) {
		pass(&p, 20, 700 * MB, 0, 0);
		pass(&p, 180, 0, 0, 0);
	}
	assert_in_range(i, 2, 4);
}

static void look__a_surplus_is_not_saved_up(void **state)
{
	struct play p = begin();

	(void)state;
	pass_until(&p, HOUR_S, 0, 150000, 1200);
	assert_int_equal(pass_until(&p, 10, 700 * MB, 0, 0), 1);
}

/* ---- taking again ---- */

static void look__taken_again_after_the_bulk(void **state)
{
	struct play p = begin();

	(void)state;
	pass_until(&p, 10, 700 * MB, 0, 0);
	assert_int_equal(pass_until(&p, 8, 2000 * (uint64_t)MB, 0, 0), 8);
	assert_in_range(pass_until(&p, 10, 0, 0, 0), 5, 7);
	assert_int_equal(p.takes, 1);
}

static void look__not_before_the_hold_is_over(void **state)
{
	struct play p = begin();
	unsigned i;

	(void)state;
	for (i = 0; i < 4; i++) {
		pass_until(&p, 10, 700 * MB, 0, 0);
		assert_int_equal(p.y.hold, TUX_SEC(5) << i);
		assert_in_range(pass_until(&p, 100, 0, 0, 0), 5 << i,
				(5 << i) + 2);
	}
}

static void look__own_requests_over_tcp_are_not_others(void **state)
{
	struct play p = begin();

	(void)state;
	pass_until(&p, 10, 900 * MB, 50000, 1200);
	assert_int_equal(p.gives, 1);
	assert_in_range(pass_until(&p, 10, 0, 50000, 1200), 5, 7);
	assert_int_equal(p.takes, 1);
}

/* What the connections carry over TCP has become more meanwhile. */
static void look__taken_for_a_trial(void **state)
{
	struct play p = begin();

	(void)state;
	pass_until(&p, 10, 700 * MB, 0, 0);
	assert_int_equal(pass_until(&p, 100, 0, 50000, 1200), 20);
	assert_int_equal(p.takes, 1);
	assert_int_equal(pass_until(&p, 100, 0, 100000, 1200), 100);
}

/* Of a day beside bulk without end, hardly any is spent on trials. */
static void look__trials_get_rare(void **state)
{
	struct play p = begin();
	unsigned s, taken = 0;

	(void)state;
	for (s = 0; s < 24 * HOUR_S; s++) {
		taken += !p.y.away;
		pass(&p, TICK_MS, 700 * MB, 0, 0);
	}
	assert_in_range(p.gives, 10, 300);
	assert_in_range(taken, 10, 24 * HOUR_S / 250);
}

/* Bulk that comes whenever the interface is taken, and goes when it is not. */
static void look__an_oscillation_gets_slow(void **state)
{
	struct play p = begin();
	unsigned s;

	(void)state;
	for (s = 0; s < HOUR_S; s++)
		pass(&p, TICK_MS, p.y.away ? 0 : 700 * MB, 0, 0);
	assert_in_range(p.gives, 7, 25);
}

static void begin__what_was_before_does_not_count(void **state)
{
	struct play p = begin();

	(void)state;
	p.seen.link += 10000 * (uint64_t)MB;
	tux_give_way_begin(&p.y);
	pass(&p, TICK_MS, 0, 0, 0);
	pass(&p, TICK_MS, 0, 0, 0);
	assert_int_equal(p.gives, 0);
	assert_int_equal(p.y.debt, 0);
}

#define T(name) cmocka_unit_test(name)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(look__bulk_beside_an_idle_connection),
		T(look__bulk_at_a_gigabit_within_two_seconds),
		T(next__bulk_is_seen_soon),
		T(next__seldom_beside_nothing),
		T(look__how_often_does_not_matter),
		T(look__nothing_at_all),
		T(look__a_trickle_beside_an_idle_connection),
		T(look__a_trickle_beside_a_busy_server),
		T(look__own_bytes_are_not_others),
		T(look__bulk_beside_a_slow_server),
		T(look__a_ramp),
		T(look__a_spike),
		T(look__a_spike_beside_an_idle_connection),
		T(look__what_is_gained_is_kept_longer),
		T(look__debt_of_connections_that_end),
		T(look__debt_of_connections_that_end_before_the_bulk),
		T(look__spikes_without_end),
		T(look__a_surplus_is_not_saved_up),
		T(look__taken_again_after_the_bulk),
		T(look__not_before_the_hold_is_over),
		T(look__own_requests_over_tcp_are_not_others),
		T(look__taken_for_a_trial),
		T(look__trials_get_rare),
		T(look__an_oscillation_gets_slow),
		T(begin__what_was_before_does_not_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
