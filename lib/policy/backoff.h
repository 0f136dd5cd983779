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
 * The path manager has two uses for it:
 *   - how long an interface that no connection uses stays taken: the hold
 *     doubles each time that the interface is taken, and begins when the last
 *     connection goes;
 *   - how long an interface that other programs need more than the connections
 *     do stays given back: the hold doubles each time that it is given back for
 *     them, and begins then.
 */
#ifndef TUX_POLICY_BACKOFF_H
#define TUX_POLICY_BACKOFF_H

#include "base/time.h"

struct tux_backoff {
	tux_time min, max, calm;
	tux_time len;		/* as of `at`; 0: it has not come yet */
	tux_time at;		/* it came last */
};

void tux_backoff_init(struct tux_backoff *h, tux_time min, tux_time max,
		      tux_time calm);

/* The change has come, at @now.  Returns the hold; the first is `min`. */
tux_time tux_backoff_again(struct tux_backoff *h, tux_time now);

/* The hold as of @now, if the change does not come again. */
tux_time tux_backoff_len(const struct tux_backoff *h, tux_time now);

#endif
