/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * eth - a datagram as an Ethernet frame
 */
#include "wire/eth.h"

#include <errno.h>

#include "base/bytes.h"

enum {
	TYPE_V4 = 0x0800, TYPE_V6 = 0x86dd,
	V4_HDR = 20, V6_HDR = 40, UDP_HDR = 8,
	PROTO_UDP = 17,
	TTL = 64,
	DONT_FRAGMENT = 0x4000, FRAGMENT = 0x3fff,
	V4_ADDR = 12,			/* where a mapped address has IPv4's */
};

/* ---- reading ---- */

static void eth_get_v4(struct tux_addr *a, const uint8_t *p)
{
	memset(a->ip, 0, 10);
	a->ip[10] = a->ip[11] = 0xff;
	memcpy(a->ip + V4_ADDR, p, 4);
}

/* The length that UDP tells must lie within the length that IP tells, and that
 * within the frame.  Behind them there may be padding. */
static int eth_parse_udp(struct tux_eth_view *v, const uint8_t *p, size_t len)
{
	size_t udp_len;

	if (len < UDP_HDR)
		return -EBADMSG;
	udp_len = tux_get16(p + 4);
	if (udp_len < UDP_HDR || udp_len > len)
		return -EBADMSG;
	v->from.port = tux_get16(p);
	v->to.port = tux_get16(p + 2);
	v->p = p + UDP_HDR;
	v->len = udp_len - UDP_HDR;
	return 0;
}

static int eth_parse_v4(struct tux_eth_view *v, const uint8_t *p, size_t len)
{
	size_t ip_len;

	if (len < V4_HDR || p[0] != 0x45 || p[9] != PROTO_UDP ||
	    (tux_get16(p + 6) & FRAGMENT))
		return -EBADMSG;
	ip_len = tux_get16(p + 2);
	if (ip_len < V4_HDR || ip_len > len)
		return -EBADMSG;
	v->ecn = p[1] & TUX_ECN_MASK;
	eth_get_v4(&v->from, p + 12);
	eth_get_v4(&v->to, p + 16);
	return eth_parse_udp(v, p + V4_HDR, ip_len - V4_HDR);
}

static int eth_parse_v6(struct tux_eth_view *v, const uint8_t *p, size_t len)
{
	size_t ip_len;

	if (len < V6_HDR || p[0] >> 4 != 6 || p[6] != PROTO_UDP)
		return -EBADMSG;
	ip_len = tux_get16(p + 4);
	if (ip_len > len - V6_HDR)
		return -EBADMSG;
	v->ecn = p[1] >> 4 & TUX_ECN_MASK;
	memcpy(v->from.ip, p + 8, 16);
	memcpy(v->to.ip, p + 24, 16);
	/* An IPv6 packet with a mapped address would look like IPv4 from here
	 * on.  No host sends such packets. */
	if (tux_addr_is_v4(&v->from) || tux_addr_is_v4(&v->to))
		return -EBADMSG;
	return eth_parse_udp(v, p + V6_HDR, ip_len);
}

int tux_eth_parse(struct tux_eth_view *v, const uint8_t *p, size_t len)
{
	if (len < TUX_ETH_HDR)
		return -EBADMSG;
	switch (tux_get16(p + 2 * TUX_ETH_MAC)) {
	case TYPE_V4:
		return eth_parse_v4(v, p + TUX_ETH_HDR, len - TUX_ETH_HDR);
	case TYPE_V6:
		return eth_parse_v6(v, p + TUX_ETH_HDR, len - TUX_ETH_HDR);
	default:
		return -EBADMSG;
	}
}

/* ---- writing ---- */

/* The Internet checksum (RFC 1071) of @len bytes at @p, not folded, on top of
 * @s.  It adds four bytes at a time; csum_fold() brings the carries back. */
static uint64_t csum_add(uint64_t s, const uint8_t *p, size_t len)
{
	for (; len >= 4; p += 4, len -= 4)
		s += tux_get32(p);
	if (len >= 2) {
		s += (uint64_t)tux_get16(p) << 16;
		p += 2;
		len -= 2;
		if (len)
			s += (uint64_t)*p << 8;
	} else if (len) {
		s += (uint64_t)*p << 24;
	}
	return s;
}

static uint16_t csum_fold(uint64_t s)
{
	s = (s >> 32) + (s & UINT32_MAX);
	s = (s >> 16) + (s & UINT16_MAX);
	s = (s >> 16) + (s & UINT16_MAX);
	s = (s >> 16) + (s & UINT16_MAX);
	return (uint16_t)~s;
}

static void eth_put_udp(uint8_t *p, size_t len, const struct tux_addr *from,
			const struct tux_addr *to)
{
	tux_put16(p, from->port);
	tux_put16(p + 2, to->port);
	tux_put16(p + 4, (uint16_t)len);
	tux_put16(p + 6, 0);
}

/* The UDP checksum stays zero, which means over IPv4 that there is none (RFC
 * 768). */
static void eth_put_v4(uint8_t *p, size_t len, const struct tux_addr *from,
		       const struct tux_addr *to, uint8_t ecn)
{
	p[0] = 0x45;
	p[1] = ecn;
	tux_put16(p + 2, (uint16_t)len);
	tux_put16(p + 4, 0);
	tux_put16(p + 6, DONT_FRAGMENT);
	p[8] = TTL;
	p[9] = PROTO_UDP;
	tux_put16(p + 10, 0);
	memcpy(p + 12, from->ip + V4_ADDR, 4);
	memcpy(p + 16, to->ip + V4_ADDR, 4);
	tux_put16(p + 10, csum_fold(csum_add(0, p, V4_HDR)));
}

static void eth_put_v6(uint8_t *p, size_t len, const struct tux_addr *from,
		       const struct tux_addr *to, uint8_t ecn)
{
	uint8_t *udp = p + V6_HDR;
	uint64_t s = PROTO_UDP + (len - V6_HDR);
	uint16_t check;

	tux_put32(p, 6u << 28 | (uint32_t)ecn << 20);
	tux_put16(p + 4, (uint16_t)(len - V6_HDR));
	p[6] = PROTO_UDP;
	p[7] = TTL;
	memcpy(p + 8, from->ip, 16);
	memcpy(p + 24, to->ip, 16);
	s = csum_add(s, p + 8, 32);
	check = csum_fold(csum_add(s, udp, len - V6_HDR));
	tux_put16(udp + 6, check ? check : UINT16_MAX);
}

size_t tux_eth_build(uint8_t *p, size_t len, const struct tux_eth_macs *m,
		     const struct tux_addr *from, const struct tux_addr *to,
		     uint8_t ecn)
{
	bool v4 = tux_addr_is_v4(to);
	size_t hdrs = v4 ? TUX_ETH_V4_HDRS : TUX_ETH_V6_HDRS;
	uint8_t *ip = p - hdrs, *eth = ip - TUX_ETH_HDR;

	memcpy(eth, m->to, TUX_ETH_MAC);
	memcpy(eth + TUX_ETH_MAC, m->from, TUX_ETH_MAC);
	tux_put16(eth + 2 * TUX_ETH_MAC, v4 ? TYPE_V4 : TYPE_V6);
	eth_put_udp(p - UDP_HDR, len + UDP_HDR, from, to);
	if (v4)
		eth_put_v4(ip, len + hdrs, from, to, ecn);
	else
		eth_put_v6(ip, len + hdrs, from, to, ecn);
	return hdrs + TUX_ETH_HDR;
}
