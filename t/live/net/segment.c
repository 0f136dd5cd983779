/* SPDX-License-Identifier: BSD-2-Clause */
#include "segment.h"

#include <string.h>

#include "base/bytes.h"

enum {
	TYPE_V4 = 0x0800, TYPE_V6 = 0x86dd,
	V4_HDR = 20, V6_HDR = 40, TCP_HDR = 20, ICMP_HDR = 8, QUOTED = 8,
	ICMP = 1, TCP = 6, UDP = 17, ICMP6 = 58,
	TTL = 64, WINDOW = 65535,
	UNREACHABLE = 3, NO_PORT = 3, TOO_LONG = 4, LENGTH = 576,
	UNREACHABLE6 = 1, NO_PORT6 = 4, TOO_LONG6 = 2, LENGTH6 = 1280,
};

static uint16_t fold(uint32_t s)
{
	while (s >> 16)
		s = (s & UINT16_MAX) + (s >> 16);
	return (uint16_t)~s;
}

static uint32_t sum(uint32_t s, const uint8_t *p, size_t len)
{
	size_t i;

	for (i = 0; i < len; i += 2)
		s += tux_get16(p + i);
	return s;
}

/* An IP header at @p for @len bytes behind it; its own length. */
static size_t put_ip(uint8_t *p, const struct tux_addr *from,
		     const struct tux_addr *to, uint8_t proto, size_t len)
{
	if (!tux_addr_is_v4(to)) {
		memset(p, 0, V6_HDR);
		p[0] = 6 << 4;
		tux_put16(p + 4, (uint16_t)len);
		p[6] = proto;
		p[7] = TTL;
		memcpy(p + 8, from->ip, 16);
		memcpy(p + 24, to->ip, 16);
		return V6_HDR;
	}
	memset(p, 0, V4_HDR);
	p[0] = 4 << 4 | V4_HDR / 4;
	tux_put16(p + 2, (uint16_t)(V4_HDR + len));
	p[8] = TTL;
	p[9] = proto;
	memcpy(p + 12, from->ip + 12, 4);
	memcpy(p + 16, to->ip + 12, 4);
	tux_put16(p + 10, fold(sum(0, p, V4_HDR)));
	return V4_HDR;
}

/* What TCP's sum, and that of ICMP for IPv6, begin with. */
static uint32_t pseudo(const struct tux_addr *from, const struct tux_addr *to,
		       uint8_t proto, size_t len)
{
	size_t at = tux_addr_is_v4(to) ? 12 : 0;

	return sum(sum((uint32_t)(proto + len), from->ip + at, 16 - at),
		   to->ip + at, 16 - at);
}

static size_t put_eth(uint8_t *p, const struct tux_eth_macs *m, bool v4)
{
	memcpy(p, m, 2 * TUX_ETH_MAC);
	tux_put16(p + 2 * TUX_ETH_MAC, v4 ? TYPE_V4 : TYPE_V6);
	return TUX_ETH_HDR;
}

/* Behind it is a byte of room, which the sum takes for zero. */
static size_t put_tcp(uint8_t *p, const struct tux_addr *from,
		      const struct tux_addr *to, const struct segment *s)
{
	size_t hdr = TCP_HDR + s->options_len, len = hdr + s->len;

	memset(p, 0, len + 1);
	tux_put16(p, from->port);
	tux_put16(p + 2, to->port);
	tux_put32(p + 4, s->seq);
	tux_put32(p + 8, s->ack);
	p[12] = (uint8_t)(hdr / 4 << 4);
	p[13] = s->flags;
	tux_put16(p + 14, WINDOW);
	if (s->options_len)
		memcpy(p + TCP_HDR, s->options, s->options_len);
	if (s->len)
		memcpy(p + hdr, s->data, s->len);
	tux_put16(p + 16, fold(sum(pseudo(from, to, TCP, len), p, len)));
	return len;
}

size_t segment_build(uint8_t *p, const struct tux_eth_macs *m,
		     const struct tux_addr *from, const struct tux_addr *to,
		     const struct segment *s)
{
	size_t at = put_eth(p, m, tux_addr_is_v4(to));

	at += put_ip(p + at, from, to, TCP, TCP_HDR + s->options_len + s->len);
	return at + put_tcp(p + at, from, to, s);
}

size_t segment_tcp(uint8_t *p, const struct tux_eth_macs *m,
		   const struct tux_addr *from, const struct tux_addr *to,
		   uint32_t seq, uint8_t flags)
{
	const struct segment s = { .seq = seq, .flags = flags };

	return segment_build(p, m, from, to, &s);
}

/* The first bytes of a packet that @from has sent; how many. */
static size_t put_quoted(uint8_t *p, const struct tux_addr *from,
			 const struct tux_addr *to, uint32_t seq)
{
	size_t at = put_ip(p, from, to, seq & 1 ? TCP : UDP, 1000);

	tux_put16(p + at, from->port);
	tux_put16(p + at + 2, to->port);
	tux_put32(p + at + 4, seq & 1 ? seq : 1000u << 16);
	return at + QUOTED;
}

size_t segment_icmp(uint8_t *p, const struct tux_eth_macs *m,
		    const struct tux_addr *from, const struct tux_addr *to,
		    bool long_one, uint32_t seq)
{
	bool v4 = tux_addr_is_v4(to);
	size_t len = ICMP_HDR + (v4 ? V4_HDR : V6_HDR) + QUOTED;
	uint8_t proto = v4 ? ICMP : ICMP6;
	size_t at = put_eth(p, m, v4);
	uint8_t *b;

	at += put_ip(p + at, from, to, proto, len);
	b = p + at;
	memset(b, 0, ICMP_HDR);
	if (v4) {
		b[0] = UNREACHABLE;
		b[1] = long_one ? TOO_LONG : NO_PORT;
		tux_put16(b + 6, long_one ? LENGTH : 0);
	} else {
		b[0] = long_one ? TOO_LONG6 : UNREACHABLE6;
		b[1] = long_one ? 0 : NO_PORT6;
		tux_put32(b + 4, long_one ? LENGTH6 : 0);
	}
	put_quoted(b + ICMP_HDR, to, from, seq);
	tux_put16(b + 2, fold(sum(v4 ? 0 : pseudo(from, to, proto, len), b,
				  len)));
	return at + len;
}
