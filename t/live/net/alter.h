/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * alter - what boxes between two hosts do to TCP over IPv4: they cut out options,
 * drop who has them, translate addresses, and mend the checksums
 */
#ifndef TUX_T_LIVE_ALTER_H
#define TUX_T_LIVE_ALTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct alter {
	unsigned strip;		/* kind of TCP option to blank; 0: none */
	unsigned refuse;	/* kind of TCP option: SYNs and SYN-ACKs with it are
				 * dropped; 0: none */
	bool answers;		/* of these, only what comes from side 1 */
	bool nat;
	uint8_t from[4], to[4];	/* who writes to `from` reaches `to` */
};

/* A frame from @side (1: where `to` is), of @len bytes at @eth.  If @partial,
 * the checksum of its TCP header is only the beginning of one.  False: it is to
 * be dropped. */
bool alter_frame(const struct alter *a, unsigned side, uint8_t *eth, size_t len,
		 bool partial);

#endif
