/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * backoff - how long to stay in a state, so that going back and forth gets rare
 *
 * A change that costs something, such as to attach a program to a network
 * driver, can be provoked again and again by peers or by other programs.  So
 * each time that it comes back, the hold doubles, up to `max`; each span of
 * `calm` in which it does not come back halves the hold, down to `min`.  However
 * the provocations are timed, the change then comes about once in the shorter
 * of `max` and `calm`, after the few times that it takes to get there.
 *
 * DESIGN lists what is held, and for how long.
 */
#ifndef TUX_POLICY_BACKOFF_H
#define TUX_POLICY_BACKOFF_H

#include "base/time.h"

struct tux_backoff_rule {
	tux_time min, max;
	tux_time calm;		/* TUX_NEVER: only tux_backoff_reset() shortens
				 * the hold */
	unsigned slow;		/* beyond `max`, a hold is one part in so many of
				 * all holds in a row; 0: none is longer */
};

struct tux_backoff {		/* all zero at first */
	tux_time len;		/* the hold as of `at`; 0: there was none */
	tux_time at;		/* it came last */
	tux_time all;		/* the holds in a row, by a rule with `slow` */
};

/* The change has come, at @now.  Returns the hold; the first is `min`. */
tux_time tux_backoff_again(struct tux_backoff *h,
			   const struct tux_backoff_rule *rule, tux_time now);

/* What tux_backoff_again() would return. */
tux_time tux_backoff_next(const struct tux_backoff *h,
			  const struct tux_backoff_rule *rule, tux_time now);

/* The hold as of @now, if the change does not come again. */
tux_time tux_backoff_len(const struct tux_backoff *h,
			 const struct tux_backoff_rule *rule, tux_time now);

/* The next hold is `min` again. */
static inline void tux_backoff_reset(struct tux_backoff *h)
{
	h->len = h->all = 0;
}

#endif
