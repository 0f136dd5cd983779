/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/pkt.h"

#include <errno.h>

#include "base/bytes.h"
#include "golden.h"
#include "wire/pkt_sum.h"

static void expect(const uint8_t *p, size_t len, const char *hex)
{
	uint8_t want[400];

	assert_int_equal(len, test_hex(want, hex));
	assert_memory_equal(p, want, len);
}

static void end__writes_an_ack(void **state)
{
	struct tux_pkt h = { .id = 0x11223344, .seq = 7, .ack = 5,
			     .window = 65536, .got = 1000, .delay = 3,
			     .ect = 7, .ce = 255 };
	struct tux_writer w;
	uint8_t p[200], *b;

	(void)state;
	memset(p, 0xee, sizeof(p));
	tux_writer_init(&w, p, sizeof(p));
	b = tux_writer_add(&w, TUX_REC_SACK, 0, 2 * TUX_SACK_EACH);
	assert_non_null(b);
	tux_put32(b, 9);
	tux_put32(b + 4, 10);
	tux_put32(b + 8, 6);
	tux_put32(b + 12, 8);
	expect(p, tux_writer_end(&w, &h, NULL), golden_ack);
	assert_int_equal(h.len, 60);
	assert_int_equal(h.version, TUX_WIRE_VERSION);
	assert_int_equal(p[60], 0xee);
}

static void end__writes_all_records(void **state)
{
	struct tux_pkt h = { .flags = TUX_PKT_ELICIT, .span = 2,
			     .id = 0xdeadbeef, .seq = 0xfffffffe,
			     .ack = 0x01020304, .window = 0x7fffffff,
			     .got = 0x0102030405060708, .delay = 0xffff };
	struct tux_writer w;
	uint8_t p[200], *b;

	(void)state;
	tux_writer_init(&w, p, 100);
	b = tux_writer_add(&w, TUX_REC_STREAM,
			   TUX_STREAM_ORDER | TUX_STREAM_FIN, 8 + 5);
	tux_put64(b, 0x1122334455667788);
	memcpy(b + 8, "hello", 5);
	b = tux_writer_add(&w, TUX_REC_PREPARE, 0, TUX_PREPARE_LEN);
	tux_put32(b, 3);
	tux_put64(b + 4, 0x99);
	b = tux_writer_add(&w, TUX_REC_PREPARED, 0, TUX_PREPARED_LEN);
	tux_put32(b, 4);
	b = tux_writer_add(&w, TUX_REC_RESET, 0, TUX_RESET_LEN);
	tux_put32(b, 13);
	assert_non_null(tux_writer_add(&w, TUX_REC_PING, 0, 0));
	assert_int_equal(tux_writer_room(&w), 3);
	b = tux_writer_add(&w, 200, 7, 3);
	memcpy(b, "xyz", 3);
	assert_int_equal(tux_writer_room(&w), 0);
	assert_null(tux_writer_add(&w, TUX_REC_PING, 0, 0));
	expect(p, tux_writer_end(&w, &h, NULL), golden_all);
	assert_int_equal(tux_writer_end(&w, &h, &golden_key), 100);
	assert_int_equal(tux_get32(p + 12), GOLDEN_SEALED);
}

static void hello__both_families(void **state)
{
	struct tux_pkt h4 = { .flags = TUX_PKT_ELICIT | TUX_PKT_OPEN };
	struct tux_pkt h6 = h4;
	struct tux_hello hello4 = golden_hello4_is, hello6 = golden_hello6_is;
	struct tux_writer w;
	uint8_t p[200];

	(void)state;
	/* Bytes that must be zero are zero whatever the buffer had. */
	memset(p, 0xee, sizeof(p));
	tux_hello_mask(&hello4, &golden_key);
	tux_hello_mask(&hello6, &golden_key);
	tux_writer_init(&w, p, sizeof(p));
	assert_true(tux_writer_hello(&w, &hello4));
	expect(p, tux_writer_end(&w, &h4, &golden_key), golden_hello4);
	tux_writer_init(&w, p, sizeof(p));
	assert_true(tux_writer_hello(&w, &hello6));
	assert_non_null(tux_writer_add(&w, TUX_REC_PING, 0, 0));
	expect(p, tux_writer_end(&w, &h6, &golden_key), golden_hello6);
}

static void hello__needs_its_room(void **state)
{
	struct tux_writer w;
	uint8_t p[200];

	(void)state;
	tux_writer_init(&w, p, TUX_PKT_HDR + TUX_REC_HDR + TUX_HELLO_LEN - 1);
	assert_false(tux_writer_hello(&w, &golden_hello4_is));
	assert_int_equal(w.len, TUX_PKT_HDR);
	tux_writer_init(&w, p, TUX_PKT_HDR + TUX_REC_HDR + TUX_HELLO_LEN);
	assert_true(tux_writer_hello(&w, &golden_hello4_is));
}

static void room__at_the_edges(void **state)
{
	struct tux_writer w;
	uint8_t p[100];
	size_t extra;

	(void)state;
	for (extra = 0; extra < 10; extra++) {
		tux_writer_init(&w, p, TUX_PKT_HDR + extra);
		assert_int_equal(tux_writer_room(&w),
				 extra > 4 ? extra - 4 : 0);
		assert_null(tux_writer_add(&w, 1, 0, extra));
		if (extra < 4) {
			assert_null(tux_writer_add(&w, 1, 0, 0));
			continue;
		}
		assert_non_null(tux_writer_add(&w, 1, 0, extra - 4));
		assert_int_equal(w.len, TUX_PKT_HDR + extra);
	}
}

static void init__caps_at_the_longest_packet(void **state)
{
	static uint8_t p[2 * TUX_PKT_MAX];
	struct tux_pkt h = { 0 }, got;
	struct tux_writer w;

	(void)state;
	tux_writer_init(&w, p, sizeof(p));
	assert_int_equal(tux_writer_room(&w),
			 TUX_PKT_MAX - TUX_PKT_HDR - TUX_REC_HDR);
	assert_non_null(tux_writer_add(&w, 99, 0, tux_writer_room(&w)));
	assert_int_equal(tux_writer_end(&w, &h, NULL), TUX_PKT_MAX);
	assert_int_equal(tux_pkt_decode(&got, p, sizeof(p)), 0);
	assert_int_equal(got.len, TUX_PKT_MAX);
}

/* Field by field: between fields there are bytes that belong to none. */
static void assert_same(const struct tux_pkt *a, const struct tux_pkt *b)
{
	assert_int_equal(a->version, b->version);
	assert_int_equal(a->flags, b->flags);
	assert_int_equal(a->len, b->len);
	assert_int_equal(a->span, b->span);
	assert_int_equal(a->delay, b->delay);
	assert_int_equal(a->id, b->id);
	assert_int_equal(a->seq, b->seq);
	assert_int_equal(a->ack, b->ack);
	assert_int_equal(a->window, b->window);
	assert_int_equal(a->got, b->got);
	assert_int_equal(a->seal, b->seal);
	assert_int_equal(a->ect, b->ect);
	assert_int_equal(a->ce, b->ce);
}

/* Packets of random content are read as they were written. */
static void end__decodes_to_the_same(void **state)
{
	uint64_t seed = 1;
	unsigned i;

	(void)state;
	for (i = 0; i < 2000; i++) {
		struct tux_pkt h = {
			.flags = (uint8_t)test_random(&seed),
			.span = (uint16_t)test_random(&seed),
			.delay = (uint16_t)test_random(&seed),
			.id = (uint32_t)test_random(&seed),
			.seq = (uint32_t)test_random(&seed),
			.ack = (uint32_t)test_random(&seed),
			.window = (uint32_t)test_random(&seed),
			.got = test_random(&seed),
		}, got;
		struct tux_record rec;
		struct tux_reader r;
		struct tux_writer w;
		uint8_t p[1500], type[40];
		size_t len;
		unsigned n = 0;

		tux_writer_init(&w, p, TUX_PKT_HDR + test_below(&seed, 1400));
		while (n < N_OF(type)) {
			uint32_t body = test_below(&seed, 300);

			/* Only types with bodies that are not checked. */
			type[n] = (uint8_t)(100 + test_below(&seed, 100));
			if (!tux_writer_add(&w, type[n], 0, body))
				break;
			n++;
		}
		len = tux_writer_end(&w, &h, NULL);
		assert_int_equal(tux_pkt_decode(&got, p, sizeof(p)), 0);
		assert_int_equal(got.len, len);
		assert_same(&got, &h);
		tux_reader_init(&r, &got, p);
		for (unsigned k = 0; k < n; k++) {
			assert_int_equal(tux_reader_next(&r, &rec), 1);
			assert_int_equal(rec.type, type[k]);
		}
		assert_int_equal(tux_reader_next(&r, &rec), 0);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(end__writes_an_ack),
		cmocka_unit_test(end__writes_all_records),
		cmocka_unit_test(hello__both_families),
		cmocka_unit_test(hello__needs_its_room),
		cmocka_unit_test(room__at_the_edges),
		cmocka_unit_test(init__caps_at_the_longest_packet),
		cmocka_unit_test(end__decodes_to_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
