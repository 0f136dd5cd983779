/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * candidate - a connection that is not worth Tux yet
 *
 * A connection begins on the kernel's TCP, and its bytes do not pass through
 * the library's memory.  Nothing is allocated, sent or attached for it.  What
 * its calls carry is counted, until choice.h says that the connection is worth
 * the upgrade.
 *
 * The threads that move bytes of a direction count them; see burst.h.  One
 * thread at a time asks for the decision.
 */
#ifndef TUX_POLICY_CANDIDATE_H
#define TUX_POLICY_CANDIDATE_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/burst.h"
#include "policy/choice.h"
#include "wire/reason.h"

enum tux_candidate_counts {
	TUX_CANDIDATE_AGREE,	/* all that TCP has carried was counted */
	TUX_CANDIDATE_UNSURE,	/* ... or not: to be compared again later */
	TUX_CANDIDATE_MISSED,	/* some bytes were not counted */
};

struct tux_candidate {		/* all zero at first */
	struct tux_burst sent, received;
	_Atomic uint32_t look_at;	/* turn-arounds at which to ask again */
	_Atomic uint32_t packet;	/* bytes: the payload of a packet; 0: not
				 * asked for yet */
	int64_t beside_sent, beside_received;	/* bytes of TCP that are not the
				 * application's: frames and markers */
	int64_t more_sent, more_received;	/* bytes: how many more the
				 * kernel had counted at the last comparison */
	uint8_t compared;	/* how often the counts did not agree */
	uint8_t same;		/* ... in a row by the same bytes */
};

/* TCP has carried @sent and @received bytes of the application before the first
 * one that is counted. */
static inline void tux_candidate_begin(struct tux_candidate *y, uint64_t sent,
				       uint64_t received)
{
	tux_burst_begin(&y->sent, sent, received);
	tux_burst_begin(&y->received, received, sent);
}

/* A connection that was on Tux is on TCP again.  Its directions have carried @sent
 * and @received, of which TCP has, frames and markers included, @tcp_sent and
 * @tcp_received bytes more or less.  It is asked about again after as many
 * turn-arounds as a direction that has returned. */
void tux_candidate_again(struct tux_candidate *y, const struct tux_burst *sent,
			 const struct tux_burst *received, uint64_t tcp_sent,
			 uint64_t tcp_received);

/* TCP has carried @n > 0 bytes: sent, if @out, or received. */
static inline void tux_candidate_moved(struct tux_candidate *y, bool out,
				       uint64_t n)
{
	if (out)
		tux_burst_moved(&y->sent, &y->received, n);
	else
		tux_burst_moved(&y->received, &y->sent, n);
}

/* The turn-arounds that both directions have shown. */
static inline uint32_t tux_candidate_turns(const struct tux_candidate *y)
{
	uint32_t tx = tux_burst_turns(&y->sent);
	uint32_t rx = tux_burst_turns(&y->received);

	return tx < rx ? tx : rx;
}

/* Is there enough to ask tux_decide()? */
static inline bool tux_candidate_asks(const struct tux_candidate *y)
{
	uint32_t turns = tux_candidate_turns(y);
	uint32_t at = atomic_load_explicit(&y->look_at, memory_order_relaxed);

	return turns >= at && turns >= TUX_CHOICE_TURNS_PASSIVE;
}

/* The connection is asked about again after @turns more turn-arounds. */
static inline void tux_candidate_wait(struct tux_candidate *y, uint32_t turns)
{
	atomic_store_explicit(&y->look_at, tux_candidate_turns(y) + turns,
			      memory_order_relaxed);
}

/* The kernel says that TCP has carried @sent and @received bytes of the
 * application.  Does it agree with what was counted?  The kernel's numbers come
 * from several questions, and a byte that is acknowledged or arrives between two
 * of them makes a number too small.  So a difference is believed if it is the
 * same at a few comparisons in a row and no number is too small, or if there is
 * one at many comparisons. */
enum tux_candidate_counts tux_candidate_compare(struct tux_candidate *y,
						uint64_t sent,
						uint64_t received);

/* The last comparison has MISSED bytes, which other processes have moved that had the
 * connection, too: counts them.  False: the difference changes, so somebody moves bytes
 * yet. */
bool tux_candidate_adopt(struct tux_candidate *y);

/* Why has it not moved?  @decided: the gate that kept it on TCP when it was last
 * asked about, or NONE.  TUX_REASON_YOUNG does not last: its bursts since then
 * may be long. */
enum tux_reason tux_candidate_why(const struct tux_candidate *y, bool active,
				  enum tux_reason decided);

/* ... and from what does that follow? */
struct tux_grounds tux_candidate_grounds(const struct tux_candidate *y);

#endif
