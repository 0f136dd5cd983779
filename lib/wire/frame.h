/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * frame - the records that a switched direction of TCP carries
 */
#ifndef TUX_WIRE_FRAME_H
#define TUX_WIRE_FRAME_H

#include <stdint.h>

#include "base/sip.h"
#include "wire/wire.h"

struct tux_frame {
	uint8_t type;
	uint32_t len;		/* of the body that follows */
	uint64_t off;
};

/* The 16 bytes at @p into *@f.  0, or -EBADMSG: an unknown type, a length that
 * the type does not allow, or bytes that must be zero. */
int tux_frame_decode(struct tux_frame *f, const uint8_t p[TUX_FRAME_HDR]);
void tux_frame_encode(const struct tux_frame *f, uint8_t p[TUX_FRAME_HDR]);

/* The SWITCH marker of generation @gen, in the direction away from the active
 * opener (@active) or towards it, under the connection's key. */
void tux_marker(uint8_t m[TUX_MARKER_LEN], const struct tux_key *k,
		uint32_t gen, int active);

#endif
