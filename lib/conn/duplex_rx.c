/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * duplex_rx - reads, and the receiver's half of the switch
 *
 * t/model enumerates these rules.  Change the model first.
 */
#include "conn/duplex.h"

#include <errno.h>

#include "conn/duplex_in.h"
#include "wire/frame.h"

enum {
	SWALLOW = 16384,	/* the loop discards so many bytes at once */
	PIECES = 8,		/* of a read that is cut */
};

/* The load of wake_at may overtake the store of the tail, so this thread may
 * miss a 0 that the loop has just stored, while the loop misses the tail.  That
 * does no harm.  The loop stores 0 when the ring is full beyond the tail that
 * it has seen, and every older value is at most half a ring beyond that tail.
 * So the read that empties the ring rings, whichever value it finds. */
static ssize_t read_ring(struct tux_duplex *d, const struct iovec *iov, int n,
			 bool peek)
{
	struct tux_pipe *p = &d->rxp;
	uint64_t tail = duplex_taken(d);
	uint64_t len = duplex_ring_len(d), at = 0;
	int i;

	for (i = 0; i < n && at < len; i++) {
		uint64_t k = iov[i].iov_len;

		if (k > len - at)
			k = len - at;
		tux_pipe_copy(p, tail + at, iov[i].iov_base, (uint32_t)k);
		at += k;
	}
	if (at && !peek) {
		tux_burst_moved(&d->rx.bursts, &d->tx.bursts, at);
		tux_pipe_consume(p, tail + at);
		if (tail + at >= atomic_load_explicit(&d->wake_at,
						      memory_order_relaxed))
			atomic_fetch_or(&d->rung, TUX_DOORBELL_RX);
	}
	return (ssize_t)at;
}

/* Reads the ring; if it is empty, tells whether that is an error, the end of
 * the stream, or no bytes yet.  The loop sets err and eof after it has
 * published the last bytes, so the ring is read once more after they are
 * seen. */
static ssize_t read_ring_or_why(struct tux_duplex *d, const struct iovec *iov,
				int n, bool peek)
{
	ssize_t k = read_ring(d, iov, n, peek);
	bool eof;

	if (k > 0 || !tux_iov_len(iov, n))
		return k;
	eof = load8(&d->rx.eof);
	if (!eof && !atomic_load(&d->err))
		return -EAGAIN;
	k = read_ring(d, iov, n, peek);
	if (k > 0)
		return k;
	k = duplex_take_error(d);
	return k || eof ? k : -EAGAIN;
}

static ssize_t read_tcp(struct tux_duplex *d, const struct iovec *iov, int n,
			bool peek, const struct tux_tcp *tcp)
{
	ssize_t k = tcp->recv(tcp->arg, iov, n, peek);

	if (k > 0 && !peek) {
		d->rx.off += (uint64_t)k;
		tux_burst_moved(&d->rx.bursts, &d->tx.bursts, (uint64_t)k);
	}
	duplex_touch(d);
	/* TCP reports an error once, and the end of the stream after that.  It
	 * may have reported the error to the loop, which has put it into
	 * d->err. */
	return k == 0 && tux_iov_len(iov, n) ? duplex_take_error(d) : k;
}

/* Reads the first @max bytes, or fewer. */
static ssize_t read_tcp_part(struct tux_duplex *d, const struct iovec *iov,
			     int n, uint64_t max, bool peek,
			     const struct tux_tcp *tcp)
{
	struct iovec v[PIECES] = { { NULL, 0 } };

	return read_tcp(d, v, tux_iov_cut(v, PIECES, iov, n, 0, max), peek,
			tcp);
}

/* The sender has switched: reads come from the ring now.  Bytes of the marker
 * that were not read yet are left in TCP for the loop. */
static void switch_rx(struct tux_duplex *d)
{
	d->rx.marker_left = (uint8_t)(TUX_MARKER_LEN - d->rx.held);
	d->rx.held = 0;
	store8(&d->rx.state, TUX_RX_SWITCHED);
	atomic_fetch_or(&d->rung, TUX_DOORBELL_RX);
}

/* The generation is void.  The bytes that were held as the beginning of its
 * marker are data; they go into spill, and come before the bytes in TCP.  The
 * spill is empty then: as long as it has bytes of an earlier generation, reads
 * take those and do not look for a marker. */
static void disarm_rx(struct tux_duplex *d)
{
	struct tux_duplex_rx *r = &d->rx;

	if (r->held) {
		memcpy(r->spill, r->marker, r->held);
		r->off += r->held;
		store8(&r->spill_len, r->held);
		r->held = 0;
	}
	store8(&r->state, TUX_RX_PLAIN);
}

static ssize_t read_spill(struct tux_duplex *d, const struct iovec *iov, int n,
			  bool peek)
{
	struct tux_duplex_rx *r = &d->rx;
	size_t len = load8(&r->spill_len), at = 0;
	int i;

	for (i = 0; i < n && at < len; i++) {
		size_t k = iov[i].iov_len < len - at ? iov[i].iov_len : len - at;

		memcpy(iov[i].iov_base, r->spill + at, k);
		at += k;
	}
	if (!peek) {
		tux_burst_moved(&r->bursts, &d->tx.bursts, at);
		memmove(r->spill, r->spill + at, len - at);
		store8(&r->spill_len, (uint8_t)(len - at));
	}
	return (ssize_t)at;
}

bool tux_duplex_prove(struct tux_duplex *d)
{
	struct tux_duplex_rx *r = &d->rx;

	if (load8(&r->state) == TUX_RX_ARMED && r->off == r->at)
		switch_rx(d);
	return load8(&r->state) == TUX_RX_SWITCHED;
}

/* The marker has been read.  If a write went across N, its rest follows in a
 * frame: copies what TCP has of that to @iov.  They come into the ring as well,
 * from where reads leave them out. */
static ssize_t take_rest(struct tux_duplex *d, const struct iovec *iov, int n,
			 const struct tux_tcp *tcp)
{
	uint8_t hdr[TUX_FRAME_HDR];
	struct iovec v[1 + PIECES] = { { hdr, sizeof(hdr) } };
	ssize_t k = n ? duplex_peek_tcp(d, v, 1, tcp) : 0;
	uint32_t rest = k == TUX_FRAME_HDR ? tux_duplex_across(d, hdr) : 0;

	if (rest) {
		n = tux_iov_cut(v + 1, PIECES, iov, n, 0, rest);
		k = duplex_peek_tcp(d, v, 1 + n, tcp);
	}
	k = rest && k > TUX_FRAME_HDR ? k - TUX_FRAME_HDR : 0;
	if (k)
		tux_burst_moved(&d->rx.bursts, &d->tx.bursts, (uint64_t)k);
	atomic_store(&d->rx.taken, d->rx.at + (uint64_t)k);
	/* In a small window (SO_RCVBUF), they may be all that the peer may
	 * send. */
	if (k && tux_pipe_most(&d->rxp) < d->rxp.cap)
		atomic_fetch_or(&d->rung, TUX_DOORBELL_RX);
	return k;
}

/* Bytes from N on came over Tux, so the sender has switched; but TCP gave no marker:
 * nothing yet, its end, other bytes, or an error.  @k is what TCP returned.  An error
 * is kept for a later read, since the bytes in the ring come first. */
static ssize_t switch_without_marker(struct tux_duplex *d, ssize_t k)
{
	if (k < 0 && k != -EAGAIN)
		atomic_store(&d->err, (uint32_t)-k);
	switch_rx(d);
	return 0;
}

/* Takes from TCP what is there of the marker's rest.  Returns its bytes and puts them
 * into @buf; 0 if no marker follows, since there are other bytes, the end or an error;
 * or -errno. */
static ssize_t take_marker(struct tux_duplex *d, uint8_t buf[TUX_MARKER_LEN],
			   const struct tux_tcp *tcp)
{
	struct tux_duplex_rx *r = &d->rx;
	struct iovec v = { buf, TUX_MARKER_LEN - r->held };
	ssize_t k = tcp->recv(tcp->arg, &v, 1, true);

	duplex_touch(d);
	if (k == 0)
		return duplex_take_error(d);
	if (k < 0)
		return k;
	if (memcmp(buf, r->marker + r->held, (size_t)k) != 0)
		return 0;
	v.iov_len = (size_t)k;
	return tcp->recv(tcp->arg, &v, 1, false);
}

/* take_marker() has returned @k, no bytes.  Returns as read_marker() does. */
static ssize_t no_marker(struct tux_duplex *d, ssize_t k)
{
	if (tux_pipe_head(&d->rxp) > d->rx.at)
		return switch_without_marker(d, k);
	if (k == 0)
		disarm_rx(d);
	return k;
}

/*
 * Armed and at N: looks for the marker.  Returns 0 if the state has changed and
 * the caller should look at it again; how many bytes behind N are in @iov, if
 * they came with the marker; otherwise -errno for the application.
 *
 * The marker is looked for also where bytes from N on came over Tux: behind it there
 * may be more of a write that went across N, which a peek has shown.
 *
 * Bytes that match the beginning of the marker are read from TCP and held.
 * Left in TCP, they would keep the socket readable, and would hide the end of
 * the stream behind them.  If an error follows, the marker may have been cut
 * short, so the held bytes are not given to the application.
 */
static ssize_t read_marker(struct tux_duplex *d, const struct iovec *iov,
			   int n, const struct tux_tcp *tcp)
{
	struct tux_duplex_rx *r = &d->rx;
	uint8_t buf[TUX_MARKER_LEN];
	ssize_t k;

	do {				/* behind a part, the end may follow */
		k = take_marker(d, buf, tcp);
		if (k <= 0)
			return no_marker(d, k);
		r->held = (uint8_t)(r->held + k);
	} while (r->held < TUX_MARKER_LEN);
	k = take_rest(d, iov, n, tcp);
	switch_rx(d);
	return k;
}

size_t tux_duplex_swallow_want(const struct tux_duplex *d)
{
	const struct tux_duplex_rx *r = &d->rx;

	if (load8(&r->state) != TUX_RX_ARMED)
		return SWALLOW;
	if (r->off == r->at)
		return TUX_MARKER_LEN - r->held;
	return r->at - r->off < SWALLOW ? (size_t)(r->at - r->off) : SWALLOW;
}

void tux_duplex_swallow(struct tux_duplex *d, const uint8_t *p, size_t len)
{
	struct tux_duplex_rx *r = &d->rx;

	if (load8(&r->state) != TUX_RX_ARMED || r->off < r->at) {
		r->off += len;
		return;
	}
	if (memcmp(p, r->marker + r->held, len) != 0) {
		disarm_rx(d);
		r->off += len;
		return;
	}
	r->held = (uint8_t)(r->held + len);
	if (r->held == TUX_MARKER_LEN)
		switch_rx(d);
}

/* A read has come to N.  A write may have gone across, so it goes on, and
 * returns how much more there is.  An error is kept for the next read. */
static ssize_t read_across(struct tux_duplex *d, const struct iovec *iov, int n,
			   size_t done, const struct tux_tcp *tcp)
{
	struct iovec v[PIECES];
	int m = tux_iov_skip(v, PIECES, iov, n, done);
	ssize_t k = m ? read_marker(d, v, m, tcp) : 0;

	if (m && k == 0)
		k = tux_duplex_read(d, v, m, false, tcp);
	if (k < 0 && k != -EAGAIN)
		atomic_store(&d->err, (uint32_t)-k);
	return k > 0 ? k : 0;
}

static ssize_t read_armed(struct tux_duplex *d, const struct iovec *iov, int n,
			  bool peek, const struct tux_tcp *tcp)
{
	struct tux_duplex_rx *r = &d->rx;
	uint64_t below = r->at - r->off;
	ssize_t k;

	if (below) {
		k = read_tcp_part(d, iov, n, below, peek, tcp);
		if (peek || k < 0 || (uint64_t)k < below)
			return k;
		return k + read_across(d, iov, n, (size_t)k, tcp);
	}
	k = read_marker(d, peek ? NULL : iov, peek ? 0 : n, tcp);
	return k ? k : tux_duplex_read(d, iov, n, peek, tcp);
}

/* What lies in the first of the places where bytes may be. */
static ssize_t read_first(struct tux_duplex *d, const struct iovec *iov, int n,
			  bool peek, const struct tux_tcp *tcp)
{
	if (load8(&d->rx.spill_len) && n)
		return read_spill(d, iov, n, peek);
	switch (load8(&d->rx.state)) {
	case TUX_RX_ARMED:
		return read_armed(d, iov, n, peek, tcp);
	case TUX_RX_SWITCHED:
		return read_ring_or_why(d, iov, n, peek);
	default:
		if (tux_duplex_readable(d))
			return read_ring(d, iov, n, peek);
		return read_tcp(d, iov, n, peek, tcp);
	}
}

/* Reads have stopped, and this one has found nothing: it is to hear of it when they go
 * on, and tries again if they did meanwhile. */
static bool read_missed(struct tux_duplex *d)
{
	if (!atomic_load(&d->rx.stopped))
		return false;
	atomic_store(&d->rx.missed, 1);
	return !atomic_load(&d->rx.stopped);
}

ssize_t tux_duplex_read(struct tux_duplex *d, const struct iovec *iov, int n,
			bool peek, const struct tux_tcp *tcp)
{
	ssize_t k = read_first(d, iov, n, peek, tcp);

	if (k == -EAGAIN && read_missed(d))
		k = read_first(d, iov, n, peek, tcp);
	/* It is reported once, also if this end has heard of it by itself. */
	if (k < 0)
		duplex_told(d, k);
	if (k <= 0 || !peek)
		return k;
	return (ssize_t)tux_duplex_peek_on(d, iov, n, (size_t)k, tcp);
}

bool tux_duplex_advance(struct tux_duplex *d, const struct tux_tcp *tcp)
{
	if (load8(&d->rx.spill_len))
		return true;
	if (load8(&d->rx.state) == TUX_RX_ARMED && d->rx.off == d->rx.at) {
		ssize_t k = read_marker(d, NULL, 0, tcp);

		if (k == -EAGAIN)
			return false;
		if (k < 0)		/* TCP reports it only once: keep it */
			atomic_store(&d->err, (uint32_t)-k);
	}
	if (load8(&d->rx.state) == TUX_RX_SWITCHED)
		return tux_duplex_poll(d) & TUX_CAN_READ;
	return true;
}

/* ---- the loop's side ---- */

bool tux_duplex_arm(struct tux_duplex *d, uint32_t gen, uint64_t at,
		    const struct tux_key *key, bool active)
{
	struct tux_duplex_rx *r = &d->rx;
	uint8_t state = load8(&r->state);

	if (state == TUX_RX_RAW)
		return false;
	if (gen == r->gen)		/* the answer may have been lost */
		return state != TUX_RX_PLAIN || r->at == TUX_NOWHERE;
	if (state == TUX_RX_SWITCHED || (int32_t)(gen - r->gen) < 0)
		return false;
	/* A newer generation makes the older void, even if it cannot be armed
	 * itself. */
	if (state == TUX_RX_ARMED)
		disarm_rx(d);
	r->gen = gen;
	r->at = at;
	if (at == TUX_NOWHERE)
		return true;
	if (r->pinned || r->refuses)
		store8(&d->called, 1);
	if (at < r->off || r->pinned || r->refuses)
		return false;
	duplex_begin(d);
	tux_marker(r->marker, key, gen, active);
	tux_pipe_reset(&d->rxp, at);
	atomic_store(&r->taken, at);
	store8(&r->state, TUX_RX_ARMED);
	return true;
}

void tux_duplex_rx_plain(struct tux_duplex *d, uint64_t off)
{
	d->rx.off = off;
	atomic_store(&d->rx.from, off);
	atomic_fetch_add(&d->rx.turn, 1);
	store8(&d->rx.state, TUX_RX_PLAIN);
}

bool tux_duplex_drained(struct tux_duplex *d)
{
	if (load8(&d->rx.state) != TUX_RX_PLAIN || !duplex_rest(d))
		return true;
	/* From now on reads ring.  One that is under way may not.  If it is the
	 * last, this generation has no answer, and the next one has. */
	atomic_store(&d->wake_at, 0);
	return !duplex_rest(d);
}
