/* SPDX-License-Identifier: BSD-2-Clause */
#include "alter.h"

#include <string.h>

#include "base/bytes.h"

enum {
	ETH = 14, TYPE_AT = 12, IPV4 = 0x0800,
	IP_MIN = 20, PROTO_AT = 9, IP_SUM_AT = 10, SRC_AT = 12, DST_AT = 16,
	TCP = 6, TCP_MIN = 20, DOFF_AT = 12, FLAGS_AT = 13, TCP_SUM_AT = 16,
	SYN = 2, END = 0, NOP = 1,
};

static uint16_t sum(const uint8_t *p, size_t len)
{
	uint32_t s = 0;
	size_t i;

	for (i = 0; i + 1 < len; i += 2)
		s += tux_get16(p + i);
	while (s >> 16)
		s = (s & 0xffff) + (s >> 16);
	return (uint16_t)s;
}

/* What @sum covers has become @after where it was @before. */
static void mend(uint8_t *at, uint16_t before, uint16_t after, bool partial)
{
	uint32_t s = partial ? tux_get16(at) : (uint16_t)~tux_get16(at);

	s += (uint32_t)(uint16_t)~before + after;
	while (s >> 16)
		s = (s & 0xffff) + (s >> 16);
	tux_put16(at, (uint16_t)(partial ? s : ~s));
}

/* The options of a SYN with a header of that many bytes behind them; NULL. */
static uint8_t *options(uint8_t *tcp, size_t len, size_t *n)
{
	size_t end = (size_t)(tcp[DOFF_AT] >> 4) * 4;

	if (end < TCP_MIN || end > len || !(tcp[FLAGS_AT] & SYN))
		return NULL;
	*n = end - TCP_MIN;
	return tcp + TCP_MIN;
}

/* The option of @kind among the @n bytes at @p, and its length; NULL. */
static uint8_t *find(unsigned kind, uint8_t *p, size_t n, size_t *len)
{
	size_t at;

	for (at = 0; at + 1 < n && p[at] != END; at += *len) {
		*len = p[at] == NOP ? 1 : p[at + 1];
		if (!*len || at + *len > n)
			return NULL;
		if (p[at] == kind)
			return p + at;
	}
	return NULL;
}

static void strip(unsigned kind, uint8_t *tcp, size_t len, bool partial)
{
	size_t n, opt_len;
	uint8_t *p = options(tcp, len, &n);
	uint8_t *opt = p ? find(kind, p, n, &opt_len) : NULL;
	uint16_t before;

	if (!opt)
		return;
	before = sum(p, n);
	memset(opt, NOP, opt_len);
	/* What is only begun does not cover options. */
	if (!partial)
		mend(tcp + TCP_SUM_AT, before, sum(p, n), false);
}

static bool has(unsigned kind, uint8_t *tcp, size_t len)
{
	size_t n, opt_len;
	uint8_t *p = options(tcp, len, &n);

	return p && find(kind, p, n, &opt_len);
}

static void translate(uint8_t *ip, size_t at, const uint8_t *old,
		      const uint8_t *new, uint8_t *tcp, bool partial)
{
	if (memcmp(ip + at, old, 4))
		return;
	memcpy(ip + at, new, 4);
	mend(ip + IP_SUM_AT, sum(old, 4), sum(new, 4), false);
	if (tcp)
		mend(tcp + TCP_SUM_AT, sum(old, 4), sum(new, 4), partial);
}

bool alter_frame(const struct alter *a, unsigned side, uint8_t *eth, size_t len,
		 bool partial)
{
	uint8_t *ip = eth + ETH, *tcp = NULL;
	size_t head;

	if (len < ETH + IP_MIN || tux_get16(eth + TYPE_AT) != IPV4)
		return true;
	head = (size_t)(ip[0] & 15) * 4;
	if (ip[PROTO_AT] == TCP && len >= ETH + head + TCP_MIN)
		tcp = ip + head;
	if (a->refuse && side >= a->answers && tcp && has(a->refuse, tcp, len - ETH - head))
		return false;
	if (a->strip && tcp)
		strip(a->strip, tcp, len - ETH - head, partial);
	if (a->nat && side)
		translate(ip, SRC_AT, a->to, a->from, tcp, partial);
	else if (a->nat)
		translate(ip, DST_AT, a->from, a->to, tcp, partial);
	return true;
}
