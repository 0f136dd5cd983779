/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * past - which peers have announced Tux and then not answered over UDP
 *
 * Something on the way to such a peer drops UDP, or its process never opens the
 * path.  The next connections to it would send their HELLOs in vain, too.  So
 * they wait for a hold, which doubles with each connection that had no answer,
 * and which long peace shortens again.
 *
 * The table has a fixed size; a peer may take the place of another one.
 */
#ifndef TUX_PART_PAST_H
#define TUX_PART_PAST_H

#include <stdbool.h>

#include "base/time.h"
#include "part/hold.h"
#include "wire/addr.h"

enum { TUX_PAST_PEERS = 64 };

struct tux_past {
	struct tux_past_peer {
		struct tux_addr addr;
		struct tux_hold hold;
		tux_time until;		/* 0: it has answered since */
	} peer[TUX_PAST_PEERS];
};

/* No peer is known. */
void tux_past_init(struct tux_past *p);

/* A connection to @addr had no answer, or had one. */
void tux_past_silent(struct tux_past *p, const struct tux_addr *addr,
		     tux_time now);
void tux_past_answered(struct tux_past *p, const struct tux_addr *addr);

/* Should a connection to @addr not open the path yet? */
bool tux_past_waits(const struct tux_past *p, const struct tux_addr *addr,
		    tux_time now);

#endif
