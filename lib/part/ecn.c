/* SPDX-License-Identifier: BSD-2-Clause */
#include "part/ecn.h"

static void give_up(struct tux_ecn *e, enum tux_ecn_verdict why)
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
		/* Once may be chance, or an outage that is over. */
		e->lost = false;
		if (++e->holes == TUX_ECN_HOLES)
			give_up(e, TUX_ECN_HOLE);
	}
}

unsigned tux_ecn_heard(struct tux_ecn *e, struct tux_ecn_sent *s,
		       struct tux_ecn_counts c)
{
	/* More may have been counted than acknowledged, for a SACK has an end. */
	int32_t owed = (int32_t)(s->acked_n - s->counted_n);
	int32_t left = (int32_t)(s->sent_n - s->counted_n);
	int32_t ect = (uint8_t)(c.ect - s->heard.ect);
	int32_t ce = (uint8_t)(c.ce - s->heard.ce);

	if (!tux_ecn_capable(e))
		return 0;
	while (owed > UINT8_MAX && ect < owed)
		ect += UINT8_MAX + 1;	/* the count has gone round */
	if (ect > left || ce > ect)
		give_up(e, TUX_ECN_INVENTED);
	else if (ect < owed)
		give_up(e, TUX_ECN_BLEACHED);
	else if (ect > ce)
		e->rounds = 0;
	s->heard = c;
	s->counted_n += (uint32_t)ect;
	return tux_ecn_capable(e) ? (unsigned)ce : 0;
}

void tux_ecn_reduced(struct tux_ecn *e)
{
	if (++e->rounds == TUX_ECN_ROUNDS)
		give_up(e, TUX_ECN_ALL_CE);
}
