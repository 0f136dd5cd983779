/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the CRC, the seal and the MAC of a packet cover, and what they do not.
 */
#include "wire/pkt_sum.h"

#include "base/crc32c.h"
#include "../test.h"

static const struct tux_key key = { 1, 2 }, other = { 1, 3 };

enum { LONG = 200 };

static void fill(uint8_t *p)
{
	unsigned i;

	for (i = 0; i < LONG; i++)
		p[i] = (uint8_t)(i * 7 + 1);
}

static void crc__as_if_its_field_were_zero(void **state)
{
	uint8_t p[LONG], q[LONG];
	uint32_t crc;
	unsigned i;

	(void)state;
	fill(p);
	crc = tux_pkt_crc(p, LONG);
	for (i = 0; i < LONG; i++) {
		memcpy(q, p, LONG);
		q[i] ^= 0x10;
		assert_int_equal(tux_pkt_crc(q, LONG) == crc,
				 i >= TUX_PKT_CRC && i < TUX_PKT_CRC + 4);
	}
	memset(p + TUX_PKT_CRC, 0, 4);
	assert_int_equal(crc, tux_crc32c(0, p, LONG));
	assert_int_equal(tux_pkt_crc(p, 16), tux_crc32c(0, p, 16));
}

/* The seal covers the header and nothing else. */
static void seal__of_the_header(void **state)
{
	uint8_t p[LONG], q[LONG];
	uint32_t seal;
	unsigned i;

	(void)state;
	fill(p);
	seal = tux_pkt_seal(p, &key);
	assert_true(seal != tux_pkt_seal(p, &other));
	for (i = 0; i < LONG; i++) {
		memcpy(q, p, LONG);
		q[i] ^= 0x10;
		assert_int_equal(tux_pkt_seal(q, &key) == seal,
				 (i >= TUX_PKT_CRC && i < TUX_PKT_CRC + 4) ||
				 i >= TUX_PKT_HDR);
	}
}

/* The MAC covers the whole packet except the CRC and itself. */
static void mac__of_the_whole_packet(void **state)
{
	uint8_t p[LONG], q[LONG];
	uint64_t mac;
	unsigned i;

	(void)state;
	fill(p);
	mac = tux_pkt_mac(p, LONG, &key);
	assert_true(mac != tux_pkt_mac(p, LONG, &other));
	assert_true(mac != tux_pkt_mac(p, LONG - 1, &key));
	for (i = 0; i < LONG; i++) {
		memcpy(q, p, LONG);
		q[i] ^= 0x10;
		assert_int_equal(tux_pkt_mac(q, LONG, &key) == mac,
				 (i >= TUX_PKT_CRC && i < TUX_PKT_CRC + 4) ||
				 (i >= TUX_PKT_MAC && i < TUX_PKT_MAC + 8));
	}
	memset(p + TUX_PKT_CRC, 0, 4);
	memset(p + TUX_PKT_MAC, 0, 8);
	assert_true(mac == tux_sip(&key, p, LONG));
	/* Shorter than the part that is copied, and as long as that. */
	assert_true(tux_pkt_mac(p, TUX_PKT_MAC + 8, &key) ==
		    tux_sip(&key, p, TUX_PKT_MAC + 8));
	assert_true(tux_pkt_mac(p, 144, &key) == tux_sip(&key, p, 144));
}

static void family__of_both_ends(void **state)
{
	struct tux_tuple t = { .active = { .ip = { [10] = 0xff, 0xff } },
			       .passive = { .ip = { [10] = 0xff, 0xff } } };

	(void)state;
	assert_int_equal(tux_hello_family(&t), 4);
	t.passive.ip[0] = 0x20;
	assert_int_equal(tux_hello_family(&t), 6);
	t.active.ip[0] = 0x20;
	assert_int_equal(tux_hello_family(&t), 6);
	t.passive.ip[0] = 0;
	assert_int_equal(tux_hello_family(&t), 6);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(crc__as_if_its_field_were_zero),
		cmocka_unit_test(seal__of_the_header),
		cmocka_unit_test(mac__of_the_whole_packet),
		cmocka_unit_test(family__of_both_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
