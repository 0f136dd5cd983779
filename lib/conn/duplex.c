/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The switch, as both ends of a direction see it.  t/model enumerates these
 * rules; a change here begins there.
 */
#include "conn/duplex.h"

#include <errno.h>

#include "wire/frame.h"

enum {
	TOUCHES = 16,		/* plain reads and writes that retry an opening */
	SWALLOW = 16384,	/* bytes that nobody will read, at once */
};

/* ---- small things ---- */

static uint8_t load8(const _Atomic uint8_t *v)
{
	return atomic_load_explicit(v, memory_order_acquire);
}

static void store8(_Atomic uint8_t *v, uint8_t to)
{
	atomic_store_explicit(v, to, memory_order_release);
}

static uint64_t iov_len(const struct iovec *iov, int n)
{
	uint64_t len = 0;
	int i;

	for (i = 0; i < n; i++)
		len += iov[i].iov_len;
	return len;
}

/* A view of @iov from @skip on, cut at @max bytes, in at most @cap pieces. */
static int iov_cut(struct iovec *out, int cap, const struct iovec *iov, int n,
		   uint64_t skip, uint64_t max)
{
	int i, m = 0;

	for (i = 0; i < n && m < cap && max; i++) {
		uint64_t len = iov[i].iov_len;

		if (skip >= len) {
			skip -= len;
			continue;
		}
		out[m].iov_base = (char *)iov[i].iov_base + skip;
		len -= skip;
		out[m].iov_len = len < max ? len : max;
		max -= out[m++].iov_len;
		skip = 0;
	}
	return m;
}

static uint64_t iov_copy_out(uint8_t *dst, uint64_t max,
			     const struct iovec *iov, int n, uint64_t skip)
{
	struct iovec v[8];
	int i, m = iov_cut(v, 8, iov, n, skip, max);
	uint64_t at = 0;

	for (i = 0; i < m; i++) {
		memcpy(dst + at, v[i].iov_base, v[i].iov_len);
		at += v[i].iov_len;
	}
	return at;
}

static void touch(struct tux_duplex *d)
{
	uint32_t n = atomic_load_explicit(&d->touches, memory_order_relaxed);

	if (!n)
		return;
	atomic_store_explicit(&d->touches, n - 1, memory_order_relaxed);
	atomic_fetch_or(&d->rung, TUX_RING_TOUCH);
}

static ssize_t take_error(struct tux_duplex *d)
{
	uint32_t err = atomic_load(&d->err);

	return err && atomic_exchange(&d->err, 0) ? -(ssize_t)err : 0;
}

size_t tux_duplex_size(uint32_t cap)
{
	return sizeof(struct tux_duplex) + 2 * (size_t)cap;
}

void tux_duplex_init(struct tux_duplex *d, uint32_t cap)
{
	uint32_t txp = (uint32_t)offsetof(struct tux_duplex, txp);
	uint32_t rxp = (uint32_t)offsetof(struct tux_duplex, rxp);
	uint32_t size = (uint32_t)sizeof(*d);

	memset(d, 0, sizeof(*d));
	tux_pipe_init(&d->txp, size - txp, cap, 0);
	tux_pipe_init(&d->rxp, size - rxp + cap, cap, 0);
	atomic_store(&d->touches, TOUCHES);
	atomic_store(&d->wake_at, UINT64_MAX);
}

/* ---- writing ---- */

bool tux_duplex_at_commit(const struct tux_duplex *d)
{
	const struct tux_duplex_tx *t = &d->tx;

	return load8(&t->state) == TUX_TX_ACKED && t->off == t->at &&
	       !load8(&t->shut) && !t->pinned;
}

/*
 * From here on the ring takes the bytes; the pipe is empty and starts at N.
 * It takes none before the whole marker is in TCP: were this process killed in
 * between, the peer would see a clean end at N.
 */
void tux_duplex_committed(struct tux_duplex *d, size_t n)
{
	struct tux_duplex_tx *t = &d->tx;

	tux_pipe_reset(&d->txp, t->off);
	t->doubt = 0;
	store8(&t->marker_left, (uint8_t)(TUX_MARKER_LEN - n));
	store8(&t->state, TUX_TX_RING);
	atomic_fetch_or(&d->rung, TUX_RING_TX);
}

static ssize_t write_ring(struct tux_duplex *d, const struct iovec *iov, int n,
			  uint64_t skip)
{
	struct tux_pipe *p = &d->txp;
	uint64_t head, len, room, at = 0;

	if (load8(&d->tx.marker_left))
		return -EAGAIN;
	tux_pipe_rewind(p);
	head = tux_pipe_head(p);
	room = tux_pipe_room(p);
	len = iov_len(iov, n) - skip;
	if (len > room)
		len = room;
	while (at < len) {
		uint32_t piece = (uint32_t)(len - at);
		uint8_t *dst = tux_pipe_at(p, head + at, &piece);

		at += iov_copy_out(dst, piece, iov, n, skip + at);
	}
	if (!at)
		return -EAGAIN;
	tux_pipe_publish(p, head + at);
	atomic_fetch_or(&d->rung, TUX_RING_TX);
	return (ssize_t)at;
}

/* Up to @max bytes to TCP.  The count of the direction follows. */
static ssize_t write_tcp(struct tux_duplex *d, const struct iovec *iov, int n,
			 uint64_t skip, uint64_t max, const struct tux_tcp *tcp)
{
	struct iovec v[8];
	int m = iov_cut(v, 8, iov, n, skip, max);
	ssize_t k = tcp->send(tcp->arg, v, m);

	if (k > 0)
		d->tx.off += (uint64_t)k;
	touch(d);
	return k;
}

/*
 * At or behind N with a doubt: a peer that is armed there compares these bytes
 * with the marker.  They go out as they are, but never so that they complete
 * it; the first that differs ends the doubt.
 */
static ssize_t write_doubtful(struct tux_duplex *d, const struct iovec *iov,
			      int n, uint64_t skip, const struct tux_tcp *tcp)
{
	struct tux_duplex_tx *t = &d->tx;
	uint64_t done = t->off - t->at;		/* of the marker, so far */
	uint64_t left = TUX_MARKER_LEN - done;
	uint8_t head[TUX_MARKER_LEN];
	uint64_t len = iov_copy_out(head, left, iov, n, skip), same = 0;
	ssize_t k;

	while (same < len && head[same] == t->marker[done + same])
		same++;
	if (same == left)
		k = same == 1 ? -EAGAIN :
		    write_tcp(d, iov, n, skip, same - 1, tcp);
	else
		k = write_tcp(d, iov, n, skip, UINT64_MAX, tcp);
	if (k > 0 && (uint64_t)k > same)
		t->doubt = 0;
	return k;
}

/* To TCP while nothing is open; only a doubt sets bounds. */
static ssize_t write_plain(struct tux_duplex *d, const struct iovec *iov, int n,
			   uint64_t skip, const struct tux_tcp *tcp)
{
	struct tux_duplex_tx *t = &d->tx;

	if (!t->doubt)
		return write_tcp(d, iov, n, skip, UINT64_MAX, tcp);
	if (t->off < t->at)
		return write_tcp(d, iov, n, skip, t->at - t->off, tcp);
	return write_doubtful(d, iov, n, skip, tcp);
}

/* At N with the acknowledgment in hand: marker to TCP, bytes to the ring. */
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

/*
 * With a generation open: up to N to TCP, and what happens there.  A write
 * never waits for the acknowledgment; it goes on, and makes the generation
 * void.
 */
static ssize_t write_open(struct tux_duplex *d, const struct iovec *iov, int n,
			  const struct tux_tcp *tcp)
{
	struct tux_duplex_tx *t = &d->tx;
	uint64_t len = iov_len(iov, n), done = 0;
	ssize_t k;

	if (t->off < t->at) {
		k = write_tcp(d, iov, n, 0, t->at - t->off, tcp);
		if (k <= 0)
			return k;
		done = (uint64_t)k;
		if (t->off == t->at)
			atomic_fetch_or(&d->rung, TUX_RING_TX);
		if (t->off < t->at || done == len)
			return k;
	}
	if (tux_duplex_at_commit(d)) {
		k = write_commit(d, iov, n, done, tcp);
	} else {
		store8(&t->state, TUX_TX_PLAIN);
		atomic_fetch_or(&d->rung, TUX_RING_TX);
		k = write_plain(d, iov, n, done, tcp);
	}
	return done && k < 0 ? (ssize_t)done : (ssize_t)done + k;
}

ssize_t tux_duplex_write(struct tux_duplex *d, const struct iovec *iov, int n,
			 const struct tux_tcp *tcp)
{
	uint8_t state = load8(&d->tx.state);
	ssize_t err;

	if (load8(&d->tx.mute)) {
		store8(&d->tx.mute, 0);
		return (ssize_t)iov_len(iov, n);
	}
	err = state == TUX_TX_RING ? take_error(d) : 0;
	if (err)
		return err;
	if (load8(&d->tx.shut))
		return -EPIPE;
	switch (state) {
	case TUX_TX_ANNOUNCED:
	case TUX_TX_ACKED:
		return write_open(d, iov, n, tcp);
	case TUX_TX_RING:
		return write_ring(d, iov, n, 0);
	case TUX_TX_RAW:
		if (load8(&d->tx.hold))
			return -EAGAIN;
		/* fall through */
	default:
		return write_plain(d, iov, n, 0, tcp);
	}
}

bool tux_duplex_shut(struct tux_duplex *d)
{
	uint8_t state = load8(&d->tx.state);
	bool ring = state == TUX_TX_RING ||
		    (state == TUX_TX_RAW && load8(&d->tx.hold));

	store8(&d->tx.shut, 1);
	if (ring)
		atomic_fetch_or(&d->rung, TUX_RING_TX);
	else
		d->tx.pinned = 1;
	return ring;
}

/* ---- reading ---- */

static ssize_t read_ring(struct tux_duplex *d, const struct iovec *iov, int n,
			 bool peek)
{
	struct tux_pipe *p = &d->rxp;
	uint64_t tail = tux_pipe_tail(p);
	uint64_t len = tux_pipe_head(p) - tail, at = 0;
	int i;

	for (i = 0; i < n && at < len; i++) {
		uint64_t k = iov[i].iov_len;

		if (k > len - at)
			k = len - at;
		tux_pipe_copy(p, tail + at, iov[i].iov_base, (uint32_t)k);
		at += k;
	}
	if (at && !peek) {
		tux_pipe_consume(p, tail + at);
		if (tail + at >= atomic_load_explicit(&d->wake_at,
						      memory_order_relaxed))
			atomic_fetch_or(&d->rung, TUX_RING_RX);
	}
	return (ssize_t)at;
}

/* The ring is empty, or seemed so: an error, the end, or nothing yet.  err and
 * eof are set after the last bytes are published, hence the second look. */
static ssize_t read_ring_or_why(struct tux_duplex *d, const struct iovec *iov,
				int n, bool peek)
{
	ssize_t k = read_ring(d, iov, n, peek);
	bool eof;

	if (k > 0 || !iov_len(iov, n))
		return k;
	eof = load8(&d->rx.eof);
	if (!eof && !atomic_load(&d->err))
		return -EAGAIN;
	k = read_ring(d, iov, n, peek);
	if (k > 0)
		return k;
	k = take_error(d);
	return k || eof ? k : -EAGAIN;
}

static ssize_t read_tcp(struct tux_duplex *d, const struct iovec *iov, int n,
			uint64_t max, bool peek, const struct tux_tcp *tcp)
{
	struct iovec v[8];
	int m = iov_cut(v, 8, iov, n, 0, max);
	ssize_t k = tcp->recv(tcp->arg, v, m, peek);

	if (k > 0 && !peek)
		d->rx.off += (uint64_t)k;
	touch(d);
	/* TCP tells an error once, and it may have told the loop. */
	return k == 0 && iov_len(v, m) ? take_error(d) : k;
}

static void switch_rx(struct tux_duplex *d)
{
	d->rx.marker_left = (uint8_t)(TUX_MARKER_LEN - d->rx.held);
	d->rx.held = 0;
	store8(&d->rx.state, TUX_RX_RING);
	atomic_fetch_or(&d->rung, TUX_RING_RX);
}

/* The generation is void.  What was held as the beginning of its marker is
 * data, and comes before all that is still in TCP. */
static void disarm(struct tux_duplex *d)
{
	struct tux_duplex_rx *r = &d->rx;

	memcpy(r->spill, r->marker, r->held);
	r->off += r->held;
	store8(&r->spill_len, r->held);
	r->held = 0;
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
	return load8(&r->state) == TUX_RX_RING;
}

/*
 * Armed and at N: what stands there?  0 if the state has changed and the
 * caller should look again; else what to tell the application.
 *
 * A proper beginning of the marker is read and held: left in TCP, it would hide
 * the end of the stream behind it, and keep the socket readable.  An error
 * behind it may have cut the marker short, so then it is nobody's data.
 */
static ssize_t at_marker(struct tux_duplex *d, const struct tux_tcp *tcp)
{
	struct tux_duplex_rx *r = &d->rx;
	uint8_t buf[TUX_MARKER_LEN];
	struct iovec v = { buf, sizeof(buf) - r->held };
	ssize_t k;

	if (tux_pipe_head(&d->rxp) > r->at) {	/* proof: Tux data is here */
		switch_rx(d);
		return 0;
	}
	k = tcp->recv(tcp->arg, &v, 1, true);
	touch(d);
	if (k < 0)
		return k;
	if (k == 0 || memcmp(buf, r->marker + r->held, (size_t)k) != 0) {
		disarm(d);
		return 0;
	}
	v.iov_len = (size_t)k;
	k = tcp->recv(tcp->arg, &v, 1, false);
	if (k < 0)
		return k;
	r->held = (uint8_t)(r->held + k);
	if (r->held < TUX_MARKER_LEN)
		return -EAGAIN;
	switch_rx(d);
	return 0;
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

	if (load8(&r->state) != TUX_RX_ARMED)
		return;
	if (r->off < r->at) {
		r->off += len;
		return;
	}
	if (memcmp(p, r->marker + r->held, len) != 0) {
		disarm(d);
		return;
	}
	r->held = (uint8_t)(r->held + len);
	if (r->held == TUX_MARKER_LEN)
		switch_rx(d);
}

static ssize_t read_armed(struct tux_duplex *d, const struct iovec *iov, int n,
			  bool peek, const struct tux_tcp *tcp)
{
	struct tux_duplex_rx *r = &d->rx;
	ssize_t k;

	if (r->off < r->at)
		return read_tcp(d, iov, n, r->at - r->off, peek, tcp);
	k = at_marker(d, tcp);
	if (k < 0)
		return k;
	return tux_duplex_read(d, iov, n, peek, tcp);
}

ssize_t tux_duplex_read(struct tux_duplex *d, const struct iovec *iov, int n,
			bool peek, const struct tux_tcp *tcp)
{
	if (load8(&d->rx.spill_len) && n)
		return read_spill(d, iov, n, peek);
	switch (load8(&d->rx.state)) {
	case TUX_RX_ARMED:
		return read_armed(d, iov, n, peek, tcp);
	case TUX_RX_RING:
		return read_ring_or_why(d, iov, n, peek);
	case TUX_RX_RAW:
		if (tux_pipe_len(&d->rxp))
			return read_ring(d, iov, n, peek);
		return read_tcp(d, iov, n, UINT64_MAX, peek, tcp);
	default:
		return read_tcp(d, iov, n, UINT64_MAX, peek, tcp);
	}
}

bool tux_duplex_advance(struct tux_duplex *d, const struct tux_tcp *tcp)
{
	if (load8(&d->rx.spill_len))
		return true;
	if (load8(&d->rx.state) == TUX_RX_ARMED && d->rx.off == d->rx.at) {
		ssize_t k = at_marker(d, tcp);

		if (k == -EAGAIN)
			return false;
		if (k < 0)		/* TCP tells it once; keep it */
			atomic_store(&d->err, (uint32_t)-k);
	}
	if (load8(&d->rx.state) == TUX_RX_RING)
		return tux_duplex_poll(d) & TUX_CAN_READ;
	return true;
}

/* ---- looking ---- */

uint32_t tux_duplex_readable(const struct tux_duplex *d)
{
	uint32_t ring = load8(&d->rx.state) >= TUX_RX_RING ?
			tux_pipe_len(&d->rxp) : 0;

	return ring + load8(&d->rx.spill_len);
}

static unsigned poll_rx(const struct tux_duplex *d, bool err)
{
	uint8_t state = load8(&d->rx.state);
	bool eof = load8(&d->rx.eof);
	unsigned can = 0;

	if (state == TUX_RX_RING) {
		can |= TUX_RX_ON_RING;
		if (eof)
			can |= TUX_IS_EOF;
		if (eof || err || tux_duplex_readable(d))
			can |= TUX_CAN_READ;
	} else if (tux_duplex_readable(d)) {
		can |= TUX_CAN_READ;
	}
	return can;
}

/* Writable when a quarter of the ring is free, so that a writer who waits is
 * woken for something worth it. */
static unsigned poll_tx(const struct tux_duplex *d, bool err)
{
	unsigned can = 0;

	if (load8(&d->tx.state) != TUX_TX_RING)
		return 0;
	can |= TUX_TX_ON_RING;
	if (err || load8(&d->tx.shut))
		can |= TUX_CAN_WRITE;
	else if (!load8(&d->tx.marker_left) &&
	    tux_pipe_room(&d->txp) >= d->txp.cap / 4)
		can |= TUX_CAN_WRITE;
	return can;
}

unsigned tux_duplex_poll(const struct tux_duplex *d)
{
	bool err = atomic_load(&d->err) != 0;

	return poll_rx(d, err) | poll_tx(d, err) | (err ? TUX_IS_ERR : 0);
}

/* ---- the loop's side ---- */

bool tux_duplex_announce(struct tux_duplex *d, uint64_t ahead,
			 const struct tux_key *key, bool active, uint64_t *at)
{
	struct tux_duplex_tx *t = &d->tx;

	if (load8(&t->state) != TUX_TX_PLAIN || load8(&t->shut) ||
	    (t->pinned && !t->doubt))
		return false;
	t->gen++;
	t->from = t->off;
	t->disarming = t->doubt;
	*at = TUX_NOWHERE;
	if (t->disarming)
		return true;
	*at = t->at = t->off + ahead;
	tux_marker(t->marker, key, t->gen, active);
	t->doubt = 1;
	store8(&t->state, TUX_TX_ANNOUNCED);
	return true;
}

void tux_duplex_prepared(struct tux_duplex *d, uint32_t gen)
{
	struct tux_duplex_tx *t = &d->tx;

	if (gen != t->gen)
		return;
	if (t->disarming)
		t->doubt = t->disarming = 0;
	else if (load8(&t->state) == TUX_TX_ANNOUNCED)
		store8(&t->state, TUX_TX_ACKED);
}

void tux_duplex_withdraw(struct tux_duplex *d)
{
	uint8_t state = load8(&d->tx.state);

	if (state == TUX_TX_ANNOUNCED || state == TUX_TX_ACKED)
		store8(&d->tx.state, TUX_TX_PLAIN);
}

bool tux_duplex_arm(struct tux_duplex *d, uint32_t gen, uint64_t at,
		    const struct tux_key *key, bool active)
{
	struct tux_duplex_rx *r = &d->rx;
	uint8_t state = load8(&r->state);

	if (state == TUX_RX_RAW)
		return false;
	if (gen == r->gen)		/* our answer may have been lost */
		return state != TUX_RX_PLAIN || r->at == TUX_NOWHERE;
	if (state == TUX_RX_RING || (int32_t)(gen - r->gen) < 0)
		return false;
	/* A newer one makes the older void, even if it is void itself. */
	if (state == TUX_RX_ARMED)
		disarm(d);
	r->gen = gen;
	r->at = at;
	if (at == TUX_NOWHERE)
		return true;
	if (at < r->off || r->pinned)
		return false;
	tux_marker(r->marker, key, gen, active);
	tux_pipe_reset(&d->rxp, at);
	store8(&r->state, TUX_RX_ARMED);
	return true;
}
