/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * duplex_tx - writes, and the sender's half of the switch
 *
 * t/model enumerates these rules.  Change the model first.
 */
#include "conn/duplex.h"

#include <errno.h>

#include "conn/duplex_in.h"
#include "wire/frame.h"

enum {
	PIECES = 8,		/* of a write that is cut */
	ACROSS_MAX = TUX_FRAME_MAX,	/* no longer write goes across N whole */
};

/* ---- writing ---- */

static bool may_commit(const struct tux_duplex *d)
{
	const struct tux_duplex_tx *t = &d->tx;

	return load8(&t->state) == TUX_TX_ACKED && !load8(&t->shut) &&
	       !t->pinned;
}

bool tux_duplex_at_commit(const struct tux_duplex *d)
{
	return may_commit(d) && d->tx.off == d->tx.at;
}

/*
 * TCP has @n bytes of the marker: from here on writes go to the ring.
 *
 * But the ring takes no byte before the whole marker is in TCP (marker_left).
 * Otherwise the process could be killed in between, and the peer would see a
 * clean end of the stream at N although the application has written more.
 */
static void switch_tx(struct tux_duplex *d, size_t n)
{
	struct tux_duplex_tx *t = &d->tx;

	t->doubt = 0;
	store8(&t->marker_left, (uint8_t)(TUX_MARKER_LEN - n));
	store8(&t->state, TUX_TX_SWITCHED);
	atomic_fetch_or(&d->rung, TUX_DOORBELL_TX);
}

void tux_duplex_committed(struct tux_duplex *d, size_t n)
{
	tux_pipe_reset(&d->txp, d->tx.off);
	d->tx.rest = 0;
	switch_tx(d, n);
}

static ssize_t write_ring(struct tux_duplex *d, const struct iovec *iov, int n,
			  uint64_t skip)
{
	struct tux_pipe *p = &d->txp;
	uint64_t head, len, room, at = 0;

	if (load8(&d->tx.marker_left))
		return -EAGAIN;
	head = tux_pipe_head(p);
	if (atomic_load_explicit(&d->peer_read, memory_order_relaxed) == head)
		tux_pipe_rewind(p);
	room = tux_pipe_room(p);
	len = tux_iov_len(iov, n) - skip;
	if (len > room)
		len = room;
	while (at < len) {
		uint32_t piece = (uint32_t)(len - at);
		uint8_t *dst = tux_pipe_at(p, head + at, &piece);

		at += tux_iov_copy(dst, piece, iov, n, skip + at);
	}
	if (!at)
		return -EAGAIN;
	tux_burst_moved(&d->tx.bursts, &d->rx.bursts, at);
	tux_pipe_publish(p, head + at);
	atomic_fetch_or(&d->rung, TUX_DOORBELL_TX);
	return (ssize_t)at;
}

/* TCP has taken @k bytes of the application. */
static void wrote_tcp(struct tux_duplex *d, ssize_t k)
{
	if (k > 0) {
		d->tx.off += (uint64_t)k;
		tux_burst_moved(&d->tx.bursts, &d->rx.bursts, (uint64_t)k);
		duplex_look(d);
	}
	duplex_touch(d);
}

static ssize_t write_tcp(struct tux_duplex *d, const struct iovec *iov, int n,
			 const struct tux_tcp *tcp)
{
	ssize_t k = tcp->send(tcp->arg, iov, n);

	wrote_tcp(d, k);
	return k;
}

/* Writes the first @max bytes, or fewer, to TCP. */
static ssize_t write_tcp_part(struct tux_duplex *d, const struct iovec *iov,
			      int n, uint64_t max, const struct tux_tcp *tcp)
{
	struct iovec v[PIECES];

	return write_tcp(d, v, tux_iov_cut(v, PIECES, iov, n, 0, max), tcp);
}

/* Notes whether a write waits for the end of the doubt. */
static void set_barred(struct tux_duplex *d, bool on)
{
	if (on == duplex_bars(d))
		return;
	atomic_fetch_add(&d->tx.bars, 1);
	atomic_fetch_or(&d->rung, TUX_DOORBELL_TX);
}

/*
 * In doubt: a receiver that is armed at N compares the bytes from there on with
 * the marker.  They are written unchanged, but never so many that they complete
 * the marker: then the last byte waits until the doubt has ended.  The first
 * byte that differs from the marker ends the doubt.
 *
 * A write that has only the last byte writes nothing to TCP, which reports its
 * error to that, too.
 */
static ssize_t write_doubtful(struct tux_duplex *d, const struct iovec *iov,
			      int n, const struct tux_tcp *tcp)
{
	struct tux_duplex_tx *t = &d->tx;
	uint64_t below = t->off < t->at ? t->at - t->off : 0;
	uint64_t done = below ? 0 : t->off - t->at;	/* so many bytes match */
	uint64_t left = TUX_MARKER_LEN - done;
	uint8_t head[TUX_MARKER_LEN];
	uint64_t len = tux_iov_copy(head, left, iov, n, below);
	uint64_t same = 0;			/* so many more would match */
	ssize_t k;

	while (same < len && head[same] == t->marker[done + same])
		same++;
	/* All of the marker would match: hold its last byte back. */
	if (same == left)
		k = write_tcp_part(d, iov, n, below + same - 1, tcp);
	else
		k = write_tcp(d, iov, n, tcp);
	if (k > 0 && (uint64_t)k > below + same)
		t->doubt = 0;
	set_barred(d, left == 1 && same == 1 && (k == 0 || k == -EAGAIN));
	return duplex_bars(d) ? -EAGAIN : k;
}

/* Writes to TCP while no generation is open.  Only a doubt limits the bytes. */
static ssize_t write_plain(struct tux_duplex *d, const struct iovec *iov, int n,
			   const struct tux_tcp *tcp)
{
	return d->tx.doubt ? write_doubtful(d, iov, n, tcp) :
			     write_tcp(d, iov, n, tcp);
}

/* The write goes beyond N over TCP, and the generation is void. */
static ssize_t write_void(struct tux_duplex *d, const struct iovec *iov, int n,
			  const struct tux_tcp *tcp)
{
	store8(&d->tx.state, TUX_TX_PLAIN);
	atomic_fetch_or(&d->rung, TUX_DOORBELL_TX);
	return write_plain(d, iov, n, tcp);
}

/* At N: the loop commits if no write comes to do it. */
static void ring_at_n(struct tux_duplex *d)
{
	if (d->tx.off == d->tx.at)
		atomic_fetch_or(&d->rung, TUX_DOORBELL_TX);
}

/* At N, and PREPARED has come: writes the marker to TCP, and the bytes behind
 * the first @skip to the ring. */
static ssize_t write_commit(struct tux_duplex *d, const struct iovec *iov,
			    int n, uint64_t skip, const struct tux_tcp *tcp)
{
	struct iovec v = { d->tx.marker, TUX_MARKER_LEN };
	ssize_t k = tcp->send(tcp->arg, &v, 1);

	if (k <= 0)
		return k;
	tux_duplex_committed(d, (size_t)k);
	return write_ring(d, iov, n, skip);
}

/* TCP has taken @k bytes behind N: of the marker, of the frame that has the
 * @rest of the write, and of the frame SWITCH.  Returns how much of the rest is
 * written. */
static uint32_t commit_rest(struct tux_duplex *d, uint64_t k, uint32_t rest)
{
	struct tux_duplex_tx *t = &d->tx;
	bool whole = k >= TUX_MARKER_LEN;

	tux_pipe_consume(&d->txp, t->off);
	tux_pipe_publish(&d->txp, t->off + (whole ? rest : 0));
	t->rest = whole ? rest : 0;
	t->framed = whole ? (uint32_t)k - TUX_MARKER_LEN : 0;
	switch_tx(d, whole ? TUX_MARKER_LEN : (size_t)k);
	return t->rest;
}

/* At @bytes lie those of the application: @below below N, and @rest behind. */
static ssize_t send_across(struct tux_duplex *d, uint8_t *bytes, uint32_t below,
			   uint32_t rest, const struct tux_tcp *tcp)
{
	struct tux_duplex_tx *t = &d->tx;
	const struct tux_frame data = { TUX_FRAME_DATA, rest, t->at };
	const struct tux_frame sw = { TUX_FRAME_SWITCH, 0, t->at + rest };
	uint8_t first[TUX_FRAME_HDR], last[TUX_FRAME_HDR];
	const struct iovec v[] = {
		{ bytes, below },
		{ t->marker, TUX_MARKER_LEN },
		{ first, sizeof(first) },
		{ bytes + below, rest },
		{ last, sizeof(last) },
	};

	tux_frame_encode(&data, first);
	tux_frame_encode(&sw, last);
	return tcp->send(tcp->arg, v, sizeof(v) / sizeof(v[0]));
}

/*
 * Short of N, PREPARED has come, and the write goes beyond N.  TCP would have
 * delivered it whole, and programs rely on that, so it goes to TCP in one
 * piece: the bytes below N, the marker, and the rest in a frame, which the
 * reader takes at once (read_marker()).  SWITCH says that Tux carries what
 * comes then.
 *
 * The bytes lie in the ring meanwhile.  If TCP takes only a part, the loop
 * writes what is left of the frames from there.
 */
static ssize_t write_across(struct tux_duplex *d, const struct iovec *iov,
			    int n, uint32_t len, const struct tux_tcp *tcp)
{
	struct tux_duplex_tx *t = &d->tx;
	uint32_t below = (uint32_t)(t->at - t->off), rest = len - below;
	uint8_t *bytes;
	ssize_t k;

	tux_pipe_reset(&d->txp, t->off);
	bytes = tux_pipe_at(&d->txp, t->off, &len);
	tux_iov_copy(bytes, len, iov, n, 0);
	k = send_across(d, bytes, below, rest, tcp);
	wrote_tcp(d, k < (ssize_t)below ? k : (ssize_t)below);
	if (k <= (ssize_t)below) {
		ring_at_n(d);
		return k;
	}
	rest = commit_rest(d, (uint64_t)k - below, rest);
	if (rest)
		tux_burst_moved(&t->bursts, &d->rx.bursts, rest);
	return (ssize_t)(below + rest);
}

/* Would a write of @len bytes be one segment, and no longer be one with what
 * goes with it across N? */
static bool is_full_segment(const struct tux_duplex *d, uint64_t len)
{
	const uint32_t segment = d->tx.segment;

	return len <= segment &&
	       len + TUX_MARKER_LEN + 2 * TUX_FRAME_HDR > segment;
}

/* A write that TCP cuts anyway: to TCP up to N, and then commits or makes the
 * generation void. */
static ssize_t write_long(struct tux_duplex *d, const struct iovec *iov, int n,
			  const struct tux_tcp *tcp)
{
	uint64_t below = d->tx.at - d->tx.off;
	struct iovec v[PIECES];
	ssize_t k = below ? write_tcp_part(d, iov, n, below, tcp) : 0;

	if (k < (ssize_t)below)
		return k;
	if (may_commit(d))
		k = write_commit(d, iov, n, below, tcp);
	else
		k = write_void(d, v, tux_iov_skip(v, PIECES, iov, n, below),
			       tcp);
	return below && k < 0 ? (ssize_t)below : (ssize_t)below + k;
}

/* PREPARED has come, and the write goes beyond N: it commits. */
static ssize_t write_beyond(struct tux_duplex *d, const struct iovec *iov,
			    int n, uint64_t len, const struct tux_tcp *tcp)
{
	if (d->tx.off == d->tx.at)
		return write_commit(d, iov, n, 0, tcp);
	if (is_full_segment(d, len))
		return write_void(d, iov, n, tcp);
	if (len <= d->txp.cap / 2)
		return write_across(d, iov, n, (uint32_t)len, tcp);
	return write_long(d, iov, n, tcp);
}

/*
 * Writes with a generation open: to TCP up to N, and then commits or makes the
 * generation void.  A write never waits for PREPARED: if it has not come, the
 * write goes on beyond N over TCP, and the generation is void.
 */
static ssize_t write_open(struct tux_duplex *d, const struct iovec *iov, int n,
			  const struct tux_tcp *tcp)
{
	struct tux_duplex_tx *t = &d->tx;
	uint64_t len = tux_iov_len(iov, n);
	ssize_t k;

	if (len > t->at - t->off) {
		if (len > ACROSS_MAX)
			return write_long(d, iov, n, tcp);
		if (may_commit(d))
			return write_beyond(d, iov, n, len, tcp);
		return write_void(d, iov, n, tcp);
	}
	k = write_tcp(d, iov, n, tcp);
	ring_at_n(d);
	return k;
}

/* The connection has one error, which one call gets, whether TCP says it or this end
 * has heard of it.  This end may have taken it from TCP, which says EPIPE then. */
static ssize_t write_failed(struct tux_duplex *d, ssize_t k)
{
	ssize_t err = k == -EPIPE ? duplex_take_error(d) : 0;

	duplex_told(d, k);
	return err ? err : k;
}

static ssize_t write_by_state(struct tux_duplex *d, uint8_t state,
			      const struct iovec *iov, int n,
			      const struct tux_tcp *tcp)
{
	switch (state) {
	case TUX_TX_ANNOUNCED:
	case TUX_TX_ACKED:
		return write_open(d, iov, n, tcp);
	case TUX_TX_SWITCHED:
		return write_ring(d, iov, n, 0);
	default:
		return write_plain(d, iov, n, tcp);
	}
}

ssize_t tux_duplex_write(struct tux_duplex *d, const struct iovec *iov, int n,
			 const struct tux_tcp *tcp)
{
	uint8_t state = load8(&d->tx.state);
	ssize_t err, k;

	if (load8(&d->tx.mute)) {
		store8(&d->tx.mute, 0);
		return (ssize_t)tux_iov_len(iov, n);
	}
	/* Else TCP reports the error itself. */
	err = state == TUX_TX_SWITCHED || duplex_bars(d) ?
	      duplex_take_error(d) : 0;
	if (err)
		return err;
	if (load8(&d->tx.shut))
		return write_failed(d, -EPIPE);
	if (load8(&d->tx.hold))
		return -EAGAIN;
	k = write_by_state(d, state, iov, n, tcp);
	return k < 0 ? write_failed(d, k) : k;
}

bool tux_duplex_shut(struct tux_duplex *d)
{
	uint8_t state = load8(&d->tx.state);
	bool ring = state == TUX_TX_SWITCHED || load8(&d->tx.hold);

	store8(&d->tx.shut, 1);
	if (ring)
		atomic_fetch_or(&d->rung, TUX_DOORBELL_TX);
	else
		d->tx.pinned = 1;	/* no marker may follow TCP's FIN */
	return ring;
}

/* ---- the loop's side ---- */

bool tux_duplex_announce(struct tux_duplex *d, uint64_t ahead,
			 const struct tux_key *key, bool active, uint64_t *at)
{
	struct tux_duplex_tx *t = &d->tx;

	if (load8(&t->state) != TUX_TX_PLAIN || load8(&t->shut) ||
	    load8(&t->hold) || (t->pinned && !t->doubt))
		return false;
	t->gen += 1 + (t->gen == UINT32_MAX);	/* 0 means none */
	t->from = t->off;
	t->disarming = t->doubt;
	*at = TUX_NOWHERE;
	if (t->disarming)
		return true;
	duplex_begin(d);
	*at = t->at = t->off + ahead;
	tux_marker(t->marker, key, t->gen, active);
	t->doubt = 1;		/* from now on, whatever becomes of it */
	store8(&t->state, TUX_TX_ANNOUNCED);
	return true;
}

bool tux_duplex_prepared(struct tux_duplex *d, uint32_t gen)
{
	struct tux_duplex_tx *t = &d->tx;
	bool barred = duplex_bars(d);

	if (gen != t->gen)
		return false;
	if (t->disarming) {
		t->doubt = t->disarming = 0;
		set_barred(d, false);
		return barred;
	}
	if (load8(&t->state) == TUX_TX_ANNOUNCED)
		store8(&t->state, TUX_TX_ACKED);
	return false;
}

void tux_duplex_withdraw(struct tux_duplex *d)
{
	uint8_t state = load8(&d->tx.state);

	if (state == TUX_TX_ANNOUNCED || state == TUX_TX_ACKED)
		store8(&d->tx.state, TUX_TX_PLAIN);
}

void tux_duplex_hold(struct tux_duplex *d, bool hold)
{
	store8(&d->tx.hold, hold);
}

void tux_duplex_tx_leave(struct tux_duplex *d, uint64_t off)
{
	store8(&d->tx.hold, 1);
	d->tx.off = off;
	store8(&d->tx.state, TUX_TX_PLAIN);
}

void tux_duplex_tx_plain(struct tux_duplex *d)
{
	atomic_fetch_add(&d->tx.turn, 1);
	store8(&d->tx.hold, 0);
}
