/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inbox - datagrams that another loop received for this one
 *
 * All loops of a process share the address of a listener, but one receives
 * there; an opening packet that it does not know goes to the others.  That is
 * rare, and such a packet is sent again if it gets lost: a few places, under a
 * latch, are enough.
 */
#ifndef TUX_IO_INBOX_H
#define TUX_IO_INBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/latch.h"
#include "wire/addr.h"

enum { TUX_INBOX_N = 32, TUX_INBOX_LEN = 512 };

struct tux_letter {
	struct tux_addr from;
	uint16_t len;
	uint8_t p[TUX_INBOX_LEN];
};

struct tux_inbox {		/* all zero: empty */
	struct tux_latch latch;
	_Atomic uint32_t n;
	struct tux_letter letter[TUX_INBOX_N];
};

static inline bool tux_inbox_empty(const struct tux_inbox *b)
{
	return !atomic_load(&b->n);
}

/* Puts @len bytes from @from in; does not if they are too many or there is no
 * place. */
void tux_inbox_put(struct tux_inbox *b, const struct tux_addr *from,
		   const uint8_t *p, size_t len);

/* Takes one out into *@l.  False if there is none. */
bool tux_inbox_take(struct tux_inbox *b, struct tux_letter *l);

#endif
