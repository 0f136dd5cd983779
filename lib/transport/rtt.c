/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rtt - round-trip times, and the timeouts computed from them
 */
#include "transport/rtt.h"

/* The clock granularity G of RFC 6298.  The clock is finer; the value covers
 * jitter that the variance of a quiet path does not show. */
#define RTT_GRANULARITY TUX_MSEC(1)

static tux_time rtt_max(tux_time a, tux_time b)
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
	/* Subtract the delay that the peer reports, but no more than the
	 * longest that it announced, and not if the result were below the least
	 * round trip (RFC 9002, 5.3). */
	delay = tux_time_min(delay, r->ack_delay);
	if (took >= r->min + delay)
		took -= delay;
	off = took > r->srtt ? took - r->srtt : r->srtt - took;
	r->rttvar = (3 * r->rttvar + off) / 4;
	r->srtt = (7 * r->srtt + took) / 8;
}

/* The time after which an answer is late, ack delay and bounds apart. */
static tux_time rtt_late(const struct tux_rtt *r)
{
	if (r->min == TUX_NEVER)
		return TUX_USEC(TUX_RTO_FIRST_US);
	return r->srtt + rtt_max(4 * r->rttvar, RTT_GRANULARITY);
}

tux_time tux_rtt_pto(const struct tux_rtt *r)
{
	return tux_time_add(rtt_late(r), r->ack_delay);
}

tux_time tux_rtt_rto(const struct tux_rtt *r)
{
	tux_time rto = rtt_max(TUX_USEC(TUX_RTO_MIN_US), rtt_late(r));
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
