/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The receiver's half of the switch, rule by rule.
 */
#include <signal.h>
#include <sys/mman.h>

#include "lone.h"

static void read__stops_at_n(void **state)
{
	struct fixture *f = *state;
	char buf[64];

	arm(f, 1, 3);
	arrive(f, "abc", 3);
	assert_int_equal(get(f, buf, sizeof(buf)), 3);
	assert_int_equal(f->d->rx.state, TUX_RX_ARMED);
	/* Other bytes than the marker: void, and they are data. */
	arrive(f, "def", 3);
	assert_int_equal(get(f, buf, sizeof(buf)), 3);
	assert_memory_equal(buf, "def", 3);
	assert_int_equal(f->d->rx.state, TUX_RX_PLAIN);
}

/* A write that went past N is not cut there. */
static void read__goes_on_past_n(void **state)
{
	struct fixture *f = *state;
	char buf[64];

	arm(f, 1, 3);
	arrive(f, "abcdef", 6);
	assert_int_equal(get(f, buf, 3), 3);
	assert_int_equal(f->d->rx.state, TUX_RX_ARMED);
	assert_int_equal(get(f, buf, 64), 3);
	arm(f, 2, 9);
	arrive(f, "ghijkl", 6);
	assert_int_equal(get(f, buf, sizeof(buf)), 6);
	assert_memory_equal(buf, "ghijkl", 6);
	assert_int_equal(f->d->rx.state, TUX_RX_PLAIN);
}

/* The end and an error behind N are for the next read. */
static void read__ends_at_n(void **state)
{
	struct fixture *f = *state;
	char buf[64];

	arm(f, 1, 3);
	arrive(f, "abc", 3);
	f->w.eof = true;
	assert_int_equal(get(f, buf, sizeof(buf)), 3);
	assert_int_equal(get(f, buf, sizeof(buf)), 0);
	f->w.eof = false;
	arm(f, 2, 6);
	arrive(f, "def", 3);
	f->w.err = ECONNRESET;
	assert_int_equal(get(f, buf, sizeof(buf)), 3);
	f->w.err = 0;
	f->w.eof = true;
	assert_int_equal(get(f, buf, sizeof(buf)), -ECONNRESET);
}

static void fill_ring(struct fixture *f, uint64_t at, const char *s)
{
	tux_pipe_place(&f->d->rxp, at, s, (uint32_t)strlen(s));
	tux_pipe_publish(&f->d->rxp, at + strlen(s));
}

/* A write that went across N is read whole.  The loop then puts its rest into
 * the ring, where reads leave it out. */
/* Only a peer that breaks the rules puts N so far away, and bytes behind it. */
static void read__far_below_n(void **state)
{
	struct fixture *f = *state;
	const uint64_t n = UINT64_C(1) << 63;
	char buf[8];

	arm(f, 1, n);
	fill_ring(f, n, "xyz");
	arrive(f, "abc", 3);
	assert_int_equal(get(f, buf, 8), 3);
	assert_memory_equal(buf, "abc", 3);
	assert_int_equal(f->d->rx.state, TUX_RX_ARMED);
}

/* A write of the peer's goes across N, which is 3: the part below is in TCP, and the
 * marker behind it. */
static void go_across(struct fixture *f)
{
	arm(f, 1, 3);
	arrive(f, "abc", 3);
	arrive(f, f->d->rx.marker, TUX_MARKER_LEN);
}

static void read__across_n(void **state)
{
	struct fixture *f = *state;
	char buf[64];

	go_across(f);
	arrive_frame(f, 3, "defgh", 5);
	arrive_frame(f, 8, "ij", 2);
	memset(buf, 'z', sizeof(buf));
	assert_int_equal(get(f, buf, sizeof(buf)), 8);
	assert_memory_equal(buf, "abcdefghzzzzzzzz", 16);
	assert_int_equal(f->d->rx.state, TUX_RX_SWITCHED);
	assert_int_equal(f->d->rx.marker_left, 0);
	assert_int_equal(f->w.in_at, 3 + TUX_MARKER_LEN);
	assert_int_equal(get(f, buf, sizeof(buf)), -EAGAIN);
	fill_ring(f, 3, "defgh");
	assert_int_equal(tux_duplex_readable(f->d), 0);
	assert_false(tux_duplex_poll(f->d) & TUX_CAN_READ);
	assert_int_equal(get(f, buf, sizeof(buf)), -EAGAIN);
	fill_ring(f, 8, "ij");
	assert_int_equal(tux_duplex_readable(f->d), 2);
	assert_int_equal(get(f, buf, sizeof(buf)), 2);
	assert_memory_equal(buf, "ij", 2);
	assert_true(tux_pipe_tail(&f->d->rxp) == 10);
}

/* The marker may have been cut short: none of it is data. */
static void read__across_n_then_error(void **state)
{
	struct fixture *f = *state;
	char buf[64];

	arm(f, 1, 3);
	arrive(f, "abc", 3);
	arrive(f, f->d->rx.marker, 7);
	f->w.err = ECONNRESET;
	assert_int_equal(get(f, buf, sizeof(buf)), 3);
	f->w.err = 0;		/* TCP tells it once */
	f->w.eof = true;
	assert_int_equal(get(f, buf, sizeof(buf)), -ECONNRESET);
}

/* Not all of the frame is here, or the reader has not so much room. */
static void read__across_n_in_part(void **state)
{
	struct fixture *f = *state;
	char a[2], b[4];
	struct iovec v[2] = { { a, sizeof(a) }, { b, sizeof(b) } };

	go_across(f);
	arrive_frame(f, 3, "defgh", 4);
	assert_int_equal(tux_duplex_read(f->d, v, 2, false, &f->tcp), 6);
	assert_memory_equal(b, "cdef", 4);
	fill_ring(f, 3, "de");
	assert_int_equal(tux_duplex_readable(f->d), 0);
	fill_ring(f, 5, "fgh");
	assert_int_equal(tux_duplex_readable(f->d), 2);
	assert_int_equal(get(f, b, 4), 2);
	assert_memory_equal(b, "gh", 2);
}

/* Behind the marker lies another frame, or one that is too long for half a
 * ring: it is the loop's. */
static void not_across(struct fixture *f, struct tux_frame h)
{
	uint8_t hdr[TUX_FRAME_HDR];
	char buf[64];

	tux_frame_encode(&h, hdr);
	go_across(f);
	arrive(f, hdr, sizeof(hdr));
	arrive(f, "defgh", 5);
	assert_int_equal(get(f, buf, sizeof(buf)), 3);
	assert_int_equal(f->d->rx.state, TUX_RX_SWITCHED);
	fill_ring(f, 3, "defgh");
	assert_int_equal(get(f, buf, sizeof(buf)), 5);
}

static void read__other_frames(void **state)
{
	not_across(*state, (struct tux_frame){ TUX_FRAME_DATA, 5, 2 });
	teardown(state);
	setup(state);
	not_across(*state, (struct tux_frame){ TUX_FRAME_FIN, 0, 3 });
	teardown(state);
	setup(state);
	not_across(*state,
		   (struct tux_frame){ TUX_FRAME_DATA, CAP / 2 + 1, 3 });
}

/* A part of the rest came over Tux, too.  A peek, and a count, have shown all of it,
 * and so a read takes all of it. */
static void read__across_n_and_some_over_tux(void **state)
{
	struct fixture *f = *state;
	char buf[64];

	go_across(f);
	arrive_frame(f, 3, "defgh", 5);
	fill_ring(f, 3, "de");
	assert_int_equal(get(f, buf, sizeof(buf)), 8);
	assert_memory_equal(buf, "abcdefgh", 8);
	assert_int_equal(get(f, buf, sizeof(buf)), -EAGAIN);
	fill_ring(f, 5, "fghij");
	assert_int_equal(get(f, buf, sizeof(buf)), 2);
	assert_memory_equal(buf, "ij", 2);
}

/* There is more in the ring than in the frame. */
static void read__across_n_and_more_over_tux(void **state)
{
	struct fixture *f = *state;
	char buf[64];

	go_across(f);
	arrive_frame(f, 3, "defgh", 2);
	fill_ring(f, 3, "defghij");
	assert_int_equal(get(f, buf, sizeof(buf)), 5);
	assert_memory_equal(buf, "abcde", 5);
	assert_true(tux_duplex_at_switch(f->d));
	assert_int_equal(get(f, buf, sizeof(buf)), 5);
	assert_memory_equal(buf, "fghij", 5);
}

/* Where the marker should be, TCP has an error: it waits behind the ring. */
static void read__error_in_place_of_the_marker(void **state)
{
	struct fixture *f = *state;
	char buf[64];

	arm(f, 1, 3);
	arrive(f, "abc", 3);
	fill_ring(f, 3, "de");
	assert_int_equal(get(f, buf, 3), 3);
	f->w.err = ECONNRESET;
	assert_int_equal(get(f, buf, sizeof(buf)), 2);
	assert_memory_equal(buf, "de", 2);
	f->w.err = 0;			/* TCP tells it once */
	assert_int_equal(get(f, buf, sizeof(buf)), -ECONNRESET);
}

/* A short read has emptied TCP, but more may lie behind N. */
static void from_tcp__until_the_switch(void **state)
{
	struct fixture *f = *state;
	char buf[64];

	assert_true(tux_duplex_from_tcp(f->d));
	assert_false(tux_duplex_at_switch(f->d));
	arm(f, 1, 3);
	arrive(f, "ab", 2);
	assert_int_equal(get(f, buf, sizeof(buf)), 2);
	assert_true(tux_duplex_from_tcp(f->d));
	assert_false(tux_duplex_at_switch(f->d));
	arrive(f, "c", 1);
	assert_int_equal(get(f, buf, sizeof(buf)), 1);
	assert_false(tux_duplex_from_tcp(f->d));
	assert_true(tux_duplex_at_switch(f->d));
	arrive(f, f->d->rx.marker, TUX_MARKER_LEN);
	assert_int_equal(get(f, buf, sizeof(buf)), -EAGAIN);
	assert_false(tux_duplex_from_tcp(f->d));
	assert_true(tux_duplex_at_switch(f->d));
}

/* In a later turn, reads begin where they were. */
static void read__across_n_again(void **state)
{
	struct fixture *f = *state;
	char buf[64];

	read__across_n(state);
	tux_duplex_rx_plain(f->d, 10);
	assert_true(tux_duplex_drained(f->d));
	f->w.in_at = f->w.in_len;
	arm(f, 2, 12);
	arrive(f, "kl", 2);
	arrive(f, f->d->rx.marker, TUX_MARKER_LEN);
	arrive_frame(f, 12, "mn", 2);
	assert_int_equal(get(f, buf, sizeof(buf)), 4);
	assert_memory_equal(buf, "klmn", 4);
	/* It becomes plain before the application reads on. */
	fill_ring(f, 12, "mn");
	tux_duplex_rx_plain(f->d, 14);
	assert_int_equal(tux_duplex_readable(f->d), 0);
	assert_true(tux_duplex_drained(f->d));
}

static void read__marker_switches(void **state)
{
	struct fixture *f = *state;
	char buf[64];

	arm(f, 1, 0);
	arrive(f, f->d->rx.marker, TUX_MARKER_LEN);
	assert_int_equal(get(f, buf, sizeof(buf)), -EAGAIN);
	assert_int_equal(f->d->rx.state, TUX_RX_SWITCHED);
	assert_int_equal(f->d->rx.marker_left, 0);
	assert_int_equal(f->w.in_at, TUX_MARKER_LEN);
	assert_true(f->d->rung & TUX_DOORBELL_RX);
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
	assert_int_equal(f->d->rx.state, TUX_RX_SWITCHED);
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

/* The spill goes into several buffers, the last of which is longer than needed;
 * or it is only peeked at. */
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

/* A ring with more bytes than the buffers take, and with fewer. */
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

/* A peek makes no room, so it does not ring. */
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
	assert_int_equal(get(f, buf, sizeof(buf)), 4);
	assert_memory_equal(buf, "abcd", 4);
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
	assert_int_equal(f->d->rung, TUX_DOORBELL_RX);
}

/* Until the loop has said what is worth a ring, every read rings: the ring may
 * be full, and the loop may wait for room in it. */
static void read__rings_before_any_window(void **state)
{
	struct fixture *f = *state;
	char buf[CAP];

	arm(f, 1, 0);
	tux_duplex_prove(f->d);
	memset(buf, 'x', sizeof(buf));
	tux_pipe_place(&f->d->rxp, 0, buf, CAP);
	tux_pipe_publish(&f->d->rxp, CAP);
	atomic_store(&f->d->rung, 0);
	assert_int_equal(get(f, buf, CAP), CAP);
	assert_int_equal(f->d->rung, TUX_DOORBELL_RX);
}

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

/* Bytes that are discarded while nothing is armed count in rx.off, too. */
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

/* The loop discards no more than the bytes below N at once. */
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
	assert_int_equal(f->d->rx.state, TUX_RX_SWITCHED);
	assert_int_equal(f->d->rx.marker_left, 0);
	assert_int_equal(f->d->rx.off, 40100);
}

/* An application that is told "not readable" may sleep for ever. */
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

/* Bytes below N are never a marker. */
static void advance__leaves_what_is_before_n(void **state)
{
	struct fixture *f = *state;

	arm(f, 1, 3);
	arrive(f, f->d->rx.marker, 7);
	assert_true(tux_duplex_advance(f->d, &f->tcp));
	assert_int_equal(f->w.in_at, 0);
	assert_int_equal(f->d->rx.state, TUX_RX_ARMED);
}

/* A read of no bytes returns 0 and reports neither the end nor an error. */
static void read__nothing(void **state)
{
	struct fixture *f = *state;
	char buf[1];

	arm(f, 1, 0);
	assert_true(tux_duplex_prove(f->d));
	f->d->rx.eof = 1;
	atomic_store(&f->d->err, ECONNRESET);
	assert_int_equal(get(f, buf, 0), 0);
	assert_int_equal(get(f, buf, 1), -ECONNRESET);
}

/* An error without an end is reported once; then there is -EAGAIN. */
static void read__error_without_end(void **state)
{
	struct fixture *f = *state;
	char buf[1];

	arm(f, 1, 0);
	assert_true(tux_duplex_prove(f->d));
	assert_int_equal(get(f, buf, 1), -EAGAIN);
	atomic_store(&f->d->err, EIO);
	assert_int_equal(get(f, buf, 1), -EIO);
	assert_int_equal(get(f, buf, 1), -EAGAIN);
}

/* TCP reports an error once; if it did so to the loop, it is in d->err. */
static void read__plain_end_with_an_error(void **state)
{
	struct fixture *f = *state;
	char buf[1];

	f->w.eof = true;
	atomic_store(&f->d->err, ECONNRESET);
	assert_int_equal(get(f, buf, 1), -ECONNRESET);
	assert_int_equal(get(f, buf, 1), 0);
}

/* TCP and this end have heard of the same. */
static void read__error_of_both_once(void **state)
{
	struct fixture *f = *state;
	char buf[1];

	atomic_store(&f->d->err, ETIMEDOUT);
	assert_int_equal(get(f, buf, 1), -EAGAIN);
	assert_int_equal(f->d->err, ETIMEDOUT);
	f->w.err = ECONNRESET;
	assert_int_equal(get(f, buf, 1), -ECONNRESET);
	f->w.err = 0;
	f->w.eof = true;
	assert_int_equal(get(f, buf, 1), 0);
}

/* Bytes in spill come before those in TCP. */
static void read__spill_in_pieces(void **state)
{
	struct fixture *f = *state;
	char buf[8];
	struct iovec v[2] = { { buf, 2 }, { buf + 2, 2 } };

	arm(f, 1, 0);
	arrive(f, f->d->rx.marker, 5);
	assert_int_equal(get(f, buf, 8), -EAGAIN);
	arm(f, 2, TUX_NOWHERE);
	assert_int_equal(f->d->rx.spill_len, 5);
	assert_int_equal(f->d->rx.off, 5);
	assert_int_equal(tux_duplex_read(f->d, v, 2, true, &f->tcp), 4);
	assert_int_equal(f->d->rx.spill_len, 5);
	assert_int_equal(tux_duplex_read(f->d, v, 2, false, &f->tcp), 4);
	assert_memory_equal(buf, f->d->rx.marker, 4);
	assert_int_equal(get(f, buf, 8), 1);
	assert_int_equal(get(f, buf, 8), -EAGAIN);
}

static void prove__at_n_only(void **state)
{
	struct fixture *f = *state;

	assert_false(tux_duplex_prove(f->d));
	arm(f, 1, 1);
	assert_false(tux_duplex_prove(f->d));
	f->d->rx.off = 1;
	assert_true(tux_duplex_prove(f->d));
	assert_true(tux_duplex_prove(f->d));
	assert_int_equal(f->d->rung & TUX_DOORBELL_RX, TUX_DOORBELL_RX);
}

/* The peek finds the marker, and the read after it fails. */
static ssize_t broken_recv(void *arg, const struct iovec *iov, int n,
			   bool peek)
{
	return peek ? wire_recv(arg, iov, n, true) : -ECONNRESET;
}

static void read__marker_cannot_be_taken(void **state)
{
	struct fixture *f = *state;
	char buf[8];

	arm(f, 1, 0);
	arrive(f, f->d->rx.marker, TUX_MARKER_LEN);
	f->tcp.recv = broken_recv;
	assert_int_equal(get(f, buf, 8), -ECONNRESET);
	assert_int_equal(f->d->rx.state, TUX_RX_ARMED);
	assert_int_equal(f->d->rx.held, 0);
}

/* More bytes arrive behind the first peek. */
static ssize_t growing_recv(void *arg, const struct iovec *iov, int n,
			    bool peek)
{
	struct wire *w = arg;
	ssize_t k = wire_recv(arg, iov, n, peek);

	if (peek && w->in_len == 7) {
		memcpy(w->in + w->in_len, "xyz", 3);
		w->in_len += 3;
	}
	return k;
}

/* Only bytes that were compared with the marker are held. */
static void read__more_than_was_compared(void **state)
{
	struct fixture *f = *state;
	char buf[16];

	arm(f, 1, 0);
	f->d->rx.marker[7] = 'a';
	arrive(f, f->d->rx.marker, 7);
	f->tcp.recv = growing_recv;
	assert_int_equal(get(f, buf, 16), 7);
	assert_memory_equal(buf, f->d->rx.marker, 7);
	assert_int_equal(f->d->rx.state, TUX_RX_PLAIN);
	assert_int_equal(get(f, buf, 16), 3);
	assert_memory_equal(buf, "xyz", 3);
}

static struct fixture *faulted;
static struct iovec *page;		/* not accessible until the fault */

/* The ring was empty, and the reader looks at its iovec now.  The loop publishes
 * the last bytes, and then the end of the stream. */
static void publish_late(int sig)
{
	(void)sig;
	mprotect(page, 4096, PROT_READ | PROT_WRITE);
	tux_pipe_place(&faulted->d->rxp, 0, "abc", 3);
	tux_pipe_publish(&faulted->d->rxp, 3);
	faulted->d->rx.eof = 1;
}

/* The end of the stream is seen after the ring was found empty, and there are
 * bytes before it. */
static void read__bytes_just_before_the_end(void **state)
{
	const struct sigaction fault = { .sa_handler = publish_late };
	struct sigaction was;
	struct fixture *f = *state;
	char buf[4];

	arm(f, 1, 0);
	tux_duplex_prove(f->d);
	faulted = f;
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(page != MAP_FAILED);
	*page = (struct iovec){ buf, sizeof(buf) };
	assert_int_equal(mprotect(page, 4096, PROT_NONE), 0);
	assert_int_equal(sigaction(SIGSEGV, &fault, &was), 0);
	assert_int_equal(tux_duplex_read(f->d, page, 1, false, &f->tcp), 3);
	assert_int_equal(sigaction(SIGSEGV, &was, NULL), 0);
	assert_memory_equal(buf, "abc", 3);
	assert_int_equal(get(f, buf, sizeof(buf)), 0);
	munmap(page, 4096);
}

static void arm__not_once_it_is_on_the_ring(void **state)
{
	struct fixture *f = *state;

	arm(f, 1, 0);
	assert_true(tux_duplex_prove(f->d));
	assert_false(tux_duplex_arm(f->d, 2, 0, &key, false));
	assert_int_equal(f->d->rx.gen, 1);
}

/* A peer that breaks the rules has sent bytes, and then takes its announcement
 * back: its bytes are not read in front of those of TCP. */
static void disarm__what_came_over_tux_is_void(void **state)
{
	struct fixture *f = *state;
	char buf[4];

	arm(f, 1, 10);
	tux_pipe_place(&f->d->rxp, 10, "abc", 3);
	tux_pipe_publish(&f->d->rxp, 13);
	assert_true(tux_duplex_arm(f->d, 2, TUX_NOWHERE, &key, false));
	assert_int_equal(f->d->rx.state, TUX_RX_PLAIN);
	assert_int_equal(tux_duplex_readable(f->d), 0);
	assert_true(tux_duplex_drained(f->d));
	assert_int_equal(get(f, buf, sizeof(buf)), -EAGAIN);
}

/* A RAW direction arms neither a new nor a known generation. */
static void arm__never_when_raw(void **state)
{
	struct fixture *f = *state;

	f->d->rx.state = TUX_RX_RAW;
	assert_false(tux_duplex_arm(f->d, 1, 10, &key, false));
	assert_false(tux_duplex_arm(f->d, 2, TUX_NOWHERE, &key, false));
	f->d->rx.gen = 3;
	assert_false(tux_duplex_arm(f->d, 3, 10, &key, false));
	assert_int_equal(f->d->rx.state, TUX_RX_RAW);
}

/* ---- plain again, as a new turn ---- */

/* The ring's bytes come first, then TCP's; meanwhile nothing may be armed, and
 * the read that empties the ring rings. */
static void plain__ring_then_tcp(void **state)
{
	struct fixture *f = *state;
	char buf[8];

	arm(f, 1, 0);
	assert_true(tux_duplex_prove(f->d));
	assert_true(tux_duplex_drained(f->d));
	tux_pipe_place(&f->d->rxp, 0, "abc", 3);
	tux_pipe_publish(&f->d->rxp, 3);
	assert_true(tux_duplex_drained(f->d));	/* SWITCHED: it may have bytes */
	tux_duplex_rx_plain(f->d, 3);
	arrive(f, "de", 2);
	assert_int_equal(tux_duplex_rx_turns(f->d), 1);
	assert_int_equal(tux_duplex_readable(f->d), 3);
	assert_int_equal(tux_duplex_poll(f->d), TUX_CAN_READ);
	assert_false(tux_duplex_drained(f->d));
	atomic_store(&f->d->rung, 0);
	assert_int_equal(get(f, buf, sizeof(buf)), 3);
	assert_memory_equal(buf, "abc", 3);
	assert_true(f->d->rung & TUX_DOORBELL_RX);
	assert_true(tux_duplex_drained(f->d));
	assert_int_equal(get(f, buf, sizeof(buf)), 2);
	assert_memory_equal(buf, "de", 2);
	assert_true(f->d->rx.off == 5);
	assert_int_equal(tux_duplex_poll(f->d), 0);
}

/* A generation of the second turn; the known one is not armed again. */
static void plain__is_armed_again(void **state)
{
	struct fixture *f = *state;
	char buf[8];

	arm(f, 1, 0);
	assert_true(tux_duplex_prove(f->d));
	tux_duplex_rx_plain(f->d, 0);
	assert_false(tux_duplex_arm(f->d, 1, 0, &key, false));
	arm(f, 2, 2);
	assert_true(tux_pipe_head(&f->d->rxp) == 2);
	arrive(f, "ab", 2);
	arrive(f, f->d->rx.marker, TUX_MARKER_LEN);
	assert_int_equal(get(f, buf, sizeof(buf)), 2);
	assert_int_equal(get(f, buf, sizeof(buf)), -EAGAIN);
	assert_int_equal(f->d->rx.state, TUX_RX_SWITCHED);
	assert_true(f->d->rx.off == 2);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(read__stops_at_n),
		T(read__goes_on_past_n),
		T(read__ends_at_n),
		T(read__far_below_n),
		T(read__across_n),
		T(read__across_n_then_error),
		T(read__across_n_in_part),
		T(read__other_frames),
		T(read__across_n_and_some_over_tux),
		T(read__across_n_and_more_over_tux),
		T(read__error_in_place_of_the_marker),
		T(from_tcp__until_the_switch),
		T(read__across_n_again),
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
		T(read__rings_before_any_window),
		T(arm__answers_again),
		T(arm__too_late_is_void),
		T(arm__nowhere_disarms),
		T(arm__pinned_only_disarms),
		T(swallow__counts_plain),
		T(swallow__up_to_n),
		T(advance__looks_behind_a_beginning),
		T(advance__leaves_what_is_before_n),
		T(read__nothing),
		T(read__error_without_end),
		T(read__plain_end_with_an_error),
		T(read__error_of_both_once),
		T(read__spill_in_pieces),
		T(prove__at_n_only),
		T(read__marker_cannot_be_taken),
		T(read__more_than_was_compared),
		T(read__bytes_just_before_the_end),
		T(arm__not_once_it_is_on_the_ring),
		T(disarm__what_came_over_tux_is_void),
		T(arm__never_when_raw),
		T(plain__ring_then_tcp),
		T(plain__is_armed_again),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
