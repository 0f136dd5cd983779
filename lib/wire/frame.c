/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * frame - what a switched direction of TCP carries, and the marker before it
 */
#include "wire/frame.h"

#include <errno.h>
#include <stdbool.h>

#include "base/bytes.h"
#include "wire/message.h"

/* Are the length and the offset allowed for the type? */
static bool frame_ok(const struct tux_frame *f)
{
	switch (f->type) {
	case TUX_FRAME_DATA:
		return f->len && f->len <= TUX_FRAME_MAX &&
		       f->off < UINT64_MAX - 1 - f->len;
	case TUX_FRAME_MESSAGE:
		return f->off <= TUX_MESSAGE_FLAGS && f->len <= TUX_FRAME_MAX &&
		       f->len >= tux_message_hdr_len((unsigned)f->off);
	case TUX_FRAME_ROOM:
		return f->len == TUX_ROOM_LEN && f->off < UINT64_MAX - 1;
	case TUX_FRAME_FIN:
		return (!f->len || f->len == TUX_END_LEN) &&
		       f->off < UINT64_MAX - 1;
	case TUX_FRAME_RAW:
		return (!f->len || f->len == TUX_RAW_LEN) &&
		       f->off < UINT64_MAX - 1;
	case TUX_FRAME_PLAIN:
		return (!f->len || f->len == TUX_LEAVE_LEN) &&
		       f->off < UINT64_MAX - 1;
	case TUX_FRAME_RESET:
	case TUX_FRAME_SWITCH:
		return !f->len && f->off < UINT64_MAX - 1;
	default:
		return false;
	}
}

int tux_frame_decode(struct tux_frame *f, const uint8_t p[TUX_FRAME_HDR])
{
	f->type = p[0];
	f->len = tux_get32(p + 4);
	f->off = tux_get64(p + 8);
	if (p[1] || tux_get16(p + 2) || !frame_ok(f))
		return -EBADMSG;
	return 0;
}

void tux_frame_encode(const struct tux_frame *f, uint8_t p[TUX_FRAME_HDR])
{
	tux_put32(p, 0);
	p[0] = f->type;
	tux_put32(p + 4, f->len);
	tux_put64(p + 8, f->off);
}

void tux_marker(uint8_t m[TUX_MARKER_LEN], const struct tux_key *k,
		uint32_t gen, int active)
{
	uint8_t in[12];
	uint32_t i;

	/* Nothing else is hashed under this key, so the input needs no
	 * label. */
	tux_put32(in, gen);
	tux_put32(in + 4, active ? 1 : 0);
	for (i = 0; i < TUX_MARKER_LEN / 8; i++) {
		tux_put32(in + 8, i);
		tux_put64(m + 8 * i, tux_sip(k, in, sizeof(in)));
	}
	m[0] = TUX_MARKER_FIRST;
}
