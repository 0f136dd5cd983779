/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rules of the switch, one by one, over a TCP made of two arrays.
 */
#include "conn/duplex.h"

#include <errno.h>

#include "base/sip.h"
#include "../test.h"

enum { CAP = 4096 };

static const struct tux_key key = { 1, 2 };

struct wire {
	char out[8192], in[8192];
	size_t out_len, in_len, in_at;
	size_t room;			/* TCP takes no more than this */
	bool eof;
	int err;
};

static ssize_t wire_send(void *arg, const struct iovec *iov, int n)
{
	struct wire *w = arg;
	size_t took = 0;
	int i;

	if (!w->room)
		return -EAGAIN;
	for (i = 0; i < n && w->room; i++) {
		size_t k = iov[i].iov_len < w->room ? iov[i].iov_len : w->room;

		memcpy(w->out + w->out_len, iov[i].iov_base, k);
		w->out_len += k;
		w->room -= k;
		took += k;
	}
	return (ssize_t)took;
}

static ssize_t wire_recv(void *arg, const struct iovec *iov, int n, bool peek)
{
	struct wire *w = arg;
	size_t len = w->in_len - w->in_at;

	(void)n;
	if (!len)
		return w->err ? -w->err : w->eof ? 0 : -EAGAIN;
	if (len > iov->iov_len)
		len = iov->iov_len;
	memcpy(iov->iov_base, w->in + w->in_at, len);
	if (!peek)
		w->in_at += len;
	return (ssize_t)len;
}

struct fixture {
	struct tux_duplex *d;
	struct wire w;
	struct tux_tcp tcp;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->d = calloc(1, tux_duplex_size(CAP));
	f->w.room = sizeof(f->w.out);
	f->tcp = (struct tux_tcp){ wire_send, wire_recv, &f->w };
	tux_duplex_init(f->d, CAP);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	free(f->d);
	free(f);
	return 0;
}

static ssize_t put(struct fixture *f, const void *p, size_t len)
{
	struct iovec v = { (void *)(uintptr_t)p, len };

	return tux_duplex_write(f->d, &v, 1, &f->tcp);
}

static ssize_t get(struct fixture *f, char *p, size_t len)
{
	struct iovec v = { p, len };

	return tux_duplex_read(f->d, &v, 1, false, &f->tcp);
}

static void arrive(struct fixture *f, const void *p, size_t len)
{
	memcpy(f->w.in + f->w.in_len, p, len);
	f->w.in_len += len;
}

static uint64_t announce(struct fixture *f, uint64_t ahead)
{
	uint64_t at = 0;

	assert_true(tux_duplex_announce(f->d, ahead, &key, true, &at));
	return at;
}

/* ---- writing ---- */

static void write__plain_goes_to_tcp(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(put(f, "hello", 5), 5);
	assert_memory_equal(f->w.out, "hello", 5);
	assert_int_equal(f->d->tx.off, 5);
}

static void write__past_n_makes_void(void **state)
{
	struct fixture *f = *state;

	put(f, "ab", 2);
	assert_int_equal(announce(f, 0), 2);
	assert_int_equal(put(f, "cd", 2), 2);
	assert_int_equal(f->d->tx.state, TUX_TX_PLAIN);
	tux_duplex_prepared(f->d, f->d->tx.gen);	/* too late */
	assert_int_equal(f->d->tx.state, TUX_TX_PLAIN);
	assert_memory_equal(f->w.out, "abcd", 4);
}

static void write__commits_at_n(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(announce(f, 3), 3);
	tux_duplex_prepared(f->d, f->d->tx.gen);
	assert_int_equal(put(f, "abcde", 5), 5);
	assert_int_equal(f->d->tx.state, TUX_TX_RING);
	assert_int_equal(f->w.out_len, 3 + TUX_MARKER_LEN);
	assert_memory_equal(f->w.out + 3, f->d->tx.marker, TUX_MARKER_LEN);
	assert_int_equal(tux_pipe_len(&f->d->txp), 2);
	assert_int_equal(tux_pipe_tail(&f->d->txp), 3);
}

static void write__ring_waits_for_marker(void **state)
{
	struct fixture *f = *state;

	announce(f, 0);
	tux_duplex_prepared(f->d, f->d->tx.gen);
	f->w.room = 5;
	assert_int_equal(put(f, "x", 1), -EAGAIN);
	assert_int_equal(f->d->tx.state, TUX_TX_RING);
	assert_int_equal(f->d->tx.marker_left, TUX_MARKER_LEN - 5);
	assert_false(tux_duplex_poll(f->d) & TUX_CAN_WRITE);
}

static void write__full_tcp_does_not_commit(void **state)
{
	struct fixture *f = *state;

	announce(f, 0);
	tux_duplex_prepared(f->d, f->d->tx.gen);
	f->w.room = 0;
	assert_int_equal(put(f, "x", 1), -EAGAIN);
	assert_int_equal(f->d->tx.state, TUX_TX_ACKED);
}

static void write__never_completes_marker(void **state)
{
	struct fixture *f = *state;
	uint8_t m[TUX_MARKER_LEN];

	announce(f, 0);
	memcpy(m, f->d->tx.marker, sizeof(m));
	assert_int_equal(put(f, m, sizeof(m)), TUX_MARKER_LEN - 1);
	assert_int_equal(f->d->tx.doubt, 1);
	assert_int_equal(put(f, m + sizeof(m) - 1, 1), -EAGAIN);
	/* Taken back, it is only bytes. */
	assert_true(announce(f, 0) == TUX_NOWHERE);
	tux_duplex_prepared(f->d, f->d->tx.gen);
	assert_int_equal(f->d->tx.doubt, 0);
	assert_int_equal(put(f, m + sizeof(m) - 1, 1), 1);
}

static void write__other_byte_ends_doubt(void **state)
{
	struct fixture *f = *state;

	announce(f, 0);
	assert_int_equal(put(f, "plain", 5), 5);
	assert_int_equal(f->d->tx.doubt, 0);
	assert_int_equal(announce(f, 0), 5);
}

static void write__ring_is_bounded(void **state)
{
	struct fixture *f = *state;
	char buf[CAP + 100] = { 0 };

	announce(f, 0);
	tux_duplex_prepared(f->d, f->d->tx.gen);
	assert_int_equal(put(f, buf, sizeof(buf)), CAP);
	assert_int_equal(put(f, buf, 1), -EAGAIN);
	tux_pipe_consume(&f->d->txp, 100);
	assert_int_equal(put(f, buf, sizeof(buf)), 100);
}

/* Several pieces, and the ring's end in the midst of one. */
static void write__gathers_around_the_end(void **state)
{
	struct fixture *f = *state;
	static char buf[CAP], back[CAP];
	struct iovec v[3] = { { buf, 100 }, { buf + 100, 1900 },
			      { buf + 2000, 1000 } };
	unsigned i;

	for (i = 0; i < CAP; i++)
		buf[i] = (char)(i * 7 + i / 256);
	announce(f, 0);
	tux_duplex_prepared(f->d, f->d->tx.gen);
	put(f, buf, 3000);
	tux_pipe_consume(&f->d->txp, 2900);
	assert_int_equal(tux_duplex_write(f->d, v, 3, &f->tcp), 3000);
	assert_int_equal(tux_pipe_head(&f->d->txp), 6000);
	tux_pipe_copy(&f->d->txp, 3000, back, 3000);
	assert_memory_equal(back, buf, 3000);
}

/* What a generation that ends in the midst of a write leaves of it. */
static void write__gathers_across_n(void **state)
{
	struct fixture *f = *state;
	char bytes[] = "abcdefgh", back[4];
	struct iovec v[2] = { { bytes, 3 }, { bytes + 3, 5 } };

	announce(f, 4);
	tux_duplex_prepared(f->d, f->d->tx.gen);
	assert_int_equal(tux_duplex_write(f->d, v, 2, &f->tcp), 8);
	assert_memory_equal(f->w.out, "abcd", 4);
	tux_pipe_copy(&f->d->txp, 4, back, 4);
	assert_memory_equal(back, "efgh", 4);
}

static void shut__says_who_carries_it(void **state)
{
	struct fixture *f = *state;

	assert_false(tux_duplex_shut(f->d));
	assert_int_equal(put(f, "x", 1), -EPIPE);
}

static void shut__in_ring(void **state)
{
	struct fixture *f = *state;

	announce(f, 0);
	tux_duplex_prepared(f->d, f->d->tx.gen);
	put(f, "x", 1);
	assert_true(tux_duplex_shut(f->d));
	assert_int_equal(put(f, "x", 1), -EPIPE);
}

/* ---- reading ---- */

static void arm(struct fixture *f, uint32_t gen, uint64_t at)
{
	assert_true(tux_duplex_arm(f->d, gen, at, &key, false));
}

static void read__stops_at_n(void **state)
{
	struct fixture *f = *state;
	char buf[64];

	arm(f, 1, 3);
	arrive(f, "abcdef", 6);
	assert_int_equal(get(f, buf, sizeof(buf)), 3);
	/* No marker stands there: void, and data. */
	assert_int_equal(get(f, buf, sizeof(buf)), 3);
	assert_memory_equal(buf, "def", 3);
	assert_int_equal(f->d->rx.state, TUX_RX_PLAIN);
}

static void read__marker_switches(void **state)
{
	struct fixture *f = *state;
	char buf[64];

	arm(f, 1, 0);
	arrive(f, f->d->rx.marker, TUX_MARKER_LEN);
	assert_int_equal(get(f, buf, sizeof(buf)), -EAGAIN);
	assert_int_equal(f->d->rx.state, TUX_RX_RING);
	assert_int_equal(f->d->rx.marker_left, 0);
	assert_int_equal(f->w.in_at, TUX_MARKER_LEN);
	assert_true(f->d->rung & TUX_RING_RX);
}

static void read__marker_in_pieces(void **state)
{
	struct fixture *f = *state;
	char buf[64];

	arm(f, 1, 0);
	arrive(f, f->d->rx.marker, 7);
	assert_int_equal(get(f, buf, sizeof(buf)), -EAGAIN);
	assert_int_equal(f->d->rx.held, 7);
	arrive(f, f->d->rx.marker + 7, TUX_MARKER_LEN - 7);
	assert_int_equal(get(f, buf, sizeof(buf)), -EAGAIN);
	assert_int_equal(f->d->rx.state, TUX_RX_RING);
}

static void read__beginning_then_end_is_data(void **state)
{
	struct fixture *f = *state;
	char buf[64];

	arm(f, 1, 0);
	arrive(f, f->d->rx.marker, 7);
	f->w.eof = true;
	assert_int_equal(get(f, buf, 3), 3);
	assert_true(tux_duplex_poll(f->d) & TUX_CAN_READ);
	assert_int_equal(get(f, buf + 3, sizeof(buf) - 3), 4);
	assert_memory_equal(buf, f->d->rx.marker, 7);
	assert_int_equal(get(f, buf, sizeof(buf)), 0);
}

/* Into several buffers, the last longer than what is left; or only looked at. */
static void read__beginning_scattered(void **state)
{
	struct fixture *f = *state;
	char x[3], y[40] = { 0 };
	struct iovec v[2] = { { x, sizeof(x) }, { y, sizeof(y) } };

	arm(f, 1, 0);
	arrive(f, f->d->rx.marker, 7);
	f->w.eof = true;
	assert_int_equal(tux_duplex_read(f->d, v, 2, true, &f->tcp), 7);
	assert_int_equal(tux_duplex_readable(f->d), 7);
	memset(y, 0, sizeof(y));
	assert_int_equal(tux_duplex_read(f->d, v, 2, false, &f->tcp), 7);
	assert_int_equal(tux_duplex_readable(f->d), 0);
	assert_memory_equal(x, f->d->rx.marker, 3);
	assert_memory_equal(y, f->d->rx.marker + 3, 4);
	assert_int_equal(y[4] | y[5] | y[6] | y[7], 0);
}

/* A ring that has more and less than the buffers. */
static void read__ring_scattered(void **state)
{
	struct fixture *f = *state;
	char x[3], y[5];
	struct iovec v[2] = { { x, sizeof(x) }, { y, sizeof(y) } };

	arm(f, 1, 0);
	tux_duplex_prove(f->d);
	tux_pipe_place(&f->d->rxp, 0, "abcdefghijk", 11);
	tux_pipe_publish(&f->d->rxp, 11);
	assert_int_equal(tux_duplex_read(f->d, v, 2, true, &f->tcp), 8);
	assert_memory_equal(y, "defgh", 5);
	assert_int_equal(tux_pipe_len(&f->d->rxp), 11);
	assert_int_equal(tux_duplex_read(f->d, v, 2, false, &f->tcp), 8);
	assert_memory_equal(y, "defgh", 5);
	assert_int_equal(tux_duplex_read(f->d, v, 2, false, &f->tcp), 3);
	assert_memory_equal(x, "ijk", 3);
	assert_memory_equal(y, "defgh", 5);
}

/* Looking is not reading: it makes no room, so nobody is told of any. */
static void read__peek_does_not_ring(void **state)
{
	struct fixture *f = *state;
	char buf[4];
	struct iovec v = { buf, sizeof(buf) };

	arm(f, 1, 0);
	tux_duplex_prove(f->d);
	tux_pipe_place(&f->d->rxp, 0, "abcd", 4);
	tux_pipe_publish(&f->d->rxp, 4);
	atomic_store(&f->d->wake_at, 1);
	atomic_store(&f->d->rung, 0);
	assert_int_equal(tux_duplex_read(f->d, &v, 1, true, &f->tcp), 4);
	assert_int_equal(f->d->rung, 0);
}

static void read__beginning_then_error_is_nothing(void **state)
{
	struct fixture *f = *state;
	char buf[64];

	arm(f, 1, 0);
	arrive(f, f->d->rx.marker, 7);
	assert_int_equal(get(f, buf, sizeof(buf)), -EAGAIN);
	f->w.err = ECONNRESET;
	assert_int_equal(get(f, buf, sizeof(buf)), -ECONNRESET);
}

static void read__tux_data_proves(void **state)
{
	struct fixture *f = *state;
	char buf[64];

	arm(f, 1, 2);
	arrive(f, "ab", 2);
	tux_pipe_place(&f->d->rxp, 2, "cd", 2);
	tux_pipe_publish(&f->d->rxp, 4);
	assert_false(tux_duplex_prove(f->d));	/* "ab" comes first */
	assert_int_equal(get(f, buf, sizeof(buf)), 2);
	assert_int_equal(get(f, buf, sizeof(buf)), 2);
	assert_memory_equal(buf, "cd", 2);
	assert_int_equal(f->d->rx.marker_left, TUX_MARKER_LEN);
}

static void read__error_once_then_end(void **state)
{
	struct fixture *f = *state;
	char buf[64];

	arm(f, 1, 0);
	assert_true(tux_duplex_prove(f->d));
	tux_pipe_place(&f->d->rxp, 0, "ab", 2);
	tux_pipe_publish(&f->d->rxp, 2);
	atomic_store(&f->d->err, ECONNRESET);
	atomic_store(&f->d->rx.eof, 1);
	assert_int_equal(get(f, buf, sizeof(buf)), 2);
	assert_int_equal(get(f, buf, sizeof(buf)), -ECONNRESET);
	assert_int_equal(get(f, buf, sizeof(buf)), 0);
}

static void read__rings_when_worth_it(void **state)
{
	struct fixture *f = *state;
	char buf[64];

	arm(f, 1, 0);
	tux_duplex_prove(f->d);
	tux_pipe_place(&f->d->rxp, 0, "abcd", 4);
	tux_pipe_publish(&f->d->rxp, 4);
	atomic_store(&f->d->wake_at, 3);
	atomic_store(&f->d->rung, 0);
	assert_int_equal(get(f, buf, 2), 2);
	assert_int_equal(f->d->rung, 0);
	assert_int_equal(get(f, buf, 2), 2);
	assert_int_equal(f->d->rung, TUX_RING_RX);
}

/* ---- arming ---- */

static void arm__answers_again(void **state)
{
	struct fixture *f = *state;

	arm(f, 3, 10);
	arm(f, 3, 10);
	assert_false(tux_duplex_arm(f->d, 2, 20, &key, false));
	arm(f, 4, 20);
	assert_int_equal(f->d->rx.at, 20);
}

static void arm__too_late_is_void(void **state)
{
	struct fixture *f = *state;
	char buf[8];

	arrive(f, "abcd", 4);
	get(f, buf, sizeof(buf));
	assert_false(tux_duplex_arm(f->d, 1, 2, &key, false));
	assert_int_equal(f->d->rx.state, TUX_RX_PLAIN);
	assert_false(tux_duplex_arm(f->d, 1, 2, &key, false));
}

static void arm__nowhere_disarms(void **state)
{
	struct fixture *f = *state;

	arm(f, 1, 5);
	arm(f, 2, TUX_NOWHERE);
	assert_int_equal(f->d->rx.state, TUX_RX_PLAIN);
	arm(f, 2, TUX_NOWHERE);
}

static void arm__pinned_only_disarms(void **state)
{
	struct fixture *f = *state;

	arm(f, 1, 5);
	f->d->rx.pinned = 1;
	assert_false(tux_duplex_arm(f->d, 2, 6, &key, false));
	assert_int_equal(f->d->rx.state, TUX_RX_PLAIN);
}

/* ---- the loop reads TCP ---- */

/* What it swallows while nothing is armed counts as well. */
static void swallow__counts_plain(void **state)
{
	struct fixture *f = *state;

	tux_duplex_swallow(f->d, (const uint8_t *)"hello", 5);
	assert_false(tux_duplex_arm(f->d, 1, 4, &key, false));
	arm(f, 2, 7);
	assert_int_equal(tux_duplex_swallow_want(f->d), 2);
	tux_duplex_swallow(f->d, (const uint8_t *)"xx", 2);
	assert_int_equal(tux_duplex_swallow_want(f->d), TUX_MARKER_LEN);
	tux_duplex_swallow(f->d, f->d->rx.marker, 1);
	tux_duplex_swallow(f->d, (const uint8_t *)"no marker", 9);
	assert_int_equal(f->d->rx.state, TUX_RX_PLAIN);
	assert_int_equal(f->d->rx.off, 17);
}

/* A reader that has gone wants no more than there is before N. */
static void swallow__up_to_n(void **state)
{
	struct fixture *f = *state;
	static uint8_t bytes[40000];

	assert_int_equal(tux_duplex_swallow_want(f->d), 16384);
	tux_duplex_swallow(f->d, bytes, 100);
	arm(f, 1, 40100);
	assert_int_equal(tux_duplex_swallow_want(f->d), 16384);
	tux_duplex_swallow(f->d, bytes, 16384);
	tux_duplex_swallow(f->d, bytes, 16384);
	assert_int_equal(tux_duplex_swallow_want(f->d), 40000 - 2 * 16384);
	tux_duplex_swallow(f->d, bytes, 40000 - 2 * 16384);
	assert_int_equal(tux_duplex_swallow_want(f->d), TUX_MARKER_LEN);
	tux_duplex_swallow(f->d, f->d->rx.marker, 5);
	assert_int_equal(tux_duplex_swallow_want(f->d), TUX_MARKER_LEN - 5);
	tux_duplex_swallow(f->d, f->d->rx.marker + 5, TUX_MARKER_LEN - 5);
	assert_int_equal(f->d->rx.state, TUX_RX_RING);
	assert_int_equal(f->d->rx.marker_left, 0);
	assert_int_equal(f->d->rx.off, 40100);
}

/* ---- plain TCP for good ---- */

static void pin__untouched(void **state)
{
	struct fixture *f = *state;

	assert_false(tux_duplex_tx_is_raw(f->d));
	assert_false(tux_duplex_rx_is_raw(f->d));
	assert_int_equal(tux_duplex_pin(f->d), 0);
	assert_true(tux_duplex_tx_is_raw(f->d));
	assert_true(tux_duplex_rx_is_raw(f->d));
}

/* The peer may be armed at N, and compares what comes there with the marker. */
static void pin__waits_for_doubt(void **state)
{
	struct fixture *f = *state;

	announce(f, 0);
	assert_int_equal(tux_duplex_pin(f->d), -EAGAIN);
	assert_int_equal(announce(f, 0), TUX_NOWHERE);
	assert_int_equal(tux_duplex_pin(f->d), -EAGAIN);
	tux_duplex_prepared(f->d, f->d->tx.gen);
	assert_int_equal(tux_duplex_pin(f->d), 0);
}

/* Bytes that were read while looking for a marker are not in TCP any more. */
static void pin__minds_the_spill(void **state)
{
	struct fixture *f = *state;
	char buf[4];

	arm(f, 1, 0);
	arrive(f, f->d->rx.marker, 3);
	assert_int_equal(get(f, buf, 1), -EAGAIN);
	arm(f, 2, TUX_NOWHERE);
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

static void raw__not_before_its_frame(void **state)
{
	struct fixture *f = *state;

	f->d->tx.state = TUX_TX_RAW;
	f->d->tx.hold = 1;
	assert_false(tux_duplex_tx_is_raw(f->d));
	f->d->tx.hold = 0;
	assert_true(tux_duplex_tx_is_raw(f->d));
}

/* Who is told "not readable" may sleep for ever. */
static void advance__looks_behind_a_beginning(void **state)
{
	struct fixture *f = *state;
	char buf[64];

	arm(f, 1, 0);
	arrive(f, f->d->rx.marker, 7);
	f->w.err = ECONNRESET;
	assert_true(tux_duplex_advance(f->d, &f->tcp));
	assert_true(tux_duplex_poll(f->d) & TUX_IS_ERR);
	assert_int_equal(get(f, buf, sizeof(buf)), -ECONNRESET);
}

/* Before N there is nothing but bytes. */
static void advance__leaves_what_is_before_n(void **state)
{
	struct fixture *f = *state;

	arm(f, 1, 3);
	arrive(f, f->d->rx.marker, 7);
	assert_true(tux_duplex_advance(f->d, &f->tcp));
	assert_int_equal(f->w.in_at, 0);
	assert_int_equal(f->d->rx.state, TUX_RX_ARMED);
}

/* ---- looking ---- */

/* Nobody is woken to write a byte. */
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

/* The first few plain calls ask for the path to be tried, and no more. */
static void touch__a_few_times(void **state)
{
	struct fixture *f = *state;
	unsigned n;

	for (n = 0; n < 100; n++) {
		atomic_store(&f->d->rung, 0);
		put(f, "x", 1);
		if (!(f->d->rung & TUX_RING_TOUCH))
			break;
	}
	assert_int_equal(n, 16);
}

/* The end is no secret to who has not yet read what is before it. */
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

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(write__plain_goes_to_tcp),
		T(write__past_n_makes_void),
		T(write__commits_at_n),
		T(write__ring_waits_for_marker),
		T(write__full_tcp_does_not_commit),
		T(write__never_completes_marker),
		T(write__other_byte_ends_doubt),
		T(write__ring_is_bounded),
		T(write__gathers_around_the_end),
		T(write__gathers_across_n),
		T(shut__says_who_carries_it),
		T(shut__in_ring),
		T(read__stops_at_n),
		T(read__marker_switches),
		T(read__marker_in_pieces),
		T(read__beginning_then_end_is_data),
		T(read__beginning_scattered),
		T(read__ring_scattered),
		T(read__peek_does_not_ring),
		T(read__beginning_then_error_is_nothing),
		T(read__tux_data_proves),
		T(read__error_once_then_end),
		T(read__rings_when_worth_it),
		T(arm__answers_again),
		T(arm__too_late_is_void),
		T(arm__nowhere_disarms),
		T(arm__pinned_only_disarms),
		T(swallow__counts_plain),
		T(swallow__up_to_n),
		T(pin__untouched),
		T(pin__waits_for_doubt),
		T(pin__minds_the_spill),
		T(pin__too_late),
		T(raw__not_before_its_frame),
		T(advance__looks_behind_a_beginning),
		T(advance__leaves_what_is_before_n),
		T(poll__end_behind_unread),
		T(poll__writable_at_a_quarter),
		T(touch__a_few_times),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
