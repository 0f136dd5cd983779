/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * places - our addresses that flows use, counted
 *
 * The XDP program takes what comes to the stack's UDP port at one of them.  An
 * interface has few addresses, so a list is enough.
 */
#ifndef TUX_AFXDP_PLACES_H
#define TUX_AFXDP_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/addr.h"

enum { TUX_PLACES = 256 };

struct tux_local {
	struct tux_addr addr;		/* with the stack's port */
	uint32_t flows;
};

struct tux_places {			/* all zero at first */
	struct tux_local at[TUX_PLACES];
	unsigned n;
};

/* A flow leaves from the IP address of @local.  Its entry, which has @port; NULL:
 * there is no room.  The first flow finds `flows` 1. */
struct tux_local *tux_places_hold(struct tux_places *p,
				  const struct tux_addr *local, uint16_t port);

/* A flow from there has gone.  True: it was the last one, and *@was is where it
 * left from. */
bool tux_places_release(struct tux_places *p, const struct tux_addr *local,
			struct tux_addr *was);

#endif
