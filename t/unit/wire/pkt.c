/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/pkt.h"

#include <errno.h>

#include "base/bytes.h"
#include "golden.h"
#include "wire/pkt_sum.h"

/* Corrects the CRC of @p after a change. */
static void mend(uint8_t *p, size_t len)
{
	tux_put32(p + TUX_PKT_CRC, tux_pkt_crc(p, len));
}

static void decode__header(void **state)
{
	struct tux_pkt h;
	uint8_t p[200];
	size_t len = test_hex(p, golden_all);

	(void)state;
	assert_int_equal(tux_pkt_decode(&h, p, len), 0);
	assert_int_equal(h.version, 1);
	assert_int_equal(h.flags, TUX_PKT_ELICIT);
	assert_int_equal(h.len, 100);
	assert_int_equal(h.span, 2);
	assert_int_equal(h.id, 0xdeadbeef);
	assert_int_equal(h.seq, 0xfffffffe);
	assert_int_equal(h.ack, 0x01020304);
	assert_true(h.got == 0x0102030405060708);
	assert_int_equal(h.window, 0x7fffffff);
	assert_int_equal(h.delay, 0xffff);
}

static void decode__a_header_alone(void **state)
{
	struct tux_pkt h;
	uint8_t p[200];

	(void)state;
	test_hex(p, golden_ack);
	tux_put16(p + 4, TUX_PKT_HDR);
	mend(p, TUX_PKT_HDR);
	assert_int_equal(tux_pkt_decode(&h, p, TUX_PKT_HDR), 0);
}

static void decode__another_magic(void **state)
{
	struct tux_pkt h;
	uint8_t p[200];
	size_t len = test_hex(p, golden_ack);

	(void)state;
	p[0] ^= 1;
	mend(p, len);
	assert_int_equal(tux_pkt_decode(&h, p, len), -EBADMSG);
}

static void decode__takes_the_first_of_several(void **state)
{
	struct tux_pkt h;
	uint8_t p[400];
	size_t one = test_hex(p, golden_ack);
	size_t two = test_hex(p + one, golden_all);

	(void)state;
	assert_int_equal(tux_pkt_decode(&h, p, one + two), 0);
	assert_int_equal(h.len, one);
	assert_int_equal(tux_pkt_decode(&h, p + h.len, two), 0);
	assert_int_equal(h.len, two);
}

static void decode__every_cut_is_seen(void **state)
{
	struct tux_pkt h;
	uint8_t p[200], *cut;
	size_t len = test_hex(p, golden_all), i;

	(void)state;
	for (i = 0; i < len; i++) {
		/* In a block of that size, so that a sanitizer sees reads
		 * beyond. */
		cut = malloc(i + 1);
		memcpy(cut + 1, p, i);
		assert_int_equal(tux_pkt_decode(&h, cut + 1, i), -EBADMSG);
		free(cut);
	}
}

static void decode__every_flipped_bit_is_seen(void **state)
{
	struct tux_pkt h;
	uint8_t p[200];
	size_t len = test_hex(p, golden_hello6), i;

	(void)state;
	for (i = 0; i < 8 * len; i++) {
		p[i / 8] ^= (uint8_t)(1u << i % 8);
		/* Without OPEN it is a sealed packet. */
		assert_true(tux_pkt_decode(&h, p, len) ||
			    !tux_pkt_sealed(&h, p, &golden_key));
		p[i / 8] ^= (uint8_t)(1u << i % 8);
	}
	assert_int_equal(tux_pkt_decode(&h, p, len), 0);
}

static void sealed__every_flipped_bit_is_seen(void **state)
{
	struct tux_pkt h;
	uint8_t p[200];
	size_t len = test_hex(p, golden_all), i;

	(void)state;
	tux_put32(p + TUX_PKT_CRC, GOLDEN_SEALED);
	for (i = 0; i < 8 * len; i++) {
		p[i / 8] ^= (uint8_t)(1u << i % 8);
		assert_true(tux_pkt_decode(&h, p, len) ||
			    !tux_pkt_sealed(&h, p, &golden_key));
		p[i / 8] ^= (uint8_t)(1u << i % 8);
	}
	assert_int_equal(tux_pkt_decode(&h, p, len), 0);
	assert_true(tux_pkt_sealed(&h, p, &golden_key));
}

static void sealed__needs_the_key(void **state)
{
	static const struct tux_key zero;
	struct tux_pkt h;
	uint8_t p[200];
	size_t len = test_hex(p, golden_all);

	(void)state;
	assert_int_equal(tux_pkt_decode(&h, p, len), 0);
	assert_false(tux_pkt_sealed(&h, p, &golden_key));
	assert_false(tux_pkt_sealed(&h, p, &zero));
	tux_put32(p + TUX_PKT_CRC, GOLDEN_SEALED);
	assert_int_equal(tux_pkt_decode(&h, p, len), 0);
	assert_true(tux_pkt_sealed(&h, p, &golden_key));
	assert_false(tux_pkt_sealed(&h, p, &zero));
}

static void decode__another_version_names_itself(void **state)
{
	struct tux_pkt h;
	uint8_t p[40];
	size_t len = test_hex(p, "5478024000280009 0000004da3bc7f2e"
			      "0000000100000002 0000000000000003"
			      "0000000400050000");

	(void)state;
	assert_int_equal(tux_pkt_decode(&h, p, len), -EPROTONOSUPPORT);
	assert_int_equal(h.version, 2);
	assert_int_equal(h.flags, 0x40);
	assert_int_equal(h.len, 40);
	assert_int_equal(h.id, 77);
	/* Another version may have a shorter header; the CRC must be right. */
	p[5] = TUX_PKT_FIXED;
	assert_int_equal(tux_pkt_decode(&h, p, len), -EBADMSG);
	mend(p, TUX_PKT_FIXED);
	assert_int_equal(tux_pkt_decode(&h, p, TUX_PKT_FIXED),
			 -EPROTONOSUPPORT);
	p[2] = TUX_WIRE_VERSION;
	mend(p, TUX_PKT_FIXED);
	assert_int_equal(tux_pkt_decode(&h, p, len), -EBADMSG);
}

static void decode__counts_of_ecn(void **state)
{
	struct tux_pkt h;
	uint8_t p[200];
	size_t len = test_hex(p, golden_ack);

	(void)state;
	assert_int_equal(tux_pkt_decode(&h, p, len), 0);
	assert_int_equal(h.ect, 7);
	assert_int_equal(h.ce, 255);
}

static void decode__longest_packet(void **state)
{
	static uint8_t p[TUX_PKT_MAX + 1];
	struct tux_pkt h;

	(void)state;
	test_hex(p, golden_ack);
	tux_put16(p + 4, TUX_PKT_MAX);
	mend(p, TUX_PKT_MAX);
	assert_int_equal(tux_pkt_decode(&h, p, sizeof(p)), 0);
	tux_put16(p + 4, TUX_PKT_MAX + 1);
	mend(p, TUX_PKT_MAX + 1);
	assert_int_equal(tux_pkt_decode(&h, p, sizeof(p)), -EBADMSG);
}

static void next__sack(void **state)
{
	struct tux_record rec;
	struct tux_reader r;
	struct tux_pkt h;
	uint32_t start, end;
	uint8_t p[200];

	(void)state;
	assert_int_equal(tux_pkt_decode(&h, p, test_hex(p, golden_ack)), 0);
	tux_reader_init(&r, &h, p);
	assert_int_equal(tux_reader_next(&r, &rec), 1);
	assert_int_equal(rec.type, TUX_REC_SACK);
	assert_int_equal(rec.len / TUX_SACK_EACH, 2);
	tux_sack_get(&rec, 0, &start, &end);
	assert_int_equal(start, 9);
	assert_int_equal(end, 10);
	tux_sack_get(&rec, 1, &start, &end);
	assert_int_equal(start, 6);
	assert_int_equal(end, 8);
	assert_int_equal(tux_reader_next(&r, &rec), 0);
	assert_int_equal(tux_reader_next(&r, &rec), 0);
}

static void find__passes_over_others(void **state)
{
	uint8_t p[256];
	struct tux_pkt h = { 0 };
	struct tux_record rec;
	struct tux_reader r;
	struct tux_writer w;

	(void)state;
	tux_writer_init(&w, p, sizeof(p));
	tux_writer_add(&w, TUX_REC_PING, 0, 0);
	memset(tux_writer_add(&w, TUX_REC_STREAM, TUX_STREAM_ORDER,
			      TUX_STREAM_HDR + 5), TUX_REC_SACK,
	       TUX_STREAM_HDR + 5);
	memset(tux_writer_add(&w, TUX_REC_SACK, 0, TUX_SACK_EACH), 1,
	       TUX_SACK_EACH);
	tux_writer_end(&w, &h, NULL);
	tux_reader_init(&r, &h, p);
	assert_true(tux_reader_find(&r, TUX_REC_SACK, &rec));
	assert_int_equal(rec.len, TUX_SACK_EACH);
	assert_int_equal(rec.body[0], 1);
	assert_false(tux_reader_find(&r, TUX_REC_SACK, &rec));
	tux_reader_init(&r, &h, p);
	assert_false(tux_reader_find(&r, TUX_REC_RESET, &rec));
}

static void find__ends_where_lengths_do(void **state)
{
	uint8_t p[256];
	struct tux_pkt h = { 0 };
	struct tux_record rec;
	struct tux_reader r;
	struct tux_writer w;
	uint16_t len;

	(void)state;
	tux_writer_init(&w, p, sizeof(p));
	tux_writer_add(&w, TUX_REC_PREPARED, 0, TUX_PREPARED_LEN);
	tux_writer_add(&w, TUX_REC_SACK, 0, TUX_SACK_EACH);
	len = (uint16_t)tux_writer_end(&w, &h, NULL);
	for (h.len = TUX_PKT_HDR; h.len < len; h.len++) {
		tux_reader_init(&r, &h, p);
		assert_false(tux_reader_find(&r, TUX_REC_SACK, &rec));
	}
	tux_reader_init(&r, &h, p);
	assert_true(tux_reader_find(&r, TUX_REC_SACK, &rec));
}

static void next__every_type(void **state)
{
	struct tux_record rec;
	struct tux_reader r;
	struct tux_pkt h;
	uint8_t p[200];

	(void)state;
	assert_int_equal(tux_pkt_decode(&h, p, test_hex(p, golden_all)), 0);
	tux_reader_init(&r, &h, p);
	assert_int_equal(tux_reader_next(&r, &rec), 1);
	assert_int_equal(rec.type, TUX_REC_STREAM);
	assert_int_equal(rec.flags, TUX_STREAM_ORDER | TUX_STREAM_FIN);
	assert_true(rec.off == 0x1122334455667788);
	assert_int_equal(rec.data_len, 5);
	assert_memory_equal(rec.data, "hello", 5);
	assert_int_equal(tux_reader_next(&r, &rec), 1);
	assert_int_equal(rec.type, TUX_REC_PREPARE);
	assert_int_equal(rec.gen, 3);
	assert_int_equal(rec.off, 0x99);
	assert_int_equal(tux_reader_next(&r, &rec), 1);
	assert_int_equal(rec.type, TUX_REC_PREPARED);
	assert_int_equal(rec.gen, 4);
	assert_int_equal(tux_reader_next(&r, &rec), 1);
	assert_int_equal(rec.type, TUX_REC_RESET);
	assert_int_equal(rec.reason, 13);
	assert_int_equal(tux_reader_next(&r, &rec), 1);
	assert_int_equal(rec.type, TUX_REC_PING);
	assert_int_equal(tux_reader_next(&r, &rec), 1);
	assert_int_equal(rec.type, 200);
	assert_int_equal(rec.flags, 7);
	assert_int_equal(rec.len, 3);
	assert_memory_equal(rec.body, "xyz", 3);
	assert_int_equal(tux_reader_next(&r, &rec), 0);
}

/* What tux_reader_next() returns for the first of the records @hex. */
static int first_of(const char *hex, struct tux_record *rec)
{
	static uint8_t p[400];
	struct tux_reader r;
	struct tux_pkt h = { 0 };

	h.len = (uint16_t)(TUX_PKT_HDR + test_hex(p + TUX_PKT_HDR, hex));
	tux_reader_init(&r, &h, p);
	return tux_reader_next(&r, rec);
}

/* Turn 0 is left out. */
static void next__prepare_of_a_turn(void **state)
{
	struct tux_record rec;

	(void)state;
	assert_int_equal(first_of("0500000c 00000003 0000000000000099", &rec),
			 1);
	assert_int_equal(rec.turn, 0);
	assert_int_equal(first_of("05000010 00000003 0000000000000099 fffffffe",
				  &rec), 1);
	assert_int_equal(rec.type, TUX_REC_PREPARE);
	assert_int_equal(rec.gen, 3);
	assert_int_equal(rec.off, 0x99);
	assert_true(rec.turn == 0xfffffffe);
	assert_int_equal(first_of("0500000f 00000003 0000000000000099 000000",
				  &rec), -EBADMSG);
	assert_int_equal(first_of("05000011 00000003 0000000000000099 0000000100",
				  &rec), -EBADMSG);
}

static void next__malformed(void **state)
{
	static const char *const bad[] = {
		"08",				/* a header cut off */
		"080000",
		"08000001",			/* a body cut off */
		"c8000004 010203",
		"08000001 00",			/* PING with a body */
		"01010007 00000000000000",	/* STREAM without its offset */
		"01010008 ffffffffffffffff",	/* its end wraps */
		"01010008 fffffffffffffffe",
		"0101000a fffffffffffffffc 0000",
		"0300000c 000000010000000200000003",	/* SACK, 1 1/2 */
		"0500000b 0000000100000000000000",
		"0500000d 00000001000000000000000000",
		"06000003 000001",
		"06000005 0000000100",
		"07000003 000001",
		"07000005 0000000100",
		"04000004 00000000",
	};
	struct tux_record rec;
	unsigned i;

	(void)state;
	for (i = 0; i < N_OF(bad); i++)
		assert_int_equal(first_of(bad[i], &rec), -EBADMSG);
}

static void next__extremes(void **state)
{
	struct tux_record rec;

	(void)state;
	assert_int_equal(first_of("", &rec), 0);
	assert_int_equal(first_of("01090008 0000000000000000", &rec), 1);
	assert_int_equal(rec.data_len, 0);
	assert_int_equal(first_of("0101000a fffffffffffffffb 0000", &rec), 1);
	assert_int_equal(first_of("03000000", &rec), 1);
	assert_int_equal(first_of("ff000000", &rec), 1);
}

static void next__sack_of_too_many(void **state)
{
	char hex[2 * (4 + 8 * (TUX_SACK_MAX + 1)) + 1];
	struct tux_record rec;

	(void)state;
	memset(hex, '0', sizeof(hex) - 1);
	hex[sizeof(hex) - 1] = '\0';
	memcpy(hex, "03000088", 8);
	assert_int_equal(first_of(hex, &rec), -EBADMSG);
	memcpy(hex, "03000080", 8);
	assert_int_equal(first_of(hex, &rec), 1);
}

/* Whatever the bytes are, the reader stays in the packet and ends. */
static void next__random_bytes(void **state)
{
	uint64_t seed = 1;
	unsigned i, j;

	(void)state;
	for (i = 0; i < 20000; i++) {
		size_t len = TUX_PKT_HDR + test_below(&seed, 60);
		uint8_t *p = malloc(len);
		struct tux_record rec;
		struct tux_hello hello;
		struct tux_reader r;
		struct tux_pkt h = { .len = (uint16_t)len };

		for (j = 0; j < len; j++)
			p[j] = (uint8_t)(test_random(&seed) &
					 (j & 1 ? 0x0f : 0xff));
		tux_reader_init(&r, &h, p);
		while (tux_reader_next(&r, &rec) == 1) {
			assert_true(rec.body >= p + TUX_PKT_HDR);
			assert_true(rec.body + rec.len <= p + len);
			tux_hello_decode(&hello, &rec);
		}
		free(p);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(decode__header),
		cmocka_unit_test(decode__a_header_alone),
		cmocka_unit_test(decode__another_magic),
		cmocka_unit_test(decode__takes_the_first_of_several),
		cmocka_unit_test(decode__every_cut_is_seen),
		cmocka_unit_test(decode__every_flipped_bit_is_seen),
		cmocka_unit_test(sealed__every_flipped_bit_is_seen),
		cmocka_unit_test(sealed__needs_the_key),
		cmocka_unit_test(decode__another_version_names_itself),
		cmocka_unit_test(decode__counts_of_ecn),
		cmocka_unit_test(decode__longest_packet),
		cmocka_unit_test(next__sack),
		cmocka_unit_test(find__passes_over_others),
		cmocka_unit_test(find__ends_where_lengths_do),
		cmocka_unit_test(next__every_type),
		cmocka_unit_test(next__prepare_of_a_turn),
		cmocka_unit_test(next__malformed),
		cmocka_unit_test(next__extremes),
		cmocka_unit_test(next__sack_of_too_many),
		cmocka_unit_test(next__random_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
