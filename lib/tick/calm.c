/* SPDX-License-Identifier: BSD-2-Clause */
#include "tick/calm.h"

enum {
	WINDOW_S = 1,
	SHARE = 200,		/* of it, for what is too much */
	STRICT_S = 2,		/* so what comes late stays within the share, too */
	RARE_US = 2000,		/* from one look to the next, */
	RARE_SLICES = 20,	/* ... or so many slices */
};

static tux_tick rare(tux_tick slice)
{
	tux_tick most = tux_tick_of(TUX_USEC(RARE_US));

	return RARE_SLICES * slice < most ? RARE_SLICES * slice : most;
}

tux_tick tux_calm_look(struct tux_calm *c, tux_tick over, tux_tick slice,
		       tux_tick now)
{
	tux_tick window = tux_tick_of(TUX_SEC(WINDOW_S));

	if (now - c->from >= window) {
		c->from = now;
		c->over = over;
	} else if (over - c->over > window / SHARE) {
		c->from = now;
		c->over = over;
		c->strict = now + tux_tick_of(TUX_SEC(STRICT_S));
	}
	return now < c->strict || rare(slice) < slice ? slice : rare(slice);
}

tux_tick tux_calm_later(tux_tick gap, tux_tick left, tux_tick slice)
{
	tux_tick most = rare(slice);

	if (left > most)
		left = most;
	return left > gap ? left : gap;
}
