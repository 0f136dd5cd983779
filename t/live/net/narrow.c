/* SPDX-License-Identifier: BSD-2-Clause */
#include "narrow.h"

#include "base/bytes.h"

enum {
	ETH = 14, TYPE_AT = 12, IPV4 = 0x0800, IPV6 = 0x86dd,
	IP_MIN = 20, LEN_AT = 2, FRAGMENT_AT = 6, PROTO_AT = 9,
	IP6_HDR = 40, LEN6_AT = 4, NEXT6_AT = 6, FRAGMENT6 = 44,
	FRAGMENT_MASK = 0x3fff,	/* more follow, or an offset */
	UDP = 17, TCP = 6, TCP_MIN = 20, DOFF_AT = 12,
};

struct ip {			/* what is looked at, of either version */
	size_t head, len;	/* of the header, and of the packet */
	uint8_t proto;		/* behind a fragment's header, too */
	bool fragment;
};

static bool look_v4(struct ip *ip, const uint8_t *p, size_t len)
{
	if (len < IP_MIN)
		return false;
	ip->head = (size_t)(p[0] & 15) * 4;
	ip->len = tux_get16(p + LEN_AT);
	ip->proto = p[PROTO_AT];
	ip->fragment = tux_get16(p + FRAGMENT_AT) & FRAGMENT_MASK;
	return true;
}

static bool look_v6(struct ip *ip, const uint8_t *p, size_t len)
{
	if (len < IP6_HDR + 1)
		return false;
	ip->head = IP6_HDR;
	ip->len = IP6_HDR + (size_t)tux_get16(p + LEN6_AT);
	ip->proto = p[NEXT6_AT];
	ip->fragment = ip->proto == FRAGMENT6;
	if (ip->fragment)
		ip->proto = p[IP6_HDR];
	return true;
}

static void count_tcp(struct narrow *w, unsigned side, const struct ip *ip,
		      const uint8_t *p, size_t len)
{
	size_t head = ip->head;

	if (len < head + TCP_MIN)
		return;
	head += (size_t)(p[head + DOFF_AT] >> 4) * 4;
	if (ip->len > head)
		w->tcp_bytes[side] += ip->len - head;
}

bool narrow_frame(struct narrow *w, unsigned side, const uint8_t *eth,
		  size_t len)
{
	const uint8_t *p = eth + ETH;
	unsigned type;
	struct ip ip;

	if (!w->on || len < ETH)
		return true;
	type = tux_get16(eth + TYPE_AT);
	if (!(type == IPV4 && look_v4(&ip, p, len - ETH)) &&
	    !(type == IPV6 && look_v6(&ip, p, len - ETH)))
		return true;
	if (ip.proto == TCP)
		count_tcp(w, side, &ip, p, len - ETH);
	if (ip.proto != UDP)
		return true;
	w->fragment_n[side] += ip.fragment;
	if (w->longest && ip.len > w->longest) {
		w->too_long_n[side]++;
		return false;
	}
	w->fitting_n[side]++;
	return true;
}
