/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * duplex_peek - what lies in the receiving direction and is not read yet
 *
 * Unread bytes may lie in several places, one behind the other: in spill, in
 * TCP, in the ring.  While the direction is ARMED and bytes below N are unread,
 * only a look at N tells whether the sender has switched there.
 */
#include <errno.h>

#include "conn/duplex_in.h"

enum {
	PAD = 4096,		/* bytes below N go there, to be ignored */
	PADS = 256,		/* pieces below N, at most */
	PIECES = 8,
};

#define UNKNOWN INT64_MIN

/* TCP reports an error only once.  Unread bytes come before it, so it is kept
 * for the read behind them. */
static ssize_t peek_tcp(struct tux_duplex *d, const struct iovec *iov, int n,
			const struct tux_tcp *tcp)
{
	ssize_t k = tcp->recv(tcp->arg, iov, n, true);

	if (k < 0 && k != -EAGAIN)
		atomic_store(&d->err, (uint32_t)-k);
	return k;
}

/* ---- the place of the switch ---- */

static size_t marker_rest(const struct tux_duplex *d)
{
	return TUX_MARKER_LEN - d->rx.held;
}

/* Makes @v describe @left bytes, which all go into @pad, and then @at_n. */
static int peek_pieces(struct iovec *v, uint8_t *pad, uint64_t left,
		       struct iovec at_n)
{
	int n = 0;

	for (; left; left -= v[n++].iov_len)
		v[n] = (struct iovec){ pad, left < PAD ? left : PAD };
	v[n++] = at_n;
	return n;
}

/* ARMED: puts the bytes that TCP has at N, where a marker may be, into @buf.
 * Returns how many these are; less than 0 if bytes below N are missing; UNKNOWN
 * after an error, or if N is too far away.  TCP cannot be peeked at from the
 * middle, so this peeks at the bytes below N, too. */
static int64_t look_at_n(struct tux_duplex *d, uint8_t *buf,
			 const struct tux_tcp *tcp)
{
	uint64_t left = d->rx.at - d->rx.off;
	uint8_t pad[PAD];
	struct iovec v[PADS + 1], at_n = { buf, marker_rest(d) };
	ssize_t k;

	if (left > (uint64_t)PAD * PADS)
		return UNKNOWN;
	k = peek_tcp(d, v, peek_pieces(v, pad, left, at_n), tcp);
	if (k < 0 && k != -EAGAIN)
		return UNKNOWN;
	return (k > 0 ? k : 0) - (int64_t)left;
}

/* ARMED: do other bytes than the marker lie at N?  With @fin, TCP has no more
 * bytes, and less than a marker is none, either. */
static bool is_void(struct tux_duplex *d, bool fin, const struct tux_tcp *tcp)
{
	const struct tux_duplex_rx *r = &d->rx;
	uint8_t buf[TUX_MARKER_LEN];
	int64_t n = look_at_n(d, buf, tcp);

	if (n > 0 && memcmp(buf, r->marker + r->held, (size_t)n) != 0)
		return true;
	return fin && n != UNKNOWN && n < (int64_t)marker_rest(d);
}

/* ARMED, and the sender has switched: is all of TCP here that comes before the
 * ring?  Without bytes in the ring, the marker is needed, too. */
static bool is_whole(struct tux_duplex *d, const struct tux_tcp *tcp)
{
	bool marker = tux_pipe_head(&d->rxp) == d->rx.at;
	uint8_t buf[TUX_MARKER_LEN];

	return look_at_n(d, buf, tcp) >=
	       (marker ? (int64_t)marker_rest(d) : 0);
}

uint64_t tux_duplex_unread(struct tux_duplex *d, uint64_t n,
			   const struct tux_tcp *tcp)
{
	const struct tux_duplex_rx *r = &d->rx;
	uint64_t spill = load8(&r->spill_len), left = r->at - r->off;

	if (load8(&r->state) != TUX_RX_ARMED)
		return tux_duplex_readable(d) + n;
	if (n < left)
		return spill + n;
	if (tux_pipe_head(&d->rxp) > r->at)
		return spill + left + tux_pipe_len(&d->rxp);
	/* Behind N lies the marker, or data. */
	return spill + (n > left && is_void(d, false, tcp) ? n + r->held :
							     left);
}

/* ---- peeks ---- */

static size_t peek_ring(const struct tux_duplex *d, const struct iovec *iov,
			int n, size_t skip)
{
	uint64_t from = tux_pipe_tail(&d->rxp), at = from;
	struct iovec v[PIECES];
	int i, m = tux_iov_cut(v, PIECES, iov, n, skip, tux_pipe_len(&d->rxp));

	for (i = 0; i < m; at += v[i++].iov_len)
		tux_pipe_copy(&d->rxp, at, v[i].iov_base,
			      (uint32_t)v[i].iov_len);
	return at - from;
}

static size_t peek_plain(struct tux_duplex *d, const struct iovec *iov, int n,
			 size_t skip, uint64_t max, const struct tux_tcp *tcp)
{
	struct iovec v[PIECES];
	int m = tux_iov_cut(v, PIECES, iov, n, skip, max);
	ssize_t k = m ? peek_tcp(d, v, m, tcp) : 0;

	return k > 0 ? (size_t)k : 0;
}

/* ARMED: behind the bytes below N come those of the ring, if the sender has
 * switched, or those of TCP, if it never will. */
static size_t peek_armed(struct tux_duplex *d, const struct iovec *iov, int n,
			 size_t spill, const struct tux_tcp *tcp)
{
	uint64_t left = d->rx.at - d->rx.off;
	size_t done = spill + peek_plain(d, iov, n, spill, left, tcp);

	if (done < spill + left || done == tux_iov_len(iov, n))
		return done;
	if (tux_pipe_head(&d->rxp) > d->rx.at)
		return done + peek_ring(d, iov, n, done);
	if (is_void(d, false, tcp))
		return spill + peek_plain(d, iov, n, spill, UINT64_MAX, tcp);
	return done;
}

/* PLAIN or RAW: behind the bytes of the ring come those of TCP. */
static size_t peek_off_ring(struct tux_duplex *d, const struct iovec *iov,
			    int n, size_t spill, const struct tux_tcp *tcp)
{
	size_t done = spill + peek_ring(d, iov, n, spill);

	return done + peek_plain(d, iov, n, done, UINT64_MAX, tcp);
}

size_t tux_duplex_peek_on(struct tux_duplex *d, const struct iovec *iov, int n,
			  size_t done, const struct tux_tcp *tcp)
{
	size_t spill = load8(&d->rx.spill_len);

	if (done == tux_iov_len(iov, n))
		return done;
	switch (load8(&d->rx.state)) {
	case TUX_RX_ARMED:
		return peek_armed(d, iov, n, spill, tcp);
	case TUX_RX_SWITCHED:
		return spill ? spill + peek_ring(d, iov, n, spill) : done;
	default:
		return tux_duplex_readable(d) ?
		       peek_off_ring(d, iov, n, spill, tcp) : done;
	}
}

/* ---- the end ---- */

bool tux_duplex_ended(struct tux_duplex *d, bool fin,
		      const struct tux_tcp *tcp)
{
	bool eof = load8(&d->rx.eof);

	if (atomic_load(&d->err))
		return false;
	switch (load8(&d->rx.state)) {
	case TUX_RX_ARMED:
		return eof ? is_whole(d, tcp) : fin && is_void(d, true, tcp);
	case TUX_RX_SWITCHED:
		return eof;
	default:
		return fin;
	}
}
