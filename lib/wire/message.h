/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * message - MESSAGE and ROOM, as records and as frames
 *
 * A direction has two lanes, for small messages and for bulk messages, so that
 * neither kind takes the other's room.  A lane is a space of bytes.  Its sender
 * places messages in it one behind the other, from position 0 on, as far as
 * ROOM allows.  A message never reaches over a multiple of the lane's size: it
 * begins at the multiple instead.  So a receiver that keeps position p at byte p
 * modulo the size has every message in one piece.  (Ours begins anew at byte 0
 * whenever the lane is empty, and has memory behind the lane for that.)
 */
#ifndef TUX_WIRE_MESSAGE_H
#define TUX_WIRE_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/wire.h"

struct tux_message_hdr {	/* of a fragment; wire.h explains the fields */
	uint8_t flags;		/* TUX_MESSAGE_* */
	uint32_t id, pos, order;
	uint32_t total;		/* length of the message */
	uint32_t off, len;	/* of the fragment, within the message */
};

/* Is a fragment with @flags all of its message? */
static inline bool tux_message_whole(unsigned flags)
{
	return flags & TUX_MESSAGE_FIRST && flags & TUX_MESSAGE_LAST;
}

/* The length of the header before the bytes of a fragment with @flags. */
static inline uint32_t tux_message_hdr_len(unsigned flags)
{
	return TUX_MESSAGE_HDR_MIN + (flags & TUX_MESSAGE_ORDER ? 4 : 0) +
	       (tux_message_whole(flags) ? 0 : 8);
}

/* Reads the body of @len bytes at @p, of a record or frame with @flags, into
 * *@h.  Reads its first tux_message_hdr_len() bytes only; those of the fragment
 * follow.  Returns 0, or -EBADMSG. */
int tux_message_decode(struct tux_message_hdr *h, uint64_t flags,
		       const uint8_t *p, size_t len);

/* The flags FIRST and LAST that belong to the fragment's offset and length. */
uint8_t tux_message_ends(const struct tux_message_hdr *h);

/* Writes the first tux_message_hdr_len() bytes of the body to @p. */
void tux_message_encode(const struct tux_message_hdr *h, uint8_t *p);

static inline enum tux_lane tux_message_lane(const struct tux_message_hdr *h)
{
	return h->flags & TUX_MESSAGE_BULK ? TUX_LANE_BULK : TUX_LANE_SMALL;
}

/* How much of its lane's space a message of @len bytes takes. */
static inline uint32_t tux_lane_size(uint32_t len)
{
	if (!len)
		return TUX_MESSAGE_ALIGN;
	return (len + TUX_MESSAGE_ALIGN - 1) & ~(TUX_MESSAGE_ALIGN - 1u);
}

/* Where a message of @len bytes begins in a lane of size @cap, if the message
 * before it ends at @pos. */
static inline uint64_t tux_lane_place(uint64_t pos, uint32_t len, uint32_t cap)
{
	uint64_t in = pos & (cap - 1);

	return in + tux_lane_size(len) > cap ? pos + (cap - in) : pos;
}

/* May a message of @len bytes go into a lane of @cap bytes?  It may be as long
 * as half of the lane.  Then it finds room once the lane is empty, wherever the
 * message before it ended: less than its own length is skipped at the end of
 * the lane. */
static inline bool tux_lane_takes(uint32_t cap, uint64_t len)
{
	return len <= cap / 2;
}

struct tux_room {		/* of one lane */
	uint32_t cap;		/* size of its space, in bytes */
	uint32_t ids;		/* messages with lower ids may be sent */
	uint32_t limit;		/* messages may fill positions below */
};

/* Reads a ROOM body of @len bytes.  Returns 0, or -EBADMSG. */
int tux_room_decode(struct tux_room r[TUX_LANES], const uint8_t *p, size_t len);
void tux_room_encode(const struct tux_room r[TUX_LANES], uint8_t *p);

#endif
