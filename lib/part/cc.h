/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cc - congestion control, behind a small table of functions
 *
 * A controller answers one question, cwnd, and is told what happens to packets.
 * What all controllers share is here: losses and marks (CE) of packets that left
 * before the window was last reduced are one event and reduce it once (RFC 6582,
 * RFC 3168), nothing grows meanwhile (RFC 9002, 7.3.2), and a reduction is taken
 * back when all that seemed lost has arrived (RFC 4015) and nothing was marked.
 */
#ifndef TUX_PART_CC_H
#define TUX_PART_CC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "part/hystart.h"

struct tux_cc_ops;

struct tux_cubic {
	tux_time epoch_at;	/* this growth began; TUX_NEVER: not yet */
	uint64_t w_max;		/* where it is flat, as a loss left it */
	uint64_t origin;	/* ... and as this growth takes it */
	uint64_t prior;		/* cwnd before the last reduction */
	uint64_t est;		/* what NewReno would have */
	uint64_t est_acked;	/* 17ths of a byte since est last grew */
	uint32_t k;		/* ms from epoch_at to origin */
};

struct tux_cc_window {		/* what can be taken back */
	uint64_t cwnd;		/* bytes that may be in flight */
	uint64_t ssthresh;
	uint64_t acked;		/* NewReno: bytes since cwnd last grew */
	struct tux_cubic cubic;
};

struct tux_cc {
	const struct tux_cc_ops *ops;
	struct tux_cc_window w;
	uint32_t mss;		/* longest packet */
	struct tux_hystart hystart;
	tux_time recover_at;	/* losses of packets sent before are one event */
	struct tux_cc_window before;	/* ... and what it found */
	uint32_t doubt_n;	/* its losses that may still prove spurious;
				 * 0: it stands */
};

struct tux_cc_ack {		/* some packets were acknowledged */
	uint64_t bytes;
	tux_time sent_at;	/* when the newest of them left */
	tux_time rtt;		/* the latest round trip; 0: not measured */
	bool full;		/* the window was in use; else the application
				 * had no more to send */
};

struct tux_cc_ops {
	const char *name;
	void (*init)(struct tux_cc *cc);
	void (*acked)(struct tux_cc *cc, const struct tux_cc_ack *a,
		      tux_time now);
	/* Nothing was in flight for @in; NULL: that does not matter. */
	void (*idle)(struct tux_cc *cc, tux_time in);
	/* A loss, or a mark: less. */
	void (*reduce)(struct tux_cc *cc);
	/* The retransmission timer passed: down to one packet. */
	void (*timeout)(struct tux_cc *cc);
};

extern const struct tux_cc_ops tux_cc_cubic;	/* RFC 9438 */
extern const struct tux_cc_ops tux_cc_newreno;	/* RFC 6582, RFC 5681 */

/* Initial window: RFC 6928, ten packets of @mss, no less than 14,600 bytes. */
void tux_cc_init(struct tux_cc *cc, const struct tux_cc_ops *ops, uint32_t mss);

void tux_cc_acked(struct tux_cc *cc, const struct tux_cc_ack *a, tux_time now);

/* Something leaves, and nothing has been in flight for @in. */
static inline void tux_cc_idle(struct tux_cc *cc, tux_time in)
{
	if (cc->ops->idle)
		cc->ops->idle(cc, in);
}

/* For controllers: what slow start makes of *@a.  How many bytes it leaves for
 * congestion avoidance. */
uint64_t tux_cc_slow_start(struct tux_cc *cc, const struct tux_cc_ack *a,
			   tux_time now);

/* A packet that left at @sent_at is lost. */
void tux_cc_lost(struct tux_cc *cc, tux_time sent_at, tux_time now);

/* Packets came with CE, and the newest that is acknowledged left at @sent_at.
 * True: the window was reduced for that.  Nothing takes that back. */
bool tux_cc_marked(struct tux_cc *cc, tux_time sent_at, tux_time now);

/* The retransmission timer passed, and @n packets were declared lost. */
void tux_cc_timeout(struct tux_cc *cc, unsigned n, tux_time now);

/* A packet that left at @sent_at and was declared lost has arrived.  True: that
 * was the last doubt, and the reduction is taken back. */
bool tux_cc_spurious(struct tux_cc *cc, tux_time sent_at);

#endif
