/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Plain TCP for good.
 */
#include "lone.h"

static void pin__untouched(void **state)
{
	struct fixture *f = *state;

	assert_false(tux_duplex_tx_is_raw(f->d));
	assert_false(tux_duplex_rx_is_raw(f->d));
	assert_true(tux_duplex_is_plain(f->d));
	assert_int_equal(tux_duplex_pin(f->d), 0);
	assert_true(tux_duplex_tx_is_raw(f->d));
	assert_true(tux_duplex_rx_is_raw(f->d));
}

/* The peer may be armed at N and compare the bytes there with the marker. */
static void pin__waits_for_doubt(void **state)
{
	struct fixture *f = *state;

	announce(f, 0);
	assert_false(tux_duplex_is_plain(f->d));
	assert_int_equal(tux_duplex_pin(f->d), -EAGAIN);
	assert_false(tux_duplex_is_plain(f->d));
	assert_int_equal(announce(f, 0), TUX_NOWHERE);
	assert_int_equal(tux_duplex_pin(f->d), -EAGAIN);
	tux_duplex_prepared(f->d, f->d->tx.gen);
	assert_int_equal(tux_duplex_pin(f->d), 0);
}

/* Reads stop, and what was not read is not there any more, or is. */
static void stop__of_reads(void **state)
{
	struct fixture *f = *state;
	uint64_t from = 0;
	char buf[8];

	for (unsigned drop = 0; drop < 2; drop++) {
		f->d->rx.state = TUX_RX_SWITCHED;
		tux_pipe_reset(&f->d->rxp, 10);
		atomic_store(&f->d->rx.taken, 10);
		tux_pipe_place(&f->d->rxp, 10, "abcd", 4);
		tux_pipe_publish(&f->d->rxp, 14);
		assert_int_equal(get(f, buf, 1), 1);
		tux_duplex_stop(f->d, &from);
		assert_true(from == 11);
		assert_int_equal(tux_duplex_readable(f->d), 0);
		assert_int_equal(tux_duplex_poll(f->d) & TUX_CAN_READ, 0);
		assert_int_equal(get(f, buf, 8), -EAGAIN);
		tux_duplex_resume(f->d, drop);
		assert_int_equal(tux_duplex_readable(f->d), drop ? 0 : 3);
		assert_int_equal(tux_duplex_rx_turns(f->d), drop + 1);
	}
}

/* Nobody has looked for bytes meanwhile: who was told of them finds them. */
static void resume__unnoticed(void **state)
{
	struct fixture *f = *state;
	uint64_t from = 0;
	char buf[8];

	f->d->rx.state = TUX_RX_SWITCHED;
	tux_pipe_reset(&f->d->rxp, 10);
	tux_pipe_place(&f->d->rxp, 10, "abcd", 4);
	tux_pipe_publish(&f->d->rxp, 14);
	tux_duplex_stop(f->d, &from);
	tux_duplex_resume(f->d, false);
	assert_int_equal(tux_duplex_rx_turns(f->d), 0);
	assert_int_equal(get(f, buf, 8), 4);
	assert_int_equal(get(f, buf, 8), -EAGAIN);
	tux_duplex_resume(f->d, false);
	assert_int_equal(tux_duplex_rx_turns(f->d), 0);
}

/* The tx ring has old bytes until their memory is used again. */
static void keep__of_what_was_sent(void **state)
{
	struct fixture *f = *state;
	struct tux_pipe *p = &f->d->txp;

	tux_pipe_reset(p, 100);
	tux_pipe_publish(p, 110);
	tux_pipe_consume(p, 110);
	assert_false(tux_duplex_keeps(f->d, 99));
	assert_true(tux_duplex_keeps(f->d, 100));
	assert_true(tux_duplex_keeps(f->d, 110));
	assert_false(tux_duplex_keeps(f->d, 111));
	assert_false(tux_duplex_keeps(f->d, UINT64_MAX));
	tux_pipe_publish(p, 101 + p->cap);
	assert_false(tux_duplex_keeps(f->d, 100));
	assert_true(tux_duplex_keeps(f->d, 101));
}

/* Bytes in spill were read from TCP. */
static void pin__minds_the_spill(void **state)
{
	struct fixture *f = *state;
	char buf[4];

	arm(f, 1, 0);
	arrive(f, f->d->rx.marker, 3);
	assert_int_equal(get(f, buf, 1), -EAGAIN);
	arm(f, 2, TUX_NOWHERE);
	assert_false(tux_duplex_is_plain(f->d));
	assert_int_equal(tux_duplex_pin(f->d), -EBUSY);
	assert_int_equal(get(f, buf, 4), 3);
	assert_int_equal(tux_duplex_pin(f->d), 0);
}

static void pin__too_late(void **state)
{
	struct fixture *f = *state;

	arm(f, 1, 5);
	assert_int_equal(tux_duplex_pin(f->d), -EBUSY);
	assert_int_equal(f->d->tx.pinned, 0);
}

/* While it is pinned, the peer is not answered, and that it asked is noted. */
static void wake__goes_on_at_the_counts(void **state)
{
	struct fixture *f = *state;
	struct tux_burst sent = { .total = 7 }, received = { .total = 9 };

	assert_int_equal(tux_duplex_sleep(f->d), 0);
	assert_false(tux_duplex_arm(f->d, 1, 20, &key, false));
	assert_int_equal(f->d->called, 1);
	assert_true(tux_duplex_wake(f->d, &sent, &received));
	assert_int_equal(announce(f, 3), 10);
	assert_true(tux_duplex_arm(f->d, 2, 20, &key, false));
	assert_int_equal(f->d->rx.off, 9);
}

/* A child, or the peer, may have pinned it for good. */
static void sleep__keeps_what_is_pinned_for_good(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(tux_duplex_sleep(f->d), 0);
	assert_int_equal(tux_duplex_pin(f->d), 0);
	assert_false(tux_duplex_wake(f->d, NULL, NULL));
	assert_true(tux_duplex_tx_is_raw(f->d) && tux_duplex_rx_is_raw(f->d));
	assert_int_equal(tux_duplex_sleep(f->d), -EPERM);
}

/* ... or none of it is pinned; and who called before it slept does not count. */
static void sleep__all_or_nothing(void **state)
{
	struct fixture *f = *state;

	f->d->called = 1;
	announce(f, 0);
	assert_int_equal(tux_duplex_sleep(f->d), -EAGAIN);
	assert_int_equal(f->d->tx.pinned | f->d->rx.pinned, 0);
	assert_int_equal(f->d->called, 0);
}

static void raw__not_before_its_frame(void **state)
{
	struct fixture *f = *state;

	f->d->tx.state = TUX_TX_RAW;
	f->d->tx.hold = 1;
	assert_false(tux_duplex_tx_is_raw(f->d));
	f->d->tx.hold = 0;
	assert_true(tux_duplex_tx_is_raw(f->d));
}

/* Each state in which the direction is not plain TCP. */
static void raw__which_states(void **state)
{
	struct fixture *f = *state;
	unsigned i;

	f->d->tx.pinned = 1;
	for (i = TUX_TX_PLAIN; i <= TUX_TX_RAW; i++) {
		f->d->tx.state = (uint8_t)i;
		assert_int_equal(tux_duplex_tx_is_raw(f->d),
				 i == TUX_TX_PLAIN || i == TUX_TX_RAW);
	}
	f->d->tx.state = TUX_TX_PLAIN;
	f->d->tx.doubt = 1;
	assert_false(tux_duplex_tx_is_raw(f->d));
	f->d->tx.shut = 1;
	assert_true(tux_duplex_tx_is_raw(f->d));
	f->d->rx.pinned = 1;
	for (i = TUX_RX_PLAIN; i <= TUX_RX_RAW; i++) {
		f->d->rx.state = (uint8_t)i;
		assert_int_equal(tux_duplex_rx_is_raw(f->d),
				 i == TUX_RX_PLAIN || i == TUX_RX_RAW);
	}
	f->d->rx.pinned = 0;
	assert_true(tux_duplex_rx_is_raw(f->d));
	/* The bytes of the ring come first. */
	tux_pipe_place(&f->d->rxp, 0, "a", 1);
	tux_pipe_publish(&f->d->rxp, 1);
	assert_false(tux_duplex_rx_is_raw(f->d));
}

/* A direction that has switched, or is RAW, cannot be pinned. */
static void pin__not_what_has_moved(void **state)
{
	struct fixture *f = *state;

	f->d->tx.state = TUX_TX_SWITCHED;
	assert_int_equal(tux_duplex_pin(f->d), -EBUSY);
	f->d->tx.state = TUX_TX_RAW;
	assert_int_equal(tux_duplex_pin(f->d), -EBUSY);
	assert_int_equal(f->d->tx.pinned, 0);
	assert_int_equal(f->d->rx.pinned, 0);
}

/* The ring has bytes of an earlier turn: they are not in TCP. */
static void pin__not_over_an_undrained_ring(void **state)
{
	struct fixture *f = *state;
	char buf[4];

	arm(f, 1, 0);
	assert_true(tux_duplex_prove(f->d));
	tux_pipe_place(&f->d->rxp, 0, "abc", 3);
	tux_pipe_publish(&f->d->rxp, 3);
	tux_duplex_rx_plain(f->d, 3);
	assert_int_equal(tux_duplex_pin(f->d), -EBUSY);
	assert_int_equal(f->d->rx.pinned, 0);
	assert_int_equal(get(f, buf, sizeof(buf)), 3);
	assert_int_equal(tux_duplex_pin(f->d), 0);
}

/* The PLAIN frame is not in TCP yet. */
static void pin__not_while_it_leaves(void **state)
{
	struct fixture *f = *state;

	announce(f, 0);
	tux_duplex_prepared(f->d, f->d->tx.gen);
	assert_int_equal(put(f, "a", 1), 1);
	tux_duplex_tx_leave(f->d, 1);
	assert_int_equal(tux_duplex_pin(f->d), -EBUSY);
	assert_int_equal(f->d->tx.pinned, 0);
	tux_duplex_tx_plain(f->d);
	assert_int_equal(tux_duplex_pin(f->d), 0);
}

/* A marker that comes next in TCP is not left there for the program to read. */
static void go__finds_the_marker(void **state)
{
	struct fixture *f = *state;

	arm(f, 1, 0);
	arrive(f, f->d->rx.marker, TUX_MARKER_LEN);
	assert_false(tux_duplex_go_raw(f->d, NULL));
	assert_int_equal(f->d->rx.state, TUX_RX_ARMED);
	assert_false(tux_duplex_go_raw(f->d, &f->tcp));
	assert_int_equal(f->d->rx.state, TUX_RX_SWITCHED);
}

static void go__plain_is_raw(void **state)
{
	struct fixture *f = *state;

	assert_true(tux_duplex_go_raw(f->d, &f->tcp));
	assert_int_equal(f->d->tx.pinned, 1);
	assert_int_equal(f->d->rx.pinned, 1);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(pin__untouched),
		T(pin__waits_for_doubt),
		T(stop__of_reads),
		T(resume__unnoticed),
		T(keep__of_what_was_sent),
		T(pin__minds_the_spill),
		T(pin__too_late),
		T(raw__not_before_its_frame),
		T(raw__which_states),
		T(pin__not_what_has_moved),
		T(pin__not_over_an_undrained_ring),
		T(pin__not_while_it_leaves),
		T(go__finds_the_marker),
		T(go__plain_is_raw),
		T(wake__goes_on_at_the_counts),
		T(sleep__keeps_what_is_pinned_for_good),
		T(sleep__all_or_nothing),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
