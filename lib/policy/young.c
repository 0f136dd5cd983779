/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * young - a connection that is not worth Tux yet
 */
#include "policy/young.h"

enum {
	LOOK_EVERY = 8,		/* turn-arounds, after an answer of "no" */
	WAIT = 1024,		/* ... while the peer is known to be silent */
	WAIT_BUSY = 64,		/* ... while the processors are busy */
	LONG = 65536,		/* a burst for which TCP is faster on any link */
	COMPARED_SAME = 3,	/* in a row: then the difference is believed */
	COMPARED_MOST = 8,	/* ... or in all */
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

void tux_young_busy(struct tux_young *y)
{
	y->look_at = tux_young_turns(y) + WAIT_BUSY;
}

enum tux_young_counts tux_young_compare(struct tux_young *y, uint64_t sent,
					uint64_t received)
{
	int64_t s = (int64_t)(sent - tux_talk_total(&y->sent));
	int64_t r = (int64_t)(received - tux_talk_total(&y->received));

	if (!s && !r)
		return TUX_YOUNG_AGREE;
	if (s < 0 || r < 0)
		y->same = 0;
	else if (s == y->more_sent && r == y->more_received)
		y->same++;
	else
		y->same = 1;
	y->more_sent = s;
	y->more_received = r;
	y->compared++;
	if (y->same >= COMPARED_SAME || y->compared >= COMPARED_MOST)
		return TUX_YOUNG_MISSED;
	y->look_at = tux_young_turns(y) + LOOK_EVERY;
	return TUX_YOUNG_UNSURE;
}

enum tux_reason tux_young_why(const struct tux_young *y)
{
	if ((tux_young_turns(y) < TUX_CHOICE_TURNS_ACTIVE || y->compared) &&
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
