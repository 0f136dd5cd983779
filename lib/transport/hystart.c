/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hystart - ends slow start before it overfills the path
 */
#include "transport/hystart.h"

void tux_hystart_init(struct tux_hystart *h)
{
	*h = (struct tux_hystart){
		.last_min = TUX_NEVER, .this_min = TUX_NEVER,
	};
}

static void hystart_next_round(struct tux_hystart *h, tux_time now)
{
	h->round_at = now;
	h->last_min = h->this_min;
	h->this_min = TUX_NEVER;
	h->samples = 0;
	h->css_rounds += h->css;
}

/* RttThresh: by how much the round trip must grow to begin CSS. */
static tux_time hystart_margin(const struct tux_hystart *h)
{
	tux_time m = h->last_min / 8;

	if (m < TUX_USEC(TUX_HYSTART_MIN_US))
		return TUX_USEC(TUX_HYSTART_MIN_US);
	return tux_time_min(m, TUX_USEC(TUX_HYSTART_MAX_US));
}

/* Begins or leaves CSS, once the round has enough samples. */
static void hystart_evaluate(struct tux_hystart *h)
{
	if (h->samples < TUX_HYSTART_SAMPLES || h->last_min == TUX_NEVER)
		return;
	if (!h->css && h->this_min >= h->last_min + hystart_margin(h)) {
		h->css = true;
		h->css_base = h->this_min;
		h->css_rounds = 0;
	} else if (h->css && h->this_min < h->css_base) {
		h->css = false;
	}
}

enum tux_hystart_pace tux_hystart_acked(struct tux_hystart *h, tux_time sent_at,
					tux_time rtt, tux_time now)
{
	if (sent_at >= h->round_at)
		hystart_next_round(h, now);
	if (rtt) {
		h->this_min = tux_time_min(h->this_min, rtt);
		h->samples++;
		hystart_evaluate(h);
	}
	if (!h->css)
		return TUX_HYSTART_FAST;
	return h->css_rounds < TUX_HYSTART_ROUNDS ? TUX_HYSTART_SLOW :
	       TUX_HYSTART_OVER;
}
