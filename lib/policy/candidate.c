/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * candidate - a connection that is not worth Tux yet
 */
#include "policy/candidate.h"

enum {
	SHORT = 65535,		/* for longer bursts, TCP is faster on any link */
	COMPARED_SAME = 3,	/* in a row: then the difference is believed */
	COMPARED_MOST = 8,	/* ... or in all */
};

void tux_candidate_again(struct tux_candidate *y, const struct tux_burst *sent,
			 const struct tux_burst *received, uint64_t tcp_sent,
			 uint64_t tcp_received)
{
	*y = (struct tux_candidate){
		.packet = y->packet,
		.beside_sent = (int64_t)(tcp_sent - tux_burst_total(sent)),
		.beside_received = (int64_t)(tcp_received -
					     tux_burst_total(received)),
	};
	tux_burst_copy(&y->sent, sent);
	tux_burst_copy(&y->received, received);
	tux_candidate_wait(y, TUX_CHOICE_TURNS_AGAIN);
}

enum tux_candidate_counts tux_candidate_compare(struct tux_candidate *y,
						uint64_t sent,
						uint64_t received)
{
	int64_t s = (int64_t)(sent - tux_burst_total(&y->sent)) -
		    y->beside_sent;
	int64_t r = (int64_t)(received - tux_burst_total(&y->received)) -
		    y->beside_received;

	if (!s && !r)
		return TUX_CANDIDATE_AGREE;
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
		return TUX_CANDIDATE_MISSED;
	return TUX_CANDIDATE_UNSURE;
}

bool tux_candidate_adopt(struct tux_candidate *y)
{
	if (y->same < COMPARED_SAME)
		return false;
	if (y->more_sent)
		tux_candidate_moved(y, true, (uint64_t)y->more_sent);
	if (y->more_received)
		tux_candidate_moved(y, false, (uint64_t)y->more_received);
	y->compared = y->same = 0;
	return true;
}

/* Up to this length, bursts of @y are short.  What the link carries counts as
 * soon as there are enough bursts to tell. */
static uint32_t longest_short(const struct tux_candidate *y, bool active)
{
	uint32_t packet = atomic_load(&y->packet);

	return packet && tux_candidate_turns(y) >= tux_choice_turns(active) ?
	       tux_choice_limit(packet) : SHORT;
}

enum tux_reason tux_candidate_why(const struct tux_candidate *y, bool active,
				  enum tux_reason decided)
{
	uint32_t limit = longest_short(y, active);

	if (decided && decided != TUX_REASON_YOUNG)
		return decided;
	return tux_burst_len(&y->sent) > limit ||
	       tux_burst_len(&y->received) > limit ?
	       TUX_REASON_BULK : TUX_REASON_YOUNG;
}

struct tux_grounds tux_candidate_grounds(const struct tux_candidate *y)
{
	uint32_t packet = atomic_load(&y->packet);

	return (struct tux_grounds){
		.turns = tux_candidate_turns(y),
		.sent = tux_burst_mean(&y->sent),
		.received = tux_burst_mean(&y->received),
		.limit = packet ? tux_choice_limit(packet) : 0,
	};
}
