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

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(poll__writable_at_a_quarter),
		T(touch__a_few_times),
		T(poll__end_behind_unread),
		T(init__both_plain),
		T(readable__ring_and_spill),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
