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

/* Copies up to @max bytes of @iov behind the first @skip to @dst.  Returns how
 * many: fewer if they are in more than eight pieces. */
static uint64_t iov_copy_out(uint8_t *dst, uint64_t max,
			     const struct iovec *iov, int n, uint64_t skip)
{
	struct iovec v[8];
	int i, m = tux_iov_cut(v, 8, iov, n, skip, max);
	uint64_t at = 0;

	for (i = 0; i < m; i++) {
		memcpy(dst + at, v[i].iov_base, v[i].iov_len);
		at += v[i].iov_len;
	}
	return at;
}

/* ---- writing ---- */

bool tux_duplex_at_commit(const struct tux_duplex *d)
{
	const struct tux_duplex_tx *t = &d->tx;

	return load8(&t->state) == TUX_TX_ACKED && t->off == t->at &&
	       !load8(&t->shut) && !t->pinned;
}

/*
 * From here on writes go to the ring, which is empty and begins at N.
 *
 * But the ring takes no byte before the whole marker is in TCP (marker_left).
 * Otherwise the process could be killed in between, and the peer would see a
 * clean end of the stream at N although the application has written more.
 */
void tux_duplex_committed(struct tux_duplex *d, size_t n)
{
	struct tux_duplex_tx *t = &d->tx;

	tux_pipe_reset(&d->txp, t->off);
	t->doubt = 0;
	store8(&t->marker_left, (uint8_t)(TUX_MARKER_LEN - n));
	store8(&t->state, TUX_TX_SWITCHED);
	atomic_fetch_or(&d->rung, TUX_DOORBELL_TX);
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
	len = tux_iov_len(iov, n) - skip;
	if (len > room)
		len = room;
	while (at < len) {
		uint32_t piece = (uint32_t)(len - at);
		uint8_t *dst = tux_pipe_at(p, head + at, &piece);

		at += iov_copy_out(dst, piece, iov, n, skip + at);
	}
	if (!at)
		return -EAGAIN;
	tux_talk_moved(&d->tx.talk, &d->rx.talk, at);
	tux_pipe_publish(p, head + at);
	atomic_fetch_or(&d->rung, TUX_DOORBELL_TX);
	return (ssize_t)at;
}

/* Writes up to @max bytes to TCP and counts them in tx.off. */
static ssize_t write_tcp(struct tux_duplex *d, const struct iovec *iov, int n,
			 uint64_t skip, uint64_t max, const struct tux_tcp *tcp)
{
	struct iovec v[8];
	int m = tux_iov_cut(v, 8, iov, n, skip, max);
	ssize_t k = tcp->send(tcp->arg, v, m);

	if (k > 0) {
		d->tx.off += (uint64_t)k;
		tux_talk_moved(&d->tx.talk, &d->rx.talk, (uint64_t)k);
		duplex_look(d);
	}
	duplex_touch(d);
	return k;
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
 * In doubt, at N or behind it: a receiver that is armed there compares these
 * bytes with the marker.  They are written unchanged, but never so many that
 * they complete the marker: then the last byte waits until the doubt has ended.
 * The first byte that differs from the marker ends the doubt.
 *
 * A write that has only the last byte writes nothing to TCP, which reports its
 * error to that, too.
 */
static ssize_t write_doubtful(struct tux_duplex *d, const struct iovec *iov,
			      int n, uint64_t skip, const struct tux_tcp *tcp)
{
	struct tux_duplex_tx *t = &d->tx;
	uint64_t done = t->off - t->at;		/* so many bytes match */
	uint64_t left = TUX_MARKER_LEN - done;
	uint8_t head[TUX_MARKER_LEN];
	uint64_t len = iov_copy_out(head, left, iov, n, skip);
	uint64_t same = 0;			/* so many more would match */
	ssize_t k;

	while (same < len && head[same] == t->marker[done + same])
		same++;
	/* All of the marker would match: hold its last byte back. */
	if (same == left)
		k = write_tcp(d, iov, n, skip, same - 1, tcp);
	else
		k = write_tcp(d, iov, n, skip, UINT64_MAX, tcp);
	if (k > 0 && (uint64_t)k > same)
		t->doubt = 0;
	set_barred(d, left == 1 && same == 1 && (k == 0 || k == -EAGAIN));
	return duplex_bars(d) ? -EAGAIN : k;
}

/* Writes to TCP while no generation is open.  Only a doubt limits the bytes. */
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

/* At N, and PREPARED has come: writes the marker to TCP, and the bytes to the
 * ring. */
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
 * Writes with a generation open: to TCP up to N, and then commits or makes the
 * generation void.  A write never waits for PREPARED: if it has not come, the
 * write goes on beyond N over TCP, and the generation is void.
 */
static ssize_t write_open(struct tux_duplex *d, const struct iovec *iov, int n,
			  const struct tux_tcp *tcp)
{
	struct tux_duplex_tx *t = &d->tx;
	uint64_t len = tux_iov_len(iov, n), done = 0;
	ssize_t k;

	if (t->off < t->at) {
		k = write_tcp(d, iov, n, 0, t->at - t->off, tcp);
		if (k <= 0)
			return k;
		done = (uint64_t)k;
		/* At N: the loop commits if no write comes to do it. */
		if (t->off == t->at)
			atomic_fetch_or(&d->rung, TUX_DOORBELL_TX);
		if (t->off < t->at || done == len)
			return k;
	}
	if (tux_duplex_at_commit(d)) {
		k = write_commit(d, iov, n, done, tcp);
	} else {
		store8(&t->state, TUX_TX_PLAIN);
		atomic_fetch_or(&d->rung, TUX_DOORBELL_TX);
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
		return (ssize_t)tux_iov_len(iov, n);
	}
	/* Else TCP reports the error itself. */
	err = state == TUX_TX_SWITCHED || duplex_bars(d) ?
	      duplex_take_error(d) : 0;
	if (err)
		return err;
	if (load8(&d->tx.shut))
		return -EPIPE;
	if (load8(&d->tx.hold))
		return -EAGAIN;
	switch (state) {
	case TUX_TX_ANNOUNCED:
	case TUX_TX_ACKED:
		return write_open(d, iov, n, tcp);
	case TUX_TX_SWITCHED:
		return write_ring(d, iov, n, 0);
	default:
		return write_plain(d, iov, n, 0, tcp);
	}
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
