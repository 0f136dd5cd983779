/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * forward - the queue of datagrams that another loop received for this one
 *
 * All loops of a process share the address of a listener, but one receives
 * there; what holds an opening packet that it does not know goes to the others.
 * That is rare, and such a packet is sent again if it gets lost: a buffer under
 * a latch is enough.  There are two, so that one is filled while the other is
 * read.
 */
#ifndef TUX_LOOP_FORWARD_H
#define TUX_LOOP_FORWARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/latch.h"
#include "wire/addr.h"

enum { TUX_FORWARD_LEN = 128 * 1024 };

struct tux_forwarded {
	struct tux_addr from;
	uint32_t len;
	const uint8_t *p;
};

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

/* Puts @len bytes from @from in; does not if there is no room. */
void tux_forward_put(struct tux_forward *b, const struct tux_addr *from,
		     const uint8_t *p, size_t len);

/* Takes out all that is there, valid until the next such call. */
struct tux_forward_walk tux_forward_take(struct tux_forward *b);

/* The next datagram into *@l.  False at the end. */
bool tux_forward_next(struct tux_forward_walk *m, struct tux_forwarded *l);

#endif
