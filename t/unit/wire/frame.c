/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/frame.h"

#include <errno.h>

#include "../test.h"

static int decode(struct tux_frame *f, const char *hex)
{
	uint8_t p[TUX_FRAME_HDR];

	assert_int_equal(test_hex(p, hex), TUX_FRAME_HDR);
	return tux_frame_decode(f, p);
}

static void golden__each_type(void **state)
{
	static const struct {
		struct tux_frame f;
		const char *hex;
	} g[] = {
		{ { TUX_FRAME_DATA, 5, 0x1122334455667788 },
		  "01000000000000051122334455667788" },
		{ { TUX_FRAME_DATA, TUX_FRAME_MAX, 0 },
		  "01000000000100000000000000000000" },
		{ { TUX_FRAME_MESSAGE, 1000, 0x1f },
		  "02000000000003e8000000000000001f" },
		{ { TUX_FRAME_ROOM, 24, 0 },
		  "07000000000000180000000000000000" },
		{ { TUX_FRAME_ROOM, 24, 0x1000 },
		  "07000000000000180000000000001000" },
		{ { TUX_FRAME_FIN, 0, 1000 },
		  "030000000000000000000000000003e8" },
		{ { TUX_FRAME_RESET, 0, 16 },
		  "04000000000000000000000000000010" },
		{ { TUX_FRAME_SWITCH, 0, 0x100000000 },
		  "05000000000000000000000100000000" },
		{ { TUX_FRAME_RAW, 0, 7 },
		  "06000000000000000000000000000007" },
		{ { TUX_FRAME_RAW, 8, 7 },
		  "06000000000000080000000000000007" },
	};
	uint8_t p[TUX_FRAME_HDR], want[TUX_FRAME_HDR];
	struct tux_frame f;
	unsigned i;

	(void)state;
	for (i = 0; i < N_OF(g); i++) {
		test_hex(want, g[i].hex);
		memset(p, 0xee, sizeof(p));
		tux_frame_encode(&g[i].f, p);
		assert_memory_equal(p, want, sizeof(p));
		assert_int_equal(decode(&f, g[i].hex), 0);
		assert_int_equal(f.type, g[i].f.type);
		assert_int_equal(f.len, g[i].f.len);
		assert_true(f.off == g[i].f.off);
	}
}

static void decode__malformed(void **state)
{
	static const char *const bad[] = {
		"00000000000000000000000000000000",	/* type 0 */
		"09000000000000000000000000000000",
		"ff000000000000000000000000000000",
		"020000000000000f0000000000000000",	/* MESSAGE, too short */
		"02000000000000070000000000000006",
		"02000000000000130000000000000011",
		"02000000000100010000000000000000",
		"02000000000000200000000000000020",	/* an unknown flag */
		"07000000000000170000000000000000",	/* ROOM of 23 bytes */
		"06000000000000070000000000000000",	/* RAW of 7 bytes */
		"0700000000000018fffffffffffffffe",	/* ROOM, offset */
		"01000000000000000000000000000000",	/* DATA without bytes */
		"01000000000100010000000000000000",	/* DATA, too long */
		"0100000080000000 0000000000000000",
		"03000000000000010000000000000000",	/* FIN, length 1 */
		"03000000000000090000000000000000",
		"04000000000000010000000000000000",
		"05000000000000010000000000000000",
		"06000000000000010000000000000000",
		"08000000000000010000000000000000",
		"03010000000000000000000000000000",	/* must be zero */
		"03000100000000000000000000000000",
		"03000001000000000000000000000000",
		"0100000000000005 fffffffffffffff9",	/* its end wraps */
		"0300000000000000 ffffffffffffffff",
		"0300000000000000 fffffffffffffffe",
	};
	struct tux_frame f;
	unsigned i;

	(void)state;
	for (i = 0; i < N_OF(bad); i++)
		assert_int_equal(decode(&f, bad[i]), -EBADMSG);
	assert_int_equal(decode(&f, "0200000000000010 0000000000000000"), 0);
	assert_int_equal(decode(&f, "0200000000000008 0000000000000006"), 0);
	assert_int_equal(decode(&f, "0100000000000005 fffffffffffffff8"), 0);
	assert_int_equal(decode(&f, "0300000000000000 fffffffffffffffd"), 0);
}

static void marker__golden(void **state)
{
	static const struct tux_key key = { 0x0706050403020100,
					    0x0f0e0d0c0b0a0908 };
	static const struct {
		uint32_t gen;
		int active;
		const char *hex;
	} g[] = {
		{ 1, 1, "feacf16071c2390db21bebf526985746" },
		{ 1, 0, "fe88f525f1780a3ef24e81d5c0676e74" },
		{ 2, 1, "fe79e841e4dd39471344c088b093becb" },
		{ 2, 100, "fe79e841e4dd39471344c088b093becb" },
	};
	uint8_t m[TUX_MARKER_LEN], want[TUX_MARKER_LEN];
	unsigned i;

	(void)state;
	for (i = 0; i < N_OF(g); i++) {
		test_hex(want, g[i].hex);
		tux_marker(m, &key, g[i].gen, g[i].active);
		assert_memory_equal(m, want, sizeof(m));
	}
}

static void marker__differs_by_everything(void **state)
{
	const struct tux_key a = { 1, 2 }, b = { 1, 3 };
	uint8_t m[TUX_MARKER_LEN], other[TUX_MARKER_LEN];

	(void)state;
	tux_marker(m, &a, 1, 1);
	assert_int_equal(m[0], TUX_MARKER_FIRST);
	tux_marker(other, &b, 1, 1);
	assert_memory_not_equal(m, other, sizeof(m));
	tux_marker(other, &a, 2, 1);
	assert_memory_not_equal(m, other, sizeof(m));
	tux_marker(other, &a, 1, 0);
	assert_memory_not_equal(m, other, sizeof(m));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden__each_type),
		cmocka_unit_test(decode__malformed),
		cmocka_unit_test(marker__golden),
		cmocka_unit_test(marker__differs_by_everything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
