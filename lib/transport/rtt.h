/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rtt - round-trip times, and the timeouts computed from them (RFC 6298)
 */
#ifndef TUX_TRANSPORT_RTT_H
#define TUX_TRANSPORT_RTT_H

#include "base/time.h"

struct tux_rtt {
	tux_time srtt, rttvar;	/* 0 before the first sample */
	tux_time min;		/* the least sample; TUX_NEVER: none yet */
	tux_time last;		/* the latest sample, ack delay included */
	tux_time ack_delay;	/* the longest that the peer delays an ack */
	unsigned backoff;	/* timeouts in a row */
};

enum {
	TUX_RTO_MIN_US = 5000,		/* plus ack_delay */
	TUX_RTO_FIRST_US = 50000,	/* before the first sample */
	TUX_RTO_MAX_US = 10000000,
};

void tux_rtt_init(struct tux_rtt *r, tux_time ack_delay);

/* A packet that left @took ago is acknowledged; the peer says that it delayed
 * the ack by @delay.  Ends the backoff. */
void tux_rtt_sample(struct tux_rtt *r, tux_time took, tux_time delay);

/* The retransmission timeout, backoff included. */
tux_time tux_rtt_rto(const struct tux_rtt *r);

/* The time after which the tail is probed: the retransmission timeout without
 * its lower bound and without backoff, because a needless probe does no
 * harm. */
tux_time tux_rtt_pto(const struct tux_rtt *r);

/* The retransmission timer fired: the next timeout is twice as long, at most
 * TUX_RTO_MAX_US. */
void tux_rtt_backoff(struct tux_rtt *r);

#endif
