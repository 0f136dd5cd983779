/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The application of an end: what it writes can be told from its place, and
 * what it reads is checked.
 */
#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "world.h"

enum { PIECE = 512 };

/* ---- bytes that follow from their place ---- */

/* Each counts on from the one before, and each 256 begin elsewhere: so whole
 * pieces come out of a table. */
static const uint8_t *row(uint64_t off, unsigned first)
{
	static uint8_t table[512];
	unsigned i;

	for (i = 0; !table[511] && i < sizeof(table); i++)
		table[i] = (uint8_t)i;
	return table + (uint8_t)(off + (off >> 8) * 7 + first);
}

static size_t piece(uint64_t off, size_t len)
{
	size_t n = 256 - (size_t)(off & 255);

	return n < len ? n : len;
}

static void fill(uint8_t *p, uint64_t off, size_t len, unsigned first)
{
	size_t n;

	for (; len; p += n, off += n, len -= n) {
		n = piece(off, len);
		memcpy(p, row(off, first), n);
	}
}

static bool same(const uint8_t *p, uint64_t off, size_t len, unsigned first)
{
	size_t n;

	for (; len; p += n, off += n, len -= n) {
		n = piece(off, len);
		if (memcmp(p, row(off, first), n))
			return false;
	}
	return true;
}

static unsigned first_of(const struct fuzz_world *w, unsigned side)
{
	return side * 77 + w->salt;
}

void fuzz_fill(const struct fuzz_world *w, unsigned side, uint64_t off,
	       uint8_t *p, size_t len)
{
	fill(p, off, len, first_of(w, side));
}

bool fuzz_same(const struct fuzz_world *w, unsigned side, uint64_t off,
	       const uint8_t *p, size_t len)
{
	return same(p, off, len, first_of(w, side));
}

static unsigned first_of_message(const struct fuzz_world *w, unsigned side,
				 unsigned lane, uint32_t n)
{
	return first_of(w, side) + n * 31 + lane * 101;
}

void fuzz_message_fill(const struct fuzz_world *w, unsigned side, unsigned lane,
		       uint32_t n, uint32_t off, uint8_t *p, size_t len)
{
	size_t i;

	fill(p, off, len, first_of_message(w, side, lane, n));
	for (i = 0; i < len && off + i < 4; i++)
		p[i] = (uint8_t)(n >> 8 * (off + i));
}

bool fuzz_message_same(const struct fuzz_world *w, unsigned side, unsigned lane,
		       uint32_t n, const uint8_t *p, size_t len)
{
	size_t i;

	for (i = 0; i < len && i < 4; i++)
		if (p[i] != (uint8_t)(n >> 8 * i))
			return false;
	return same(p + i, i, len - i, first_of_message(w, side, lane, n));
}

/* ---- the stream ---- */

void fuzz_write(struct fuzz_end *e, size_t len)
{
	uint8_t buf[PIECE];
	struct iovec v = { buf, len < PIECE ? len : PIECE };
	ssize_t k;

	if (e->closed || !len || !tux_latch_try(&e->end.dx->tx.latch))
		return;
	fuzz_fill(e->w, e->end.side, e->wrote, buf, v.iov_len);
	k = tux_duplex_write(e->end.dx, &v, 1, &e->end.tcp);
	tux_latch_drop(&e->end.dx->tx.latch);
	FUZZ_CHECK(k && k <= (ssize_t)v.iov_len);
	if (k > 0)
		e->wrote += (uint64_t)k;
}

static void check_read(struct fuzz_end *e, const uint8_t *p, size_t len)
{
	FUZZ_CHECK(e->muddled ||
		   fuzz_same(e->w, !e->end.side, e->read, p, len));
	e->read += len;
}

void fuzz_read(struct fuzz_end *e, size_t len)
{
	uint8_t buf[PIECE];
	struct iovec v = { buf, len < PIECE ? len : PIECE };
	ssize_t k;

	if (e->closed || e->eof || e->err || !len ||
	    !tux_latch_try(&e->end.dx->rx.latch))
		return;
	k = tux_duplex_read(e->end.dx, &v, 1, false, &e->end.tcp);
	tux_latch_drop(&e->end.dx->rx.latch);
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
	if (e->shut || e->closed || !tux_latch_try(&e->end.dx->tx.latch))
		return;
	e->shut = true;
	if (!tux_duplex_shut(e->end.dx))
		fuzz_peer(e)->end.in.eof = true;
	tux_latch_drop(&e->end.dx->tx.latch);
}

void fuzz_ring(struct fuzz_end *e, uint32_t bits)
{
	atomic_fetch_or(&e->end.dx->rung, bits);
}

void fuzz_close(struct fuzz_end *e, bool abort)
{
	if (e->closed)
		return;
	e->closed = true;
	tux_latch_drop(&e->end.dx->tx.latch);
	tux_latch_drop(&e->end.dx->rx.latch);
	fuzz_ring(e, abort ? TUX_DOORBELL_ABORT : TUX_DOORBELL_CLOSE);
}

/* ---- messages ---- */

void fuzz_send(struct fuzz_end *e, uint32_t len, unsigned flags)
{
	unsigned lane = len > TUX_MSG_SMALL;
	void *p;

	if (!e->end.box || e->closed ||
	    tux_msgbox_reserve(e->end.box, len, flags, e->shut, &p, &e->ref))
		return;
	fuzz_message_fill(e->w, e->end.side, lane, e->sent_n[lane]++, 0, p,
			  len);
	tux_msgbox_commit(e->end.box, e->ref);
	fuzz_ring(e, TUX_DOORBELL_MESSAGE);
}

void fuzz_cancel(struct fuzz_end *e)
{
	if (!e->end.box || !e->ref || e->closed)
		return;
	e->cancelled = true;
	if (tux_msgbox_cancel(e->end.box, e->ref))
		fuzz_ring(e, TUX_DOORBELL_MESSAGE);
}

/* The id of a message that was not released: those of its lane begin at `first`. */
static uint32_t id_of(const struct fuzz_end *e, const struct tux_msg *m,
		      unsigned lane)
{
	uint64_t first = e->end.c->msg->rx[lane].first;

	return (uint32_t)(first + ((m->ref - tux_message_in_slot(e->end.c->msg, lane,
								  first)) &
				   (tux_lane_n(lane) - 1)));
}

/* It says itself which it is, and comes once.  Of a lane without a
 * cancellation, that is also its place in the lane. */
static void check_message(struct fuzz_end *e, const struct tux_msg *m)
{
	unsigned lane = m->ref >= TUX_MSG_SMALL_N;
	uint32_t id = id_of(e, m, lane), n = id;
	const uint8_t *p = m->p;

	if (m->len >= 4)
		n = (uint32_t)p[0] | (uint32_t)p[1] << 8 |
		    (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
	e->got_n++;
	if (e->muddled)
		return;
	FUZZ_CHECK(n == id || fuzz_peer(e)->cancelled);
	FUZZ_CHECK(fuzz_message_same(e->w, !e->end.side, lane, n, p, m->len));
	FUZZ_CHECK(n < FUZZ_IDS);
	FUZZ_CHECK(!(e->seen[lane][n / 8] >> n % 8 & 1));
	e->seen[lane][n / 8] |= (uint8_t)(1u << n % 8);
}

void fuzz_take(struct fuzz_end *e)
{
	unsigned i, n, room = FUZZ_TAKEN - e->taken_n;
	uint64_t ref;
	int err;

	if (!e->end.box || e->closed)
		return;
	n = tux_msgbox_take(e->end.box, e->taken + e->taken_n, room);
	for (i = 0; i < n; i++)
		check_message(e, &e->taken[e->taken_n++]);
	while (tux_msgbox_settled(e->end.box, &ref, &err))
		e->failed_n += err != 0;
}

void fuzz_release(struct fuzz_end *e, unsigned i)
{
	if (!e->taken_n || e->closed)
		return;
	i %= e->taken_n;
	if (tux_msgbox_release(e->end.box, &e->taken[i], 1))
		fuzz_ring(e, TUX_DOORBELL_MESSAGE);
	e->taken[i] = e->taken[--e->taken_n];
}
