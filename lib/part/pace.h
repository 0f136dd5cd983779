/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pace - packets leave spread over the round trip (RFC 9002, 7.7)
 *
 * At 1.25 times the window in a round trip, twice in slow start; what was not
 * used allows a burst of ten packets.  A round trip of less than a millisecond
 * is not paced: no timer is that fine, and its window is gone in one burst.
 */
#ifndef TUX_PART_PACE_H
#define TUX_PART_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"

enum {
	TUX_PACE_MIN_US = 1000,		/* shorter round trips are not paced */
	TUX_PACE_BURST = 10,		/* packets */
};

struct tux_pace {
	uint64_t per_byte;	/* 1024ths of a nanosecond; 0: at once */
	tux_time burst;		/* what ten packets take */
	tux_time next;		/* when the next packet may leave */
};

/* The window is @cwnd, the round trip @srtt, the longest packet @mss. */
void tux_pace_set(struct tux_pace *p, uint64_t cwnd, tux_time srtt,
		  bool slow_start, uint32_t mss);

static inline bool tux_pace_open(const struct tux_pace *p, tux_time now)
{
	return now >= p->next;
}

/* Who is held back, asks again then: half a burst may leave at once, for a
 * timer for each packet costs more than it gains. */
static inline tux_time tux_pace_wake_at(const struct tux_pace *p)
{
	return tux_time_add(p->next, p->burst / 2);
}

/* @size bytes leave. */
static inline void tux_pace_sent(struct tux_pace *p, uint32_t size,
				 tux_time now)
{
	tux_time from = tux_time_since(p->burst, now);

	if (!p->per_byte)
		return;
	p->next = (p->next > from ? p->next : from) +
		  (size * p->per_byte >> 10);
}

#endif
