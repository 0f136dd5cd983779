/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MESSAGE and ROOM: the body of a record or frame, its flags in front.
 */
#include "wire/message.h"

#include <string.h>

#include "fuzz.h"

static void check_message(uint64_t flags, const uint8_t *p, size_t len)
{
	struct tux_message_hdr h;
	uint8_t again[TUX_MESSAGE_HDR_MAX];
	uint64_t pos;
	uint32_t cap = TUX_LANE_MIN;

	if (tux_message_decode(&h, flags, p, len))
		return;
	FUZZ_CHECK(h.len == len - tux_message_hdr_len(h.flags) &&
		   h.flags == flags);
	FUZZ_CHECK(h.total <= TUX_MESSAGE_MAX && h.off <= h.total &&
		   h.len <= h.total - h.off);
	FUZZ_CHECK(tux_lane_size(h.total) >= h.total &&
		   tux_lane_size(h.total) % TUX_MESSAGE_ALIGN == 0);
	tux_message_encode(&h, again);
	FUZZ_CHECK(!memcmp(again, p, len - h.len));
	if (!tux_lane_takes(cap, h.total))
		return;
	/* Where it lies, it lies in one piece. */
	pos = tux_lane_place(h.pos, h.total, cap);
	FUZZ_CHECK(pos >= h.pos && pos - h.pos < cap / 2 + cap / 4 + cap / 4);
	FUZZ_CHECK((pos & (cap - 1)) + tux_lane_size(h.total) <= cap);
}

static void check_room(const uint8_t *p, size_t len)
{
	struct tux_room room[TUX_LANES];
	uint8_t again[TUX_ROOM_LEN];
	unsigned i;

	if (tux_room_decode(room, p, len))
		return;
	FUZZ_CHECK(len == sizeof(again));
	for (i = 0; i < TUX_LANES; i++)
		FUZZ_CHECK(room[i].cap >= TUX_LANE_MIN &&
			   room[i].cap <= TUX_LANE_MAX &&
			   !(room[i].cap & (room[i].cap - 1)) &&
			   room[i].limit % TUX_MESSAGE_ALIGN == 0);
	tux_room_encode(room, again);
	FUZZ_CHECK(!memcmp(again, p, len));
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t len)
{
	struct fuzz_in in = { p, len };
	uint8_t flags = fuzz_u8(&in);

	if (flags & 0x80)
		check_room(in.p, in.left);
	else
		check_message(flags, in.p, in.left);
	return 0;
}
