/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * recent - from how many connections a thread has received bytes lately
 *
 * An estimate, from 0 to 64: a connection is a bit, chosen by its address in
 * memory, and several may share a bit.  "Lately" is this period and the one
 * before; a period ends with the first count after 100 ms.  One thread marks and
 * counts.
 */
#ifndef TUX_POLICY_RECENT_H
#define TUX_POLICY_RECENT_H

#include <stdint.h>

#include "base/time.h"

enum { TUX_RECENT_MS = 100 };	/* a period */

struct tux_recent {		/* all zero at first */
	uint64_t calls;		/* that have received bytes, ever */
	uint64_t now;		/* bits of this period, */
	uint64_t before;	/* ... and of the one before */
	tux_time begun;		/* this period */
};

/* A call has received bytes of @conn. */
static inline void tux_recent_mark(struct tux_recent *r, const void *conn)
{
	uint64_t hash = (uintptr_t)conn * UINT64_C(0x9e3779b97f4a7c15);

	r->calls++;
	r->now |= UINT64_C(1) << (hash >> 58);
}

/* How many have been marked, at the time of @t.  Begins a new period if this one
 * has ended. */
unsigned tux_recent_count(struct tux_recent *r, tux_time t);

#endif
