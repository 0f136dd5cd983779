/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * eth - a datagram as an Ethernet frame: Ethernet, IPv4 or IPv6, UDP
 *
 * No tags, no options, no fragments, no extension headers: such frames are the
 * kernel's.  Sums are not looked at when reading: an honest sender may leave
 * half of one to hardware that is not there, and every Tux packet brings a
 * better one.
 */
#ifndef TUX_WIRE_ETH_H
#define TUX_WIRE_ETH_H

#include <stddef.h>
#include <stdint.h>

#include "wire/addr.h"
#include "wire/wire.h"

enum {
	TUX_ETH_MAC = 6,
	TUX_ETH_HDR = 14,
	TUX_ETH_V4_HDRS = 28,		/* IPv4 and UDP */
	TUX_ETH_V6_HDRS = 48,
	/* Room in front of a payload: enough for either, and a multiple of 64
	 * so that the payload is aligned if the room is. */
	TUX_ETH_ROOM = 64,
};

struct tux_eth_macs {
	uint8_t to[TUX_ETH_MAC], from[TUX_ETH_MAC];
};

struct tux_eth_view {			/* points into the frame */
	struct tux_addr from, to;
	const uint8_t *p;		/* the payload of UDP */
	size_t len;
	uint8_t ecn;			/* TUX_ECN_* */
};

/* Reads the frame of @len bytes at @p into *@v.  -EBADMSG: none of ours. */
int tux_eth_parse(struct tux_eth_view *v, const uint8_t *p, size_t len);

/* Writes the headers in front of @len payload bytes at @p, where there is room
 * for TUX_ETH_ROOM bytes; both addresses are of one family, and routers see
 * @ecn (TUX_ECN_*).  How long the headers are: the frame begins so many bytes
 * before @p. */
size_t tux_eth_build(uint8_t *p, size_t len, const struct tux_eth_macs *m,
		     const struct tux_addr *from, const struct tux_addr *to,
		     uint8_t ecn);

#endif
