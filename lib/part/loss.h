/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loss - which packets in flight are lost
 *
 * By order: three later numbers are acknowledged (RFC 9002, 6.1.1; the "three
 * duplicate acknowledgments" of TCP); only until numbers have been seen to come
 * out of order on this path.  By time: one that left later is acknowledged, and
 * a round trip and a reordering window have passed (RFC 8985); the window grows
 * when it was too small.  At the tail nothing later tells: a probe asks, and
 * when it stays unanswered, too, the retransmission timer (RFC 6298, 5) decides.
 */
#ifndef TUX_PART_LOSS_H
#define TUX_PART_LOSS_H

#include <stdbool.h>

#include "base/time.h"
#include "part/rtt.h"
#include "part/sentq.h"

enum {
	TUX_LOSS_ORDER = 3,
	TUX_LOSS_WINDOW_US = 100,	/* the least reordering window */
	TUX_LOSS_KEEP = 16,		/* losses until a wide one shrinks */
};

struct tux_loss {
	tux_time at;		/* when the next is lost by time; TUX_NEVER */
	tux_time probe_at;	/* when the tail was probed; 0: not since news */
	unsigned wide;		/* reordering window: 1 + wide quarters of the
				 * least round trip */
	unsigned keep;		/* losses until `wide` is 0 again */
	uint64_t round;		/* numbers from here on may widen it again */
	bool reordered;		/* order says nothing */
};

/* Called for each packet that is lost, before its entry leaves the flight. */
typedef void tux_lost_fn(void *arg, const struct tux_sent *s);

void tux_loss_init(struct tux_loss *l);

/* Declares lost what order or time says, and sets l->at.  Returns how many. */
unsigned tux_loss_detect(struct tux_loss *l, struct tux_sentq *q,
			 const struct tux_rtt *r, tux_lost_fn *fn, void *arg,
			 tux_time now);

/* Declares all in flight lost: the timer passed.  Returns how many. */
unsigned tux_loss_all(struct tux_loss *l, struct tux_sentq *q, tux_lost_fn *fn,
		      void *arg);

/* Number @seq, declared lost by tux_loss_detect(), has arrived. */
void tux_loss_spurious(struct tux_loss *l, const struct tux_sentq *q,
		       uint64_t seq);

/* When the tail must be probed or, with that done or a timeout before, the
 * retransmission timer passes: so long after the oldest packet in flight left,
 * after @ack_at, the last progress, or after the probe, whichever is latest.
 * TUX_NEVER with none in flight. */
tux_time tux_loss_deadline(const struct tux_loss *l, struct tux_sentq *q,
			   const struct tux_rtt *r, tux_time ack_at);

/* Is it the tail's probe that is due then? */
static inline bool tux_loss_may_probe(const struct tux_loss *l,
				      const struct tux_rtt *r)
{
	return !l->probe_at && !r->backoff;
}

#endif
