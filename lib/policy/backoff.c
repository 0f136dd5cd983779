/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * backoff - how long to stay in a state, so that going back and forth gets rare
 */
#include "policy/backoff.h"

void tux_backoff_init(struct tux_backoff *h, tux_time min, tux_time max,
		      tux_time calm)
{
	*h = (struct tux_backoff){ .min = min, .max = max, .calm = calm };
}

static tux_time decayed(const struct tux_backoff *h, tux_time now)
{
	tux_time calms = tux_time_since(h->at, now) / h->calm;

	return calms < 64 ? h->len >> calms : 0;
}

tux_time tux_backoff_again(struct tux_backoff *h, tux_time now)
{
	tux_time twice = 2 * decayed(h, now);

	h->len = tux_time_min(tux_time_max(twice, h->min), h->max);
	h->at = now;
	return h->len;
}

tux_time tux_backoff_len(const struct tux_backoff *h, tux_time now)
{
	return tux_time_max(decayed(h, now), h->min);
}
