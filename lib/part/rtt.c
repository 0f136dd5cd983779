/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rtt - smoothed round-trip time and the retransmission timeout
 */
#include "part/rtt.h"

/* RFC 6298's clock granularity stands in for jitter that the variance of a
 * quiet path does not show. */
#define RTT_SLACK TUX_MSEC(1)

static tux_time max(tux_time a, tux_time b)
{
	return a > b ? a : b;
}

void tux_rtt_init(struct tux_rtt *r, tux_time ack_delay)
{
	*r = (struct tux_rtt){ .min = TUX_NEVER, .ack_delay = ack_delay };
}

void tux_rtt_sample(struct tux_rtt *r, tux_time took, tux_time delay)
{
	tux_time off;

	r->backoff = 0;
	r->last = took;
	if (r->min == TUX_NEVER) {
		r->min = r->srtt = took;
		r->rttvar = took / 2;
		return;
	}
	r->min = tux_time_min(r->min, took);
	/* The peer's word on its delay counts up to what it promised, and
	 * never makes the path look shorter than it ever was (RFC 9002, 5.3). */
	delay = tux_time_min(delay, r->ack_delay);
	if (took >= r->min + delay)
		took -= delay;
	off = took > r->srtt ? took - r->srtt : r->srtt - took;
	r->rttvar = (3 * r->rttvar + off) / 4;
	r->srtt = (7 * r->srtt + took) / 8;
}

/* When an answer is late; 50 ms where nothing is known. */
static tux_time late(const struct tux_rtt *r)
{
	if (r->min == TUX_NEVER)
		return TUX_USEC(TUX_RTO_FIRST_US);
	return r->srtt + max(4 * r->rttvar, RTT_SLACK);
}

tux_time tux_rtt_pto(const struct tux_rtt *r)
{
	return tux_time_add(late(r), r->ack_delay);
}

tux_time tux_rtt_rto(const struct tux_rtt *r)
{
	tux_time rto = max(TUX_USEC(TUX_RTO_MIN_US), late(r));
	unsigned i;

	rto = tux_time_add(rto, r->ack_delay);
	for (i = 0; i < r->backoff && rto < TUX_USEC(TUX_RTO_MAX_US); i++)
		rto *= 2;
	return tux_time_min(rto, TUX_USEC(TUX_RTO_MAX_US));
}

void tux_rtt_backoff(struct tux_rtt *r)
{
	if (r->backoff < UINT32_MAX)
		r->backoff++;
}
