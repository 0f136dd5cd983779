/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * duplex_look - sets up a duplex, and tells what it allows
 */
#include "conn/duplex.h"

#include <stddef.h>

#include "conn/duplex_in.h"

enum { TOUCHES = 16 };	/* plain reads and writes that repeat HELLO */

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
	atomic_store(&d->tx.look_at, UINT32_MAX);
}

void tux_duplex_begin(struct tux_duplex *d, const struct tux_burst *tx,
		      const struct tux_burst *rx)
{
	tux_burst_copy(&d->tx.bursts, tx);
	tux_burst_copy(&d->rx.bursts, rx);
	d->tx.off = tux_burst_total(tx);
	d->rx.off = tux_burst_total(rx);
}

/* ---- looking ---- */

int tux_duplex_error(struct tux_duplex *d)
{
	return -(int)duplex_take_error(d);
}

uint32_t tux_duplex_readable(const struct tux_duplex *d)
{
	uint8_t state = load8(&d->rx.state);
	uint32_t ring = 0;

	/* Armed, the ring may have bytes from behind N: not yet. */
	if (state == TUX_RX_PLAIN)
		ring = duplex_rest(d);
	else if (state != TUX_RX_ARMED)
		ring = duplex_ring_len(d);

	return ring + load8(&d->rx.spill_len);
}

bool tux_duplex_from_tcp(const struct tux_duplex *d)
{
	if (load8(&d->rx.spill_len))
		return false;
	switch (load8(&d->rx.state)) {
	case TUX_RX_ARMED:
		return d->rx.off < d->rx.at;
	case TUX_RX_PLAIN:
	case TUX_RX_RAW:
		return !tux_duplex_readable(d);
	default:
		return false;
	}
}

bool tux_duplex_at_switch(const struct tux_duplex *d)
{
	uint8_t state = load8(&d->rx.state);

	return state == TUX_RX_SWITCHED ||
	       (state == TUX_RX_ARMED && d->rx.off == d->rx.at);
}

static unsigned duplex_poll_rx(const struct tux_duplex *d, bool err)
{
	uint8_t state = load8(&d->rx.state);
	bool eof = load8(&d->rx.eof);
	unsigned can = 0;

	if (state == TUX_RX_SWITCHED) {
		can |= TUX_RX_ON_RING;
		if (eof)
			can |= TUX_IS_EOF;
		if (eof || err || tux_duplex_readable(d))
			can |= TUX_CAN_READ;
	} else {
		/* The peer has committed and ended the stream, and all of it is
		 * here, but the bytes below N are still in TCP. */
		if (state == TUX_RX_ARMED && eof && !err)
			can |= TUX_IS_EOF;
		if (tux_duplex_readable(d))
			can |= TUX_CAN_READ;
	}
	return can;
}

/* The ring is writable when a quarter of it is free, so that a waiting writer
 * is not woken for a few bytes. */
static bool ring_writable(const struct tux_duplex *d)
{
	return !load8(&d->tx.marker_left) &&
	       tux_pipe_room(&d->txp) >= tux_pipe_most(&d->txp) / 4;
}

/* While a write waits, TCP's room does not count either. */
static unsigned duplex_poll_tx(const struct tux_duplex *d, bool err)
{
	bool ring = load8(&d->tx.state) == TUX_TX_SWITCHED;
	bool held = load8(&d->tx.hold);
	unsigned can = ring || held ? TUX_TX_ON_RING : TUX_TX_WAITS;

	if (!ring && !held && !duplex_bars(d))
		return 0;
	if (err || load8(&d->tx.shut) || (ring && !held && ring_writable(d)))
		can |= TUX_CAN_WRITE;
	return can;
}

unsigned tux_duplex_poll(const struct tux_duplex *d)
{
	bool err = atomic_load(&d->err) != 0;

	return duplex_poll_rx(d, err) | duplex_poll_tx(d, err) |
	       (err ? TUX_IS_ERR : 0);
}
