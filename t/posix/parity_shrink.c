/* SPDX-License-Identifier: BSD-2-Clause */
#include "parity_shrink.h"

enum { TRIES = 400, LUCK = 3 };

/* A difference may depend on when a connection moves. */
static bool still(struct parity_stage *g, const struct parity_script *s,
		  unsigned world)
{
	for (unsigned i = 0; i < LUCK; i++)
		if (!parity_play(g, s) && g->diff.world == world)
			return true;
	return false;
}

bool parity_shrink(struct parity_stage *g, struct parity_script *s)
{
	struct parity_counts ignored = { 0 }, *counts = g->counts;
	unsigned world = g->diff.world, tries = TRIES, n, at;
	struct parity_script less;
	bool any;

	g->counts = &ignored;
	any = still(g, s, world);
	if (any)
		s->n = g->diff.at < s->n ? g->diff.at + 1 : s->n;
	for (n = s->n / 2; any && n; n /= 2) {
		for (at = s->n; at && tries; ) {
			at = at > n ? at - n : 0;
			parity_script_without(&less, s, at, n);
			tries--;
			if (still(g, &less, world))
				*s = less;
			if (at > s->n)
				at = s->n;
		}
	}
	any = any && still(g, s, world);
	g->counts = counts;
	return any;
}
