/* SPDX-License-Identifier: BSD-2-Clause */
#include "mark.h"

#include <stdbool.h>

#include "base/bytes.h"
#include "wire/wire.h"

enum {
	ETH = 14, TYPE_AT = 12, IPV4 = 0x0800, IPV6 = 0x86dd,
	IPV4_HDR = 20, IPV6_HDR = 40, UDP = 17,
	PROTO4_AT = 9, PROTO6_AT = 6, CLASS_AT = 1, SUM_AT = 10,
	SHIFT6 = 4,		/* the traffic class begins in a byte's middle */
};

static void sum_again(uint8_t *ip)
{
	uint32_t s = 0;
	size_t i;

	tux_put16(ip + SUM_AT, 0);
	for (i = 0; i < IPV4_HDR; i += 2)
		s += tux_get16(ip + i);
	s = (s >> 16) + (s & UINT16_MAX);
	s = (s >> 16) + (s & UINT16_MAX);
	tux_put16(ip + SUM_AT, (uint16_t)~s);
}

/* Is it the turn of one with @ecn? */
static bool chosen(struct mark *m, unsigned side, uint8_t ecn)
{
	if (ecn != TUX_ECN_ECT0 && ecn != TUX_ECN_ECT1)
		return false;
	m->ect_n[side]++;
	if (!m->every || m->ect_n[side] % m->every)
		return false;
	m->ce_n[side]++;
	return true;
}

void mark_frame(struct mark *m, unsigned side, uint8_t *eth, size_t len)
{
	uint8_t *ip = eth + ETH;

	if (len < ETH + IPV6_HDR)
		return;
	if (tux_get16(eth + TYPE_AT) == IPV4 && ip[PROTO4_AT] == UDP &&
	    chosen(m, side, ip[CLASS_AT] & TUX_ECN_MASK)) {
		ip[CLASS_AT] |= TUX_ECN_CE;
		sum_again(ip);
	} else if (tux_get16(eth + TYPE_AT) == IPV6 && ip[PROTO6_AT] == UDP &&
		   chosen(m, side, ip[CLASS_AT] >> SHIFT6 & TUX_ECN_MASK)) {
		ip[CLASS_AT] |= TUX_ECN_CE << SHIFT6;
	}
}
