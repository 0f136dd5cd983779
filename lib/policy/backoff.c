/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * backoff - how long to stay in a state, so that going back and forth gets rare
 */
#include "policy/backoff.h"

static tux_time decayed(const struct tux_backoff *h,
			const struct tux_backoff_rule *rule, tux_time now)
{
	tux_time calms = tux_time_since(h->at, now) / rule->calm;

	return calms < 64 ? h->len >> calms : 0;
}

tux_time tux_backoff_next(const struct tux_backoff *h,
			  const struct tux_backoff_rule *rule, tux_time now)
{
	tux_time twice = 2 * decayed(h, rule, now);
	tux_time next = tux_time_min(tux_time_max(twice, rule->min), rule->max);

	return rule->slow ? tux_time_max(next, h->all / rule->slow) : next;
}

tux_time tux_backoff_again(struct tux_backoff *h,
			   const struct tux_backoff_rule *rule, tux_time now)
{
	h->len = tux_backoff_next(h, rule, now);
	h->all = rule->slow ? h->all + h->len : 0;
	h->at = now;
	return h->len;
}

tux_time tux_backoff_len(const struct tux_backoff *h,
			 const struct tux_backoff_rule *rule, tux_time now)
{
	return tux_time_max(decayed(h, rule, now), rule->min);
}
