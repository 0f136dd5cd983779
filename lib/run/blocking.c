/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/blocking.h"

#include "run/mask.h"
#include "run/routine.h"

void tux_blocking_begin(struct tux_routine *r)
{
	struct tux_sched *s = r->sched;

	if (s->ends)
		return;
	s->away_n++;
	tux_donor_call(&r->donor);
}

void tux_blocking_is_over(struct tux_routine *r)
{
	r->sched->away_n--;
}

/* pthread_cancel() of another thread finds a routine here at each moment
 * (hook_thread.c). */
static void lend_to(struct tux_routine *r)
{
	tux_here.lent_to = r;
	atomic_signal_fence(memory_order_seq_cst);
	tux_here.routine = NULL;
	tux_here.preempt_count = 0;
}

static void unlend(struct tux_routine *r, uint32_t preempt_count)
{
	tux_here.preempt_count = preempt_count;
	tux_here.routine = r;
	atomic_signal_fence(memory_order_seq_cst);
	tux_here.lent_to = NULL;
}

/* When the routine has returned, its storage is the network thread's again:
 * nothing here may touch it from then on. */
void tux_blocking_run(struct tux_donor *d)
{
	struct tux_routine *r = (struct tux_routine *)d;
	uint32_t preempt_count = tux_here.preempt_count;
	struct tux_switch home;
	uint64_t mask;

	lend_to(r);
	mask = tux_mask_put(r->mask);
	tux_switch_here(&home);
	r->home = &home;
	tux_switch(&home, &r->at);
	tux_mask_put(mask);
	unlend(r, preempt_count);
	tux_routine_returns(r);
}

/* A function of its own, as tux_routine_set_errno(): the thread has changed. */
static __attribute__((noinline)) void leave_guard(void)
{
	tux_sched_leave();
}

/* A mask that the call has set ends with the call, also where a switch carries the
 * mask (ucontext).  The child of a fork() in the call has no network thread. */
__attribute__((noinline)) void tux_blocking_end(void)
{
	struct tux_routine *r = tux_here.lent_to;

	if (!r)
		return;
	tux_mask_put(r->mask);
	tux_routine_cross(r, r->home);
	leave_guard();
}

void tux_sched_blocking(void (*fn)(void *arg), void *arg)
{
	struct tux_routine *r = tux_here.routine;

	if (!r) {
		fn(arg);
		return;
	}
	tux_sched_enter();
	r->sched->stats.blocking++;
	tux_mask_own(r);
	tux_routine_leave(r, TUX_ROUTINE_AWAY);
	fn(arg);
	tux_blocking_end();
}

bool tux_sched_is_lent(void)
{
	return tux_here.lent_to;
}

unsigned tux_sched_away(const struct tux_sched *s)
{
	return s->away_n;
}

void tux_sched_end_blocking(struct tux_sched *s)
{
	s->ends = true;
}

bool tux_sched_ends_blocking(const struct tux_sched *s)
{
	return s->ends;
}
