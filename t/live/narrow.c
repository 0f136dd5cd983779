/* SPDX-License-Identifier: BSD-2-Clause */
#include "narrow.h"

#include "base/bytes.h"

enum {
	ETH = 14, TYPE_AT = 12, IPV4 = 0x0800, IP_MIN = 20,
	LEN_AT = 2, FRAGMENT_AT = 6, PROTO_AT = 9,
	FRAGMENT_MASK = 0x3fff,	/* more follow, or an offset */
	UDP = 17, TCP = 6, TCP_MIN = 20, DOFF_AT = 12,
};

static void count_tcp(struct narrow *w, unsigned side, const uint8_t *ip,
		      size_t len)
{
	size_t head = (size_t)(ip[0] & 15) * 4;

	if (len < head + TCP_MIN)
		return;
	head += (size_t)(ip[head + DOFF_AT] >> 4) * 4;
	if (tux_get16(ip + LEN_AT) > head)
		w->tcp_bytes[side] += tux_get16(ip + LEN_AT) - head;
}

bool narrow_frame(struct narrow *w, unsigned side, const uint8_t *eth,
		  size_t len)
{
	const uint8_t *ip = eth + ETH;

	if (!w->on || len < ETH + IP_MIN || tux_get16(eth + TYPE_AT) != IPV4)
		return true;
	if (ip[PROTO_AT] == TCP)
		count_tcp(w, side, ip, len - ETH);
	if (ip[PROTO_AT] != UDP)
		return true;
	if (tux_get16(ip + FRAGMENT_AT) & FRAGMENT_MASK)
		w->fragment_n[side]++;
	if (w->longest && tux_get16(ip + LEN_AT) > w->longest) {
		w->too_long_n[side]++;
		return false;
	}
	w->fitting_n[side]++;
	return true;
}
