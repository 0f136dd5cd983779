/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * decide - may a connection that TCP carries open the path?
 */
#include "policy/decide.h"

/* Turn-arounds to the next question: of what the connection shows by itself,
 * and of what is held for some time. */
enum {
	SOON = 8,
	LATER = 64,
};

static struct tux_decision wait_for(uint32_t turns, enum tux_reason why)
{
	return (struct tux_decision){
		.verdict = TUX_DECIDE_WAIT, .turns = turns, .why = why,
	};
}

static struct tux_decision never(enum tux_reason why)
{
	return (struct tux_decision){ .verdict = TUX_DECIDE_NEVER, .why = why };
}

static struct tux_decision must_find(enum tux_fact fact)
{
	return (struct tux_decision){ .verdict = TUX_DECIDE_FIND, .fact = fact };
}

static bool lacks(const struct tux_view *v, enum tux_fact fact)
{
	return !(v->known & fact);
}

static bool is_worth(const struct tux_view *v)
{
	const struct tux_candidate *y = v->candidate;

	return tux_choice_opens(v->active, &y->sent, &y->received, y->packet);
}

/* The active end is asked as soon as it has shown enough. */
static uint32_t until_worth(const struct tux_view *v)
{
	uint32_t turns = tux_candidate_turns(v->candidate);

	return turns < TUX_CHOICE_TURNS_ACTIVE ?
	       TUX_CHOICE_TURNS_ACTIVE - turns : SOON;
}

struct tux_decision tux_decide(const struct tux_view *v, tux_time now)
{
	/* With another mode, the user has decided what would be fast. */
	bool chosen = v->mode != TUX_PATH_MODE_AUTO;

	if (!chosen && !v->called && !is_worth(v))
		return wait_for(until_worth(v),
				tux_candidate_why(v->candidate, v->active,
						  TUX_REASON_NONE));
	if (!v->called && now < v->pause_until)
		return wait_for(LATER, v->paused_for);

	if (lacks(v, TUX_FACT_ALONE))
		return must_find(TUX_FACT_ALONE);
	if (v->held)
		return wait_for(SOON, v->held);

	if (!chosen && v->active && lacks(v, TUX_FACT_PEER))
		return must_find(TUX_FACT_PEER);
	if (v->peer_silent)
		return wait_for(LATER, TUX_REASON_PEER_SILENT);

	if (lacks(v, TUX_FACT_FORBIDS))
		return must_find(TUX_FACT_FORBIDS);
	if (v->forbids)
		return never(v->forbids);

	if (!chosen && lacks(v, TUX_FACT_CPU))
		return must_find(TUX_FACT_CPU);
	if (v->cpu_busy)
		return wait_for(LATER, TUX_REASON_CPU_BUSY);

	if (lacks(v, TUX_FACT_COUNTS))
		return must_find(TUX_FACT_COUNTS);
	if (v->counts == TUX_CANDIDATE_UNSURE)
		return wait_for(SOON, TUX_REASON_UNSURE);
	if (v->counts == TUX_CANDIDATE_MISSED)
		return never(TUX_REASON_UNSEEN);
	return (struct tux_decision){ .verdict = TUX_DECIDE_OPEN };
}
