/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * duplex_peek - what lies in the receiving direction and is not read yet
 *
 * Unread bytes may lie in several places, one behind the other: in spill, in
 * TCP, in the ring.  While the direction is ARMED and bytes below N are unread,
 * only a look at N tells whether the sender has switched there.
 */
#include "conn/duplex_in.h"
#include "wire/frame.h"

enum {
	PAD = 65536,		/* bytes below N go there, to be ignored */
	PADS = 16,		/* pieces below N, at most */
	PIECES = 8,
	AT_N = TUX_MARKER_LEN + TUX_FRAME_HDR,
};

#define UNKNOWN INT64_MIN

/* ---- the place of the switch ---- */

uint32_t tux_duplex_across(const struct tux_duplex *d,
			   const uint8_t hdr[TUX_FRAME_HDR])
{
	struct tux_frame f;

	if (tux_frame_decode(&f, hdr) || f.type != TUX_FRAME_DATA ||
	    f.off != d->rx.at || f.len > d->rxp.cap / 2)
		return 0;
	return f.len;
}

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

/* ARMED: puts the bytes that TCP has at N into @buf: those where a marker may
 * be, and of the header of a frame behind it.  Returns how many these are; less
 * than 0 if bytes below N are missing; UNKNOWN after an error, or if N is too
 * far away.  TCP cannot be peeked at from the middle, so this peeks at the
 * bytes below N, too. */
static int64_t look_at_n(struct tux_duplex *d, uint8_t buf[AT_N],
			 const struct tux_tcp *tcp)
{
	/* No byte of it is ever read, so all threads may share it. */
	static uint8_t pad[PAD];
	uint64_t left = d->rx.at - d->rx.off;
	struct iovec v[PADS + 1];
	struct iovec at_n = { buf, marker_rest(d) + TUX_FRAME_HDR };
	ssize_t k;

	if (left > (uint64_t)PAD * PADS)
		return UNKNOWN;
	k = duplex_peek_tcp(d, v, peek_pieces(v, pad, left, at_n), tcp);
	if (k < 0 && k != -EAGAIN)
		return UNKNOWN;
	return (k > 0 ? k : 0) - (int64_t)left;
}

/* Do the @n bytes at @buf, of those at N, differ from the marker? */
static bool differs(const struct tux_duplex *d, const uint8_t *buf, int64_t n)
{
	int64_t rest = (int64_t)marker_rest(d);

	return n > 0 && memcmp(buf, d->rx.marker + d->rx.held,
			       (size_t)(n < rest ? n : rest)) != 0;
}

/* ARMED: do other bytes than the marker lie at N?  With @fin, TCP has no more
 * bytes, and less than a marker is none, either. */
static bool is_void(struct tux_duplex *d, bool fin, const struct tux_tcp *tcp)
{
	uint8_t buf[AT_N];
	int64_t n = look_at_n(d, buf, tcp);

	if (differs(d, buf, n))
		return true;
	return fin && n != UNKNOWN && n < (int64_t)marker_rest(d);
}

/* ARMED, and the bytes that TCP has at N, @n of them, lie at @buf: how many
 * follow, if they are the rest of a write that went across N? */
static uint64_t rest_at_n(const struct tux_duplex *d, const uint8_t *buf,
			  int64_t n)
{
	size_t marker = marker_rest(d);

	return n < (int64_t)(marker + TUX_FRAME_HDR) || differs(d, buf, n) ?
	       0 : tux_duplex_across(d, buf + marker);
}

/* ARMED: how many bytes from N on are in the ring, if the sender has switched? */
static uint64_t ring_behind_n(const struct tux_duplex *d)
{
	return tux_pipe_head(&d->rxp) > d->rx.at ? duplex_ring_len(d) : 0;
}

/* ARMED, and TCP has @n bytes from N on: how many of them can be read, and
 * those that are held? */
static uint64_t unread_at_n(struct tux_duplex *d, uint64_t n,
			    const struct tux_tcp *tcp)
{
	uint64_t before = marker_rest(d) + TUX_FRAME_HDR, rest;
	uint8_t buf[AT_N];
	int64_t k = look_at_n(d, buf, tcp);

	if (differs(d, buf, k))
		return n + d->rx.held;
	if (n <= before)
		return 0;
	rest = rest_at_n(d, buf, k);
	return rest < n - before ? rest : n - before;
}

/* ARMED, and the sender has switched: is all of TCP here that comes before the
 * ring?  Without bytes in the ring, the marker is needed, too. */
static bool is_whole(struct tux_duplex *d, const struct tux_tcp *tcp)
{
	bool marker = tux_pipe_head(&d->rxp) == d->rx.at;
	uint8_t buf[AT_N];

	return look_at_n(d, buf, tcp) >=
	       (marker ? (int64_t)marker_rest(d) : 0);
}

uint64_t tux_duplex_unread(struct tux_duplex *d, uint64_t n,
			   const struct tux_tcp *tcp)
{
	const struct tux_duplex_rx *r = &d->rx;
	uint64_t spill = load8(&r->spill_len), left = r->at - r->off, ring;

	if (load8(&r->state) != TUX_RX_ARMED)
		return tux_duplex_readable(d) + n;
	if (n < left)
		return spill + n;
	/* From N on, TCP has data, or the marker and perhaps a frame.  The ring may
	 * have some of the same bytes, so the longer one counts. */
	n = n > left ? unread_at_n(d, n - left, tcp) : 0;
	ring = ring_behind_n(d);
	return spill + left + (n > ring ? n : ring);
}

/* ---- peeks ---- */

static size_t peek_ring(const struct tux_duplex *d, const struct iovec *iov,
			int n, size_t skip)
{
	uint64_t from = duplex_taken(d), at = from;
	struct iovec v[PIECES];
	int i, m = tux_iov_cut(v, PIECES, iov, n, skip, duplex_ring_len(d));

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
	ssize_t k = m ? duplex_peek_tcp(d, v, m, tcp) : 0;

	return k > 0 ? (size_t)k : 0;
}

/* ARMED, and @left bytes below N are in TCP: peeks at the rest of a write that
 * went across N, behind the first @done bytes of @iov. */
static size_t peek_across(struct tux_duplex *d, const struct iovec *iov, int n,
			  size_t done, uint64_t left, const struct tux_tcp *tcp)
{
	size_t before = left + marker_rest(d) + TUX_FRAME_HDR;
	struct iovec v[2 * PIECES + 1];
	uint8_t buf[AT_N];
	uint64_t rest = rest_at_n(d, buf, look_at_n(d, buf, tcp));
	int m = tux_iov_cut(v, PIECES, iov, n, done - left, left);
	ssize_t k;

	if (!rest || tux_iov_len(v, m) < left)
		return 0;
	v[m++] = (struct iovec){ buf, before - left };
	m += tux_iov_cut(v + m, PIECES, iov, n, done, rest);
	k = duplex_peek_tcp(d, v, m, tcp);
	return k > (ssize_t)before ? (size_t)k - before : 0;
}

/* ARMED: behind the bytes below N come those of the ring, if the sender has
 * switched, or those of TCP, if it never will.  The rest of a write that went across N
 * may be in both, and in TCP there may be more of it. */
static size_t peek_armed(struct tux_duplex *d, const struct iovec *iov, int n,
			 size_t spill, const struct tux_tcp *tcp)
{
	uint64_t left = d->rx.at - d->rx.off;
	size_t done = spill + peek_plain(d, iov, n, spill, left, tcp), across;

	if (done < spill + left || done == tux_iov_len(iov, n))
		return done;
	if (!ring_behind_n(d) && is_void(d, false, tcp))
		return spill + peek_plain(d, iov, n, spill, UINT64_MAX, tcp);
	across = peek_across(d, iov, n, done, left, tcp);
	if (across < ring_behind_n(d))
		across = peek_ring(d, iov, n, done);
	return done + across;
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
