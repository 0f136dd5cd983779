/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * frag - which bytes of one message are there, or are due
 *
 * A receiver notes what has arrived; a sender what has been acknowledged and
 * what must be sent again.  Its room is fixed and small, because there is one
 * for each message under way: what would leave too many gaps is not noted.
 */
#ifndef TUX_PART_FRAG_H
#define TUX_PART_FRAG_H

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

/* Adds [@start, @end).  1 if some of it was new, 0 if nothing was, -ENOSPC if
 * that would make more than @max ranges (nothing has changed). */
int tux_frag_add(struct tux_frag *f, uint32_t start, uint32_t end,
		 uint32_t max);

/* Adds it, if need be together with the gap to a neighbour.  Cannot fail. */
void tux_frag_cover(struct tux_frag *f, uint32_t start, uint32_t end);

/* Takes [@start, @end) out.  -ENOSPC if it stands amidst a range and that
 * cannot be split (nothing has changed). */
int tux_frag_sub(struct tux_frag *f, uint32_t start, uint32_t end);

/* The first gap in [@start, @end), which may be all of it.  False: there is
 * none. */
bool tux_frag_gap(const struct tux_frag *f, uint32_t start, uint32_t end,
		  uint32_t *gap_start, uint32_t *gap_end);

/* Is all of [0, @total) there? */
static inline bool tux_frag_whole(const struct tux_frag *f, uint32_t total)
{
	return !total || (f->n == 1 && !f->r[0].start && f->r[0].end == total);
}

#endif
