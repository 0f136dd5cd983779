/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hold - how long to stay in a state, so that going back and forth gets rare
 */
#include "policy/hold.h"

void tux_hold_init(struct tux_hold *h, tux_time min, tux_time max,
		   tux_time calm)
{
	*h = (struct tux_hold){ .min = min, .max = max, .calm = calm };
}

static tux_time decayed(const struct tux_hold *h, tux_time now)
{
	tux_time calms = tux_time_since(h->at, now) / h->calm;

	return calms < 64 ? h->len >> calms : 0;
}

tux_time tux_hold_again(struct tux_hold *h, tux_time now)
{
	tux_time twice = 2 * decayed(h, now);

	h->len = tux_time_min(tux_time_max(twice, h->min), h->max);
	h->at = now;
	return h->len;
}

tux_time tux_hold_len(const struct tux_hold *h, tux_time now)
{
	return tux_time_max(decayed(h, now), h->min);
}
