/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pace - spreads packets over the round trip (RFC 9002, 7.7)
 *
 * The rate is 1.25 windows in a smoothed round trip, or 2 windows in slow
 * start.  After a pause, ten packets may leave as a burst.  Paths with a round
 * trip below a millisecond are not paced: no timer is that fine, and a window
 * there is about one burst.
 */
#ifndef TUX_TRANSPORT_PACE_H
#define TUX_TRANSPORT_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"

enum {
	TUX_PACE_MIN_US = 1000,		/* shorter round trips are not paced */
	TUX_PACE_BURST = 10,		/* packets */
};

struct tux_pace {
	uint64_t per_byte;	/* time for a byte, in 1024ths of a nanosecond;
				 * 0: not paced */
	tux_time burst;		/* time for a burst */
	tux_time next;		/* when the next packet may leave */
};

/* The window is @cwnd bytes, the smoothed round trip @srtt, and the longest
 * packet @mss bytes. */
void tux_pace_set(struct tux_pace *p, uint64_t cwnd, tux_time srtt,
		  bool slow_start, uint32_t mss);

/* May a packet leave at @now? */
static inline bool tux_pace_open(const struct tux_pace *p, tux_time now)
{
	return now >= p->next;
}

/* When a sender that pacing holds back should wake up: when half a burst may
 * leave.  A timer for each packet would cost more than it gains. */
static inline tux_time tux_pace_wake_at(const struct tux_pace *p)
{
	return tux_time_add(p->next, p->burst / 2);
}

/* A packet of @size bytes leaves. */
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
