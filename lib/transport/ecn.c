/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ecn - ECN marks, and whether a network path supports ECN
 */
#include "transport/ecn.h"

/* The first verdict stays. */
static void ecn_give_up(struct tux_ecn *e, enum tux_ecn_verdict why)
{
	if (tux_ecn_capable(e))
		e->verdict = (uint8_t)why;
}

void tux_ecn_acked(struct tux_ecn *e, struct tux_ecn_sent *s, uint64_t ect_n,
		   uint64_t n)
{
	s->acked_n += (uint32_t)ect_n;
	if (ect_n) {
		e->lost = false;
		e->holes = 0;
	} else if (n && e->lost) {
		/* A single time may be chance, or the end of an outage. */
		e->lost = false;
		if (++e->holes == TUX_ECN_HOLES)
			ecn_give_up(e, TUX_ECN_HOLE);
	}
}

unsigned tux_ecn_heard(struct tux_ecn *e, struct tux_ecn_sent *s,
		       struct tux_ecn_counts c)
{
	/* The counts must have grown by `owed` at least and `left` at most.
	 * `owed` may be negative: a SACK has room for some ranges only, so the
	 * peer may have counted packets that it has not yet acknowledged. */
	int32_t owed = (int32_t)(s->acked_n - s->counted_n);
	int32_t left = (int32_t)(s->sent_n - s->counted_n);
	int32_t ect = (uint8_t)(c.ect - s->heard.ect);
	int32_t ce = (uint8_t)(c.ce - s->heard.ce);

	if (!tux_ecn_capable(e))
		return 0;
	while (owed > UINT8_MAX && ect < owed)
		ect += UINT8_MAX + 1;	/* the count has wrapped */
	if (ect > left || ce > ect)
		ecn_give_up(e, TUX_ECN_INVENTED);
	else if (ect < owed)
		ecn_give_up(e, TUX_ECN_BLEACHED);
	else if (ect > ce)
		e->rounds = 0;
	s->heard = c;
	s->counted_n += (uint32_t)ect;
	return tux_ecn_capable(e) ? (unsigned)ce : 0;
}

void tux_ecn_reduced(struct tux_ecn *e)
{
	if (++e->rounds == TUX_ECN_ROUNDS)
		ecn_give_up(e, TUX_ECN_ALL_CE);
}
