/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * segment - TCP segments and ICMP errors that neither end has sent, as Ethernet
 * frames
 */
#ifndef TUX_T_LIVE_SEGMENT_H
#define TUX_T_LIVE_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/eth.h"

enum { SEGMENT_SYN = 2, SEGMENT_RST = 4, SEGMENT_ACK = 16, SEGMENT_MAX = 128 };

struct segment {
	uint32_t seq, ack;
	uint8_t flags;
	const uint8_t *options, *data;
	size_t options_len;		/* a multiple of four, at most 40 */
	size_t len;			/* of @data */
};

/* All write at most SEGMENT_MAX bytes at @p, and return how many. */

size_t segment_build(uint8_t *p, const struct tux_eth_macs *m,
		     const struct tux_addr *from, const struct tux_addr *to,
		     const struct segment *s);

/* A segment with nothing in it, at number @seq. */
size_t segment_tcp(uint8_t *p, const struct tux_eth_macs *m,
		   const struct tux_addr *from, const struct tux_addr *to,
		   uint32_t seq, uint8_t flags);

/* To @to, as if @from had got a packet from there and could not take it: nobody
 * is at that port, or it was too long.  What it says of that packet is TCP's
 * header, with the number @seq, or UDP's. */
size_t segment_icmp(uint8_t *p, const struct tux_eth_macs *m,
		    const struct tux_addr *from, const struct tux_addr *to,
		    bool long_one, uint32_t seq);

#endif
