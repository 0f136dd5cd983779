/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * message - MESSAGE and ROOM, as records and as frames
 *
 * A direction has two lanes, one for small messages and one for bulk, so that
 * neither takes the other's room.  A lane is a space of bytes that its sender
 * fills from position 0 on, one message behind the other; what ROOM allows
 * moves along it.  A receiver puts position p at byte p modulo the lane's size,
 * and every message lies there in one piece: who would reach over the end
 * begins at the next multiple of the size.
 */
#ifndef TUX_WIRE_MESSAGE_H
#define TUX_WIRE_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/wire.h"

struct tux_message_hdr {	/* of one fragment */
	uint8_t flags;		/* TUX_MESSAGE_* */
	uint32_t id, pos, order;
	uint32_t total;		/* of the message */
	uint32_t off, len;	/* of the fragment */
};

/* Is a fragment with these flags all of its message? */
static inline bool tux_message_whole(unsigned flags)
{
	return flags & TUX_MESSAGE_FIRST && flags & TUX_MESSAGE_LAST;
}

/* How many bytes go before the fragment's own if its flags are @flags. */
static inline uint32_t tux_message_hdr_len(unsigned flags)
{
	return TUX_MESSAGE_HDR_MIN + (flags & TUX_MESSAGE_ORDER ? 4 : 0) +
	       (tux_message_whole(flags) ? 0 : 8);
}

/* The body of @len bytes at @p, behind a record or frame with @flags, into *@h.
 * Looks at its first tux_message_hdr_len() bytes; the fragment's follow.  0, or
 * -EBADMSG. */
int tux_message_decode(struct tux_message_hdr *h, uint64_t flags,
		       const uint8_t *p, size_t len);

/* The fragment's flags that follow from its place. */
uint8_t tux_message_ends(const struct tux_message_hdr *h);

/* The first tux_message_hdr_len() bytes of the body. */
void tux_message_encode(const struct tux_message_hdr *h, uint8_t *p);

static inline enum tux_lane tux_message_lane(const struct tux_message_hdr *h)
{
	return h->flags & TUX_MESSAGE_BULK ? TUX_LANE_BULK : TUX_LANE_SMALL;
}

/* What a message of @len bytes takes of its lane's space. */
static inline uint32_t tux_lane_size(uint32_t len)
{
	if (!len)
		return TUX_MESSAGE_ALIGN;
	return (len + TUX_MESSAGE_ALIGN - 1) & ~(TUX_MESSAGE_ALIGN - 1u);
}

/* Where it begins if all below @pos is taken. */
static inline uint64_t tux_lane_place(uint64_t pos, uint32_t len, uint32_t cap)
{
	uint64_t in = pos & (cap - 1);

	return in + tux_lane_size(len) > cap ? pos + (cap - in) : pos;
}

/* Is there a lane of @cap bytes in which it always finds room in the end?  Half
 * of the lane may be skipped at its end. */
static inline bool tux_lane_takes(uint32_t cap, uint64_t len)
{
	return len <= cap / 2;
}

struct tux_room {		/* of one lane */
	uint32_t cap;
	uint32_t ids;		/* ids below it may be sent */
	uint32_t limit;		/* positions below it may be filled */
};

/* A ROOM body of @len bytes.  0, or -EBADMSG. */
int tux_room_decode(struct tux_room r[TUX_LANES], const uint8_t *p, size_t len);
void tux_room_encode(const struct tux_room r[TUX_LANES], uint8_t *p);

#endif
