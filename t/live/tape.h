/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tape - what somebody has heard on a link: who talks Tux to whom, under what
 * ids and numbers, and the datagrams themselves
 *
 * A way is one direction between two hosts.  Packets of several connections share
 * datagrams, under the ports of any of them.  When a HELLO with another nonce comes
 * after a pause, other connections are there, and what was kept is of an earlier
 * life.
 */
#ifndef TUX_T_LIVE_TAPE_H
#define TUX_T_LIVE_TAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/time.h"
#include "wire/eth.h"
#include "wire/pkt.h"

enum {
	TAPE_WAYS = 64,
	TAPE_KEPT = 128,		/* datagrams of a life, old and new */
	TAPE_SIZE = 1500,		/* longer ones are not kept */
};

struct tape_datagram {
	tux_time at;
	size_t len;
	uint8_t p[TAPE_SIZE];
};

struct tape_life {
	unsigned n;			/* kept */
	struct tape_datagram *kept;
};

struct tape_way {
	struct tux_addr from, to;	/* of UDP, the last ones */
	struct tux_eth_macs macs;
	struct tux_hello hello;		/* the last one, */
	struct tape_datagram opening;	/* ... and what it came in */
	bool has_hello, has_pkt;
	tux_time heard_at;		/* of its last datagram */
	struct tux_pkt pkt;		/* the latest header with a number */
	struct tape_life now, before;
};

struct tape {
	struct tape_way way[TAPE_WAYS];
	unsigned n;
};

/* A frame of @len bytes went by. */
void tape_hear(struct tape *t, const uint8_t *frame, size_t len, tux_time now);

/* Some datagram of a life, by @i; NULL if there is none. */
const struct tape_datagram *tape_kept(const struct tape_life *l, unsigned i);

void tape_fini(struct tape *t);

#endif
