/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * young - a connection that is not worth Tux yet
 */
#include "part/young.h"

enum {
	LOOK_EVERY = 8,		/* turn-arounds, after an answer of "no" */
	WAIT = 1024,		/* ... while the peer is known to be silent */
	LONG = 65536,		/* a burst for which TCP is faster on any link */
};

bool tux_young_opens(struct tux_young *y, bool active, uint32_t packet)
{
	uint32_t turns = tux_young_turns(y);

	y->look_at = turns + LOOK_EVERY;
	y->limit = tux_choice_limit(packet);
	if (tux_choice_opens(TUX_PATH_MODE_AUTO, active, &y->sent,
			     &y->received, packet))
		return true;
	if (turns < TUX_CHOICE_TURNS_ACTIVE)
		y->look_at = TUX_CHOICE_TURNS_ACTIVE;
	return false;
}

void tux_young_wait(struct tux_young *y)
{
	y->look_at = tux_young_turns(y) + WAIT;
}

enum tux_reason tux_young_why(const struct tux_young *y)
{
	if (tux_young_turns(y) < TUX_CHOICE_TURNS_ACTIVE &&
	    tux_talk_burst(&y->sent) < LONG &&
	    tux_talk_burst(&y->received) < LONG)
		return TUX_REASON_YOUNG;
	return TUX_REASON_BULK;
}

struct tux_grounds tux_young_grounds(const struct tux_young *y)
{
	return (struct tux_grounds){
		.turns = tux_young_turns(y),
		.sent = tux_talk_mean(&y->sent),
		.received = tux_talk_mean(&y->received),
		.limit = y->limit,
	};
}
