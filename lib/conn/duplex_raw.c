/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * duplex_raw - plain TCP for good
 *
 * Code that does not know the duplex is to use the TCP socket from now on.
 * That is safe if all bytes not yet read are in TCP, and the peer expects no
 * marker.  t/model/both.pml has these rules.
 */
#include "conn/duplex.h"

#include <errno.h>

#include "conn/duplex_in.h"

bool tux_duplex_tx_is_raw(const struct tux_duplex *d)
{
	const struct tux_duplex_tx *t = &d->tx;

	switch (load8(&t->state)) {
	case TUX_TX_RAW:
		return !load8(&t->hold);
	case TUX_TX_PLAIN:
		if (load8(&t->hold))
			return false;
		/* In doubt, tux_duplex_write() must keep plain bytes from
		 * completing the old marker. */
		return load8(&t->shut) || (t->pinned && !t->doubt);
	default:
		return false;
	}
}

bool tux_duplex_rx_is_raw(const struct tux_duplex *d)
{
	const struct tux_duplex_rx *r = &d->rx;

	if (tux_duplex_readable(d))
		return false;
	return load8(&r->state) == TUX_RX_RAW ||
	       (load8(&r->state) == TUX_RX_PLAIN && r->pinned);
}

void tux_duplex_stop(struct tux_duplex *d, uint64_t *from)
{
	store8(&d->rx.stopped, 1);
	*from = duplex_taken(d);
}

/* A reader that sees the end of `stopped` sees what was dropped before. */
void tux_duplex_resume(struct tux_duplex *d, bool drop)
{
	if (drop)
		tux_pipe_consume(&d->rxp, tux_pipe_head(&d->rxp));
	atomic_store(&d->rx.stopped, 0);
	if (atomic_exchange(&d->rx.missed, 0))
		atomic_fetch_add(&d->rx.resumes, 1);
}

bool tux_duplex_keeps(const struct tux_duplex *d, uint64_t from)
{
	uint64_t head = tux_pipe_head(&d->txp);

	return from >= d->txp.origin && from <= head &&
	       head - from <= d->txp.cap;
}

enum { FOR_GOOD = 1, ASLEEP = 2 };	/* bits of `pinned` */

static int pin(struct tux_duplex *d, uint8_t how)
{
	uint8_t tx, rx = load8(&d->rx.state);

	tux_duplex_withdraw(d);
	tx = load8(&d->tx.state);
	if (tx == TUX_TX_SWITCHED || tx == TUX_TX_RAW || load8(&d->tx.hold) ||
	    rx != TUX_RX_PLAIN || tux_duplex_readable(d))
		return -EBUSY;
	d->tx.pinned |= how;
	d->rx.pinned |= how;
	return tux_duplex_tx_is_raw(d) ? 0 : -EAGAIN;
}

int tux_duplex_pin(struct tux_duplex *d)
{
	return pin(d, FOR_GOOD);
}

bool tux_duplex_go_raw(struct tux_duplex *d, const struct tux_tcp *tcp)
{
	if (tcp)
		tux_duplex_advance(d, tcp);
	tux_duplex_pin(d);
	/* Its error may have been taken from TCP: only reads and writes here know it. */
	return !atomic_load(&d->err) && tux_duplex_tx_is_raw(d) &&
	       tux_duplex_rx_is_raw(d);
}

int tux_duplex_hopeless(const struct tux_duplex *d)
{
	uint32_t err = atomic_load(&d->err);
	bool rx = load8(&d->rx.eof) && load8(&d->rx.state) == TUX_RX_SWITCHED;
	bool tx = load8(&d->tx.shut) && load8(&d->tx.state) == TUX_TX_SWITCHED;

	return err ? -(int)err : rx || tx ? -EPIPE : 0;
}

bool tux_duplex_is_plain(const struct tux_duplex *d)
{
	const struct tux_duplex_tx *t = &d->tx;

	return load8(&t->state) == TUX_TX_PLAIN && !load8(&t->hold) &&
	       !load8(&t->doubt) && load8(&d->rx.state) == TUX_RX_PLAIN &&
	       !tux_duplex_readable(d);
}

static void unpin(struct tux_duplex *d)
{
	d->tx.pinned &= (uint8_t)~ASLEEP;
	d->rx.pinned &= (uint8_t)~ASLEEP;
}

int tux_duplex_sleep(struct tux_duplex *d)
{
	int r;

	if (d->tx.pinned || d->rx.pinned)
		return -EPERM;
	store8(&d->called, 0);
	r = pin(d, ASLEEP);
	if (r)
		unpin(d);
	return r;
}

bool tux_duplex_sleeps(const struct tux_duplex *d)
{
	return d->tx.pinned & d->rx.pinned & ASLEEP;
}

bool tux_duplex_wake(struct tux_duplex *d, const struct tux_burst *tx,
		     const struct tux_burst *rx)
{
	if (tx) {
		d->tx.off += tux_burst_total(tx) -
			     tux_burst_total(&d->tx.bursts);
		tux_burst_copy(&d->tx.bursts, tx);
	}
	if (rx) {
		d->rx.off += tux_burst_total(rx) -
			     tux_burst_total(&d->rx.bursts);
		tux_burst_copy(&d->rx.bursts, rx);
	}
	unpin(d);
	return !d->tx.pinned && !d->rx.pinned;
}
