/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/message.h"

#include <errno.h>

#include "base/bytes.h"
#include "wire/pkt.h"

#include "../test.h"

/* Fragments: a whole message, a first one, one from the middle; an empty
 * message; a cancelled one; and ROOM. */
static const char golden_messages[] =
	"5478010100ad00000102030446b7467e00000009000000030000000000000064"
	"00001000000000000206000d00000007000001c068656c6c6f02090017000000"
	"0200800000fffffffe0001117000000578616263020b00150000000300000040"
	"0000000100011170000000007802060008000000080000020002110014000000"
	"0900000240000000020000000c000000000a0000180010000000000100001000"
	"000100000000000020ffffffc0";

/* The content of golden_messages without its last record, ROOM. */
static const struct tux_message_hdr is[] = {
	{ 0x06, 7, 0x1c0, 0, 5, 0, 5 },
	{ 0x09, 2, 0x800000, 0xfffffffe, 70000, 1400, 3 },
	{ 0x0b, 3, 0x40, 1, 70000, 0, 1 },
	{ 0x06, 8, 0x200, 0, 0, 0, 0 },
	{ 0x11, 9, 0x240, 2, 12, 0, 0 },
};
static const char *const bytes[] = { "hello", "abc", "x", "", "" };
static const struct tux_room room_is[TUX_LANES] = {
	{ 1 << 20, 256, 1 << 20 }, { 1 << 24, 32, 0xffffffc0 },
};

static bool same(const struct tux_message_hdr *a,
		 const struct tux_message_hdr *b)
{
	return a->flags == b->flags && a->id == b->id && a->pos == b->pos &&
	       a->order == b->order && a->total == b->total &&
	       a->off == b->off && a->len == b->len;
}

static void golden__read(void **state)
{
	struct tux_room room[TUX_LANES];
	struct tux_message_hdr h;
	struct tux_record rec;
	struct tux_reader r;
	struct tux_pkt pkt;
	uint8_t p[300];
	unsigned i;
	size_t len = test_hex(p, golden_messages);

	(void)state;
	assert_int_equal(tux_pkt_decode(&pkt, p, len), 0);
	tux_reader_init(&r, &pkt, p);
	for (i = 0; i < N_OF(is); i++) {
		assert_int_equal(tux_reader_next(&r, &rec), 1);
		assert_int_equal(rec.type, TUX_REC_MESSAGE);
		assert_int_equal(tux_message_decode(&h, rec.flags, rec.body,
						    rec.len), 0);
		assert_true(same(&h, &is[i]));
		assert_int_equal(rec.len - h.len,
				 tux_message_hdr_len(rec.flags));
		assert_memory_equal(rec.body + rec.len - h.len, bytes[i],
				    h.len);
	}
	assert_int_equal(tux_reader_next(&r, &rec), 1);
	assert_int_equal(rec.type, TUX_REC_ROOM);
	assert_int_equal(tux_room_decode(room, rec.body, rec.len), 0);
	assert_memory_equal(room, room_is, sizeof(room));
	assert_int_equal(tux_reader_next(&r, &rec), 0);
}

static void golden__write(void **state)
{
	struct tux_pkt h = { .flags = TUX_PKT_ELICIT, .id = 0x01020304,
			     .seq = 9, .ack = 3, .got = 100, .window = 4096 };
	uint8_t want[300], buf[300], *p;
	struct tux_writer w;
	unsigned i;
	uint32_t hdr;
	size_t len = test_hex(want, golden_messages);

	(void)state;
	tux_writer_init(&w, buf, sizeof(buf));
	for (i = 0; i < N_OF(is); i++) {
		hdr = tux_message_hdr_len(is[i].flags);
		p = tux_writer_add(&w, TUX_REC_MESSAGE, is[i].flags,
				   hdr + is[i].len);
		tux_message_encode(&is[i], p);
		memcpy(p + hdr, bytes[i], is[i].len);
	}
	tux_room_encode(room_is, tux_writer_add(&w, TUX_REC_ROOM, 0,
						TUX_ROOM_LEN));
	assert_int_equal(tux_writer_end(&w, &h, NULL), len);
	assert_memory_equal(buf, want, len);
}

static int decode(const struct tux_message_hdr *h)
{
	uint8_t p[TUX_MESSAGE_HDR_MAX];
	struct tux_message_hdr back;

	tux_message_encode(h, p);
	return tux_message_decode(&back, h->flags, p,
				  tux_message_hdr_len(h->flags) + h->len);
}

static void decode__malformed(void **state)
{
	static const struct tux_message_hdr bad[] = {
		{ 0x26, 0, 0, 0, 5, 0, 5 },	/* an unknown flag */
		{ 0x06, 0, 1, 0, 5, 0, 5 },	/* pos is not aligned */
		{ 0x02, 0, 0, 0, 5, 0, 5 },	/* LAST is missing */
		{ 0x04, 0, 0, 0, 5, 0, 5 },
		{ 0x02, 0, 0, 0, 9, 1, 5 },
		{ 0x04, 0, 0, 0, 5, 1, 5 },	/* beyond the end */
		{ 0x04, 0, 0, 0, 5, 6, 0 },
		{ 0x00, 0, 0, 0, 5, 0xffffffff, 5 },
		{ 0x02, 0, 0, 0, 5, 0, 0 },	/* no bytes */
		{ 0x00, 0, 0, 0, 5, 3, 0 },
		{ 0x04, 0, 0, 0, 5, 5, 0 },
		{ 0x02, 0, 0, 0, TUX_MESSAGE_MAX + 1, 0, 5 },
		{ 0x10, 0, 0, 0, 5, 0, 5 },	/* cancelled, with bytes */
		{ 0x10, 0, 0, 0, 5, 1, 0 },
		{ 0x12, 0, 0, 0, 5, 0, 0 },
		{ 0x16, 0, 0, 0, 0, 0, 0 },
	};
	struct tux_message_hdr h;
	uint8_t p[TUX_MESSAGE_HDR_MAX] = { 0 };
	unsigned i, flags;

	(void)state;
	for (i = 0; i < N_OF(bad); i++)
		assert_int_equal(decode(&bad[i]), -EBADMSG);
	/* Too short for the header that its flags ask for. */
	for (flags = 0; flags <= TUX_MESSAGE_FLAGS; flags++)
		for (i = 0; i < tux_message_hdr_len(flags); i++)
			assert_int_equal(tux_message_decode(&h, flags, p, i),
					 -EBADMSG);
	/* In a frame, flags have 64 bits. */
	assert_int_equal(tux_message_decode(&h, 6 | UINT64_C(1) << 40, p,
					    sizeof(p)), -EBADMSG);
	assert_int_equal(tux_message_decode(&h, 6, p, sizeof(p)), 0);
}

static void hdr__as_long_as_its_flags_say(void **state)
{
	(void)state;
	assert_int_equal(tux_message_hdr_len(0), 16);
	assert_int_equal(tux_message_hdr_len(TUX_MESSAGE_FIRST), 16);
	assert_int_equal(tux_message_hdr_len(TUX_MESSAGE_LAST), 16);
	assert_int_equal(tux_message_hdr_len(TUX_MESSAGE_FIRST |
					     TUX_MESSAGE_LAST), 8);
	assert_int_equal(tux_message_hdr_len(TUX_MESSAGE_BULK |
					     TUX_MESSAGE_ORDER |
					     TUX_MESSAGE_FIRST |
					     TUX_MESSAGE_LAST), 12);
	assert_int_equal(tux_message_hdr_len(TUX_MESSAGE_ORDER |
					     TUX_MESSAGE_CANCEL),
			 TUX_MESSAGE_HDR_MAX);
}

static void room__malformed(void **state)
{
	static const struct tux_room bad[] = {
		{ 0, 0, 0 },
		{ TUX_LANE_MIN / 2, 0, 0 },
		{ TUX_LANE_MIN + 64, 0, 0 },	/* no power of two */
		{ 2u * TUX_LANE_MAX, 0, 0 },
		{ TUX_LANE_MIN, 0, 1 },
	};
	struct tux_room r[TUX_LANES], back[TUX_LANES];
	uint8_t p[TUX_ROOM_LEN];
	unsigned i;

	(void)state;
	for (i = 0; i < 2 * N_OF(bad); i++) {
		memcpy(r, room_is, sizeof(r));
		r[i % 2] = bad[i / 2];
		tux_room_encode(r, p);
		assert_int_equal(tux_room_decode(back, p, sizeof(p)),
				 -EBADMSG);
	}
	tux_room_encode(room_is, p);
	assert_int_equal(tux_room_decode(back, p, sizeof(p) - 1), -EBADMSG);
	assert_int_equal(tux_room_decode(back, p, sizeof(p)), 0);
}

static void lane__one_piece(void **state)
{
	(void)state;
	assert_int_equal(tux_lane_size(0), 64);
	assert_int_equal(tux_lane_size(1), 64);
	assert_int_equal(tux_lane_size(64), 64);
	assert_int_equal(tux_lane_size(65), 128);
	assert_true(tux_lane_place(0, 65536, 65536) == 0);
	assert_true(tux_lane_place(64, 65536 - 64, 65536) == 64);
	assert_true(tux_lane_place(64, 65536 - 63, 65536) == 65536);
	assert_true(tux_lane_place(65536 + 128, 65536, 65536) == 131072);
	assert_true(tux_lane_place(UINT64_C(1) << 33, 1, 65536) ==
		    UINT64_C(1) << 33);
}

/* Once the lane is empty, a message of any length that it takes finds room,
 * wherever the message before it ended. */
static void lane__takes_for_ever(void **state)
{
	uint32_t cap = TUX_LANE_MIN, len;
	uint64_t pos, at;

	(void)state;
	assert_true(tux_lane_takes(cap, cap / 2));
	assert_false(tux_lane_takes(cap, cap / 2 + 1));
	assert_false(tux_lane_takes(cap, UINT64_C(1) << 32));
	for (pos = 0; pos < 2 * (uint64_t)cap; pos += TUX_MESSAGE_ALIGN) {
		for (len = 1; len <= cap / 2; len += 1023) {
			at = tux_lane_place(pos, len, cap);
			assert_true(at >= pos);
			assert_true(at + tux_lane_size(len) <= pos + cap);
			assert_true(at / cap ==
				    (at + tux_lane_size(len) - 1) / cap);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden__read),
		cmocka_unit_test(golden__write),
		cmocka_unit_test(decode__malformed),
		cmocka_unit_test(hdr__as_long_as_its_flags_say),
		cmocka_unit_test(room__malformed),
		cmocka_unit_test(lane__one_piece),
		cmocka_unit_test(lane__takes_for_ever),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
