/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/pkt.h"

#include <errno.h>

#include "base/bytes.h"
#include "golden.h"
#include "wire/pkt_sum.h"

static void hello_same(const struct tux_hello *a, const struct tux_hello *b)
{
	assert_int_equal(a->flags, b->flags);
	assert_int_equal(a->version, b->version);
	assert_int_equal(a->why, b->why);
	assert_int_equal(a->port, b->port);
	assert_int_equal(a->id, b->id);
	assert_int_equal(a->seq, b->seq);
	assert_int_equal(a->window, b->window);
	assert_true(a->nonce == b->nonce);
	assert_true(a->echo == b->echo);
	assert_true(a->token == b->token);
	assert_int_equal(a->pkt_max, b->pkt_max);
	assert_int_equal(a->delay, b->delay);
	assert_true(tux_tuple_same(&a->tuple, &b->tuple));
}

static void hello__both_families(void **state)
{
	struct tux_record rec;
	struct tux_reader r;
	struct tux_hello hello;
	struct tux_pkt h;
	uint8_t p[200];

	(void)state;
	assert_int_equal(tux_pkt_decode(&h, p, test_hex(p, golden_hello4)), 0);
	assert_int_equal(h.flags, TUX_PKT_OPEN | TUX_PKT_ELICIT);
	tux_reader_init(&r, &h, p);
	assert_int_equal(tux_reader_next(&r, &rec), 1);
	assert_int_equal(tux_hello_decode(&hello, &rec), 0);
	tux_hello_mask(&hello, &golden_key);
	hello_same(&hello, &golden_hello4_is);
	assert_int_equal(tux_pkt_decode(&h, p, test_hex(p, golden_hello6)), 0);
	tux_reader_init(&r, &h, p);
	assert_int_equal(tux_reader_next(&r, &rec), 1);
	assert_int_equal(tux_hello_decode(&hello, &rec), 0);
	tux_hello_mask(&hello, &golden_key);
	hello_same(&hello, &golden_hello6_is);
}

static void mask__hides_three_fields(void **state)
{
	const struct tux_key other = { golden_key.k0, golden_key.k1 ^ 1 };
	const struct tux_hello *is = &golden_hello4_is;
	struct tux_hello h = *is, twin = *is;

	(void)state;
	tux_hello_mask(&h, &golden_key);
	assert_true(h.id != is->id && h.seq != is->seq && h.token != is->token);
	twin.id = h.id;
	twin.seq = h.seq;
	twin.token = h.token;
	hello_same(&h, &twin);
	/* Another key or another nonce does not unmask them. */
	tux_hello_mask(&twin, &other);
	assert_true(twin.id != is->id && twin.token != is->token);
	twin = h;
	twin.nonce++;
	tux_hello_mask(&twin, &golden_key);
	assert_true(twin.id != is->id && twin.token != is->token);
	tux_hello_mask(&h, &golden_key);
	hello_same(&h, is);
}

static void hello__malformed(void **state)
{
	/* bytes that must be zero, a wrong family, an unknown family */
	static const uint8_t at[] = {
		TUX_HELLO_ZERO2, TUX_HELLO_ZERO2 + 5, TUX_HELLO_AADDR + 10, TUX_HELLO_PADDR + 10, TUX_HELLO_FAMILY,
	};
	struct tux_record rec = { .type = TUX_REC_HELLO,
				  .len = TUX_HELLO_LEN };
	struct tux_hello hello;
	uint8_t p[200];
	unsigned i;

	(void)state;
	test_hex(p, golden_hello4);
	rec.body = p + TUX_PKT_HDR + TUX_REC_HDR;
	assert_int_equal(tux_hello_decode(&hello, &rec), 0);
	for (i = 0; i < N_OF(at); i++) {
		p[TUX_PKT_HDR + TUX_REC_HDR + at[i]] ^= 2;
		assert_int_equal(tux_hello_decode(&hello, &rec), -EBADMSG);
		p[TUX_PKT_HDR + TUX_REC_HDR + at[i]] ^= 2;
	}
	rec.len--;
	assert_int_equal(tux_hello_decode(&hello, &rec), -EBADMSG);
	rec.len++;
	rec.type = TUX_REC_PING;
	assert_int_equal(tux_hello_decode(&hello, &rec), -EBADMSG);
}

static void mac__covers_all_but_the_sums(void **state)
{
	static const char *const hex[] = { golden_hello4, golden_hello6 };
	const struct tux_key other = { golden_key.k0, golden_key.k1 ^ 1 };
	struct tux_pkt h;
	uint8_t p[200];
	size_t len, i, k;

	(void)state;
	for (k = 0; k < N_OF(hex); k++) {
		len = test_hex(p, hex[k]);
		assert_int_equal(tux_pkt_decode(&h, p, len), 0);
		assert_true(tux_hello_mac_ok(p, &h, &golden_key));
		assert_false(tux_hello_mac_ok(p, &h, &other));
		for (i = 0; i < 8 * len; i++) {
			bool crc = i / 32 == TUX_PKT_CRC / 4;

			p[i / 8] ^= (uint8_t)(1u << i % 8);
			assert_int_equal(tux_hello_mac_ok(p, &h, &golden_key),
					 crc);
			p[i / 8] ^= (uint8_t)(1u << i % 8);
		}
	}
}

/* The MAC as tux-wire(7) defines it, for packets of many lengths. */
static void mac__is_sip_with_both_sums_zero(void **state)
{
	static const size_t shortest = TUX_PKT_MAC + 8;
	uint8_t p[400], zeroed[400];
	size_t len;

	(void)state;
	for (len = 0; len < sizeof(p); len++)
		p[len] = (uint8_t)(7 * len);
	test_hex(p, golden_hello4);
	for (len = shortest; len <= sizeof(p); len++) {
		struct tux_pkt h = { .len = (uint16_t)len };

		memcpy(zeroed, p, len);
		memset(zeroed + TUX_PKT_CRC, 0, 4);
		memset(zeroed + TUX_PKT_MAC, 0, 8);
		tux_put64(p + TUX_PKT_MAC, tux_sip(&golden_key, zeroed, len));
		assert_true(tux_hello_mac_ok(p, &h, &golden_key));
		p[len - 1] ^= 0x80;
		assert_false(tux_hello_mac_ok(p, &h, &golden_key));
		p[len - 1] ^= 0x80;
	}
}

static void mac__needs_a_whole_hello(void **state)
{
	struct tux_pkt h = { 0 };
	uint8_t p[200];
	size_t len = test_hex(p, golden_hello4);

	(void)state;
	/* The MAC is right, but the first record is not a HELLO, or has the
	 * wrong length. */
	h.len = (uint16_t)len;
	p[TUX_PKT_HDR] = TUX_REC_PING;
	tux_put64(p + TUX_PKT_MAC, tux_pkt_mac(p, len, &golden_key));
	assert_false(tux_hello_mac_ok(p, &h, &golden_key));
	p[TUX_PKT_HDR] = TUX_REC_HELLO;
	p[TUX_PKT_HDR + 3]--;
	tux_put64(p + TUX_PKT_MAC, tux_pkt_mac(p, len, &golden_key));
	assert_false(tux_hello_mac_ok(p, &h, &golden_key));
	p[TUX_PKT_HDR + 3]++;
	for (h.len = 0; h.len < len; h.len++) {
		uint8_t *cut = malloc(h.len + (size_t)1);

		memcpy(cut + 1, p, h.len);
		assert_false(tux_hello_mac_ok(cut + 1, &h, &golden_key));
		free(cut);
	}
}

static void mac__needs_a_hello(void **state)
{
	struct tux_pkt h;
	uint8_t p[200];

	(void)state;
	assert_int_equal(tux_pkt_decode(&h, p, test_hex(p, golden_ack)), 0);
	assert_false(tux_hello_mac_ok(p, &h, &golden_key));
	assert_int_equal(tux_pkt_decode(&h, p, test_hex(p, golden_all)), 0);
	assert_false(tux_hello_mac_ok(p, &h, &golden_key));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(hello__both_families),
		cmocka_unit_test(mask__hides_three_fields),
		cmocka_unit_test(hello__malformed),
		cmocka_unit_test(mac__covers_all_but_the_sums),
		cmocka_unit_test(mac__is_sip_with_both_sums_zero),
		cmocka_unit_test(mac__needs_a_whole_hello),
		cmocka_unit_test(mac__needs_a_hello),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
