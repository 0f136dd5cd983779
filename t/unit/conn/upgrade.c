/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When a place is announced, how far ahead, and what waits for a latch.
 */
#include <errno.h>

#include "duo.h"

#include "conn/conn_timer.h"
#include "conn/upgrade.h"

/* A generation of @e is open; nobody has answered. */
static void open_gen(struct duo_end *e, uint64_t ahead)
{
	e->c->tx.ahead = ahead;
	e->c->tx.announce_at = *e->now;
	duo_derive(e, TUX_DIRTY_ANNOUNCE);
	assert_int_not_equal(e->c->tx.gen, 0);
	assert_int_equal(e->c->tx.gen_at, e->dx->tx.off + ahead);
	assert_true(e->c->todo & TUX_DO_PREPARE);
	assert_true(e->c->tx.announce_at == TUX_NEVER);
}

static void prepared(struct duo_end *e)
{
	tux_upgrade_prepared(e->c, e->c->tx.gen);
	duo_derive(e, 0);
}

static void expire(struct duo_end *e, tux_time at)
{
	*e->now = at;
	tux_upgrade_expire(e->c, at);
	duo_derive(e, 0);
}

/* The same for all deadlines of the connection. */
static void expire_all(struct duo_end *e, tux_time at)
{
	*e->now = at;
	tux_conn_expire(e->c, at);
	duo_derive(e, 0);
}

/* It writes on behind N; @len bytes since the announcement. */
static void write_on(struct duo_end *e, size_t len)
{
	static const char bytes[DUO_TCP];

	e->peer->in.len = 0;
	assert_int_equal(duo_write(e, bytes, len), len);
	assert_int_equal(e->c->tx.gen, 0);
	assert_false(e->c->todo & TUX_DO_PREPARE);
}

/* ---- generations that come to nothing ---- */

static void void__looks_twice_as_far_ahead(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	open_gen(&d->a, 0);
	write_on(&d->a, 100);
	assert_int_equal(c->tx.ahead, 256);
	open_gen(&d->a, 0);
	write_on(&d->a, 1000);
	assert_int_equal(c->tx.ahead, 2000);
	open_gen(&d->a, 100);
	write_on(&d->a, 1000);
	assert_int_equal(c->tx.ahead, 2000);
	/* ... but not for ever. */
	open_gen(&d->a, 0);
	d->a.dx->tx.from -= 1 << 20;
	write_on(&d->a, 1);
	assert_int_equal(c->tx.ahead, 1 << 20);
}

/* Each that comes to nothing doubles the time to the next, up to a point. */
static void void__less_and_less_often(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	unsigned i;

	c->rtt.srtt = 0;
	for (i = 0; i < 13; i++) {
		open_gen(&d->a, 0);
		write_on(&d->a, 1);
		assert_int_equal(c->tx.voids, i + 1);
		assert_int_equal(c->tx.announce_at - d->now,
				 TUX_USEC(50) << (i < 10 ? i : 10));
	}
	c->tx.voids = 0;
	c->rtt.srtt = TUX_MSEC(3);
	open_gen(&d->a, 0);
	write_on(&d->a, 1);
	assert_int_equal(c->tx.announce_at - d->now, TUX_USEC(1500));
}

/* The peer may be armed where we have written on, so it is told "nowhere". */
static void void__disarming_stays_open(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	uint32_t gen;

	open_gen(&d->a, 0);
	write_on(&d->a, 1);
	d->a.dx->tx.doubt = 1;
	c->tx.announce_at = d->now;
	duo_derive(&d->a, TUX_DIRTY_ANNOUNCE);
	gen = c->tx.gen;
	assert_int_not_equal(gen, 0);
	assert_true(c->tx.gen_at == TUX_NOWHERE);
	duo_derive(&d->a, TUX_DIRTY_ANNOUNCE);
	assert_int_equal(c->tx.gen, gen);
	prepared(&d->a);
	/* It is not, and a place is announced at once. */
	assert_int_equal(c->tx.gen, gen + 1);
	assert_int_equal(c->tx.gen_at, d->a.dx->tx.off + 256);
}

/* Once that is acknowledged, no generation is open, if none may follow. */
static void void__disarmed_for_good(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	open_gen(&d->a, 0);
	write_on(&d->a, 1);
	d->a.dx->tx.doubt = d->a.dx->tx.pinned = 1;
	c->tx.announce_at = d->now;
	duo_derive(&d->a, TUX_DIRTY_ANNOUNCE);
	assert_int_equal(c->tx.gen, 2);
	prepared(&d->a);
	assert_int_equal(c->tx.gen, 0);
	assert_int_equal(d->a.dx->tx.doubt, 0);
}

/* ---- acknowledged, short of N ---- */

static void writer__given_a_place_where_it_rests(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	tux_time at;

	c->rtt.srtt = 0;
	open_gen(&d->a, 1000);
	prepared(&d->a);
	at = c->tx.writer_at;
	assert_int_equal(at - d->now, TUX_MSEC(2));
	assert_int_equal(tux_upgrade_deadline(c), at);
	assert_int_equal(duo_write(&d->a, "more", 4), 4);
	expire(&d->a, at);		/* it does not rest */
	assert_int_equal(d->a.dx->tx.state, TUX_TX_ACKED);
	assert_int_equal(c->tx.writer_at - d->now, TUX_MSEC(2));
	expire(&d->a, c->tx.writer_at);
	assert_true(c->tx.writer_at == TUX_NEVER);
	/* The peer is armed at the old place, and hears of that first. */
	assert_int_equal(c->tx.gen, 2);
	assert_true(c->tx.gen_at == TUX_NOWHERE);
	prepared(&d->a);
	assert_int_equal(c->tx.gen, 3);
	assert_int_equal(c->tx.gen_at, 4);
	assert_int_equal(d->a.dx->tx.state, TUX_TX_ANNOUNCED);
}

static void writer__for_four_round_trips(void **state)
{
	struct duo *d = *state;

	d->a.c->rtt.srtt = TUX_MSEC(1);
	open_gen(&d->a, 1000);
	prepared(&d->a);
	assert_int_equal(d->a.c->tx.writer_at - d->now, TUX_MSEC(4));
}

static void writer__looks_again_if_a_writer_is_there(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	open_gen(&d->a, 1000);
	prepared(&d->a);
	assert_true(tux_latch_try(&d->a.dx->tx.latch));
	expire(&d->a, c->tx.writer_at);
	assert_int_equal(d->a.dx->tx.state, TUX_TX_ACKED);
	assert_true(c->tx.writer_at > d->now && c->tx.writer_at != TUX_NEVER);
	tux_latch_drop(&d->a.dx->tx.latch);
	expire(&d->a, c->tx.writer_at);
	assert_int_equal(c->tx.gen, 2);
}

/* ---- what waits for a latch ---- */

static void announce__when_the_writer_has_left(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	assert_true(tux_latch_try(&d->a.dx->tx.latch));
	c->tx.announce_at = d->now;
	duo_derive(&d->a, TUX_DIRTY_ANNOUNCE);
	assert_int_equal(c->tx.gen, 0);
	assert_true(c->tx.announce_at > d->now &&
		    c->tx.announce_at == tux_upgrade_deadline(c));
	tux_latch_drop(&d->a.dx->tx.latch);
	expire(&d->a, c->tx.announce_at);
	assert_int_equal(c->tx.gen, 1);
}

static void prepared__when_the_writer_has_left(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	open_gen(&d->a, 10);
	assert_true(tux_latch_try(&d->a.dx->tx.latch));
	tux_upgrade_prepared(c, c->tx.gen + 1);	/* of no generation */
	duo_derive(&d->a, 0);
	assert_true(c->retry_at == TUX_NEVER);
	prepared(&d->a);
	assert_int_equal(d->a.dx->tx.state, TUX_TX_ANNOUNCED);
	tux_latch_drop(&d->a.dx->tx.latch);
	assert_true(tux_upgrade_deadline(c) > d->now);
	expire(&d->a, tux_upgrade_deadline(c));
	assert_int_equal(d->a.dx->tx.state, TUX_TX_ACKED);
	assert_int_equal(c->tx.ack_gen, 0);
	assert_true(c->retry_at == TUX_NEVER);
}

/* What waits belongs to a generation that has gone meanwhile. */
static void prepared__too_late(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	open_gen(&d->a, 0);
	assert_true(tux_latch_try(&d->a.dx->tx.latch));
	prepared(&d->a);
	tux_latch_drop(&d->a.dx->tx.latch);
	write_on(&d->a, 1);
	assert_int_equal(c->tx.ack_gen, 0);
	open_gen(&d->a, 10);
	expire(&d->a, c->retry_at);
	assert_int_equal(d->a.dx->tx.state, TUX_TX_ANNOUNCED);
}

static void prepare__when_the_reader_has_left(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->b.c;

	assert_true(tux_latch_try(&d->b.dx->rx.latch));
	tux_upgrade_prepare(c, 7, 100, 0);
	duo_derive(&d->b, 0);
	tux_upgrade_prepare(c, 6, 50, 0);	/* it was overtaken */
	duo_derive(&d->b, 0);
	assert_false(c->todo & TUX_DO_PREPARED);
	tux_latch_drop(&d->b.dx->rx.latch);
	expire(&d->b, c->retry_at);
	assert_int_equal(d->b.dx->rx.state, TUX_RX_ARMED);
	assert_int_equal(d->b.dx->rx.at, 100);
	assert_true(c->todo & TUX_DO_PREPARED);
	assert_int_equal(c->rx.answer, 7);
	assert_int_equal(c->rx.arm_gen, 0);
}

/* Bytes over Tux prove the marker, as soon as nobody reads. */
static void rx__proved_when_the_reader_has_left(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->b.c;

	tux_upgrade_prepare(c, 1, 0, 0);
	duo_derive(&d->b, 0);
	assert_true(tux_latch_try(&d->b.dx->rx.latch));
	c->rx.prove = true;
	duo_derive(&d->b, TUX_DIRTY_PROVE);
	assert_int_equal(d->b.dx->rx.state, TUX_RX_ARMED);
	assert_true(c->retry_at != TUX_NEVER);
	tux_latch_drop(&d->b.dx->rx.latch);
	expire(&d->b, c->retry_at);
	assert_int_equal(c->rx.path, TUX_PATH_TUX);
	assert_false(c->rx.prove);
	assert_true(c->todo & TUX_DO_ACK);
}

/* ---- switched ---- */

static void commit__says_so(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	unsigned ready_n = d->a.ready_n;

	open_gen(&d->a, 3);
	prepared(&d->a);
	assert_int_equal(duo_write(&d->a, "abcde", 5), 5);
	assert_int_equal(c->tx.path, TUX_PATH_TUX);
	assert_int_equal(c->stats.tcp_tx, 3);
	assert_false(c->out.marker);
	assert_true(d->a.ready_n > ready_n);
	assert_true(c->tx.writer_at == TUX_NEVER);
	/* There is nothing to announce any more. */
	c->tx.announce_at = d->now;
	assert_true(tux_upgrade_deadline(c) == TUX_NEVER);
}

/* TCP took half of the marker: the loop writes the rest. */
static void commit__with_half_a_marker(void **state)
{
	struct duo *d = *state;

	open_gen(&d->a, 0);
	prepared(&d->a);
	d->b.in.cap = 5;
	duo_write(&d->a, "abc", 3);
	assert_int_equal(d->a.c->tx.path, TUX_PATH_TUX);
	assert_true(d->a.c->out.marker);
	d->b.in.cap = 100;
	assert_int_equal(duo_tcp_out(&d->a, 100), TUX_MARKER_LEN - 5);
	assert_false(d->a.c->out.marker);
	assert_memory_equal(d->b.in.p, d->a.dx->tx.marker, TUX_MARKER_LEN);
}

/* The writer went past N while the answer was under way. */
static void prepared__of_a_void_one(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	uint32_t gen;

	open_gen(&d->a, 0);
	gen = c->tx.gen;
	assert_int_equal(duo_write(&d->a, "x", 1), 1);
	c->tx.gen = gen;		/* the loop has not seen it */
	d->a.tcp_n = 0;
	tux_upgrade_prepared(c, gen);
	duo_derive(&d->a, 0);
	assert_int_equal(d->a.dx->tx.state, TUX_TX_PLAIN);
	assert_true(c->tx.writer_at == TUX_NEVER);
	assert_int_equal(d->a.tcp_n, 0);
	assert_int_equal(c->tx.gen, 0);
}

/* It has reached N meanwhile, and the loop is about to see that. */
static void writer__not_of_one_that_has_moved(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	open_gen(&d->a, 5);
	prepared(&d->a);
	assert_true(c->tx.writer_at != TUX_NEVER);
	atomic_store(&d->a.dx->tx.state, TUX_TX_ANNOUNCED);
	expire(&d->a, c->tx.writer_at);
	assert_true(c->tx.writer_at == TUX_NEVER);
	assert_int_equal(d->a.dx->tx.state, TUX_TX_ANNOUNCED);
}

/* A newer generation has made void the one that Tux's bytes were to prove. */
static void rx__nothing_to_prove_any_more(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->b.c;

	tux_upgrade_prepare(c, 1, 10, 0);
	duo_derive(&d->b, 0);
	c->rx.prove = true;
	tux_upgrade_prepare(c, 2, TUX_NOWHERE, 0);
	duo_derive(&d->b, 0);
	assert_int_equal(d->b.dx->rx.state, TUX_RX_PLAIN);
	duo_derive(&d->b, TUX_DIRTY_PROVE);
	assert_true(c->rx.prove);
	assert_int_equal(c->rx.path, TUX_PATH_PLAIN);
}

/* ---- PREPARE of another turn ---- */

/* Of turns that are over or far ahead: nothing is armed, nothing is answered,
 * and no timer runs. */
static void prepare__of_absurd_turns(void **state)
{
	static const uint32_t turns[] = {
		2, 3, 1000, INT32_MAX, (uint32_t)INT32_MAX + 1, UINT32_MAX,
	};
	struct duo *d = *state;
	struct tux_conn *c = d->b.c;
	unsigned i;

	for (i = 0; i < sizeof(turns) / sizeof(turns[0]); i++) {
		tux_upgrade_prepare(c, 5 + i, 0, turns[i]);
		duo_derive(&d->b, 0);
		assert_int_equal(c->rx.arm_gen, 0);
		assert_int_equal(d->b.dx->rx.state, TUX_RX_PLAIN);
		assert_false(c->todo & TUX_DO_PREPARED);
		assert_true(c->retry_at == TUX_NEVER);
	}
	/* So the honest one still counts. */
	tux_upgrade_prepare(c, 1, 0, 0);
	duo_derive(&d->b, 0);
	assert_int_equal(d->b.dx->rx.state, TUX_RX_ARMED);
}

/* Of the next turn: it waits for the PLAIN frame. */
static void prepare__of_the_next_turn(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->b.c;

	tux_upgrade_prepare(c, 5, 0, 1);
	duo_derive(&d->b, 0);
	assert_int_equal(c->rx.arm_gen, 5);
	assert_int_equal(d->b.dx->rx.state, TUX_RX_PLAIN);
	assert_false(c->todo & TUX_DO_PREPARED);
	tux_duplex_rx_plain(d->b.dx, 0);
	duo_derive(&d->b, TUX_DIRTY_ARM);
	assert_int_equal(d->b.dx->rx.state, TUX_RX_ARMED);
	assert_int_equal(c->rx.answer, 5);
	tux_upgrade_prepare(c, 9, 0, 0);	/* of a turn that is over */
	assert_int_equal(c->rx.arm_gen, 0);
}

static void deadline__of_announcements(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	c->tx.announce_at = 1000;
	assert_true(tux_upgrade_deadline(c) == 1000);
	c->tx.path = TUX_PATH_TUX;
	assert_true(tux_upgrade_deadline(c) == TUX_NEVER);
	c->tx.path = TUX_PATH_PLAIN;
	c->life = TUX_LIFE_OPENING;
	assert_true(tux_upgrade_deadline(c) == TUX_NEVER);
	c->life = TUX_LIFE_PROVED;
	c->tx.announce_at = TUX_NEVER;
}

/* TCP is the better path by now.  A peer that may be armed must be disarmed all
 * the same: otherwise plain TCP for good would never be ready. */
static void announce__nowhere_for_plain_tcp(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	open_gen(&d->a, 100);
	c->tx.choice.mode = TUX_PATH_MODE_TCP;
	duo_ring(&d->a, TUX_DOORBELL_RAW);
	assert_int_equal(d->a.dx->tx.state, TUX_TX_PLAIN);
	assert_false(tux_duplex_tx_is_raw(d->a.dx));
	expire(&d->a, d->now + TUX_SEC(1));
	assert_true(c->tx.gen_at == TUX_NOWHERE);
	prepared(&d->a);
	assert_true(tux_duplex_tx_is_raw(d->a.dx));
}

/* The application writes a whole marker beyond N, and its last byte has to wait.
 * "Nowhere" was not due for a minute. */
static void barred(struct duo *d)
{
	struct tux_conn *c = d->a.c;
	uint8_t m[TUX_MARKER_LEN];

	open_gen(&d->a, 0);
	memcpy(m, d->a.dx->tx.marker, sizeof(m));
	assert_int_equal(duo_write(&d->a, m, sizeof(m)), TUX_MARKER_LEN - 1);
	assert_int_equal(c->tx.gen, 0);
	c->tx.announce_at = d->now + TUX_SEC(60);
	assert_int_equal(duo_write(&d->a, m + 15, 1), -EAGAIN);
	assert_true(c->tx.gen_at == TUX_NOWHERE);
	assert_true(c->tx.barred_at == d->now + TUX_SEC(5));
}

static void barred__until_disarmed(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	uint8_t last;

	barred(d);
	d->a.ready_n = 0;
	prepared(&d->a);
	duo_effects(&d->a);
	assert_int_equal(d->a.ready_n, 1);
	assert_true(c->tx.barred_at == TUX_NEVER);
	last = d->a.dx->tx.marker[15];
	assert_int_equal(duo_write(&d->a, &last, 1), 1);
}

/* Another byte than the one that had to wait: nothing waits any more. */
static void barred__no_more(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	uint8_t other;

	barred(d);
	other = d->a.dx->tx.marker[15] ^ 1;
	assert_int_equal(duo_write(&d->a, &other, 1), 1);
	assert_true(c->tx.barred_at == TUX_NEVER);
	assert_int_equal(c->life, TUX_LIFE_PROVED);
}

/* No answer comes. */
static void barred__given_up(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	char x = 'x';

	barred(d);
	expire_all(&d->a, d->now + TUX_SEC(5) - 1);
	assert_int_equal(c->life, TUX_LIFE_PROVED);
	expire_all(&d->a, d->now + 1);
	assert_int_equal(c->life, TUX_LIFE_DEAD);
	assert_int_equal(c->dead_why, TUX_REASON_PROTOCOL);
	assert_int_equal(duo_write(&d->a, &x, 1), -ECONNRESET);
	assert_int_equal(duo_write(&d->a, &x, 1), -EPIPE);
}

/* The application has shut down: no write waits, and nothing is given up. */
static void barred__shut(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	barred(d);
	assert_false(tux_duplex_shut(d->a.dx));
	expire_all(&d->a, d->now + TUX_SEC(6));
	assert_int_equal(c->life, TUX_LIFE_PROVED);
	assert_true(c->tx.barred_at == TUX_NEVER);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, duo_setup_proved, \
						duo_teardown)
	const struct CMUnitTest tests[] = {
		T(void__looks_twice_as_far_ahead),
		T(void__less_and_less_often),
		T(void__disarming_stays_open),
		T(void__disarmed_for_good),
		T(writer__given_a_place_where_it_rests),
		T(writer__for_four_round_trips),
		T(writer__looks_again_if_a_writer_is_there),
		T(announce__when_the_writer_has_left),
		T(prepared__when_the_writer_has_left),
		T(prepared__too_late),
		T(prepare__when_the_reader_has_left),
		T(rx__proved_when_the_reader_has_left),
		T(prepared__of_a_void_one),
		T(writer__not_of_one_that_has_moved),
		T(rx__nothing_to_prove_any_more),
		T(deadline__of_announcements),
		T(commit__says_so),
		T(commit__with_half_a_marker),
		T(announce__nowhere_for_plain_tcp),
		T(barred__until_disarmed),
		T(barred__no_more),
		T(barred__given_up),
		T(barred__shut),
		T(prepare__of_absurd_turns),
		T(prepare__of_the_next_turn),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
