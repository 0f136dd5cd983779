/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * forward - the queue of datagrams that another loop received for this one
 *
 * A datagram may come to another loop than its connection's.  Over UDP only the first
 * ones of a connection do, which come to the port that is announced.  Over AF_XDP all
 * may, by the queues of another loop.  A buffer under a latch takes them; what has no
 * room is lost, as on a network.  There are two buffers, so that one is filled while
 * the other is read.
 */
#ifndef TUX_LOOP_FORWARD_H
#define TUX_LOOP_FORWARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/latch.h"
#include "link/link.h"

/* What a loop receives at once.  Memory that was never written to takes none. */
enum { TUX_FORWARD_LEN = 1024 * 1024 };

struct tux_forward {			/* all zero: empty */
	struct tux_latch latch;
	_Atomic uint32_t len;		/* of what lies in buf[side] */
	uint32_t side;			/* the one that is filled */
	uint8_t buf[2][TUX_FORWARD_LEN];
};

struct tux_forward_walk {		/* over what was taken out */
	const uint8_t *at, *end;
};

static inline bool tux_forward_empty(const struct tux_forward *b)
{
	return !atomic_load(&b->len);
}

/* Puts a copy of @d in; does not if there is no room. */
void tux_forward_put(struct tux_forward *b, const struct tux_dgram *d);

/* Takes out all that is there, valid until the next such call. */
struct tux_forward_walk tux_forward_take(struct tux_forward *b);

/* The next datagram into *@d.  False at the end. */
bool tux_forward_next(struct tux_forward_walk *m, struct tux_dgram *d);

#endif
