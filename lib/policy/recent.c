/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * recent - from how many connections a thread has received bytes lately
 */
#include "policy/recent.h"

unsigned tux_recent_count(struct tux_recent *r, tux_time t)
{
	uint64_t bits = r->now | r->before;
	unsigned n = 0;

	if (t - r->begun >= TUX_MSEC(TUX_RECENT_MS)) {
		r->before = r->now;
		r->now = 0;
		r->begun = t;
	}
	for (; bits; bits &= bits - 1)
		n++;
	return n;
}
