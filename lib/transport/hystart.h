/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hystart - ends slow start before it overfills the path (HyStart++, RFC 9406)
 *
 * If the least round trip of a round is clearly longer than that of the round
 * before, a queue is building up.  Conservative slow start (CSS) begins: the
 * window grows a quarter as fast, for five rounds.  If the round trip gets
 * shorter meanwhile, the rise was noise, and normal slow start goes on;
 * otherwise slow start is over.
 *
 * A round ends when a packet that left after the round began is acknowledged.
 * Rounds are told by time, not by packet number as in the RFC, so that several
 * connections can share one state.
 */
#ifndef TUX_TRANSPORT_HYSTART_H
#define TUX_TRANSPORT_HYSTART_H

#include <stdbool.h>

#include "base/time.h"

enum {
	/* N_RTT_SAMPLE.  The RFC has 8, for acks that cover two packets; an ack
	 * of Tux covers up to eight. */
	TUX_HYSTART_SAMPLES = 4,
	TUX_HYSTART_MIN_US = 4000,	/* MIN_RTT_THRESH */
	TUX_HYSTART_MAX_US = 16000,	/* MAX_RTT_THRESH */
	TUX_HYSTART_SLOWER = 4,		/* CSS_GROWTH_DIVISOR */
	TUX_HYSTART_ROUNDS = 5,		/* CSS_ROUNDS */
};

struct tux_hystart {
	tux_time round_at;	/* when this round began */
	tux_time last_min;	/* least round trip of the last round */
	tux_time this_min;	/* ... of this round */
	tux_time css_base;	/* this_min when CSS began */
	unsigned samples;	/* round trips measured in this round */
	unsigned css_rounds;	/* rounds since CSS began */
	bool css;
};

enum tux_hystart_pace {
	TUX_HYSTART_FAST,	/* slow start */
	TUX_HYSTART_SLOW,	/* CSS: divide growth by TUX_HYSTART_SLOWER */
	TUX_HYSTART_OVER,	/* congestion avoidance from now on */
};

void tux_hystart_init(struct tux_hystart *h);

/* A packet that left at @sent_at is acknowledged, and the round trip was @rtt
 * (0: not measured). */
enum tux_hystart_pace tux_hystart_acked(struct tux_hystart *h, tux_time sent_at,
					tux_time rtt, tux_time now);

#endif
