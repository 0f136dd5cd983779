/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Death and doorbells of a connection.
 */
#include <errno.h>

#include "duo.h"

#include "conn/conn_life.h"
#include "conn/upgrade.h"

/* ---- death ---- */

static void die__the_application_learns_why(void **state)
{
	struct duo *d = *state;
	char buf[4];

	assert_int_equal(duo_write(&d->b, "abc", 3), 3);
	duo_carry(&d->b);
	duo_write(&d->a, "x", 1);
	duo_drop(&d->a);
	d->a.c->reset_at = 5;
	tux_conn_die(d->a.c, EIO, TUX_REASON_NONE);
	duo_derive(&d->a, 0);
	assert_int_equal(d->a.c->pair->in_flight, 0);
	assert_true(d->a.c->reset_at == TUX_NEVER);
	assert_int_equal(d->a.c->todo & TUX_DO_RESET, 0);
	/* What is complete comes first. */
	assert_int_equal(duo_read(&d->a, buf, 4), 3);
	assert_int_equal(duo_read(&d->a, buf, 4), -EIO);
	assert_int_equal(duo_read(&d->a, buf, 4), 0);
	assert_int_equal(duo_write(&d->a, "x", 1), -EPIPE);
	assert_int_equal(d->a.gone_n, 0);
	/* The first word counts. */
	tux_conn_die(d->a.c, EPERM, TUX_REASON_PROTOCOL);
	duo_derive(&d->a, 0);
	assert_int_equal(atomic_load(&d->a.dx->err), 0);
	assert_int_equal(d->a.c->reason, TUX_REASON_NONE);
}

/* The peer is told, and had said all itself: a clean end for who reads. */
static void die__behind_the_end(void **state)
{
	struct duo *d = *state;
	struct duo_pkt k;
	char buf[4];

	tux_duplex_shut(d->b.dx);
	duo_ring(&d->b, 0);
	duo_carry(&d->b);
	tux_conn_die(d->a.c, EIO, TUX_REASON_PROTOCOL);
	duo_derive(&d->a, 0);
	assert_int_equal(d->a.c->reason, TUX_REASON_PROTOCOL);
	assert_int_equal(duo_read(&d->a, buf, 4), 0);
	assert_true(duo_out(&d->a, &k) > 0);
	assert_int_equal(duo_rec(&k, TUX_REC_RESET)->reason,
			 TUX_REASON_PROTOCOL);
}

/* Nobody is known to tell. */
static void die__before_the_peer_is_known(void **state)
{
	struct duo *d = *state;

	d->a.c->life = TUX_LIFE_PROVED;
	tux_conn_die(d->a.c, EIO, TUX_REASON_PROTOCOL);
	duo_derive(&d->a, 0);
	assert_int_equal(d->a.c->todo & TUX_DO_RESET, 0);
}

/* With something to say it is gone when that is said. */
static void die__closed(void **state)
{
	struct duo *d = *state;

	duo_ring(&d->a, TUX_DOORBELL_CLOSE);
	tux_conn_die(d->a.c, EIO, TUX_REASON_NONE);
	duo_derive(&d->a, 0);
	assert_int_equal(d->a.gone_n, 1);
	assert_true(d->a.gone_reset);
	duo_ring(&d->b, TUX_DOORBELL_CLOSE);
	d->b.c->tx.path = TUX_PATH_FRAMES;
	tux_conn_die(d->b.c, EIO, TUX_REASON_PROTOCOL);
	duo_derive(&d->b, 0);
	assert_int_equal(d->b.gone_n, 0);
	duo_derive(&d->b, TUX_DIRTY_LIFE);
	assert_int_equal(d->b.gone_n, 0);
	assert_int_equal(duo_drop(&d->b), 1);
	assert_int_equal(d->b.gone_n, 1);
	/* Bytes of ours are still in TCP: no reset. */
	assert_false(d->b.gone_reset);
}

static void told_reset__now_or_behind_tcp(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	tux_conn_told_reset(c, d->now);
	assert_int_equal(c->life, TUX_LIFE_PROVED);
	assert_true(c->reset_at == d->now + TUX_SEC(1));
	tux_conn_told_reset(c, d->now + 5);
	assert_true(c->reset_at == d->now + TUX_SEC(1));
	c->rx.tcp_ended = true;
	tux_conn_told_reset(c, d->now);
	assert_int_equal(c->life, TUX_LIFE_DEAD);
	d->b.c->closed = true;
	tux_conn_told_reset(d->b.c, d->now);
	assert_int_equal(d->b.c->life, TUX_LIFE_DEAD);
}

static void told_reset__while_plain(void **state)
{
	struct duo *d = *state;

	tux_conn_told_reset(d->a.c, d->now);
	duo_derive(&d->a, 0);
	assert_int_equal(d->a.c->life, TUX_LIFE_DEAD);
	assert_int_equal(atomic_load(&d->a.dx->err), ECONNRESET);
}

/* ---- doorbells ---- */

static void close__of_a_plain_one(void **state)
{
	struct duo *d = *state;

	duo_ring(&d->a, TUX_DOORBELL_CLOSE);
	assert_int_equal(d->a.gone_n, 1);
	assert_false(d->a.gone_reset);
	assert_int_equal(d->a.c->reason, TUX_REASON_CLOSED);
	assert_int_equal(d->b.c->reason, TUX_REASON_NONE);
	duo_ring(&d->b, TUX_DOORBELL_CLOSE);
	/* No HELLO has named the peer's port. */
	assert_int_equal(d->b.c->reason, TUX_REASON_PEER_SILENT);
}

static void close__before_it_moved(void **state)
{
	struct duo *d = *state;

	duo_ring(&d->a, TUX_DOORBELL_CLOSE);
	assert_int_equal(d->a.gone_n, 1);
	assert_int_equal(d->a.c->reason, TUX_REASON_CLOSED);
}

/* With a generation that the peer has agreed to, the marker may still come. */
static void close__while_armed(void **state)
{
	struct duo *d = *state;

	tux_upgrade_prepare(d->a.c, 1, 100, 0);
	duo_derive(&d->a, 0);
	duo_ring(&d->a, TUX_DOORBELL_CLOSE);
	assert_int_equal(d->a.gone_n, 0);
	assert_int_equal(atomic_load(&d->a.dx->tx.shut), 1);
	assert_true(tux_conn_tcp_want(d->a.c) > 0);
}

static void close__abort(void **state)
{
	struct duo *d = *state;

	assert_int_equal(duo_write(&d->a, "abc", 3), 3);
	duo_ring(&d->a, TUX_DOORBELL_ABORT);
	assert_int_equal(d->a.gone_n, 1);
	assert_true(d->a.gone_reset);
	tux_conn_die(d->b.c, EIO, TUX_REASON_NONE);
	duo_derive(&d->b, 0);
	duo_ring(&d->b, TUX_DOORBELL_CLOSE);
	assert_int_equal(d->b.gone_n, 1);
	assert_false(d->b.gone_reset);
}

/* Messages wait, and the stream never moved: they have a minute. */
static void close__with_messages_that_wait(void **state)
{
	struct duo *d = *state;

	d->b.dx->rx.pinned = d->a.dx->tx.pinned = 1;
	duo_send(&d->a, 100, 0, 'm');
	d->a.c->tx.away_at = d->now + TUX_SEC(9);
	duo_ring(&d->a, TUX_DOORBELL_CLOSE);
	assert_int_equal(d->a.gone_n, 0);
	assert_true(d->a.c->linger_at == d->now + TUX_SEC(60));
	d->a.c->tx.away_at = TUX_NEVER;
	duo_settle_all(d);
	assert_int_equal(d->a.gone_n, 1);
}

static void rung__room_in_the_ring(void **state)
{
	struct duo *d = *state;
	char buf[DUO_RING] = { 0 };
	struct duo_pkt k;

	assert_int_equal(duo_write(&d->b, buf, DUO_RING), DUO_RING);
	duo_settle_all(d);
	assert_int_equal(duo_read(&d->a, buf, DUO_RING / 2 - 1),
			 DUO_RING / 2 - 1);
	duo_ring(&d->a, TUX_DOORBELL_RX);
	assert_int_equal(duo_out(&d->a, &k), 0);
	d->a.tcp_n = 0;
	assert_int_equal(duo_read(&d->a, buf, 1), 1);
	assert_int_equal(d->a.tcp_n, 0);	/* no frame waits for it */
	assert_true(duo_out(&d->a, &k) > 0);
	assert_int_equal(k.h.window, DUO_RING / 2);
}

/* Only what the path is proved for. */
static void rung__before_the_path_is_proved(void **state)
{
	struct duo *d = *state;

	duo_drop(&d->a);
	d->now += TUX_SEC(1);
	duo_ring(&d->a, TUX_DOORBELL_TX | TUX_DOORBELL_RX);
	assert_int_equal(d->a.c->todo, 0);
	duo_ring(&d->a, TUX_DOORBELL_TOUCH);
	assert_int_equal(d->a.c->todo, TUX_DO_HELLO);
}

static void rung__raw(void **state)
{
	struct duo *d = *state;

	duo_ring(&d->a, TUX_DOORBELL_RAW);
	assert_true(d->a.c->tx.raw_wanted);
	assert_int_equal(d->a.c->reason, TUX_REASON_PINNED);
	duo_settle_all(d);
	assert_int_equal(d->a.dx->tx.state, TUX_TX_RAW);
	assert_int_equal(d->a.dx->rx.state, TUX_RX_RAW);
	assert_int_equal(d->a.c->reason, TUX_REASON_PINNED);
	assert_int_equal(d->b.dx->tx.state, TUX_TX_RAW);
	assert_int_equal(d->b.c->reason, TUX_REASON_PEER_RAW);
}

/* Another process may write the reason, which is in shared memory. */
static void rung__raw_for_a_reason(void **state)
{
	struct duo *d = *state;

	atomic_store(&d->a.dx->raw_why, TUX_REASON_BYPASSED);
	duo_ring(&d->a, TUX_DOORBELL_RAW);
	assert_int_equal(d->a.c->reason, TUX_REASON_BYPASSED);
	atomic_store(&d->b.dx->raw_why, TUX_REASON_N);
	duo_ring(&d->b, TUX_DOORBELL_RAW);
	assert_int_equal(d->b.c->reason, TUX_REASON_PINNED);
}

int main(void)
{
#define T(name, setup) \
	cmocka_unit_test_setup_teardown(name, setup, duo_teardown)
	const struct CMUnitTest tests[] = {
		T(die__the_application_learns_why, duo_setup_switched),
		T(die__behind_the_end, duo_setup_switched),
		T(die__before_the_peer_is_known, duo_setup),
		T(die__closed, duo_setup_switched),
		T(told_reset__now_or_behind_tcp, duo_setup_switched),
		T(told_reset__while_plain, duo_setup_proved),
		T(close__of_a_plain_one, duo_setup),
		T(close__before_it_moved, duo_setup_proved),
		T(close__while_armed, duo_setup_proved),
		T(close__abort, duo_setup_switched),
		T(close__with_messages_that_wait, duo_setup_plain_messages),
		T(rung__room_in_the_ring, duo_setup_switched),
		T(rung__before_the_path_is_proved, duo_setup),
		T(rung__raw, duo_setup_switched),
		T(rung__raw_for_a_reason, duo_setup_switched),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
