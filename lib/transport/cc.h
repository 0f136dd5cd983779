/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cc - congestion control: a controller behind a table of functions
 *
 * A controller computes the congestion window, cwnd; it is told what happens to
 * packets.  This module has the rules that all controllers share:
 *
 *  - One congestion event reduces the window once.  A loss or a CE mark of a
 *    packet that left before the last reduction belongs to the event that
 *    caused that reduction (RFC 6582, RFC 3168).
 *  - Acknowledgments of packets that left before the last reduction do not make
 *    the window grow (RFC 9002, 7.3.2), nor does a window that is not in use.
 *  - When every loss of an event proves spurious, and no packet was marked with
 *    CE, the reduction is undone (RFC 4015).
 */
#ifndef TUX_TRANSPORT_CC_H
#define TUX_TRANSPORT_CC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "transport/hystart.h"

struct tux_cc_ops;

struct tux_cubic {
	tux_time epoch_at;	/* when this congestion avoidance stage began;
				 * TUX_NEVER: it begins with the next ack */
	uint64_t w_max;		/* W_max: cwnd at the last reduction, less with
				 * fast convergence */
	uint64_t origin;	/* where the curve of this stage is flat: W_max,
				 * or cwnd at epoch_at if that is more */
	uint64_t prior;		/* cwnd_prior: cwnd before the last reduction */
	uint64_t est;		/* W_est: the window that NewReno would have */
	uint64_t est_acked;	/* 17 alpha times the bytes acknowledged since
				 * est last grew */
	uint32_t k;		/* K: ms from epoch_at to the flat part */
};

struct tux_cc_window {		/* what an undo restores */
	uint64_t cwnd;		/* bytes that may be in flight */
	uint64_t ssthresh;
	uint64_t acked;		/* NewReno: bytes acknowledged since cwnd last
				 * grew in congestion avoidance */
	struct tux_cubic cubic;
};

struct tux_cc {
	const struct tux_cc_ops *ops;
	struct tux_cc_window w;
	uint32_t mss;		/* the longest packet, in bytes */
	struct tux_hystart hystart;
	tux_time recover_at;	/* when the window was last reduced: a loss of a
				 * packet that left before is the same event */
	struct tux_cc_window before;	/* the window before that reduction */
	uint32_t doubt_n;	/* losses of that event that may still prove
				 * spurious; 0: the reduction is final */
};

struct tux_cc_ack {		/* what one acknowledgment acknowledged */
	uint64_t bytes;
	tux_time sent_at;	/* when the newest of the packets left */
	tux_time rtt;		/* the latest round trip; 0: not measured */
	bool full;		/* the window was in use; false: the application
				 * had no more to send */
};

struct tux_cc_ops {
	const char *name;
	void (*init)(struct tux_cc *cc);
	void (*acked)(struct tux_cc *cc, const struct tux_cc_ack *a,
		      tux_time now);
	/* Nothing was in flight for @in.  May be NULL. */
	void (*idle)(struct tux_cc *cc, tux_time in);
	/* A congestion event: reduces the window. */
	void (*reduce)(struct tux_cc *cc);
	/* The retransmission timer fired: reduces the window to one packet. */
	void (*timeout)(struct tux_cc *cc);
};

extern const struct tux_cc_ops tux_cc_cubic;	/* RFC 9438 */
extern const struct tux_cc_ops tux_cc_newreno;	/* RFC 6582, RFC 5681 */

/* The initial window is ten packets of @mss bytes, as in RFC 6928, but at least
 * 14,600 bytes. */
void tux_cc_init(struct tux_cc *cc, const struct tux_cc_ops *ops, uint32_t mss);

/* How many bytes a connection may have in flight whatever is in flight of the
 * others that share the window: as many as TCP lets each connection have.  That
 * is the initial window, and one packet after a congestion event. */
uint64_t tux_cc_own(const struct tux_cc *cc);

void tux_cc_acked(struct tux_cc *cc, const struct tux_cc_ack *a, tux_time now);

/* A packet leaves after nothing has been in flight for @in. */
static inline void tux_cc_idle(struct tux_cc *cc, tux_time in)
{
	if (cc->ops->idle)
		cc->ops->idle(cc, in);
}

/* For controllers: lets cwnd grow by slow start, up to ssthresh, for the bytes
 * of *@a.  Returns how many of them are left for congestion avoidance. */
uint64_t tux_cc_slow_start(struct tux_cc *cc, const struct tux_cc_ack *a,
			   tux_time now);

/* A packet that left at @sent_at is lost. */
void tux_cc_lost(struct tux_cc *cc, tux_time sent_at, tux_time now);

/* The peer reports new CE marks; the newest packet that it acknowledges left at
 * @sent_at.  Returns true if that reduces the window.  Such a reduction is
 * never undone. */
bool tux_cc_marked(struct tux_cc *cc, tux_time sent_at, tux_time now);

/* The retransmission timer fired, and @n packets were declared lost. */
void tux_cc_timeout(struct tux_cc *cc, unsigned n, tux_time now);

/* A packet that left at @sent_at and was declared lost has arrived.  Returns
 * true if it was the last of its event: then the reduction is undone. */
bool tux_cc_spurious(struct tux_cc *cc, tux_time sent_at);

#endif
