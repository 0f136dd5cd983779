/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a duplex shows to its application.
 */
#include "lone.h"

/* The ring is writable when a quarter of it is free. */
static void poll__writable_at_a_quarter(void **state)
{
	struct fixture *f = *state;
	char buf[CAP] = { 0 };

	announce(f, 0);
	tux_duplex_prepared(f->d, f->d->tx.gen);
	put(f, buf, CAP);
	atomic_store(&f->d->tx.marker_left, 0);
	assert_int_equal(tux_duplex_poll(f->d), TUX_TX_ON_RING);
	tux_pipe_consume(&f->d->txp, CAP / 4 - 1);
	assert_int_equal(tux_duplex_poll(f->d), TUX_TX_ON_RING);
	tux_pipe_consume(&f->d->txp, CAP / 4);
	assert_int_equal(tux_duplex_poll(f->d),
			 TUX_TX_ON_RING | TUX_CAN_WRITE);
}

/* May the application write, by what the duplex and TCP say? */
static bool says_writable(struct fixture *f)
{
	unsigned can = tux_duplex_poll(f->d);

	if (can & (TUX_TX_ON_RING | TUX_TX_WAITS))
		return can & TUX_CAN_WRITE;
	return f->w.room > 0;
}

/* Writes @len bytes at @p if the duplex says so.  Either way, it says no more
 * than a write keeps. */
static ssize_t put_if_writable(struct fixture *f, const void *p, size_t len)
{
	bool can = says_writable(f);
	ssize_t k = put(f, p, len);

	if (k == -EAGAIN)
		assert_false(says_writable(f));
	else
		assert_true(can);
	return k;
}

/* The duplex and a write agree, in each state of the sender. */
static void poll__keeps_its_word(void **state)
{
	struct fixture *f = *state;
	struct tux_duplex *d = f->d;
	uint8_t m[TUX_MARKER_LEN];

	assert_int_equal(put_if_writable(f, "ab", 2), 2);
	f->w.room = 0;
	assert_int_equal(put_if_writable(f, "c", 1), -EAGAIN);
	f->w.room = 1000;
	/* announced; at N; beyond it, in doubt */
	announce(f, 2);
	memcpy(m, d->tx.marker, sizeof(m));
	assert_int_equal(put_if_writable(f, "cd", 2), 2);
	assert_int_equal(put_if_writable(f, m, 10), 10);
	f->w.room = 3;
	assert_int_equal(put_if_writable(f, m + 10, 6), 3);
	assert_int_equal(put_if_writable(f, m + 13, 3), -EAGAIN);
	f->w.room = 1000;
	assert_int_equal(put_if_writable(f, m + 13, 3), 2);
	/* The last byte of the marker waits, though TCP has room. */
	assert_int_equal(put(f, m + 15, 1), -EAGAIN);
	assert_int_equal(tux_duplex_poll(d), TUX_TX_WAITS);
	assert_int_equal(put_if_writable(f, m + 15, 1), -EAGAIN);
	f->w.room = 0;
	assert_int_equal(put_if_writable(f, m + 15, 1), -EAGAIN);
	f->w.room = 1000;
	/* disarmed */
	assert_true(announce(f, 0) == TUX_NOWHERE);
	assert_true(tux_duplex_prepared(d, d->tx.gen));
	assert_int_equal(put_if_writable(f, m + 15, 1), 1);
	/* acknowledged, at N, and TCP is full; committed, in part; on the
	 * ring */
	announce(f, 0);
	assert_false(tux_duplex_prepared(d, d->tx.gen));
	f->w.room = 0;
	assert_int_equal(put_if_writable(f, "e", 1), -EAGAIN);
	f->w.room = 5;
	assert_int_equal(put(f, "e", 1), -EAGAIN);
	assert_int_equal(tux_duplex_poll(d), TUX_TX_ON_RING);
	atomic_store(&d->tx.marker_left, 0);
	assert_int_equal(put_if_writable(f, "e", 1), 1);
	/* plain again, but the RAW frame is not in TCP yet */
	atomic_store(&d->tx.hold, 1);
	atomic_store(&d->tx.state, TUX_TX_RAW);
	f->w.room = 1000;
	assert_int_equal(put_if_writable(f, "f", 1), -EAGAIN);
	atomic_store(&d->tx.hold, 0);
	assert_int_equal(put_if_writable(f, "f", 1), 1);
}

/* A writer that waits for the end of the doubt is told of other ends, too. */
static void poll__barred_and_broken(void **state)
{
	struct fixture *f = *state;
	struct tux_duplex *d = f->d;
	uint8_t m[TUX_MARKER_LEN];

	announce(f, 0);
	memcpy(m, d->tx.marker, sizeof(m));
	assert_int_equal(put(f, m, sizeof(m)), 15);
	assert_int_equal(put(f, m + 15, 1), -EAGAIN);
	assert_true(tux_duplex_barred(d));
	/* TCP's own error */
	f->w.err = EPIPE;
	assert_int_equal(put(f, m + 15, 1), -EPIPE);
	assert_false(tux_duplex_barred(d));
	f->w.err = 0;
	/* another byte */
	assert_int_equal(put(f, m + 15, 1), -EAGAIN);
	atomic_store(&d->rung, 0);
	assert_int_equal(put(f, "x", 1), 1);
	assert_int_equal(d->rung & TUX_DOORBELL_TX, TUX_DOORBELL_TX);
	assert_int_equal(tux_duplex_poll(d), 0);
	/* the connection's death */
	announce(f, 0);
	memcpy(m, d->tx.marker, sizeof(m));
	assert_int_equal(put(f, m, sizeof(m)), 15);
	assert_int_equal(put(f, m + 15, 1), -EAGAIN);
	atomic_store(&d->err, ECONNRESET);
	atomic_store(&d->tx.shut, 1);
	assert_int_equal(tux_duplex_poll(d) & TUX_CAN_WRITE, TUX_CAN_WRITE);
	assert_false(tux_duplex_barred(d));
	assert_int_equal(put(f, m + 15, 1), -ECONNRESET);
	assert_int_equal(put(f, m + 15, 1), -EPIPE);
}

/* The first 16 plain calls ring TUX_DOORBELL_TOUCH, and no later ones. */
static void touch__a_few_times(void **state)
{
	struct fixture *f = *state;
	unsigned n;

	for (n = 0; n < 100; n++) {
		atomic_store(&f->d->rung, 0);
		put(f, "x", 1);
		if (!(f->d->rung & TUX_DOORBELL_TOUCH))
			break;
	}
	assert_int_equal(n, 16);
}

/* TUX_IS_EOF does not wait until the bytes before the end are read. */
static void poll__end_behind_unread(void **state)
{
	struct fixture *f = *state;

	arm(f, 1, 5);
	assert_int_equal(tux_duplex_poll(f->d), 0);
	f->d->rx.eof = 1;
	assert_int_equal(tux_duplex_poll(f->d), TUX_IS_EOF);
	f->d->err = ECONNRESET;
	assert_int_equal(tux_duplex_poll(f->d), TUX_IS_ERR);
}

static void init__both_plain(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(f->d->tx.state, TUX_TX_PLAIN);
	assert_int_equal(f->d->rx.state, TUX_RX_PLAIN);
	assert_int_equal(tux_duplex_poll(f->d), 0);
	assert_int_equal(tux_duplex_readable(f->d), 0);
	assert_int_equal(tux_pipe_room(&f->d->txp), CAP);
	assert_int_equal(tux_pipe_room(&f->d->rxp), CAP);
	assert_true(tux_duplex_size(CAP) - tux_duplex_size(CAP / 2) == CAP);
}

static void readable__ring_and_spill(void **state)
{
	struct fixture *f = *state;

	f->d->rx.spill_len = 3;
	assert_int_equal(tux_duplex_readable(f->d), 3);
	f->d->rx.spill_len = 0;
	f->d->rx.state = TUX_RX_SWITCHED;
	tux_pipe_place(&f->d->rxp, 0, "ab", 2);
	tux_pipe_publish(&f->d->rxp, 2);
	assert_int_equal(tux_duplex_readable(f->d), 2);
	assert_int_equal(tux_duplex_poll(f->d) & TUX_CAN_READ, TUX_CAN_READ);
}

/* What the directions have carried before counts: offsets go on. */
static void begin__where_tcp_is(void **state)
{
	struct fixture *f = *state;
	struct tux_burst tx = { .turns = 0 }, rx = { .turns = 0 };
	unsigned i;

	for (i = 0; i < 3; i++) {
		tux_burst_moved(&tx, &rx, 10);
		tux_burst_moved(&rx, &tx, 20);
	}
	tux_duplex_begin(f->d, &tx, &rx);
	assert_true(f->d->tx.off == 30 && f->d->rx.off == 60);
	assert_int_equal(tux_burst_turns(&f->d->tx.bursts), 2);
	assert_int_equal(tux_burst_mean(&f->d->rx.bursts), 20);
	assert_int_equal(announce(f, 0), 30);
	arm(f, 1, 60);
	assert_int_equal(put(f, "x", 1), 1);
	assert_int_equal(tux_burst_turns(&f->d->tx.bursts), 3);
}

/* While writes are held, neither the ring's room nor TCP's counts; a shutdown
 * or an error does. */
static void poll__held(void **state)
{
	struct fixture *f = *state;

	announce(f, 0);
	tux_duplex_prepared(f->d, f->d->tx.gen);
	assert_int_equal(put(f, "x", 1), 1);
	assert_int_equal(tux_duplex_poll(f->d), TUX_TX_ON_RING | TUX_CAN_WRITE);
	tux_duplex_hold(f->d, true);
	assert_int_equal(tux_duplex_poll(f->d), TUX_TX_ON_RING);
	tux_duplex_tx_leave(f->d, 1);
	assert_int_equal(tux_duplex_poll(f->d), TUX_TX_ON_RING);
	f->d->tx.shut = 1;
	assert_int_equal(tux_duplex_poll(f->d), TUX_TX_ON_RING | TUX_CAN_WRITE);
	f->d->tx.shut = 0;
	f->d->err = EIO;
	assert_int_equal(tux_duplex_poll(f->d) & TUX_CAN_WRITE, TUX_CAN_WRITE);
	f->d->err = 0;
	tux_duplex_tx_plain(f->d);
	assert_int_equal(tux_duplex_poll(f->d), 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(poll__writable_at_a_quarter),
		T(poll__keeps_its_word),
		T(poll__barred_and_broken),
		T(touch__a_few_times),
		T(poll__end_behind_unread),
		T(init__both_plain),
		T(readable__ring_and_spill),
		T(begin__where_tcp_is),
		T(poll__held),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
