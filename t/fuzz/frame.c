/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The header of a frame, and markers.
 */
#include "wire/frame.h"

#include <string.h>

#include "fuzz.h"

static void check_frame(const uint8_t p[TUX_FRAME_HDR])
{
	struct tux_frame f;
	uint8_t again[TUX_FRAME_HDR];

	if (tux_frame_decode(&f, p))
		return;
	FUZZ_CHECK(f.type >= TUX_FRAME_DATA && f.type <= TUX_FRAME_PLAIN);
	FUZZ_CHECK(f.len <= TUX_FRAME_MAX && f.off < UINT64_MAX - 1);
	FUZZ_CHECK(f.type != TUX_FRAME_DATA || f.off + f.len > f.off);
	tux_frame_encode(&f, again);
	FUZZ_CHECK(!memcmp(again, p, sizeof(again)));
}

/* No marker is like that of another generation or direction, or a frame. */
static void check_marker(struct fuzz_in *in)
{
	struct tux_key k = { fuzz_u64(in), fuzz_u64(in) };
	uint32_t gen = fuzz_u32(in);
	uint8_t m[4][TUX_MARKER_LEN];
	struct tux_frame f;
	unsigned i;

	tux_marker(m[0], &k, gen, 0);
	tux_marker(m[1], &k, gen, 1);
	tux_marker(m[2], &k, gen + 1, 0);
	tux_marker(m[3], &k, gen ^ 1u << 31, 0);
	for (i = 0; i < 4; i++) {
		FUZZ_CHECK(m[i][0] == TUX_MARKER_FIRST);
		FUZZ_CHECK(tux_frame_decode(&f, m[i]));
		FUZZ_CHECK(!i || memcmp(m[0], m[i], TUX_MARKER_LEN));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t len)
{
	struct fuzz_in in = { p, len };
	uint8_t hdr[TUX_FRAME_HDR];

	fuzz_bytes(&in, hdr, sizeof(hdr));
	check_frame(hdr);
	if (in.left)
		check_marker(&in);
	return 0;
}
