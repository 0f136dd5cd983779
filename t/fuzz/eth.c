/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ethernet frames: the input is one, behind a byte that says what is repaired
 * in it before.
 *
 * What can be read, can be built, and says the same then; and the sums of what
 * was built are right.
 */
#include "wire/eth.h"

#include <string.h>

#include "base/bytes.h"
#include "fuzz.h"

enum { MAX = 512, V4_HDR = 20, V6_HDR = 40, UDP_HDR = 8, PROTO_UDP = 17 };

enum { V4 = 1, V6 = 2, WHOLE = 4 };	/* what is repaired */

static void repair_v4(uint8_t *ip, size_t len, uint8_t how)
{
	ip[0] = 0x45;
	ip[9] = PROTO_UDP;
	tux_put16(ip + 6, tux_get16(ip + 6) & 0x4000);
	if (how & WHOLE) {
		tux_put16(ip + 2, (uint16_t)len);
		tux_put16(ip + V4_HDR + 4, (uint16_t)(len - V4_HDR));
	}
}

static void repair_v6(uint8_t *ip, size_t len, uint8_t how)
{
	ip[0] = (uint8_t)(0x60 | (ip[0] & 0x0f));
	ip[6] = PROTO_UDP;
	if (how & WHOLE) {
		tux_put16(ip + 4, (uint16_t)(len - V6_HDR));
		tux_put16(ip + V6_HDR + 4, (uint16_t)(len - V6_HDR));
	}
}

static void repair(uint8_t *p, size_t len, uint8_t how)
{
	size_t ip_len = len - TUX_ETH_HDR;

	if (len < TUX_ETH_HDR)
		return;
	if (how & V4 && ip_len >= V4_HDR + UDP_HDR) {
		tux_put16(p + 2 * TUX_ETH_MAC, 0x0800);
		repair_v4(p + TUX_ETH_HDR, ip_len, how);
	} else if (how & V6 && ip_len >= V6_HDR + UDP_HDR) {
		tux_put16(p + 2 * TUX_ETH_MAC, 0x86dd);
		repair_v6(p + TUX_ETH_HDR, ip_len, how);
	}
}

/* The sum of RFC 1071 over @len bytes, 16 bits at a time. */
static uint32_t sum(uint32_t s, const uint8_t *p, size_t len)
{
	for (; len > 1; p += 2, len -= 2)
		s += tux_get16(p);
	if (len)
		s += (uint32_t)*p << 8;
	return s;
}

static bool sum_ok(uint32_t s)
{
	s = (s >> 16) + (s & UINT16_MAX);
	s = (s >> 16) + (s & UINT16_MAX);
	return s == UINT16_MAX;
}

static void check_sums(const uint8_t *frame, size_t len, bool v4)
{
	const uint8_t *ip = frame + TUX_ETH_HDR;
	size_t udp_len = len - TUX_ETH_HDR - V6_HDR;

	if (v4)
		FUZZ_CHECK(sum_ok(sum(0, ip, V4_HDR)));
	else
		FUZZ_CHECK(sum_ok(sum((uint32_t)(17 + udp_len), ip + 8,
				      32 + udp_len)));
}

static void build(const struct tux_eth_view *v, const struct tux_eth_macs *m)
{
	uint8_t buf[TUX_ETH_ROOM + MAX], *p = buf + TUX_ETH_ROOM;
	struct tux_eth_view same;
	size_t room;

	memcpy(p, v->p, v->len);
	room = tux_eth_build(p, v->len, m, &v->from, &v->to, v->ecn);
	FUZZ_CHECK(room <= TUX_ETH_ROOM);
	FUZZ_CHECK(!tux_eth_parse(&same, p - room, room + v->len));
	FUZZ_CHECK(tux_addr_same(&same.from, &v->from) &&
		   tux_addr_same(&same.to, &v->to) && same.p == p &&
		   same.len == v->len && same.ecn == v->ecn);
	FUZZ_CHECK(!memcmp(p - room, m, sizeof(*m)));
	check_sums(p - room, room + v->len, tux_addr_is_v4(&v->to));
}

int LLVMFuzzerTestOneInput(const uint8_t *in, size_t len)
{
	struct tux_eth_view v;
	struct tux_eth_macs m;
	uint8_t p[MAX];

	if (!len || --len > MAX)
		return 0;
	memcpy(p, in + 1, len);
	repair(p, len, *in);
	if (tux_eth_parse(&v, p, len))
		return 0;
	FUZZ_CHECK(v.p >= p && v.p <= p + len && v.len <= len &&
		   v.len <= (size_t)(p + len - v.p));
	FUZZ_CHECK(tux_addr_is_v4(&v.from) == tux_addr_is_v4(&v.to));
	memcpy(&m, p, sizeof(m));
	build(&v, &m);
	return 0;
}
