/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * decide - may a connection that TCP carries open the path?
 *
 * The gates of DESIGN, "While TCP carries it", in one place.  The preload and
 * lib/api ask here, so both decide alike.  The gates stand in the order of what
 * it costs to find the answer; the first one that is closed decides.
 *
 * What costs a system call or a look at a table is found out only when it is
 * needed.  So the caller asks in a loop: it begins with `known` 0, or with what
 * it knows anyway, and as long as the verdict is TUX_DECIDE_FIND, it finds the
 * one fact, adds its bit to `known`, and asks again.
 *
 * The function is pure, but for the counts of the candidate, which other
 * threads may move on.
 */
#ifndef TUX_POLICY_DECIDE_H
#define TUX_POLICY_DECIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "policy/candidate.h"
#include "policy/choice.h"
#include "wire/reason.h"

enum tux_fact {			/* bits */
	TUX_FACT_ALONE = 1,
	TUX_FACT_PEER = 2,
	TUX_FACT_FORBIDS = 4,
	TUX_FACT_CPU = 8,
	TUX_FACT_COUNTS = 16,
};

struct tux_view {		/* of one connection */
	const struct tux_candidate *candidate;	/* its `packet` is known */
	enum tux_path_mode mode;
	bool active;
	bool called;		/* it has an end, which the peer asks for */
	tux_time pause_until;	/* after a claim in vain, or while its end sleeps:
				 * not claimed before; 0: there was neither */
	enum tux_reason paused_for;	/* ... why that was in vain; NONE */
	unsigned known;		/* enum tux_fact: which of these are found out */
	enum tux_reason held;	/* ALONE: why it is not this thread's alone;
				 * NONE: no other process or thread has it */
	bool peer_silent;	/* PEER: tux_history_waits() */
	enum tux_reason forbids;	/* FORBIDS: never, because; or NONE */
	bool cpu_busy;		/* CPU: the processors have no time for Tux */
	enum tux_candidate_counts counts;	/* COUNTS */
};

enum tux_verdict {
	TUX_DECIDE_OPEN,	/* it may open the path */
	TUX_DECIDE_FIND,	/* find out `fact`, and ask again */
	TUX_DECIDE_WAIT,	/* it stays on TCP for now: ask again after `turns`
				 * more turn-arounds */
	TUX_DECIDE_NEVER,	/* it stays on TCP for good */
};

struct tux_decision {
	enum tux_verdict verdict;
	enum tux_fact fact;	/* TUX_DECIDE_FIND */
	uint32_t turns;		/* TUX_DECIDE_WAIT */
	enum tux_reason why;	/* TUX_DECIDE_WAIT, _NEVER: the gate */
};

struct tux_decision tux_decide(const struct tux_view *v, tux_time now);

#endif
