/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * young - a connection that is not worth Tux yet
 *
 * A connection begins on the kernel's TCP, and its bytes do not pass through
 * the library's memory.  Nothing is allocated, sent or attached for it.  What
 * its calls carry is counted, until choice.h says that the connection is worth
 * the upgrade.
 *
 * The threads that move bytes of a direction count them; see talk.h.  One
 * thread at a time asks for the decision.
 */
#ifndef TUX_POLICY_YOUNG_H
#define TUX_POLICY_YOUNG_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/choice.h"
#include "policy/talk.h"
#include "wire/reason.h"

enum tux_young_counts {
	TUX_YOUNG_AGREE,	/* all bytes that TCP has carried were counted */
	TUX_YOUNG_UNSURE,	/* ... or not: to be compared again later */
	TUX_YOUNG_MISSED,	/* some bytes were not counted */
};

struct tux_young {		/* all zero at first */
	struct tux_talk sent, received;
	_Atomic uint32_t look_at;	/* turn-arounds at which to ask again */
	uint32_t limit;		/* bytes: see struct tux_grounds */
	int64_t more_sent, more_received;	/* bytes: how many more the
				 * kernel had counted at the last comparison */
	uint8_t compared;	/* how often the counts did not agree */
	uint8_t same;		/* ... in a row by the same bytes */
};

/* TCP has carried @sent and @received bytes of the application before the first
 * one that is counted. */
static inline void tux_young_begin(struct tux_young *y, uint64_t sent,
				   uint64_t received)
{
	tux_talk_begin(&y->sent, sent, received);
	tux_talk_begin(&y->received, received, sent);
}

/* TCP has carried @n > 0 bytes: sent, if @out, or received. */
static inline void tux_young_moved(struct tux_young *y, bool out, uint64_t n)
{
	if (out)
		tux_talk_moved(&y->sent, &y->received, n);
	else
		tux_talk_moved(&y->received, &y->sent, n);
}

/* The turn-arounds that both directions have shown. */
static inline uint32_t tux_young_turns(const struct tux_young *y)
{
	uint32_t tx = tux_talk_turns(&y->sent);
	uint32_t rx = tux_talk_turns(&y->received);

	return tx < rx ? tx : rx;
}

/* Is there enough to ask tux_young_opens()? */
static inline bool tux_young_asks(const struct tux_young *y)
{
	uint32_t turns = tux_young_turns(y);
	uint32_t at = atomic_load_explicit(&y->look_at, memory_order_relaxed);

	return turns >= at && turns >= TUX_CHOICE_TURNS_PASSIVE;
}

/* Is the connection worth the upgrade?  @packet: the payload of a packet, in
 * bytes.  If not, it is asked again after more turn-arounds. */
bool tux_young_opens(struct tux_young *y, bool active, uint32_t packet);

/* The peer is known to be silent: to be asked again after many turn-arounds. */
void tux_young_wait(struct tux_young *y);

/* The processors are busy: to be asked again after some turn-arounds. */
void tux_young_busy(struct tux_young *y);

/* The kernel says that TCP has carried @sent and @received bytes of the
 * application.  Does it agree with what was counted?  The kernel's numbers come
 * from several questions, and a byte that is acknowledged or arrives between two
 * of them makes a number too small.  So a difference is believed if it is the
 * same at a few comparisons in a row and no number is too small, or if there is
 * one at many comparisons.  While the answer is "unsure", the connection is asked
 * about again after more turn-arounds. */
enum tux_young_counts tux_young_compare(struct tux_young *y, uint64_t sent,
					uint64_t received);

/* Why has it not moved, and from what does that follow? */
enum tux_reason tux_young_why(const struct tux_young *y);
struct tux_grounds tux_young_grounds(const struct tux_young *y);

#endif
