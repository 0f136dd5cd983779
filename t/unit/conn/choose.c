/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which path a direction takes, by its bursts and by what is measured.
 */
#include "duo.h"

#include "conn/choose.h"
#include "conn/core.h"
#include "conn/upgrade.h"

static void expire(struct duo_end *e, tux_time at)
{
	*e->now = at;
	tux_upgrade_expire(e->c, at);
	duo_derive(e, 0);
}

/* ---- to Tux ---- */

static void choose(struct duo_end *e)
{
	tux_choice_init(&e->c->tx.choice, TUX_PATH_MODE_AUTO, 0);
	tux_choose_mtu(e->c);
}

/* @n bursts of @len bytes, each ended by one of the other direction. */
static void bursts(struct duo_end *e, unsigned n, uint64_t len)
{
	struct tux_burst *t = &e->dx->tx.bursts, *o = &e->dx->rx.bursts;

	while (n--) {
		tux_burst_moved(t, o, len);
		tux_burst_moved(o, t, 1);
	}
}

static void announce_now(struct duo_end *e)
{
	e->c->tx.announce_at = *e->now;
	duo_derive(e, TUX_DIRTY_ANNOUNCE);
}

static void choose__nothing_before_enough_short_bursts(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	choose(&d->a);
	announce_now(&d->a);
	assert_int_equal(c->tx.gen, 0);
	assert_true(c->tx.announce_at == TUX_NEVER);
	assert_int_equal(d->a.dx->tx.look_at, TUX_CHOICE_TURNS_PASSIVE);
	/* A burst ends with the next byte of the same direction. */
	bursts(&d->a, TUX_CHOICE_TURNS_PASSIVE, 10);
	assert_int_equal(tux_burst_turns(&d->a.dx->tx.bursts),
			 TUX_CHOICE_TURNS_PASSIVE - 1);
	announce_now(&d->a);
	assert_int_equal(c->tx.gen, 0);
	bursts(&d->a, 1, 10);
	announce_now(&d->a);
	assert_int_not_equal(c->tx.gen, 0);
}

static void choose__not_for_long_bursts(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	choose(&d->a);
	announce_now(&d->a);
	assert_int_equal(c->reason, TUX_REASON_NONE);
	bursts(&d->a, 100, c->tx.choice.limit + 1);
	announce_now(&d->a);
	assert_int_equal(c->tx.gen, 0);
	assert_int_equal(d->a.dx->tx.look_at, 99 + TUX_CHOICE_TURNS_PASSIVE);
	assert_int_equal(c->reason, TUX_REASON_BULK);
	/* Short ones move it after all. */
	bursts(&d->a, 200, 1);
	announce_now(&d->a);
	assert_int_not_equal(c->tx.gen, 0);
	assert_int_equal(c->reason, TUX_REASON_NONE);
}

/* The doorbell that the writer rings by itself makes it announce. */
static void choose__look_announces(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	unsigned i;

	choose(&d->a);
	announce_now(&d->a);
	for (i = 0; i <= TUX_CHOICE_TURNS_PASSIVE; i++) {
		assert_int_equal(c->tx.gen, 0);
		assert_int_equal(duo_write(&d->a, "request", 7), 7);
		tux_burst_moved(&d->a.dx->rx.bursts, &d->a.dx->tx.bursts, 1);
	}
	assert_int_not_equal(c->tx.gen, 0);
	assert_true(d->a.dx->tx.look_at == UINT32_MAX);
}

/* A LOOK that comes before the hold is over waits for it. */
static void choose__look_respects_the_hold(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	choose(&d->a);
	bursts(&d->a, 100, 10);
	c->tx.choice.until = d->now + TUX_MSEC(100);
	duo_ring(&d->a, TUX_DOORBELL_LOOK);
	assert_int_equal(c->tx.gen, 0);
	assert_true(c->tx.announce_at == c->tx.choice.until);
	assert_true(tux_upgrade_deadline(c) == c->tx.choice.until);
	expire(&d->a, c->tx.choice.until);
	assert_int_not_equal(c->tx.gen, 0);
}

/* TCP is measured in windows: one that is slower than Tux was brings the
 * direction back at once, long bursts or not. */
static void tried__tcp_is_slower(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	unsigned i;

	choose(&d->a);
	bursts(&d->a, 2, 1 << 20);
	c->tx.choice.tux_rate = 100000000;
	c->tx.choice.until = d->now + TUX_SEC(10);
	c->tx.windows = 8;
	tux_choose_turn(c, d->now);
	assert_true(c->tx.announce_at == d->now + TUX_MSEC(5));
	for (i = 0; i < 8; i++) {
		assert_int_equal(c->tx.gen, 0);
		/* 50 MB/s */
		tux_burst_moved(&d->a.dx->tx.bursts, &d->a.dx->rx.bursts,
				250000);
		expire(&d->a, c->tx.announce_at);
	}
	assert_int_equal(c->tx.windows, 0);
	assert_int_equal(c->tx.rate, 50000000);
	assert_int_not_equal(c->tx.gen, 0);
	assert_true(tux_conn_grounds(c).tux_rate == 100000000);
	assert_true(tux_conn_grounds(c).tcp_rate == 50000000);
}

/* The best window counts. */
static void tried__tcp_is_faster(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	unsigned i;

	choose(&d->a);
	bursts(&d->a, 2, 1 << 20);
	c->tx.choice.tux_rate = 100000000;
	c->tx.choice.until = d->now + TUX_SEC(10);
	c->tx.windows = 8;
	tux_choose_turn(c, d->now);
	for (i = 0; i < 8; i++) {
		tux_burst_moved(&d->a.dx->tx.bursts, &d->a.dx->rx.bursts,
				i == 3 ? 1000000 : 1);
		expire(&d->a, c->tx.announce_at);
	}
	assert_int_equal(c->tx.rate, 200000000);
	assert_int_equal(c->tx.gen, 0);
	assert_true(c->tx.announce_at == c->tx.choice.until);
}

static void grounds__are_what_decides(void **state)
{
	struct duo *d = *state;
	struct tux_grounds g;

	choose(&d->a);
	bursts(&d->a, 10, 160);
	g = tux_conn_grounds(d->a.c);
	assert_int_equal(g.turns, 9);
	assert_int_equal(g.sent, 160);
	assert_int_equal(g.received, 1);
	assert_int_equal(g.limit, d->a.c->tx.choice.limit);
	assert_true(!g.tux_rate && !g.tcp_rate);
}

/* ---- back to TCP ---- */

/* One long burst goes on, with so many bytes of it in the ring. */
static void long_burst(struct duo_end *e, size_t wait)
{
	static const char bytes[DUO_RING];

	tux_burst_moved(&e->dx->tx.bursts, &e->dx->rx.bursts, 1 << 20);
	if (wait)
		assert_int_equal(duo_write(e, bytes, wait), wait);
	assert_true(tux_choose_doubtful(e->c));
}

static void leave__a_long_burst_with_a_backlog(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	choose(&d->a);
	long_burst(&d->a, DUO_RING / 2);
	duo_derive(&d->a, TUX_DIRTY_ACKED);
	assert_true(c->tx.rate_at == d->now);
	assert_false(c->tx.leaving);
	d->now += TUX_MSEC(4);
	c->tx.buf.got += 4;	/* as if so many had left before */
	duo_derive(&d->a, TUX_DIRTY_ACKED);
	assert_false(c->tx.leaving);	/* the window is too short */
	d->now += TUX_MSEC(1);
	duo_derive(&d->a, TUX_DIRTY_ACKED);
	assert_true(c->tx.leaving);
	assert_int_equal(c->tx.windows, 8);
	assert_int_equal(c->tx.choice.tux_rate, 800);
	assert_true(c->tx.announce_at == c->tx.choice.until);
	assert_true(c->tx.choice.until == d->now + TUX_MSEC(100));
	c->tx.buf.got -= 4;
}

static void leave__not_without_a_backlog(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	choose(&d->a);
	long_burst(&d->a, DUO_RING / 2 - 1);
	duo_derive(&d->a, TUX_DIRTY_ACKED);
	d->now += TUX_MSEC(100);
	duo_derive(&d->a, TUX_DIRTY_ACKED);
	assert_true(c->tx.rate_at == TUX_NEVER);
	assert_false(c->tx.leaving);
}

/* The backlog was not there all the time: the window begins anew. */
static void leave__a_backlog_that_ends_does_not_count(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	choose(&d->a);
	long_burst(&d->a, DUO_RING / 2);
	duo_derive(&d->a, TUX_DIRTY_ACKED);
	duo_settle_all(d);
	assert_true(c->tx.rate_at == TUX_NEVER);
	d->now += TUX_MSEC(5);
	duo_derive(&d->a, TUX_DIRTY_ACKED);
	assert_false(c->tx.leaving);
}

/* Bursts that have ended were long: no rate is asked for. */
static void leave__mean_of_ended_bursts(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	choose(&d->a);
	bursts(&d->a, 3, c->tx.burst_max + 1);
	duo_derive(&d->a, TUX_DIRTY_ACKED);
	assert_int_equal(c->tx.windows, 0);
	assert_int_equal(c->tx.choice.tux_rate, 0);
	assert_true(c->out.plain);
	assert_int_equal(d->a.dx->tx.state, TUX_TX_PLAIN);
	assert_int_equal(d->a.dx->tx.hold, 1);
}

/* Over TCP for the hold, and then only after short bursts. */
static void leave__and_move_again(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	choose(&d->a);
	bursts(&d->a, 3, c->tx.burst_max + 1);
	duo_derive(&d->a, TUX_DIRTY_ACKED);
	duo_settle(d);
	assert_int_equal(c->tx.path, TUX_PATH_PLAIN);
	assert_int_equal(d->b.c->rx.path, TUX_PATH_PLAIN);
	assert_int_equal(c->reason, TUX_REASON_BULK);
	bursts(&d->a, 200, 1);
	duo_ring(&d->a, TUX_DOORBELL_LOOK);
	assert_int_equal(c->tx.gen, 0);
	expire(&d->a, c->tx.choice.until);
	duo_settle(d);
	assert_int_equal(c->tx.path, TUX_PATH_TUX);
	assert_int_equal(d->b.c->rx.path, TUX_PATH_TUX);
}

static void leave__never_in_mode_tux(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	bursts(&d->a, 100, 1 << 20);
	tux_burst_moved(&d->a.dx->tx.bursts, &d->a.dx->rx.bursts, 1 << 20);
	assert_false(tux_choose_doubtful(c));
	tux_choose_leave(c, d->now);
	assert_false(c->tx.leaving);
	assert_int_equal(c->tx.path, TUX_PATH_TUX);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, duo_setup_proved, \
						duo_teardown)
#define ON_TUX(name) \
	cmocka_unit_test_setup_teardown(name, duo_setup_switched, duo_teardown)
	const struct CMUnitTest tests[] = {
		T(choose__nothing_before_enough_short_bursts),
		T(choose__not_for_long_bursts),
		T(choose__look_announces),
		T(choose__look_respects_the_hold),
		T(tried__tcp_is_slower),
		T(tried__tcp_is_faster),
		T(grounds__are_what_decides),
		ON_TUX(leave__a_long_burst_with_a_backlog),
		ON_TUX(leave__not_without_a_backlog),
		ON_TUX(leave__a_backlog_that_ends_does_not_count),
		ON_TUX(leave__mean_of_ended_bursts),
		ON_TUX(leave__and_move_again),
		ON_TUX(leave__never_in_mode_tux),
	};
#undef ON_TUX
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
