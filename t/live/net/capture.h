/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * capture - what a host on a link has heard: who talks Tux to whom, under what
 * ids and numbers, and the datagrams themselves
 *
 * A way is one direction between two hosts.  Packets of several connections share
 * datagrams, under the ports of any of them.  When a HELLO with another nonce comes
 * after a pause, other connections are there, and what was kept is of an earlier
 * life.
 */
#ifndef TUX_T_LIVE_CAPTURE_H
#define TUX_T_LIVE_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/time.h"
#include "wire/eth.h"
#include "wire/pkt.h"

enum {
	CAPTURE_WAYS = 64,
	CAPTURE_KEPT = 128,		/* datagrams of a life, old and new */
	CAPTURE_SIZE = 1500,		/* longer ones are not kept */
};

struct capture_datagram {
	tux_time at;
	size_t len;
	uint8_t p[CAPTURE_SIZE];
};

struct capture_life {
	unsigned n;			/* kept */
	struct capture_datagram *kept;
};

struct capture_way {
	struct tux_addr from, to;	/* of UDP, the last ones */
	struct tux_eth_macs macs;
	struct tux_hello hello;		/* the last one, */
	struct capture_datagram opening;	/* ... and what it came in */
	bool has_hello, has_pkt;
	tux_time heard_at;		/* of its last datagram */
	struct tux_pkt pkt;		/* the latest header with a number */
	struct capture_life now, before;
};

struct capture {
	struct capture_way way[CAPTURE_WAYS];
	unsigned n;
};

/* A frame of @len bytes went by. */
void capture_hear(struct capture *t, const uint8_t *frame, size_t len, tux_time now);

/* Some datagram of a life, by @i; NULL if there is none. */
const struct capture_datagram *capture_kept(const struct capture_life *l, unsigned i);

void capture_fini(struct capture *t);

#endif
