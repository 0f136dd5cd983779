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

int tux_duplex_pin(struct tux_duplex *d)
{
	uint8_t tx, rx = load8(&d->rx.state);

	tux_duplex_withdraw(d);
	tx = load8(&d->tx.state);
	if (tx == TUX_TX_SWITCHED || tx == TUX_TX_RAW || load8(&d->tx.hold) ||
	    rx != TUX_RX_PLAIN || tux_duplex_readable(d))
		return -EBUSY;
	d->tx.pinned = d->rx.pinned = 1;
	return tux_duplex_tx_is_raw(d) ? 0 : -EAGAIN;
}
