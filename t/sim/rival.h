/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rival - a bulk flow of a kernel's TCP, to share a bottleneck with
 *
 * A model of what Linux does by default, as far as it matters to who is beside
 * it: segments of 1448 bytes, ten at first, no pacing; an acknowledgment for
 * every second one, or after 40 ms; selective acknowledgments, and lost is what
 * left three transmissions before one that arrived; a timer of no less than
 * 200 ms; CUBIC with fast convergence, and HyStart as Linux has it.
 *
 * rival.c: sender and receiver; rival_cubic.c: the window.
 */
#ifndef SIM_RIVAL_H
#define SIM_RIVAL_H

#include "sim.h"

enum {
	SIM_RIVAL_SEG = 1448,
	SIM_RIVAL_ROOM = 4096,		/* segments that the receiver takes */
};

struct sim_cubic {			/* in segments and seconds */
	double cwnd, ssthresh;
	double w_max, prior;		/* where the last loss was, and cwnd */
	double origin, k, est;		/* of this growth */
	tux_time epoch_at;		/* when it began; TUX_NEVER */
	tux_time min_rtt;
	/* HyStart */
	tux_time round_at, ack_at;	/* its beginning, its last ack */
	tux_time least;			/* round trip in it */
	unsigned samples;
};

void sim_cubic_init(struct sim_cubic *c);
void sim_cubic_round(struct sim_cubic *c, tux_time now);
void sim_cubic_rtt(struct sim_cubic *c, tux_time rtt, tux_time now);
void sim_cubic_acked(struct sim_cubic *c, unsigned n, tux_time now);
void sim_cubic_reduce(struct sim_cubic *c);
void sim_cubic_timeout(struct sim_cubic *c);

struct sim_seg {
	uint64_t order;			/* of its last transmission */
	tux_time at;
	bool again, acked, lost, have;	/* `have` is the receiver's */
};

struct sim_rival {
	struct sim *s;
	struct sim_link *out, *back;
	uint64_t got;			/* bytes, all in order */
	uint64_t lost_n, timeouts;
	/* the sender's */
	struct sim_cubic cubic;
	uint64_t una, next;		/* oldest in flight, next new one */
	uint64_t round;			/* ends when this one is acknowledged */
	uint64_t recover;		/* ... a recovery, too */
	bool fast;			/* of losses, not of the timer */
	uint64_t order, newest;		/* transmissions, and that arrived */
	unsigned pipe, missing;		/* in flight; lost and not sent again */
	tux_time srtt, rttvar, rto, rto_at;
	/* the receiver's */
	uint64_t due;			/* the next in order */
	unsigned waiting;		/* segments that no ack has told of */
	uint64_t acks;
	struct sim_seg seg[SIM_RIVAL_ROOM];
};

/* A flow from @from to @to that begins at @at and never ends.  It is the
 * caller's, to be freed when @from's simulation does not run any more. */
struct sim_rival *sim_rival_new(struct sim_host *from, struct sim_host *to,
				tux_time at);

#endif
