/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/eth.h"

#include <errno.h>

#include "../test.h"
#include "base/bytes.h"

enum { ROUNDS = 20000, BIG = 1500 };

static const struct tux_eth_macs macs = {
	.to = { 2, 0, 0, 0, 0, 2 }, .from = { 2, 0, 0, 0, 0, 1 },
};

/* 10.9.0.1:40000 to 10.9.0.2:6379, "Tx"; checksums computed by hand, here and
 * in golden_v6 */
static const char golden_v4[] =
	"020000000002 020000000001 0800"
	"4500 001e 0000 4000 4011 26bb 0a090001 0a090002"
	"9c40 18eb 000a 0000 5478";

/* [fd09::1]:40000 to [fd09::2]:6379, "Tx" */
static const char golden_v6[] =
	"020000000002 020000000001 86dd"
	"60000000 000a 1140"
	"fd09000000000000 0000000000000001"
	"fd09000000000000 0000000000000002"
	"9c40 18eb 000a fc1f 5478";

static struct tux_addr v4(uint8_t last, uint16_t port)
{
	struct tux_addr a = { .ip = { [10] = 0xff, 0xff, 10, 9, 0, last },
			      .port = port };

	return a;
}

static struct tux_addr v6(uint8_t last, uint16_t port)
{
	struct tux_addr a = { .ip = { 0xfd, 9, [15] = last }, .port = port };

	return a;
}

/* The Internet checksum of @len bytes (RFC 1071), two at a time. */
static uint16_t plain_sum(const uint8_t *p, size_t len, uint32_t s)
{
	for (; len > 1; p += 2, len -= 2)
		s += tux_get16(p);
	if (len)
		s += (uint32_t)*p << 8;
	while (s >> 16)
		s = (s & 0xffff) + (s >> 16);
	return (uint16_t)s;
}

/* ---- building ---- */

static void build__writes_ipv4(void **state)
{
	uint8_t buf[TUX_ETH_ROOM + 2], want[128];
	uint8_t *p = buf + TUX_ETH_ROOM;
	struct tux_addr from = v4(1, 40000), to = v4(2, 6379);
	size_t n = test_hex(want, golden_v4), head;

	(void)state;
	memcpy(p, "Tx", 2);
	head = tux_eth_build(p, 2, &macs, &from, &to, TUX_ECN_NONE);
	assert_int_equal(head, TUX_ETH_HDR + TUX_ETH_V4_HDRS);
	assert_int_equal(head + 2, n);
	assert_memory_equal(p - head, want, n);
}

static void build__writes_ipv6_with_its_sum(void **state)
{
	uint8_t buf[TUX_ETH_ROOM + 2], want[128];
	uint8_t *p = buf + TUX_ETH_ROOM;
	struct tux_addr from = v6(1, 40000), to = v6(2, 6379);
	size_t n = test_hex(want, golden_v6), head;

	(void)state;
	memcpy(p, "Tx", 2);
	head = tux_eth_build(p, 2, &macs, &from, &to, TUX_ECN_NONE);
	assert_int_equal(head, TUX_ETH_HDR + TUX_ETH_V6_HDRS);
	assert_memory_equal(p - head, want, n);
}

static void build__sums_are_right_for_any_length(void **state)
{
	static uint8_t buf[TUX_ETH_ROOM + BIG];
	uint8_t *p = buf + TUX_ETH_ROOM, *ip = p - TUX_ETH_V6_HDRS;
	uint64_t seed = 1;
	size_t i, len;

	(void)state;
	for (len = 0; len < BIG; len++) {
		struct tux_addr from = v6((uint8_t)test_random(&seed), 1);
		struct tux_addr to = v6((uint8_t)test_random(&seed), 2);

		for (i = 0; i < len; i++)
			p[i] = (uint8_t)test_random(&seed);
		tux_eth_build(p, len, &macs, &from, &to, len % 4);
		/* Pseudo-header: addresses, length, protocol. */
		assert_int_equal(plain_sum(ip + 8, 32 + 8 + len,
					   (uint32_t)len + 8 + 17), 0xffff);
		assert_int_not_equal(tux_get16(p - 2), 0);
		from = v4((uint8_t)len, 1);
		to = v4(9, 2);
		tux_eth_build(p, len, &macs, &from, &to, len % 4);
		assert_int_equal(plain_sum(p - TUX_ETH_V4_HDRS, 20, 0),
				 0xffff);
	}
}

/* Only the two bits of the ECN field differ, and the checksum of IPv4. */
static void build__writes_ecn(void **state)
{
	uint8_t buf[TUX_ETH_ROOM + 2], want[128];
	uint8_t *p = buf + TUX_ETH_ROOM;
	struct tux_addr from = v4(1, 40000), to = v4(2, 6379);
	size_t n = test_hex(want, golden_v4), head;

	(void)state;
	memcpy(p, "Tx", 2);
	head = tux_eth_build(p, 2, &macs, &from, &to, TUX_ECN_ECT0);
	want[15] = 0x02;
	want[25] = 0xb9;
	assert_memory_equal(p - head, want, n);
	n = test_hex(want, golden_v6);
	from = v6(1, 40000);
	to = v6(2, 6379);
	head = tux_eth_build(p, 2, &macs, &from, &to, TUX_ECN_ECT0);
	want[15] = 0x20;
	assert_memory_equal(p - head, want, n);
}

/* ---- reading ---- */

static void parse__gives_back_what_was_built(void **state)
{
	static uint8_t buf[TUX_ETH_ROOM + 100];
	uint8_t *p = buf + TUX_ETH_ROOM;
	struct tux_addr from[2] = { v4(1, 1), v6(1, 65535) };
	struct tux_addr to[2] = { v4(2, 65535), v6(2, 1) };
	struct tux_eth_view v;
	size_t i, head;

	(void)state;
	for (i = 0; i < 2; i++) {
		head = tux_eth_build(p, 90, &macs, &from[i], &to[i],
				     TUX_ECN_ECT0);
		/* Ten bytes of padding follow. */
		assert_int_equal(tux_eth_parse(&v, p - head, head + 100), 0);
		assert_true(tux_addr_same(&v.from, &from[i]));
		assert_true(tux_addr_same(&v.to, &to[i]));
		assert_ptr_equal(v.p, p);
		assert_int_equal(v.len, 90);
		assert_int_equal(v.ecn, TUX_ECN_ECT0);
	}
}

/* DSCP, and in IPv6 the version and the flow label, stand beside the ECN field
 * and are not part of it. */
static void parse__reads_ecn(void **state)
{
	struct tux_eth_view v;
	uint8_t b[128], ecn;
	size_t n;

	(void)state;
	for (ecn = 0; ecn < 4; ecn++) {
		n = test_hex(b, golden_v4);
		b[15] = 0xfc | ecn;
		assert_int_equal(tux_eth_parse(&v, b, n), 0);
		assert_int_equal(v.ecn, ecn);
		n = test_hex(b, golden_v6);
		b[14] = 0x6f;
		b[15] = (uint8_t)(0xcf | ecn << 4);
		assert_int_equal(tux_eth_parse(&v, b, n), 0);
		assert_int_equal(v.ecn, ecn);
	}
}

static void parse__refuses_what_is_cut_short(void **state)
{
	const char *golden[] = { golden_v4, golden_v6 };
	struct tux_eth_view v;
	uint8_t b[128];
	size_t i, n, len;

	(void)state;
	for (i = 0; i < N_OF(golden); i++) {
		n = test_hex(b, golden[i]);
		assert_int_equal(tux_eth_parse(&v, b, n), 0);
		for (len = 0; len < n; len++)
			assert_int_equal(tux_eth_parse(&v, b, len), -EBADMSG);
	}
}

/* With byte @at set to @value, the frame is not read. */
static void refuses(const char *golden, size_t at, uint8_t value)
{
	struct tux_eth_view v;
	uint8_t b[128];
	size_t n = test_hex(b, golden);

	b[at] = value;
	assert_int_equal(tux_eth_parse(&v, b, n), -EBADMSG);
}

static void parse__leaves_the_rest_to_the_kernel(void **state)
{
	(void)state;
	refuses(golden_v4, 12, 0x81);		/* a VLAN tag */
	refuses(golden_v4, 14, 0x46);		/* options */
	refuses(golden_v4, 14, 0x65);		/* not version 4 */
	refuses(golden_v4, 20, 0x60);		/* the first fragment */
	refuses(golden_v4, 21, 0x01);		/* not the first fragment */
	refuses(golden_v4, 23, 6);		/* TCP */
	refuses(golden_v4, 17, 19);		/* IP: too short */
	refuses(golden_v4, 39, 7);		/* UDP: too short */
	refuses(golden_v4, 39, 11);		/* UDP: too long */
	refuses(golden_v6, 14, 0x40);
	refuses(golden_v6, 20, 0);		/* hop-by-hop options */
	refuses(golden_v6, 20, 44);		/* a fragment */
	refuses(golden_v6, 59, 11);
}

static void parse__takes_no_mapped_address_in_ipv6(void **state)
{
	uint8_t b[128];
	size_t n = test_hex(b, golden_v6);
	struct tux_eth_view v;

	(void)state;
	memset(b + 22, 0, 16);
	b[32] = b[33] = 0xff;
	assert_int_equal(tux_eth_parse(&v, b, n), -EBADMSG);
}

static void parse__never_leaves_the_frame(void **state)
{
	const char *golden[] = { golden_v4, golden_v6 };
	struct tux_eth_view v;
	uint64_t seed = 7;
	unsigned i;

	(void)state;
	for (i = 0; i < ROUNDS; i++) {
		uint8_t b[128], *frame;
		size_t n = test_hex(b, golden[i % 2]);
		unsigned k = 1 + test_below(&seed, 4);

		while (k--)
			b[test_below(&seed, (uint32_t)n)] =
				(uint8_t)test_random(&seed);
		n -= test_below(&seed, 8);
		frame = malloc(n);	/* so that a sanitizer sees its end */
		assert_non_null(frame);
		memcpy(frame, b, n);
		if (!tux_eth_parse(&v, frame, n)) {
			assert_true(v.p >= frame + TUX_ETH_HDR);
			assert_true(v.p + v.len <= frame + n);
		}
		free(frame);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(build__writes_ipv4),
		cmocka_unit_test(build__writes_ipv6_with_its_sum),
		cmocka_unit_test(build__writes_ecn),
		cmocka_unit_test(build__sums_are_right_for_any_length),
		cmocka_unit_test(parse__gives_back_what_was_built),
		cmocka_unit_test(parse__reads_ecn),
		cmocka_unit_test(parse__refuses_what_is_cut_short),
		cmocka_unit_test(parse__leaves_the_rest_to_the_kernel),
		cmocka_unit_test(parse__takes_no_mapped_address_in_ipv6),
		cmocka_unit_test(parse__never_leaves_the_frame),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
