/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/sched.h"

#include "run/blocking.h"
#include "run/fifo.h"
#include "run/mask.h"
#include "run/overflow.h"
#include "run/routine.h"
#include "run/sched_in.h"
#include "run/task.h"
#include "sys/clock.h"
#include "tick/critical.h"
#include "tick/tick_signal.h"

enum {
	SETTLE = 16,		/* slices, at most */
	BRIEF = 4,		/* a brief slice takes slice / BRIEF at most */
};

/* No thread's number. */
#define NO_THREAD UINT32_MAX

void tux_sched_say(const struct tux_sched *s, const char *line)
{
	if (s->o.say)
		s->o.say(line, s->o.arg);
}

/* ---- a slice ---- */

/* Queues the routine of the last slice, if it can go on, behind what the
 * network thread has put into the FIFO since. */
static void push_last(struct tux_sched *s)
{
	if (s->last)
		tux_fifo_push(s, s->last);
	s->last = NULL;
}

static void wake_sleepers(struct tux_sched *s)
{
	struct tux_heap_node *n = tux_heap_min(&s->asleep);
	tux_time now;

	if (!n)
		return;
	now = tux_clock_read();
	while (n && n->at <= now) {
		struct tux_routine *r = TUX_CONTAINER(n, struct tux_routine,
						      alarm);

		/* What was woken meanwhile is in `woken`. */
		if (tux_routine_expires(r))
			tux_fifo_push(s, r);
		n = tux_heap_min(&s->asleep);
	}
}

/* The list has the last one that was woken first: it is turned round, so that
 * they keep their order. */
static void take_woken(struct tux_sched *s)
{
	struct tux_routine *r, *next, *back = NULL;

	if (!atomic_load_explicit(&s->woken, memory_order_relaxed))
		return;
	for (r = atomic_exchange(&s->woken, NULL); r; r = next) {
		next = r->woken;
		r->woken = back;
		back = r;
	}
	for (r = back; r; r = next) {
		next = r->woken;
		if (r->state == TUX_ROUTINE_AWAY)
			tux_blocking_is_over(r);
		else
			tux_routine_woken(r);
		tux_fifo_push(s, r);
	}
}

static struct tux_routine *pop_ready(struct tux_sched *s)
{
	struct tux_routine *r = tux_fifo_first(s);

	tux_fifo_pull(s, r);
	return r;
}

static struct tux_routine *pop_idle(struct tux_sched *s)
{
	struct tux_routine *r;

	if (tux_list_empty(&s->idle))
		return tux_routine_make(s);
	r = TUX_CONTAINER(s->idle.next, struct tux_routine, node);
	tux_list_remove(&r->node);
	return r;
}

/* The routine that goes on or begins. If tasks cannot begin, for lack of a
 * routine, those that have one still go on. */
static struct tux_routine *sched_choose(struct tux_sched *s)
{
	struct tux_routine *r;

	if (tux_fifo_fresh_first(s)) {
		r = pop_idle(s);
		if (r)
			return r;
	}
	return s->ready_n ? pop_ready(s) : NULL;
}

/* The last routine that ran is the first to run again: its stack is in the
 * cache. */
static void push_idle(struct tux_sched *s, struct tux_routine *r)
{
	tux_list_push(s->idle.next, &r->node);
}

static void sched_drain(struct tux_sched *s, struct tux_routine *r)
{
	switch (r->state) {
	case TUX_ROUTINE_IDLE:
		push_idle(s, r);
		break;
	case TUX_ROUTINE_READY:
		s->last = r;
		break;
	case TUX_ROUTINE_ASLEEP:
		break;
	case TUX_ROUTINE_BLOCKED:
		if (tux_routine_waits(r))
			s->stats.blocks++;
		else
			tux_fifo_push(s, r);
		break;
	case TUX_ROUTINE_AWAY:
		tux_blocking_begin(r);
		break;
	}
}

static void sched_slice(struct tux_sched *s, struct tux_routine *r)
{
	tux_tick took, ended;

	s->began = s->task_began = tux_tick_read();
	s->stats.slices++;
	r->skipped = 0;
	r->in_critical = false;
	if (s->preempt)
		tux_watch_enter(&s->watch, s->began);
	tux_routine_resume(r);
	if (s->preempt)
		tux_watch_leave(&s->watch);
	ended = tux_tick_read();
	s->took = took = ended - s->began;
	s->stats.spent += took;
	/* Behind a callback that is too long, none begins. */
	tux_watch_took(&s->watch, ended - s->task_began);
	if (took > 2 * s->slice)
		s->stats.overruns++;
	sched_drain(s, r);
}

/* Can a fresh task begin?  Without wake(), donors that are not ready yet count,
 * too: the caller has to ask again. */
static bool can_begin(struct tux_sched *s)
{
	return !s->held &&
	       (!tux_list_empty(&s->idle) || tux_donors_ready(&s->donors) ||
		(!s->o.wake && tux_donors_left(&s->donors)));
}

static void sched_watch(struct tux_sched *s)
{
	if (s->thread != NO_THREAD) {
		if (s->thread)
			tux_watch_remove(&s->watch);
		/* A routine that came with it may have the linker's lock. */
		tux_critical_refresh();
	}
	tux_tick_signal_open();
	if (tux_watch_add(&s->watch, s->sig)) {
		tux_sched_say(s, "callbacks are not preempted: no thread to "
			      "watch them");
		s->preempt = false;
	}
}

uint32_t tux_sched_number(void)
{
	static _Atomic uint32_t last;

	if (!tux_here.thread)
		tux_here.thread = atomic_fetch_add(&last, 1) + 1;
	return tux_here.thread;
}

static void sched_adopt(struct tux_sched *s)
{
	if (s->preempt)
		sched_watch(s);
	tux_overflow_close(s->net_stack);
	tux_overflow_open(&s->net_stack);
	s->thread = tux_sched_number();
	s->mask_changes = 0;
	tux_switch_here(&s->net);
}

bool tux_sched_in_critical(const struct tux_sched *s)
{
	return s->in_critical_n || (s->last && s->last->in_critical);
}

void tux_sched_hold(struct tux_sched *s, bool held)
{
	s->held = held;
}

void tux_sched_link(struct tux_sched *s, struct tux_sched *after)
{
	s->after = after;
}

void tux_sched_part(struct tux_sched *s, struct tux_sched *heir)
{
	if (s->preempt && s->thread)
		tux_watch_remove(&s->watch);
	if (heir && !heir->net_stack)
		heir->net_stack = s->net_stack;
	else
		tux_overflow_close(s->net_stack);
	s->net_stack = NULL;
	s->after = NULL;
	s->thread = NO_THREAD;
}

static bool is_adopted(const struct tux_sched *s)
{
	return s->thread && s->thread == tux_here.thread;
}

/* All that the thread runs, before a routine of one can be preempted in the
 * linker. */
static void enter_thread(struct tux_sched *s)
{
	struct tux_sched *x = is_adopted(s) ? NULL : s;

	for (; x; x = x->after)
		if (!is_adopted(x))
			sched_adopt(x);
	tux_mask_look(s);
}

unsigned tux_sched_run(struct tux_sched *s)
{
	struct tux_routine *r;

	tux_sched_back(s);
	enter_thread(s);
	wake_sleepers(s);
	take_woken(s);
	push_last(s);
	r = sched_choose(s);
	if (r)
		sched_slice(s, r);
	return s->ready_n + (s->last != NULL) +
	       (s->fresh_n && can_begin(s) ? s->fresh_n : 0);
}

bool tux_sched_is_brief(const struct tux_sched *s)
{
	return (s->ready_n || s->fresh_n) && s->took <= s->slice / BRIEF;
}

static struct tux_routine *first_in_critical(struct tux_sched *s)
{
	struct tux_list *n;

	TUX_LIST_EACH(n, &s->ready) {
		struct tux_routine *r = TUX_CONTAINER(n, struct tux_routine,
						      node);

		if (r->in_critical)
			return r;
	}
	return NULL;
}

/* Of all. */
static unsigned in_critical(const struct tux_sched *s)
{
	unsigned n = 0;

	for (; s; s = s->after)
		n += s->in_critical_n;
	return n;
}

/* Is the routine that has had the slice where it was, in a system call? */
static bool drain_slice(struct tux_sched *s)
{
	struct tux_routine *r = first_in_critical(s);

	enter_thread(s);
	tux_fifo_pull(s, r);
	sched_slice(s, r);
	push_last(s);
	return r->in_critical && r->waits;
}

void tux_sched_back(struct tux_sched *s)
{
	if (tux_here.left != s)
		return;
	tux_here.left = NULL;
	for (; s; s = s->after)
		tux_watch_leave(&s->watch);
}

/* Slices in turn, since one may have what another waits for.  Routines that only
 * wait in the kernel are not waited for. */
static void drain_all(struct tux_sched *first)
{
	struct tux_sched *s = first;
	unsigned i, stuck = 0;

	for (i = 0; stuck < in_critical(first) && i < SETTLE; i++) {
		while (!s || !s->in_critical_n)
			s = s ? s->after : first;
		stuck = drain_slice(s) ? stuck + 1 : 0;
		s = s->after;
	}
}

void tux_sched_drain(struct tux_sched *first)
{
	struct tux_sched *s;

	if (tux_here.left)
		tux_sched_back(tux_here.left);
	for (s = first; s; s = s->after)
		push_last(s);
	if (!in_critical(first))
		return;
	drain_all(first);
	if (!in_critical(first))
		return;
	for (s = first; s; s = s->after)
		if (s->in_critical_n)
			tux_watch_enter(&s->watch, tux_tick_read());
	tux_here.left = first;
}

tux_time tux_sched_deadline(const struct tux_sched *s)
{
	struct tux_heap_node *n = tux_heap_min(&s->asleep);

	return n ? n->at : TUX_NEVER;
}

const struct tux_sched_stats *tux_sched_stats(const struct tux_sched *s)
{
	return &s->stats;
}

uint32_t tux_sched_thread(const struct tux_sched *s)
{
	return s->thread;
}

uint32_t tux_sched_routines_max(const struct tux_sched *s)
{
	return s->o.routines_max;
}

void *tux_sched_arg(void)
{
	const struct tux_routine *r = tux_here.routine;

	return r ? r->sched->o.arg : NULL;
}

bool tux_sched_is_near(const struct tux_sched *s)
{
	const struct tux_routine *r = tux_here.routine;
	uint32_t thread = s->thread ? s->thread : s->opened_by;

	return r ? r->sched == s : thread == tux_here.thread;
}

bool tux_sched_runs_here(const struct tux_sched *s)
{
	const struct tux_routine *r = tux_here.routine;

	return s->thread &&
	       s->thread == (r ? r->sched->thread : tux_here.thread);
}

bool tux_sched_is_here(const struct tux_sched *s)
{
	return !tux_here.routine && tux_sched_is_near(s);
}

bool tux_sched_holds(const struct tux_strand *x)
{
	const struct tux_routine *r = tux_here.routine;

	if (!r)
		r = tux_here.lent_to;
	return r && r->task && r->task->strand == x;
}

bool tux_sched_has_storage(const struct tux_sched *s)
{
	return s->tls;
}

bool tux_sched_preempts(const struct tux_sched *s)
{
	return s->preempt;
}
