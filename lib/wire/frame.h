/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * frame - what a switched direction of TCP carries, and the marker before it
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

/* Reads the header at @p into *@f.  Returns 0, or -EBADMSG: the type is
 * unknown, the length or the offset is not allowed for the type, or bytes that
 * must be zero are not. */
int tux_frame_decode(struct tux_frame *f, const uint8_t p[TUX_FRAME_HDR]);
void tux_frame_encode(const struct tux_frame *f, uint8_t p[TUX_FRAME_HDR]);

/* Writes the marker of generation @gen to @m.  @k is the session key; @active:
 * the direction is from the active end. */
void tux_marker(uint8_t m[TUX_MARKER_LEN], const struct tux_key *k,
		uint32_t gen, int active);

#endif
