/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tally - what went through AF_XDP queues, and where their frames are
 *
 * Frames are found by walking the rings, not by asking for their owners: what
 * is missing at the end has been lost on the way.
 */
#ifndef TUX_LINK_TALLY_H
#define TUX_LINK_TALLY_H

#include <stdint.h>

struct tux_tally {
	uint32_t queues;
	uint32_t zerocopy;		/* of them, without copying */

	uint32_t frames;		/* there are so many; of them */
	uint32_t free;			/* on the stack of free ones */
	uint32_t fill;			/* in fill, or in rx not yet taken */
	uint32_t held;			/* received, with the loop */
	uint32_t built;			/* with the loop, for a datagram */
	uint32_t sent;			/* on the way out */

	uint64_t rx, tx;		/* packets */
	uint64_t rx_bytes, tx_bytes;	/* of them, with all headers */
	uint64_t kicks;			/* system calls to send */
	uint64_t again;			/* ... that left something to send */
	uint64_t nudges;		/* system calls to receive */

	/* what the kernel has counted */
	uint64_t dropped;		/* received, no room: in fill or in rx */
	uint64_t starved;		/* it found fill empty */
	uint64_t invalid;		/* descriptors of ours that it refused */
};

/* Frames that are nowhere. */
static inline int64_t tux_tally_missing(const struct tux_tally *t)
{
	return (int64_t)t->frames - t->free - t->fill - t->held - t->built -
	       t->sent;
}

#endif
