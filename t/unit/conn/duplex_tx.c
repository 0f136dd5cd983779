/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sender's half of the switch, rule by rule.
 */
#include "lone.h"

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

/* TCP gets it in one piece. */
static void write__past_n_is_not_cut(void **state)
{
	struct fixture *f = *state;

	announce(f, 3);
	assert_int_equal(put(f, "abcde", 5), 5);
	assert_int_equal(f->d->tx.state, TUX_TX_PLAIN);
	assert_int_equal(f->d->tx.doubt, 0);
	assert_int_equal(f->w.sends, 1);
}

static void write__commits_at_n(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(announce(f, 3), 3);
	tux_duplex_prepared(f->d, f->d->tx.gen);
	assert_int_equal(put(f, "abc", 3), 3);
	assert_int_equal(f->d->tx.state, TUX_TX_ACKED);
	assert_int_equal(put(f, "de", 2), 2);
	assert_int_equal(f->d->tx.state, TUX_TX_SWITCHED);
	assert_int_equal(f->w.out_len, 3 + TUX_MARKER_LEN);
	assert_memory_equal(f->w.out + 3, f->d->tx.marker, TUX_MARKER_LEN);
	assert_int_equal(tux_pipe_len(&f->d->txp), 2);
	assert_int_equal(tux_pipe_tail(&f->d->txp), 3);
	assert_int_equal(f->d->tx.rest, 0);
}

/* What a write of "abc" and "defgh" puts into TCP if N is 3. */
static size_t across(struct fixture *f, uint8_t *p)
{
	const struct tux_frame data = { TUX_FRAME_DATA, 5, 3 };
	const struct tux_frame sw = { TUX_FRAME_SWITCH, 0, 8 };
	size_t n = 0;

	memcpy(p + n, "abc", 3);
	n += 3;
	memcpy(p + n, f->d->tx.marker, TUX_MARKER_LEN);
	n += TUX_MARKER_LEN;
	tux_frame_encode(&data, p + n);
	n += TUX_FRAME_HDR;
	memcpy(p + n, "defgh", 5);
	n += 5;
	tux_frame_encode(&sw, p + n);
	return n + TUX_FRAME_HDR;
}

static void write__across_n(void **state)
{
	struct fixture *f = *state;
	char bytes[] = "abcdefgh", back[5];
	struct iovec v[2] = { { bytes, 2 }, { bytes + 2, 6 } };
	uint8_t want[64];
	size_t len;

	announce(f, 3);
	tux_duplex_prepared(f->d, f->d->tx.gen);
	assert_int_equal(tux_duplex_write(f->d, v, 2, &f->tcp), 8);
	assert_int_equal(f->w.sends, 1);
	len = across(f, want);
	assert_int_equal(f->w.out_len, len);
	assert_memory_equal(f->w.out, want, len);
	assert_int_equal(f->d->tx.state, TUX_TX_SWITCHED);
	assert_int_equal(f->d->tx.marker_left, 0);
	assert_int_equal(f->d->tx.off, 3);
	/* The rest stays in the ring until the loop has seen the frame. */
	assert_int_equal(f->d->tx.rest, 5);
	assert_int_equal(f->d->tx.framed, 5 + 2 * TUX_FRAME_HDR);
	assert_true(tux_pipe_tail(&f->d->txp) == 3);
	assert_int_equal(tux_pipe_len(&f->d->txp), 5);
	tux_pipe_copy(&f->d->txp, 3, back, 5);
	assert_memory_equal(back, "defgh", 5);
	assert_true(f->d->rung & TUX_DOORBELL_TX);
}

/* TCP takes the first @room bytes of it. */
static void across_in_part(struct fixture *f, size_t room)
{
	const size_t marker = 3 + TUX_MARKER_LEN;
	uint8_t want[64];
	ssize_t k;

	announce(f, 3);
	tux_duplex_prepared(f->d, f->d->tx.gen);
	f->w.room = room;
	k = put(f, "abcdefgh", 8);
	across(f, want);
	assert_int_equal(f->w.out_len, room);
	assert_memory_equal(f->w.out, want, room);
	if (room <= 3) {
		assert_int_equal(k, room);
		assert_int_equal(f->d->tx.state, TUX_TX_ACKED);
		assert_int_equal(f->d->tx.off, room);
		assert_int_equal(f->d->rung & TUX_DOORBELL_TX,
				 room == 3 ? TUX_DOORBELL_TX : 0);
	} else if (room < marker) {
		/* The ring takes no byte before the marker is out. */
		assert_int_equal(k, 3);
		assert_int_equal(f->d->tx.marker_left, marker - room);
		assert_int_equal(f->d->tx.rest, 0);
		assert_int_equal(tux_pipe_len(&f->d->txp), 0);
		assert_true(tux_pipe_tail(&f->d->txp) == 3);
	} else {
		assert_int_equal(k, 8);
		assert_int_equal(f->d->tx.marker_left, 0);
		assert_int_equal(f->d->tx.rest, 5);
		assert_int_equal(f->d->tx.framed, room - marker);
		assert_int_equal(tux_pipe_len(&f->d->txp), 5);
	}
}

static void write__across_n_in_part(void **state)
{
	size_t room;

	for (room = 1; room <= 3 + TUX_MARKER_LEN + 5 + 2 * TUX_FRAME_HDR;
	     room++) {
		teardown(state);
		setup(state);
		across_in_part(*state, room);
	}
}

/* TCP has no room at all, or is broken: nothing has happened. */
static void write__across_n_not_at_all(void **state)
{
	struct fixture *f = *state;

	announce(f, 3);
	tux_duplex_prepared(f->d, f->d->tx.gen);
	f->w.room = 0;
	assert_int_equal(put(f, "abcdefgh", 8), -EAGAIN);
	f->w.err = EPIPE;
	assert_int_equal(put(f, "abcdefgh", 8), -EPIPE);
	assert_int_equal(f->d->tx.state, TUX_TX_ACKED);
	assert_int_equal(f->d->tx.off, 0);
}

/* With the marker it would be more than a segment, which TCP might cut. */
static void write__full_segment_makes_void(void **state)
{
	struct fixture *f = *state;
	char buf[1448] = { 0 };

	f->d->tx.segment = sizeof(buf);
	announce(f, 10);
	tux_duplex_prepared(f->d, f->d->tx.gen);
	assert_int_equal(put(f, buf, sizeof(buf) - 40), sizeof(buf) - 40);
	assert_int_equal(f->d->tx.state, TUX_TX_PLAIN);
	assert_int_equal(f->w.sends, 1);
	announce(f, 10);
	tux_duplex_prepared(f->d, f->d->tx.gen);
	assert_int_equal(put(f, buf, sizeof(buf) - 48), sizeof(buf) - 48);
	assert_int_equal(f->d->tx.state, TUX_TX_SWITCHED);
	assert_int_equal(f->w.sends, 2);
}

/* TCP would cut it as well; the frame must fit into half of a ring. */
static void write__long_is_cut_at_n(void **state)
{
	struct fixture *f = *state;
	char buf[CAP / 2 + 1] = { 0 };

	announce(f, 10);
	tux_duplex_prepared(f->d, f->d->tx.gen);
	assert_int_equal(put(f, buf, sizeof(buf)), sizeof(buf));
	assert_int_equal(f->w.out_len, 10 + TUX_MARKER_LEN);
	assert_int_equal(f->d->tx.rest, 0);
	assert_int_equal(tux_pipe_len(&f->d->txp), sizeof(buf) - 10);
}

/* Of a write that TCP cuts anyway, TCP takes less than up to N: nothing is
 * void. */
static void write__long_short_of_n(void **state)
{
	struct fixture *f = *state;
	static char buf[65537];

	announce(f, 5000);
	f->w.room = 3000;
	assert_int_equal(put(f, buf, sizeof(buf)), 3000);
	assert_int_equal(f->d->tx.state, TUX_TX_ANNOUNCED);
	f->w.room = 3000;
	assert_int_equal(put(f, buf, sizeof(buf)), 3000);
	assert_int_equal(f->d->tx.state, TUX_TX_PLAIN);
	assert_int_equal(f->d->tx.doubt, 0);
}

/* A writev() of many pieces is one write. */
static void write__many_pieces(void **state)
{
	struct fixture *f = *state;
	char bytes[40];
	struct iovec v[40];

	for (int i = 0; i < 40; i++) {
		bytes[i] = (char)('a' + i % 26);
		v[i] = (struct iovec){ bytes + i, 1 };
	}
	assert_int_equal(tux_duplex_write(f->d, v, 40, &f->tcp), 40);
	announce(f, 0);
	assert_int_equal(tux_duplex_write(f->d, v, 40, &f->tcp), 40);
	announce(f, 30);
	tux_duplex_prepared(f->d, f->d->tx.gen);
	assert_int_equal(tux_duplex_write(f->d, v, 40, &f->tcp), 40);
	assert_int_equal(f->w.sends, 3);
	assert_memory_equal(f->w.out + 80, bytes, 30);
	assert_memory_equal(f->w.out + 80 + 30 + TUX_MARKER_LEN + TUX_FRAME_HDR,
			    bytes + 30, 10);
}

/* ... also if it looks like the marker. */
static void write__marker_in_pieces(void **state)
{
	struct fixture *f = *state;
	uint8_t bytes[2 + TUX_MARKER_LEN] = "ab";
	struct iovec v[2 + TUX_MARKER_LEN];

	announce(f, 2);
	memcpy(bytes + 2, f->d->tx.marker, TUX_MARKER_LEN);
	for (int i = 0; i < 2 + TUX_MARKER_LEN; i++)
		v[i] = (struct iovec){ bytes + i, 1 };
	assert_in_range(tux_duplex_write(f->d, v, 2 + TUX_MARKER_LEN, &f->tcp),
			1, 1 + TUX_MARKER_LEN);
	assert_int_equal(f->d->tx.doubt, 1);
}

static void write__ring_waits_for_marker(void **state)
{
	struct fixture *f = *state;

	announce(f, 0);
	tux_duplex_prepared(f->d, f->d->tx.gen);
	f->w.room = 5;
	assert_int_equal(put(f, "x", 1), -EAGAIN);
	assert_int_equal(f->d->tx.state, TUX_TX_SWITCHED);
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
	/* The generation is taken back: bytes like its marker are only
	 * bytes. */
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

/* Several pieces; the end of the ring's memory falls into one of them. */
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

/* A write of no bytes puts nothing into the ring. */
static void write__nothing(void **state)
{
	struct fixture *f = *state;

	announce(f, 0);
	tux_duplex_prepared(f->d, f->d->tx.gen);
	assert_int_equal(put(f, "a", 1), 1);
	assert_int_equal(put(f, "", 0), -EAGAIN);
	assert_int_equal(tux_pipe_len(&f->d->txp), 1);
}

/* RAW, but the loop has not written the RAW frame. */
static void write__raw_waits_for_its_frame(void **state)
{
	struct fixture *f = *state;

	f->d->tx.state = TUX_TX_RAW;
	f->d->tx.hold = 1;
	assert_int_equal(put(f, "a", 1), -EAGAIN);
	assert_true(tux_duplex_shut(f->d));
	f->d->tx.shut = f->d->tx.hold = 0;
	assert_int_equal(put(f, "a", 1), 1);
	assert_int_equal(f->w.out_len, 1);
	assert_false(tux_duplex_shut(f->d));
}

/* A switch ends every doubt: after RAW, bytes like the marker are data. */
static void write__raw_after_a_switch(void **state)
{
	struct fixture *f = *state;

	announce(f, 0);
	tux_duplex_prepared(f->d, f->d->tx.gen);
	assert_int_equal(put(f, "a", 1), 1);
	assert_int_equal(f->d->tx.state, TUX_TX_SWITCHED);
	f->d->tx.state = TUX_TX_RAW;
	assert_int_equal(put(f, f->d->tx.marker, TUX_MARKER_LEN),
			 TUX_MARKER_LEN);
	assert_int_equal(f->w.out_len, 2 * TUX_MARKER_LEN);
}

/* The peer has died: the next write succeeds and its bytes are discarded. */
static void write__mute_once(void **state)
{
	struct fixture *f = *state;

	f->d->tx.mute = 1;
	assert_int_equal(put(f, "abc", 3), 3);
	assert_int_equal(f->w.out_len, 0);
	assert_int_equal(put(f, "abc", 3), 3);
	assert_int_equal(f->w.out_len, 3);
}

static void write__error_once(void **state)
{
	struct fixture *f = *state;

	announce(f, 0);
	tux_duplex_prepared(f->d, f->d->tx.gen);
	assert_int_equal(put(f, "a", 1), 1);
	atomic_store(&f->d->err, ECONNRESET);
	assert_int_equal(put(f, "a", 1), -ECONNRESET);
	assert_int_equal(put(f, "a", 1), 1);
}

/* A look for a marker has taken TCP's error, which says EPIPE to the next write. */
static void write__error_that_a_look_has_taken(void **state)
{
	struct fixture *f = *state;

	atomic_store(&f->d->err, ECONNRESET);
	f->w.err = EPIPE;
	assert_int_equal(put(f, "a", 1), -ECONNRESET);
	assert_int_equal(put(f, "a", 1), -EPIPE);
}

/* TCP and this end have heard of the same. */
static void write__error_of_both_once(void **state)
{
	struct fixture *f = *state;

	atomic_store(&f->d->err, ETIMEDOUT);
	f->w.room = 0;
	assert_int_equal(put(f, "a", 1), -EAGAIN);
	assert_int_equal(f->d->err, ETIMEDOUT);
	f->w.err = ECONNRESET;
	assert_int_equal(put(f, "a", 1), -ECONNRESET);
	assert_int_equal(f->d->err, 0);
	assert_int_equal(f->d->failed, 1);
}

/* An error of the call says nothing of the connection. */
static void write__error_of_the_call(void **state)
{
	struct fixture *f = *state;

	atomic_store(&f->d->err, ETIMEDOUT);
	f->w.err = EFAULT;
	assert_int_equal(put(f, "a", 1), -EFAULT);
	assert_int_equal(f->d->failed, 0);
	assert_int_equal(tux_duplex_error(f->d), ETIMEDOUT);
	assert_int_equal(f->d->failed, 1);
	assert_int_equal(tux_duplex_error(f->d), 0);
}

/* That the program has shut it is no error of the connection. */
static void write__behind_a_shutdown_is_no_failure(void **state)
{
	struct fixture *f = *state;

	tux_duplex_shut(f->d);
	assert_int_equal(put(f, "a", 1), -EPIPE);
	assert_int_equal(f->d->failed, 0);
}

static void announce__only_what_may_move(void **state)
{
	struct fixture *f = *state;
	uint64_t at;

	f->d->tx.shut = 1;
	assert_false(tux_duplex_announce(f->d, 0, &key, true, &at));
	f->d->tx.shut = 0;
	f->d->tx.pinned = 1;
	assert_false(tux_duplex_announce(f->d, 0, &key, true, &at));
	f->d->tx.pinned = 0;
	assert_true(tux_duplex_announce(f->d, 7, &key, true, &at));
	assert_int_equal(at, 7);
	assert_false(tux_duplex_announce(f->d, 0, &key, true, &at));
	/* A pinned direction still announces TUX_NOWHERE to end a doubt. */
	f->d->tx.pinned = 1;
	tux_duplex_withdraw(f->d);
	assert_true(tux_duplex_announce(f->d, 0, &key, true, &at));
	assert_true(at == TUX_NOWHERE);
}

/* Generation 0 means none: it is skipped. */
static void announce__generations_go_round(void **state)
{
	struct fixture *f = *state;

	f->d->tx.gen = UINT32_MAX;
	announce(f, 0);
	assert_int_equal(f->d->tx.gen, 1);
}

static void prepared__of_the_open_one(void **state)
{
	struct fixture *f = *state;

	announce(f, 0);
	tux_duplex_prepared(f->d, f->d->tx.gen + 1);
	assert_int_equal(f->d->tx.state, TUX_TX_ANNOUNCED);
	tux_duplex_withdraw(f->d);
	tux_duplex_prepared(f->d, f->d->tx.gen);
	assert_int_equal(f->d->tx.state, TUX_TX_PLAIN);
	assert_int_equal(f->d->tx.doubt, 1);
}

static void withdraw__only_what_is_open(void **state)
{
	struct fixture *f = *state;

	announce(f, 0);
	tux_duplex_prepared(f->d, f->d->tx.gen);
	assert_true(tux_duplex_at_commit(f->d));
	tux_duplex_withdraw(f->d);
	assert_int_equal(f->d->tx.state, TUX_TX_PLAIN);
	f->d->tx.state = TUX_TX_SWITCHED;
	tux_duplex_withdraw(f->d);
	assert_int_equal(f->d->tx.state, TUX_TX_SWITCHED);
}

static void commit__not_of_one_that_ends(void **state)
{
	struct fixture *f = *state;

	announce(f, 0);
	assert_false(tux_duplex_at_commit(f->d));
	tux_duplex_prepared(f->d, f->d->tx.gen);
	f->d->tx.pinned = 1;
	assert_false(tux_duplex_at_commit(f->d));
	f->d->tx.pinned = 0;
	f->d->tx.shut = 1;
	assert_false(tux_duplex_at_commit(f->d));
	f->d->tx.shut = 0;
	f->d->tx.at = 1;
	assert_false(tux_duplex_at_commit(f->d));
	f->d->tx.at = 0;
	assert_true(tux_duplex_at_commit(f->d));
}

/* ---- plain again, as a new turn ---- */

static void switch_tx(struct fixture *f)
{
	announce(f, 0);
	tux_duplex_prepared(f->d, f->d->tx.gen);
	assert_int_equal(put(f, "abc", 3), 3);
	assert_int_equal(f->d->tx.state, TUX_TX_SWITCHED);
}

/* The ring begins at the front again when the peer's application has read all, and
 * not when the peer has acknowledged it. */
static void write__keeps_what_the_peer_has_not_read(void **state)
{
	struct fixture *f = *state;
	struct tux_pipe *p = &f->d->txp;

	switch_tx(f);			/* with three bytes */
	tux_pipe_consume(p, tux_pipe_head(p));
	assert_int_equal(put(f, "de", 2), 2);
	assert_true(tux_duplex_keeps(f->d, tux_pipe_head(p) - 5));
	tux_pipe_consume(p, tux_pipe_head(p));
	atomic_store(&f->d->peer_read, tux_pipe_head(p));
	assert_int_equal(put(f, "f", 1), 1);
	assert_true(tux_duplex_keeps(f->d, tux_pipe_head(p) - 1));
	assert_false(tux_duplex_keeps(f->d, tux_pipe_head(p) - 2));
}

static void hold__writes_wait(void **state)
{
	struct fixture *f = *state;

	switch_tx(f);
	tux_duplex_hold(f->d, true);
	assert_int_equal(put(f, "d", 1), -EAGAIN);
	tux_duplex_hold(f->d, false);
	assert_int_equal(put(f, "d", 1), 1);
	assert_int_equal(tux_pipe_len(&f->d->txp), 4);
}

/* Between tux_duplex_tx_leave() and the PLAIN frame in TCP, nothing is written,
 * nothing is announced, and a shutdown is the loop's. */
static void leave__waits_for_its_frame(void **state)
{
	struct fixture *f = *state;
	size_t before;
	uint64_t at;

	switch_tx(f);
	before = f->w.out_len;
	tux_duplex_tx_leave(f->d, 3);
	assert_int_equal(f->d->tx.state, TUX_TX_PLAIN);
	assert_int_equal(put(f, "d", 1), -EAGAIN);
	assert_int_equal(f->w.out_len, before);
	assert_false(tux_duplex_announce(f->d, 0, &key, true, &at));
	assert_int_equal(tux_duplex_tx_turns(f->d), 0);
	assert_true(tux_duplex_shut(f->d));
	assert_int_equal(f->d->tx.pinned, 0);
}

static void leave__then_plain_and_again(void **state)
{
	struct fixture *f = *state;
	uint32_t gen;

	switch_tx(f);
	gen = f->d->tx.gen;
	tux_duplex_tx_leave(f->d, 3);
	tux_duplex_tx_plain(f->d);
	assert_int_equal(tux_duplex_tx_turns(f->d), 1);
	assert_int_equal(put(f, "de", 2), 2);
	assert_memory_equal(f->w.out + TUX_MARKER_LEN, "de", 2);
	/* Offsets and generations count on. */
	assert_int_equal(announce(f, 0), 5);
	assert_int_equal(f->d->tx.gen, gen + 1);
	tux_duplex_prepared(f->d, f->d->tx.gen);
	assert_int_equal(put(f, "f", 1), 1);
	assert_int_equal(f->d->tx.state, TUX_TX_SWITCHED);
	assert_true(tux_pipe_tail(&f->d->txp) == 5);
	assert_int_equal(tux_pipe_len(&f->d->txp), 1);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(write__plain_goes_to_tcp),
		T(write__past_n_makes_void),
		T(write__past_n_is_not_cut),
		T(write__commits_at_n),
		T(write__across_n),
		T(write__across_n_in_part),
		T(write__across_n_not_at_all),
		T(write__full_segment_makes_void),
		T(write__long_is_cut_at_n),
		T(write__long_short_of_n),
		T(write__many_pieces),
		T(write__marker_in_pieces),
		T(write__ring_waits_for_marker),
		T(write__full_tcp_does_not_commit),
		T(write__never_completes_marker),
		T(write__other_byte_ends_doubt),
		T(write__ring_is_bounded),
		T(write__gathers_around_the_end),
		T(shut__says_who_carries_it),
		T(shut__in_ring),
		T(write__nothing),
		T(write__raw_waits_for_its_frame),
		T(write__raw_after_a_switch),
		T(write__mute_once),
		T(write__error_once),
		T(write__error_that_a_look_has_taken),
		T(write__error_of_both_once),
		T(write__error_of_the_call),
		T(write__behind_a_shutdown_is_no_failure),
		T(announce__only_what_may_move),
		T(announce__generations_go_round),
		T(prepared__of_the_open_one),
		T(withdraw__only_what_is_open),
		T(commit__not_of_one_that_ends),
		T(write__keeps_what_the_peer_has_not_read),
		T(hold__writes_wait),
		T(leave__waits_for_its_frame),
		T(leave__then_plain_and_again),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
