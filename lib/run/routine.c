/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * routine - a borrowed stack is gone to, and left
 */
#include "run/routine.h"

#include <errno.h>

#include "run/mask.h"
#include "run/rseq.h"
#include "sys/clock.h"

__thread struct tux_here tux_here;

enum { NO_TOKEN, TOKEN, WAITS };	/* tux_routine.token */

void tux_routine_parks(struct tux_donor *d)
{
	tux_rseq_leave();
	tux_here.routine = (struct tux_routine *)d;
	tux_here.preempt_count = 1;
}

void tux_routine_ends(struct tux_donor *d)
{
	(void)d;
	tux_here.routine = NULL;
	tux_here.preempt_count = 0;
}

bool tux_sched_may_leave(void)
{
	const struct tux_routine *r = tux_here.routine;
	const char *frame = __builtin_frame_address(0);

	return r && !tux_here.preempt_count && frame >= r->donor.low &&
	       frame < r->donor.top;
}

__attribute__((noinline)) void tux_routine_set_errno(int err)
{
	errno = err;
}

static void resume_shared(struct tux_sched *s, struct tux_routine *r)
{
	struct tux_here here = tux_here;
	int err = errno;

	tux_here.routine = r;
	tux_here.preempt_count = r->preempt_count;
	tux_switch(&s->net, &r->at);
	r->preempt_count = tux_here.preempt_count;
	tux_here = here;
	errno = err;
}

void tux_routine_resume(struct tux_routine *r)
{
	if (r->sched->tls)
		tux_switch(&r->sched->net, &r->at);
	else
		resume_shared(r->sched, r);
}

static __attribute__((noinline)) int routine_errno(void)
{
	return errno;
}

__attribute__((noinline))
void tux_routine_cross(struct tux_routine *r, struct tux_switch *to)
{
	int err = routine_errno();

	tux_switch(&r->at, to);
	if (r->masked)
		tux_mask_back(r);
	/* A routine with storage of its own finds errno as it left it. */
	tux_routine_set_errno(err);
}

void tux_routine_leave(struct tux_routine *r, enum tux_routine_state state)
{
	r->state = state;
	tux_here.pending = 0;
	if (r->masked)
		tux_mask_aside(r);
	tux_routine_cross(r, &r->sched->net);
}

void tux_sched_yield(void)
{
	struct tux_routine *r = tux_here.routine;

	if (!r)
		return;
	tux_sched_enter();
	r->sched->stats.yields++;
	tux_routine_leave(r, TUX_ROUTINE_READY);
	tux_sched_leave();
}

void tux_sched_give_way(void)
{
	struct tux_routine *r = tux_here.routine;

	if (!r)
		return;
	tux_sched_enter();
	r->sched->stats.preemptions++;
	r->preempted++;
	tux_routine_leave(r, TUX_ROUTINE_READY);
	tux_sched_leave();
}

void tux_sched_sleep(tux_time ns)
{
	struct tux_routine *r = tux_here.routine;

	if (!r)
		return;
	tux_sched_enter();
	r->sched->stats.sleeps++;
	tux_heap_set(&r->sched->asleep, &r->alarm,
		     tux_time_add(tux_clock_read(), ns));
	tux_routine_leave(r, TUX_ROUTINE_ASLEEP);
	tux_sched_leave();
}

static bool take_token(struct tux_routine *r)
{
	uint32_t token = TOKEN;

	return atomic_compare_exchange_strong(&r->token, &token, NO_TOKEN);
}

void tux_sched_block_until(tux_time at)
{
	struct tux_routine *r = tux_here.routine;

	if (!r || take_token(r))
		return;
	tux_sched_enter();
	tux_heap_set(&r->sched->asleep, &r->alarm, at);
	tux_routine_leave(r, TUX_ROUTINE_BLOCKED);
	tux_sched_leave();
}

void tux_sched_block(void)
{
	tux_sched_block_until(TUX_NEVER);
}

bool tux_routine_waits(struct tux_routine *r)
{
	uint32_t none = NO_TOKEN;

	if (atomic_compare_exchange_strong(&r->token, &none, WAITS))
		return true;
	tux_routine_woken(r);
	return false;
}

bool tux_routine_expires(struct tux_routine *r)
{
	uint32_t waits = WAITS;

	tux_heap_set(&r->sched->asleep, &r->alarm, TUX_NEVER);
	return r->state == TUX_ROUTINE_ASLEEP ||
	       atomic_compare_exchange_strong(&r->token, &waits, NO_TOKEN);
}

void tux_routine_woken(struct tux_routine *r)
{
	tux_heap_set(&r->sched->asleep, &r->alarm, TUX_NEVER);
	atomic_exchange(&r->token, NO_TOKEN);
}

void tux_sched_wake(struct tux_routine *r)
{
	if (atomic_exchange(&r->token, TOKEN) == WAITS)
		tux_routine_returns(r);
}

void tux_routine_returns(struct tux_routine *r)
{
	struct tux_sched *s = r->sched;

	r->woken = atomic_load(&s->woken);
	while (!atomic_compare_exchange_weak(&s->woken, &r->woken, r))
		;
	if (s->o.wake)
		s->o.wake(s->o.arg);
}

uint64_t tux_sched_preempted(void)
{
	return tux_here.routine ? tux_here.routine->preempted : 0;
}
