/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loss - which packets in flight are lost
 *
 * A packet is lost
 *
 *  - by order, when a number three higher is acknowledged (RFC 9002, 6.1.1).
 *    This rule is off for good once a number is acknowledged after a higher
 *    one: then the path reorders packets.
 *  - by time, when a higher number is acknowledged, and a round trip plus a
 *    reordering window have passed since the packet left (RACK, RFC 8985).  The
 *    window grows when it proves too small.
 *  - by the retransmission timer (RFC 6298), with all other packets in flight.
 *
 * If the last packets of a flight are lost, no higher number is acknowledged.
 * So before the retransmission timer comes a probe, which repeats the newest
 * packet (TLP, RFC 8985).
 */
#ifndef TUX_TRANSPORT_LOSS_H
#define TUX_TRANSPORT_LOSS_H

#include <stdbool.h>

#include "base/time.h"
#include "transport/rtt.h"
#include "transport/sentq.h"

enum {
	TUX_LOSS_ORDER = 3,		/* kPacketThreshold of RFC 9002 */
	TUX_LOSS_WINDOW_US = 100,	/* the smallest reordering window */
	TUX_LOSS_KEEP = 16,		/* losses until it is smallest again */
};

struct tux_loss {
	tux_time at;		/* when the next packet is lost by time;
				 * TUX_NEVER: none waits for that */
	tux_time probe_at;	/* when the tail was probed; 0: not since the
				 * last acknowledgment */
	unsigned wide;		/* the reordering window is 1 + wide quarters of
				 * the least round trip */
	unsigned keep;		/* losses until wide is 0 again */
	uint64_t round;		/* only this number and higher ones may widen
				 * the window again: once in a round trip */
	bool reordered;		/* the path reorders: loss by order is off */
};

/* Called for each lost packet, before its entry leaves the flight. */
typedef void tux_lost_fn(void *arg, const struct tux_sent *s);

void tux_loss_init(struct tux_loss *l);

/* Declares packets lost by order and by time, calls @fn for each, and sets
 * l->at.  Returns how many there were. */
unsigned tux_loss_detect(struct tux_loss *l, struct tux_sentq *q,
			 const struct tux_rtt *r, tux_lost_fn *fn, void *arg,
			 tux_time now);

/* The retransmission timer fired: declares all packets in flight lost, and
 * calls @fn for each.  Returns how many there were. */
unsigned tux_loss_all(struct tux_loss *l, struct tux_sentq *q, tux_lost_fn *fn,
		      void *arg);

/* Number @seq, which tux_loss_detect() has declared lost, has arrived. */
void tux_loss_spurious(struct tux_loss *l, const struct tux_sentq *q,
		       uint64_t seq);

/* When the timer for packets in flight fires.  It counts from when the oldest
 * packet in flight left or from @ack_at, the last acknowledgment, whichever is
 * later.  If tux_loss_may_probe(), it fires after the probe timeout; otherwise
 * after the retransmission timeout, counted from the probe if that is later
 * still.  TUX_NEVER if nothing is in flight. */
tux_time tux_loss_deadline(const struct tux_loss *l, struct tux_sentq *q,
			   const struct tux_rtt *r, tux_time ack_at);

/* Does the timer probe the tail when it fires, rather than declare everything
 * lost?  There is one probe until an acknowledgment arrives, and none after a
 * timeout. */
static inline bool tux_loss_may_probe(const struct tux_loss *l,
				      const struct tux_rtt *r)
{
	return !l->probe_at && !r->backoff;
}

#endif
