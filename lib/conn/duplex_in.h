/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * duplex_in - helpers of duplex_*.c, and private to them
 */
#ifndef TUX_CONN_DUPLEX_IN_H
#define TUX_CONN_DUPLEX_IN_H

#include <errno.h>

#include "base/iov.h"
#include "conn/duplex.h"

static inline uint8_t load8(const _Atomic uint8_t *v)
{
	return atomic_load_explicit(v, memory_order_acquire);
}

static inline void store8(_Atomic uint8_t *v, uint8_t to)
{
	atomic_store_explicit(v, to, memory_order_release);
}

/* The first @done bytes that can be read were peeked at, into @iov: adds those
 * behind them that lie elsewhere, as far as there is room.  Returns how many
 * bytes that makes.  The rx latch is held. */
size_t tux_duplex_peek_on(struct tux_duplex *d, const struct iovec *iov, int n,
			  size_t done, const struct tux_tcp *tcp);

/* A plain read or write: rings TUX_DOORBELL_TOUCH if touches are left. */
static inline void duplex_touch(struct tux_duplex *d)
{
	uint32_t n = atomic_load_explicit(&d->touches, memory_order_relaxed);

	if (!n)
		return;
	atomic_store_explicit(&d->touches, n - 1, memory_order_relaxed);
	atomic_fetch_or(&d->rung, TUX_DOORBELL_TOUCH);
}

/* A direction is about to move, or may be: once told, it stays so. */
static inline void duplex_begin(const struct tux_duplex *d)
{
	if (d->begun)
		atomic_store(d->begun, d->claim);
}

/* The offset of the next byte that a read takes from the ring. */
static inline uint64_t duplex_taken(const struct tux_duplex *d)
{
	uint64_t tail = tux_pipe_tail(&d->rxp);
	uint64_t taken = atomic_load_explicit(&d->rx.taken,
					      memory_order_acquire);

	return taken > tail ? taken : tail;
}

/* How many bytes can be read from the ring?  `stopped` first: behind its end, what was
 * dropped is not there. */
static inline uint32_t duplex_ring_len(const struct tux_duplex *d)
{
	bool stopped = load8(&d->rx.stopped);
	uint64_t taken = duplex_taken(d), head = tux_pipe_head(&d->rxp);

	return head > taken && !stopped ? (uint32_t)(head - taken) : 0;
}

/* How many bytes of the earlier turn does the ring have?  While it was armed, a
 * peer that breaks the rules may have put other bytes there: they do not count. */
static inline uint32_t duplex_rest(const struct tux_duplex *d)
{
	uint64_t from = atomic_load_explicit(&d->rx.from, memory_order_acquire);
	uint64_t taken = duplex_taken(d);

	return taken < from ? (uint32_t)(from - taken) : 0;
}

/* Peeks at TCP.  TCP reports an error only once.  Unread bytes come before it,
 * so it is kept for the read behind them. */
static inline ssize_t duplex_peek_tcp(struct tux_duplex *d,
				      const struct iovec *iov, int n,
				      const struct tux_tcp *tcp)
{
	ssize_t k = tcp->recv(tcp->arg, iov, n, true);

	if (k < 0 && k != -EAGAIN)
		atomic_store(&d->err, (uint32_t)-k);
	return k;
}

/* Behind the marker TCP has the header @hdr of a frame.  Returns how many bytes
 * the frame has, if they are the rest of a write that went across N; else 0.
 * A frame of more than half the ring does not count, because the loop puts these
 * bytes into the ring even if the application reads nothing. */
uint32_t tux_duplex_across(const struct tux_duplex *d,
			   const uint8_t hdr[TUX_FRAME_HDR]);

/* A plain write has moved the bursts: rings TUX_DOORBELL_LOOK if that is due. */
static inline void duplex_look(struct tux_duplex *d)
{
	if (tux_burst_turns(&d->tx.bursts) <
	    atomic_load_explicit(&d->tx.look_at, memory_order_relaxed))
		return;
	atomic_store_explicit(&d->tx.look_at, UINT32_MAX, memory_order_relaxed);
	atomic_fetch_or(&d->rung, TUX_DOORBELL_LOOK);
}

/* Was the last write told to wait for the end of the doubt? */
static inline bool duplex_bars(const struct tux_duplex *d)
{
	return load8(&d->tx.bars) & 1;
}

/* The connection's error, negated, once; 0 if there is none. */
static inline ssize_t duplex_take_error(struct tux_duplex *d)
{
	uint32_t err = atomic_load(&d->err);

	if (!err || !atomic_exchange(&d->err, 0))
		return 0;
	store8(&d->failed, 1);
	return -(ssize_t)err;
}

/* TCP has told the application error @k, a negative one: the connection's, unless it is
 * about the call.  EPIPE may only mean that the program has shut the direction. */
static inline void duplex_told(struct tux_duplex *d, ssize_t k)
{
	switch (k) {
	case -ECONNRESET: case -ETIMEDOUT: case -ECONNABORTED:
	case -EHOSTUNREACH: case -ENETUNREACH:
		store8(&d->failed, 1);
		duplex_take_error(d);
	}
}

#endif
