/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The application of an end: what it writes can be told from its place, and what
 * it reads is checked.
 */
#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "world.h"

enum { PIECE = 512 };

uint8_t fuzz_byte(const struct fuzz_world *w, unsigned side, uint64_t off)
{
	return (uint8_t)(off + (off >> 8) * 7 + side * 77 + w->salt);
}

/* A message begins with its number. */
uint8_t fuzz_message_byte(const struct fuzz_world *w, unsigned side,
			  unsigned lane, uint32_t n, uint32_t off)
{
	if (off < 4)
		return (uint8_t)(n >> 8 * off);
	return (uint8_t)(off + (off >> 8) * 7 + n * 31 + lane * 101 +
			 side * 77 + w->salt);
}

/* ---- TCP as a duplex sees it ---- */

static ssize_t tcp_send(void *arg, const struct iovec *iov, int n)
{
	struct fuzz_end *e = arg;
	size_t done = 0, k;
	int i;

	if (e->in.err)
		return -e->in.err;
	for (i = 0; i < n; i++) {
		k = fuzz_tcp_put(fuzz_peer(e), iov[i].iov_base,
				 iov[i].iov_len);
		done += k;
		if (k < iov[i].iov_len)
			break;
	}
	return done ? (ssize_t)done : -EAGAIN;
}

static ssize_t tcp_recv(void *arg, const struct iovec *iov, int n, bool peek)
{
	struct fuzz_end *e = arg;
	struct fuzz_tcp *t = &e->in;
	size_t at = 0;
	int i;

	for (i = 0; i < n && at < t->len; i++) {
		size_t k = t->len - at;

		k = iov[i].iov_len < k ? iov[i].iov_len : k;
		memcpy(iov[i].iov_base, t->p + at, k);
		at += k;
	}
	if (!at)
		return t->eof ? 0 : t->err ? -t->err : -EAGAIN;
	if (!peek) {
		t->len -= (uint32_t)at;
		memmove(t->p, t->p + at, t->len);
	}
	return (ssize_t)at;
}

static struct tux_tcp tcp_of(struct fuzz_end *e)
{
	return (struct tux_tcp){ tcp_send, tcp_recv, e };
}

/* ---- the stream ---- */

void fuzz_write(struct fuzz_end *e, size_t len)
{
	struct tux_tcp tcp = tcp_of(e);
	uint8_t buf[PIECE];
	struct iovec v = { buf, len < PIECE ? len : PIECE };
	ssize_t k;
	size_t i;

	if (e->closed || !len || !tux_latch_try(&e->dx->tx.latch))
		return;
	for (i = 0; i < v.iov_len; i++)
		buf[i] = fuzz_byte(e->w, e->side, e->wrote + i);
	k = tux_duplex_write(e->dx, &v, 1, &tcp);
	tux_latch_drop(&e->dx->tx.latch);
	FUZZ_CHECK(k && k <= (ssize_t)v.iov_len);
	if (k > 0)
		e->wrote += (uint64_t)k;
}

static void check_read(struct fuzz_end *e, const uint8_t *p, size_t len)
{
	size_t i;

	for (i = 0; i < len && !e->muddled; i++)
		FUZZ_CHECK(p[i] == fuzz_byte(e->w, !e->side, e->read + i));
	e->read += len;
}

void fuzz_read(struct fuzz_end *e, size_t len)
{
	struct tux_tcp tcp = tcp_of(e);
	uint8_t buf[PIECE];
	struct iovec v = { buf, len < PIECE ? len : PIECE };
	ssize_t k;

	if (e->closed || e->eof || e->err || !len ||
	    !tux_latch_try(&e->dx->rx.latch))
		return;
	k = tux_duplex_read(e->dx, &v, 1, false, &tcp);
	tux_latch_drop(&e->dx->rx.latch);
	FUZZ_CHECK(k <= (ssize_t)v.iov_len);
	if (k > 0)
		check_read(e, buf, (size_t)k);
	else if (!k)
		e->eof = true;
	else if (k != -EAGAIN)
		e->err = (int)-k;
}

void fuzz_shut(struct fuzz_end *e)
{
	if (e->shut || e->closed || !tux_latch_try(&e->dx->tx.latch))
		return;
	e->shut = true;
	if (!tux_duplex_shut(e->dx))
		fuzz_peer(e)->in.eof = true;
	tux_latch_drop(&e->dx->tx.latch);
}

void fuzz_ring(struct fuzz_end *e, uint32_t bits)
{
	atomic_fetch_or(&e->dx->rung, bits);
}

void fuzz_close(struct fuzz_end *e, bool abort)
{
	if (e->closed)
		return;
	e->closed = true;
	tux_latch_drop(&e->dx->tx.latch);
	tux_latch_drop(&e->dx->rx.latch);
	fuzz_ring(e, abort ? TUX_RING_ABORT : TUX_RING_CLOSE);
}

/* ---- messages ---- */

void fuzz_send(struct fuzz_end *e, uint32_t len, unsigned flags)
{
	unsigned lane = len > TUX_MSG_SMALL;
	uint32_t i, n = e->sent_n[lane];
	void *p;

	if (!e->box || e->closed ||
	    tux_msgbox_reserve(e->box, len, flags, e->shut, &p, &e->ref))
		return;
	for (i = 0; i < len; i++)
		((uint8_t *)p)[i] = fuzz_message_byte(e->w, e->side, lane, n,
						      i);
	tux_msgbox_commit(e->box, e->ref);
	e->sent_n[lane]++;
	fuzz_ring(e, TUX_RING_MESSAGE);
}

void fuzz_cancel(struct fuzz_end *e)
{
	if (!e->box || !e->ref || e->closed)
		return;
	e->cancelled = true;
	if (tux_msgbox_cancel(e->box, e->ref))
		fuzz_ring(e, TUX_RING_MESSAGE);
}

/* It says itself which it is, and comes once.  Of a lane without a
 * cancellation, that is also its place in the lane. */
static void check_message(struct fuzz_end *e, const struct tux_msg *m)
{
	unsigned lane = m->ref % TUX_LANES;
	uint32_t id = (uint32_t)(m->ref / TUX_LANES), n = id, i;
	const uint8_t *p = m->p;

	if (m->len >= 4)
		n = (uint32_t)p[0] | (uint32_t)p[1] << 8 |
		    (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
	e->got_n++;
	if (e->muddled)
		return;
	FUZZ_CHECK(n == id || fuzz_peer(e)->cancelled);
	for (i = 0; i < m->len; i++)
		FUZZ_CHECK(p[i] == fuzz_message_byte(e->w, !e->side, lane, n,
						     i));
	FUZZ_CHECK(n < FUZZ_IDS);
	FUZZ_CHECK(!(e->seen[lane][n / 8] >> n % 8 & 1));
	e->seen[lane][n / 8] |= (uint8_t)(1u << n % 8);
}

void fuzz_take(struct fuzz_end *e)
{
	unsigned i, n, room = FUZZ_TAKEN - e->taken_n;
	uint64_t ref;
	int err;

	if (!e->box || e->closed)
		return;
	n = tux_msgbox_take(e->box, e->taken + e->taken_n, room);
	for (i = 0; i < n; i++)
		check_message(e, &e->taken[e->taken_n++]);
	while (tux_msgbox_settled(e->box, &ref, &err))
		e->failed_n += err != 0;
}

void fuzz_release(struct fuzz_end *e, unsigned i)
{
	if (!e->taken_n || e->closed)
		return;
	i %= e->taken_n;
	if (tux_msgbox_release(e->box, &e->taken[i]))
		fuzz_ring(e, TUX_RING_MESSAGE);
	e->taken[i] = e->taken[--e->taken_n];
}
