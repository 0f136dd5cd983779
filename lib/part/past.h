/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * past - which peers have announced Tux and then not answered over UDP
 *
 * Something on the way to such a peer drops UDP, or its process never opens the
 * path.  The next connections to it would send their HELLOs in vain, too.  So
 * they wait for a hold, which doubles with each connection that had no answer,
 * and which long peace shortens again.
 *
 * The table has a fixed size; a peer may take the place of another one.  Any
 * thread may call.  If two threads do at the same time, one of them is not
 * heard, and an answer is "no": neither waits for the other.
 */
#ifndef TUX_PART_PAST_H
#define TUX_PART_PAST_H

#include <stdbool.h>

#include "base/latch.h"
#include "base/time.h"
#include "part/hold.h"
#include "wire/addr.h"
#include "wire/reason.h"

enum { TUX_PAST_PEERS = 64 };

struct tux_past {			/* all zero: no peer is known */
	struct tux_latch latch;
	struct tux_past_peer {
		struct tux_addr addr;
		struct tux_hold hold;
		tux_time until;		/* 0: it has answered since */
	} peer[TUX_PAST_PEERS];
};

/* A connection to @addr got on @tux; or it did not, because of @why. */
void tux_past_decided(struct tux_past *p, const struct tux_addr *addr, bool tux,
		      enum tux_reason why, tux_time now);

/* Should a connection to @addr not open the path yet? */
bool tux_past_waits(struct tux_past *p, const struct tux_addr *addr,
		    tux_time now);

#endif
