/* SPDX-License-Identifier: BSD-2-Clause */
#include "part/hystart.h"

void tux_hystart_init(struct tux_hystart *h)
{
	*h = (struct tux_hystart){ .was = TUX_NEVER, .is = TUX_NEVER };
}

static void next_round(struct tux_hystart *h, tux_time now)
{
	h->round_at = now;
	h->was = h->is;
	h->is = TUX_NEVER;
	h->samples = 0;
	h->rounds += h->slow;
}

/* How much longer than in the last round is too long. */
static tux_time margin(const struct tux_hystart *h)
{
	tux_time m = h->was / 8;

	if (m < TUX_USEC(TUX_HYSTART_MIN_US))
		return TUX_USEC(TUX_HYSTART_MIN_US);
	return tux_time_min(m, TUX_USEC(TUX_HYSTART_MAX_US));
}

static void look(struct tux_hystart *h)
{
	if (h->samples < TUX_HYSTART_SAMPLES || h->was == TUX_NEVER)
		return;
	if (!h->slow && h->is >= h->was + margin(h)) {
		h->slow = true;
		h->base = h->is;
		h->rounds = 0;
	} else if (h->slow && h->is < h->base) {
		h->slow = false;
	}
}

enum tux_hystart_pace tux_hystart_acked(struct tux_hystart *h, tux_time sent_at,
					tux_time rtt, tux_time now)
{
	if (sent_at >= h->round_at)
		next_round(h, now);
	if (rtt) {
		h->is = tux_time_min(h->is, rtt);
		h->samples++;
		look(h);
	}
	if (!h->slow)
		return TUX_HYSTART_FAST;
	return h->rounds < TUX_HYSTART_ROUNDS ? TUX_HYSTART_SLOW :
	       TUX_HYSTART_OVER;
}
