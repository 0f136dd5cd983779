/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * frag - a small set of byte ranges of one message
 *
 * A receiver keeps in it which bytes have arrived; a sender, which bytes have
 * been acknowledged and which must be sent again.  There is a set for each
 * message under way, so its room is fixed and small: an operation that would
 * need too many ranges fails and changes nothing.
 */
#ifndef TUX_TRANSPORT_FRAG_H
#define TUX_TRANSPORT_FRAG_H

#include <stdbool.h>
#include <stdint.h>

enum { TUX_FRAG_MAX = 16 };

struct tux_frag {
	uint32_t n;
	struct {
		uint32_t start, end;
	} r[TUX_FRAG_MAX];	/* ascending; they neither touch nor overlap */
};

static inline void tux_frag_init(struct tux_frag *f)
{
	f->n = 0;
}

/* Adds [@start, @end).  Returns 1 if some of it was new, 0 if nothing was, or
 * -ENOSPC if that would make more than @max ranges. */
int tux_frag_add(struct tux_frag *f, uint32_t start, uint32_t end,
		 uint32_t max);

/* Adds [@start, @end); if there is no room for another range, together with the
 * gap to a neighbour.  Cannot fail. */
void tux_frag_cover(struct tux_frag *f, uint32_t start, uint32_t end);

/* Removes [@start, @end).  Returns 0, or -ENOSPC if that would split a range
 * and there is no room for another. */
int tux_frag_sub(struct tux_frag *f, uint32_t start, uint32_t end);

/* Finds the first gap in [@start, @end), which may be all of it.  Returns false
 * if there is none. */
bool tux_frag_gap(const struct tux_frag *f, uint32_t start, uint32_t end,
		  uint32_t *gap_start, uint32_t *gap_end);

/* Is all of [0, @total) in the set? */
static inline bool tux_frag_whole(const struct tux_frag *f, uint32_t total)
{
	return !total || (f->n == 1 && !f->r[0].start && f->r[0].end == total);
}

#endif
