/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * message - MESSAGE and ROOM, as records and as frames
 */
#include "wire/message.h"

#include <errno.h>

#include "base/bytes.h"

enum { ENDS = TUX_MESSAGE_FIRST | TUX_MESSAGE_LAST };

uint8_t tux_message_ends(const struct tux_message_hdr *h)
{
	uint8_t ends = 0;

	if (!h->off)
		ends |= TUX_MESSAGE_FIRST;
	if (h->off + h->len == h->total)
		ends |= TUX_MESSAGE_LAST;
	return ends;
}

/* Does the fragment lie within its message, with the flags that belong to its
 * place?  Only an empty message has an empty fragment. */
static bool fragment_ok(const struct tux_message_hdr *h)
{
	if (h->total > TUX_MESSAGE_MAX)
		return false;
	if (h->flags & TUX_MESSAGE_CANCEL)
		return !h->off && !h->len && !(h->flags & ENDS);
	if (h->off > h->total || h->len > h->total - h->off)
		return false;
	return (h->len || !h->total) &&
	       (h->flags & ENDS) == tux_message_ends(h);
}

int tux_message_decode(struct tux_message_hdr *h, uint64_t flags,
		       const uint8_t *p, size_t len)
{
	uint32_t hdr = tux_message_hdr_len((unsigned)flags);

	if (len < hdr || flags & ~(uint64_t)TUX_MESSAGE_FLAGS)
		return -EBADMSG;
	*h = (struct tux_message_hdr){
		.flags = (uint8_t)flags,
		.id = tux_get32(p), .pos = tux_get32(p + 4),
		.len = (uint32_t)(len - hdr),
	};
	p += 8;
	if (flags & TUX_MESSAGE_ORDER) {
		h->order = tux_get32(p);
		p += 4;
	}
	if (tux_message_whole(h->flags)) {
		h->total = h->len;
	} else {
		h->total = tux_get32(p);
		h->off = tux_get32(p + 4);
	}
	return h->pos % TUX_MESSAGE_ALIGN || !fragment_ok(h) ? -EBADMSG : 0;
}

void tux_message_encode(const struct tux_message_hdr *h, uint8_t *p)
{
	tux_put32(p, h->id);
	tux_put32(p + 4, h->pos);
	p += 8;
	if (h->flags & TUX_MESSAGE_ORDER) {
		tux_put32(p, h->order);
		p += 4;
	}
	if (!tux_message_whole(h->flags)) {
		tux_put32(p, h->total);
		tux_put32(p + 4, h->off);
	}
}

static bool lane_cap_ok(uint32_t cap)
{
	return cap >= TUX_LANE_MIN && cap <= TUX_LANE_MAX &&
	       !(cap & (cap - 1));
}

int tux_room_decode(struct tux_room r[TUX_LANES], const uint8_t *p, size_t len)
{
	unsigned i;

	if (len != TUX_ROOM_LEN)
		return -EBADMSG;
	for (i = 0; i < TUX_LANES; i++, p += TUX_ROOM_EACH) {
		r[i].cap = tux_get32(p);
		r[i].ids = tux_get32(p + 4);
		r[i].limit = tux_get32(p + 8);
		if (!lane_cap_ok(r[i].cap) || r[i].limit % TUX_MESSAGE_ALIGN)
			return -EBADMSG;
	}
	return 0;
}

void tux_room_encode(const struct tux_room r[TUX_LANES], uint8_t *p)
{
	unsigned i;

	for (i = 0; i < TUX_LANES; i++, p += TUX_ROOM_EACH) {
		tux_put32(p, r[i].cap);
		tux_put32(p + 4, r[i].ids);
		tux_put32(p + 8, r[i].limit);
	}
}
