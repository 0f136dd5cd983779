/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hystart - when slow start has gone far enough (HyStart++, RFC 9406)
 *
 * A round trip that grows from one round to the next says that a queue builds
 * up.  Then the window grows at a quarter of the pace for five rounds, and if
 * the round trip does not shrink meanwhile, slow start is over.  A round ends
 * when something that left after its beginning is acknowledged, so several
 * connections may share one.
 */
#ifndef TUX_PART_HYSTART_H
#define TUX_PART_HYSTART_H

#include <stdbool.h>

#include "base/time.h"

enum {
	TUX_HYSTART_SAMPLES = 4,	/* RFC 9406 has 8, for acks of two packets;
					 * ours are for up to eight */
	TUX_HYSTART_MIN_US = 4000,	/* growth of the round trip that counts */
	TUX_HYSTART_MAX_US = 16000,
	TUX_HYSTART_SLOWER = 4,
	TUX_HYSTART_ROUNDS = 5,
};

struct tux_hystart {
	tux_time round_at;	/* what leaves from now on ends the round */
	tux_time was, is;	/* least round trip of the last round, of this */
	tux_time base;		/* ... when growth was slowed */
	unsigned samples;	/* in this round */
	unsigned rounds;	/* since growth was slowed */
	bool slow;
};

enum tux_hystart_pace {
	TUX_HYSTART_FAST, TUX_HYSTART_SLOW, TUX_HYSTART_OVER
};

void tux_hystart_init(struct tux_hystart *h);

/* What left at @sent_at was acknowledged after @rtt (0: not measured). */
enum tux_hystart_pace tux_hystart_acked(struct tux_hystart *h, tux_time sent_at,
					tux_time rtt, tux_time now);

#endif
