/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Unread bytes in several places, and the end behind them.
 */
#include "lone.h"

static void ring(struct fixture *f, uint64_t at, const char *s)
{
	tux_pipe_place(&f->d->rxp, at, s, (uint32_t)strlen(s));
	tux_pipe_publish(&f->d->rxp, at + strlen(s));
}

/* Into two buffers, of which the first has @first bytes. */
static void peek_sees(struct fixture *f, size_t first, const void *want,
		      size_t len)
{
	char buf[512];
	struct iovec v[2] = { { buf, first },
			      { buf + first, sizeof(buf) - first } };
	size_t in_at = f->w.in_at, tail = tux_pipe_tail(&f->d->rxp);

	assert_int_equal(tux_duplex_read(f->d, v, 2, true, &f->tcp), len);
	assert_memory_equal(buf, want, len);
	assert_int_equal(f->w.in_at, in_at);
	assert_int_equal(tux_pipe_tail(&f->d->rxp), tail);
	/* So many are counted, too. */
	assert_int_equal(tux_duplex_unread(f->d, f->w.in_len - in_at, &f->tcp),
			 len);
	/* As much as there is room for. */
	v[1].iov_len = len > first ? len - first - 1 : 0;
	if (len > first)
		assert_int_equal(tux_duplex_read(f->d, v, 2, true, &f->tcp),
				 len - 1);
}

static bool ended(struct fixture *f)
{
	bool fin = f->w.eof && !f->w.err;

	return tux_duplex_ended(f->d, fin, &f->tcp);
}

/* ---- peeks ---- */

static void peek__behind_n_in_the_ring(void **state)
{
	struct fixture *f = *state;

	arm(f, 1, 3);
	arrive(f, "abc", 3);
	arrive(f, f->d->rx.marker, TUX_MARKER_LEN);
	peek_sees(f, 2, "abc", 3);
	ring(f, 3, "defgh");
	peek_sees(f, 2, "abcdefgh", 8);
	peek_sees(f, 5, "abcdefgh", 8);
	assert_int_equal(f->d->rx.state, TUX_RX_ARMED);
}

/* The ring is not shown before the bytes in front of it are there. */
static void peek__bytes_below_n_are_missing(void **state)
{
	struct fixture *f = *state;

	arm(f, 1, 3);
	arrive(f, "ab", 2);
	ring(f, 3, "de");
	peek_sees(f, 1, "ab", 2);
	arrive(f, "c", 1);
	peek_sees(f, 1, "abcde", 5);
}

static void peek__behind_n_in_tcp(void **state)
{
	struct fixture *f = *state;

	arm(f, 1, 3);
	arrive(f, "abc", 3);
	arrive(f, f->d->rx.marker, 4);
	peek_sees(f, 1, "abc", 3);
	arrive(f, "xyz", 3);
	assert_int_equal(f->w.in_len, 10);
	peek_sees(f, 1, f->w.in, 10);
}

static void peek__behind_a_spill(void **state)
{
	struct fixture *f = *state;
	char buf[8];

	arm(f, 1, 0);
	arrive(f, f->d->rx.marker, 5);
	assert_int_equal(get(f, buf, 8), -EAGAIN);
	arm(f, 2, TUX_NOWHERE);
	peek_sees(f, 2, f->w.in, 5);
	arrive(f, "abc", 3);
	peek_sees(f, 2, f->w.in, 8);
	arm(f, 3, 8);
	peek_sees(f, 2, f->w.in, 8);
	ring(f, 8, "de");
	memcpy(f->w.in + 8, "de", 2);
	peek_sees(f, 6, f->w.in, 10);
}

/* Armed at the very byte behind the spill. */
static void peek__spill_then_ring(void **state)
{
	struct fixture *f = *state;
	char buf[8];

	arm(f, 1, 0);
	arrive(f, f->d->rx.marker, 5);
	assert_int_equal(get(f, buf, 8), -EAGAIN);
	arm(f, 2, 5);
	assert_int_equal(f->d->rx.spill_len, 5);
	peek_sees(f, 2, f->w.in, 5);
	ring(f, 5, "de");
	memcpy(f->w.in + 5, "de", 2);
	peek_sees(f, 2, f->w.in, 7);
	assert_true(tux_duplex_prove(f->d));
	peek_sees(f, 2, f->w.in, 7);
}

/* The rest of a write that went across N lies in a frame behind the marker. */
static void peek__across_n(void **state)
{
	struct fixture *f = *state;

	arm(f, 1, 3);
	arrive(f, "abc", 3);
	arrive(f, f->d->rx.marker, TUX_MARKER_LEN);
	arrive_frame(f, 3, "defgh", 2);
	peek_sees(f, 2, "abcde", 5);
	arrive(f, "fgh", 3);
	peek_sees(f, 2, "abcdefgh", 8);
	arrive_frame(f, 8, "ijk", 3);
	peek_sees(f, 5, "abcdefgh", 8);
	assert_int_equal(f->d->rx.state, TUX_RX_ARMED);
}

/* ... and some of it came over Tux, too: all is seen, as before. */
static void peek__across_n_and_over_tux(void **state)
{
	struct fixture *f = *state;

	arm(f, 1, 3);
	arrive(f, "abc", 3);
	arrive(f, f->d->rx.marker, TUX_MARKER_LEN);
	arrive_frame(f, 3, "defgh", 5);
	peek_sees(f, 2, "abcdefgh", 8);
	ring(f, 3, "de");
	peek_sees(f, 2, "abcdefgh", 8);
	ring(f, 5, "fghij");
	peek_sees(f, 2, "abcdefghij", 10);
}

/* Plain again, for good or not: the ring comes first. */
static void plain_again(struct fixture *f, bool raw)
{
	arm(f, 1, 0);
	assert_true(tux_duplex_prove(f->d));
	ring(f, 0, "abc");
	if (raw)
		atomic_store(&f->d->rx.state, TUX_RX_RAW);
	else
		tux_duplex_rx_plain(f->d, 3);
	peek_sees(f, 2, "abc", 3);
	arrive(f, "de", 2);
	peek_sees(f, 2, "abcde", 5);
	f->w.eof = true;
	assert_true(ended(f));
	tux_pipe_consume(&f->d->rxp, 3);
	peek_sees(f, 1, "de", 2);
	assert_true(ended(f));
}

static void peek__raw(void **state)
{
	plain_again(*state, true);
}

static void peek__later_turn(void **state)
{
	plain_again(*state, false);
}

/* TCP tells its error once, and the bytes that come first are not read yet. */
static void peek__keeps_an_error(void **state)
{
	struct fixture *f = *state;
	char buf[8];

	arm(f, 1, 0);
	assert_true(tux_duplex_prove(f->d));
	ring(f, 0, "abc");
	atomic_store(&f->d->rx.state, TUX_RX_RAW);
	f->w.err = ECONNRESET;
	peek_sees(f, 2, "abc", 3);
	f->w.err = 0;
	f->w.eof = true;
	assert_int_equal(get(f, buf, 8), 3);
	assert_int_equal(get(f, buf, 8), -ECONNRESET);
}

/* ---- the end ---- */

static void ended__plain(void **state)
{
	struct fixture *f = *state;

	arrive(f, "abc", 3);
	assert_false(ended(f));
	f->w.eof = true;
	assert_true(ended(f));
	atomic_store(&f->d->err, ECONNRESET);
	assert_false(ended(f));
}

/* Short of N, at N, and behind it. */
static void ended__without_a_marker(void **state)
{
	struct fixture *f = *state;

	arm(f, 1, 3);
	f->w.eof = true;
	assert_true(ended(f));
	arrive(f, "ab", 2);
	assert_true(ended(f));
	arrive(f, "c", 1);
	assert_true(ended(f));
	arrive(f, f->d->rx.marker, 5);
	assert_true(ended(f));
	arrive(f, "no marker", 9);
	assert_true(ended(f));
	f->w.eof = false;
	assert_false(ended(f));
	assert_int_equal(f->w.in_at, 0);
}

/* The sender has switched: its FIN comes over Tux.  TCP's own means that it
 * was killed. */
static void ended__behind_a_marker(void **state)
{
	struct fixture *f = *state;

	arm(f, 1, 3);
	arrive(f, "abc", 3);
	arrive(f, f->d->rx.marker, TUX_MARKER_LEN);
	f->w.eof = true;
	assert_false(ended(f));
	ring(f, 3, "de");
	assert_false(ended(f));
	atomic_store(&f->d->rx.eof, 1);
	assert_true(ended(f));
	atomic_store(&f->d->err, ECONNRESET);
	assert_false(ended(f));
}

/* The FIN came over Tux, and TCP is late. */
static void ended__before_tcp(void **state)
{
	struct fixture *f = *state;

	arm(f, 1, 3);
	atomic_store(&f->d->rx.eof, 1);
	assert_false(ended(f));
	arrive(f, "abc", 3);
	assert_false(ended(f));
	arrive(f, f->d->rx.marker, TUX_MARKER_LEN - 1);
	assert_false(ended(f));
	arrive(f, f->d->rx.marker + TUX_MARKER_LEN - 1, 1);
	assert_true(ended(f));
	f->w.in_len = 3;
	assert_false(ended(f));
	ring(f, 3, "de");
	assert_true(ended(f));
	f->w.in_len = 2;
	assert_false(ended(f));
}

static void ended__in_the_middle_of_a_marker(void **state)
{
	struct fixture *f = *state;
	char buf[8];

	arm(f, 1, 0);
	arrive(f, f->d->rx.marker, 5);
	assert_int_equal(get(f, buf, 8), -EAGAIN);
	assert_int_equal(f->d->rx.held, 5);
	arrive(f, f->d->rx.marker + 5, TUX_MARKER_LEN - 5);
	f->w.eof = true;
	assert_false(ended(f));
	f->w.in_len -= 2;
	assert_true(ended(f));
}

static void ended__on_the_ring(void **state)
{
	struct fixture *f = *state;

	arm(f, 1, 0);
	assert_true(tux_duplex_prove(f->d));
	ring(f, 0, "ab");
	f->w.eof = true;
	assert_false(ended(f));
	atomic_store(&f->d->rx.eof, 1);
	assert_true(ended(f));
	f->w.eof = false;
	atomic_store(&f->d->rx.eof, 0);
	atomic_store(&f->d->rx.state, TUX_RX_RAW);
	assert_false(ended(f));
	f->w.eof = true;
	assert_true(ended(f));
}

/* More than one look takes: it is not known, and no bytes are lost. */
static void ended__far_below_n(void **state)
{
	struct fixture *f = *state;

	arm(f, 1, 4096 * 256 + 1);
	arrive(f, "ab", 2);
	f->w.eof = true;
	assert_false(ended(f));
	assert_int_equal(f->w.in_at, 0);
	f->d->rx.off = 1;
	assert_true(ended(f));
}

static void ended__keeps_an_error(void **state)
{
	struct fixture *f = *state;

	arm(f, 1, 3);
	f->w.err = ECONNRESET;
	assert_false(tux_duplex_ended(f->d, true, &f->tcp));
	assert_int_equal(atomic_load(&f->d->err), ECONNRESET);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(peek__behind_n_in_the_ring),
		CASE(peek__bytes_below_n_are_missing),
		CASE(peek__behind_n_in_tcp),
		CASE(peek__behind_a_spill),
		CASE(peek__spill_then_ring),
		CASE(peek__across_n),
		CASE(peek__across_n_and_over_tux),
		CASE(peek__raw),
		CASE(peek__later_turn),
		CASE(peek__keeps_an_error),
		CASE(ended__plain),
		CASE(ended__without_a_marker),
		CASE(ended__behind_a_marker),
		CASE(ended__before_tcp),
		CASE(ended__in_the_middle_of_a_marker),
		CASE(ended__on_the_ring),
		CASE(ended__far_below_n),
		CASE(ended__keeps_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
