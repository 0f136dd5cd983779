/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cc - congestion control, behind a small table of functions
 *
 * A controller answers one question, cwnd, and is told of three things.  It
 * counts bytes and reads no clock.
 */
#ifndef TUX_PART_CC_H
#define TUX_PART_CC_H

#include <stdint.h>

#include "base/time.h"

struct tux_cc {
	const struct tux_cc_ops *ops;
	uint64_t cwnd;		/* bytes that may be in flight */
	uint64_t ssthresh;
	uint64_t acked;		/* bytes acknowledged since cwnd last grew */
	uint32_t mss;		/* longest packet */
	tux_time recover_at;	/* losses of packets sent before are one event */
};

struct tux_cc_ops {
	const char *name;
	void (*init)(struct tux_cc *cc);
	/* @bytes acknowledged at @now; the window was in use (@full) or the
	 * application had no more to send. */
	void (*acked)(struct tux_cc *cc, uint64_t bytes, int full, tux_time now);
	/* A packet that left at @sent_at is lost. */
	void (*lost)(struct tux_cc *cc, tux_time sent_at, tux_time now);
	/* The retransmission timer passed. */
	void (*timeout)(struct tux_cc *cc, tux_time now);
};

extern const struct tux_cc_ops tux_cc_newreno;	/* RFC 6582, RFC 5681 */

/* Initial window: RFC 6928, ten packets of @mss, no less than 14,600 bytes. */
void tux_cc_init(struct tux_cc *cc, const struct tux_cc_ops *ops, uint32_t mss);

#endif
