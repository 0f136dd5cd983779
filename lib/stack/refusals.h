/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * refusals - the connections that a process has left on TCP, although both ends
 * have announced Tux
 *
 * The peer may not know it, and asks over UDP.  Then it is told the reason.  The
 * table has the last ones only: a peer that is not told finds out after its
 * last HELLO.
 *
 * Any thread may call these.  A thread that finds the latch held for long, by
 * one that was interrupted or has died, does without.
 */
#ifndef TUX_STACK_REFUSALS_H
#define TUX_STACK_REFUSALS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/latch.h"
#include "base/sip.h"
#include "wire/addr.h"

enum { TUX_REFUSED_MAX = 256 };

struct tux_refused {
	struct tux_tuple tuple;
	bool active;		/* this end called connect() */
	uint8_t why;		/* enum tux_reason */
	struct tux_key key;	/* of the connection */
};

struct tux_refusals {		/* all zero: empty */
	struct tux_latch latch;
	_Atomic uint32_t n;
	uint32_t next;		/* the entry that the next one replaces */
	struct tux_refused at[TUX_REFUSED_MAX];
};

/* Has the table had no entry so far? */
static inline bool tux_refusals_empty(const struct tux_refusals *r)
{
	return !atomic_load_explicit(&r->n, memory_order_relaxed);
}

/* Adds @x, or replaces the entry of the same connection. */
void tux_refusals_add(struct tux_refusals *r, const struct tux_refused *x);

/* The connection may move after all. */
void tux_refusals_remove(struct tux_refusals *r, const struct tux_tuple *t,
			 bool active);

/* Copies the entry of a connection to *@x.  False: there is none. */
bool tux_refusals_find(struct tux_refusals *r, const struct tux_tuple *t,
		       bool active, struct tux_refused *x);

#endif
