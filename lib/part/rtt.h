/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rtt - smoothed round-trip time and the retransmission timeout (RFC 6298)
 */
#ifndef TUX_PART_RTT_H
#define TUX_PART_RTT_H

#include "base/time.h"

struct tux_rtt {
	tux_time srtt, rttvar;	/* 0 until the first sample */
	tux_time min;		/* the least sample; TUX_NEVER before one */
	tux_time last;		/* the latest sample, as it was measured */
	tux_time ack_delay;	/* the longest that the peer holds back an ack */
	unsigned backoff;	/* timeouts in a row */
};

enum {
	TUX_RTO_MIN_US = 5000,		/* before ack_delay is added */
	TUX_RTO_FIRST_US = 50000,	/* before the first sample */
	TUX_RTO_MAX_US = 10000000,
};

void tux_rtt_init(struct tux_rtt *r, tux_time ack_delay);

/* A packet sent @took ago is acknowledged; the peer says that it held the ack
 * back for @delay.  Ends the backoff. */
void tux_rtt_sample(struct tux_rtt *r, tux_time took, tux_time delay);

/* The timeout now, backoff included. */
tux_time tux_rtt_rto(const struct tux_rtt *r);

/* How long to wait before a probe of the tail: as the timeout, but without its
 * lower bound, for a probe does no harm. */
tux_time tux_rtt_pto(const struct tux_rtt *r);

/* The timeout passed: the next is twice as long, up to TUX_RTO_MAX_US. */
void tux_rtt_backoff(struct tux_rtt *r);

#endif
