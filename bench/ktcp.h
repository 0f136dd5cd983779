/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ktcp - one direction of a kernel's TCP as Linux has it, in virtual time
 *
 * Its bytes are counted, not kept.  What decides about latency under loss is
 * here: segments as they are written (TCP_NODELAY), CUBIC counted in packets,
 * selective acknowledgments, RACK, a probe of the tail, a timer of no less than
 * 200 ms, delayed acknowledgments.  The path never reorders and buffers are never
 * full, so neither reordering nor a window of the receiver is modelled; no
 * retransmission is spurious.
 *
 * The owner carries segments and acknowledgments across a path of its choice,
 * and calls ktcp_expire() at ktcp_deadline().
 */
#ifndef BENCH_KTCP_H
#define BENCH_KTCP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "transport/cc.h"
#include "transport/rtt.h"

enum {
	KTCP_MSS = 1448,		/* 1500, less headers with timestamps */
	KTCP_RING = 1 << 14,		/* segments under way, at most */
	KTCP_BLOCKS = 3,		/* of SACK, beside timestamps */
};

struct ktcp_ack {			/* numbers of segments */
	uint64_t next;			/* all before have arrived */
	uint64_t start[KTCP_BLOCKS], end[KTCP_BLOCKS];
};

struct ktcp_ops {
	void (*segment)(void *arg, uint64_t n, uint32_t len);
	void (*ack)(void *arg, const struct ktcp_ack *a);
	/* All bytes below @off can be read. */
	void (*deliver)(void *arg, uint64_t off);
};

struct ktcp_segment {
	uint64_t end;			/* offset behind its last byte */
	tux_time sent_at;
	bool flying, sacked, lost, resent;
};

struct ktcp {
	const struct ktcp_ops *ops;
	void *arg;

	/* the sender */
	struct ktcp_segment seg[KTCP_RING];
	uint64_t una, next;		/* segments: oldest unknown, next new */
	uint64_t wrote, cut;		/* bytes: written, made segments of */
	uint32_t flying, sacked;	/* segments */
	uint64_t recover;		/* a recovery ends when una is there */
	bool recovering, full, probed;
	struct tux_cc cc;
	struct tux_rtt rtt;
	tux_time rack_at, rack_rtt;	/* of the latest sent that arrived, */
	uint64_t rack_n;		/* the last of those sent at once */
	tux_time rack_due, probe_due, rto_due;
	uint64_t resent_n, probe_n, timeout_n;

	/* the receiver */
	bool got[KTCP_RING];
	uint64_t rcv_next;
	uint64_t recent[KTCP_BLOCKS];	/* what came last, out of order */
	uint32_t held;			/* segments beyond a gap */
	unsigned unacked;
	tux_time ack_due;
};

void ktcp_init(struct ktcp *t, const struct ktcp_ops *ops, void *arg);

/* The application writes @len bytes. */
void ktcp_write(struct ktcp *t, uint32_t len, tux_time now);

/* A segment, an acknowledgment, gets there. */
void ktcp_segment_in(struct ktcp *t, uint64_t n, tux_time now);
void ktcp_ack_in(struct ktcp *t, const struct ktcp_ack *a, tux_time now);

tux_time ktcp_deadline(const struct ktcp *t);
void ktcp_expire(struct ktcp *t, tux_time now);

#endif
