/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * eth - a datagram as an Ethernet frame: headers of Ethernet, IP and UDP
 *
 * Frames with VLAN tags, IP options, fragments or IPv6 extension headers are
 * not read: the kernel handles them.
 *
 * Checksums are not verified.  With checksum offload, a frame that never
 * crosses a real link (veth) carries only a partial checksum.  And each Tux
 * packet has a CRC, which is stronger.
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
	/* Room for all headers in front of a payload.  It is a multiple of 64,
	 * so the payload is aligned to a cache line if the room is. */
	TUX_ETH_ROOM = 64,
};

struct tux_eth_macs {
	uint8_t to[TUX_ETH_MAC], from[TUX_ETH_MAC];
};

struct tux_eth_view {			/* what a frame contains */
	struct tux_addr from, to;
	const uint8_t *p;		/* the UDP payload, in the frame */
	size_t len;
	uint8_t ecn;			/* TUX_ECN_* */
};

/* Reads the frame of @len bytes at @p into *@v.  Returns 0, or -EBADMSG if it
 * is not a whole UDP datagram in the form above. */
int tux_eth_parse(struct tux_eth_view *v, const uint8_t *p, size_t len);

/* Writes the headers in front of the @len payload bytes at @p, where there is
 * room for TUX_ETH_ROOM bytes.  @from and @to are of one family; @ecn
 * (TUX_ECN_*) is the ECN field.  Returns the length of the headers: the frame
 * begins so many bytes before @p. */
size_t tux_eth_build(uint8_t *p, size_t len, const struct tux_eth_macs *m,
		     const struct tux_addr *from, const struct tux_addr *to,
		     uint8_t ecn);

#endif
