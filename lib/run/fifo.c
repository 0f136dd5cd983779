/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/fifo.h"

enum { IDLE, QUEUED, WAITING, RUNNING, AGAIN };		/* tux_task.state */

/* ---- strands ---- */

static struct tux_task *first_fresh(const struct tux_sched *s)
{
	return TUX_CONTAINER(s->fresh.next, struct tux_task, node);
}

static void push_fresh(struct tux_sched *s, struct tux_task *t)
{
	t->state = QUEUED;
	t->turn = s->turn++;
	tux_list_push(&s->fresh, &t->node);
	s->fresh_n++;
}

static void pull_fresh(struct tux_sched *s, struct tux_task *t)
{
	tux_list_remove(&t->node);
	s->fresh_n--;
}

/* A strand's next task goes to the FIFO; the others wait on, in their order. */
static void fifo_release(struct tux_sched *s, struct tux_strand *x)
{
	struct tux_list *n = x->waiting.next;

	x->busy = NULL;
	if (tux_list_empty(&x->waiting))
		return;
	tux_list_remove(n);
	x->busy = TUX_CONTAINER(n, struct tux_task, node);
	push_fresh(s, x->busy);
}

/* ---- tasks ---- */

void tux_strand_init(struct tux_strand *x)
{
	x->busy = NULL;
	tux_list_init(&x->waiting);
}

void tux_task_init(struct tux_task *t, struct tux_strand *x,
		   void (*run)(struct tux_task *))
{
	*t = (struct tux_task){ .strand = x, .run = run, .state = IDLE };
	tux_list_init(&t->node);
}

static void fifo_put(struct tux_sched *s, struct tux_task *t)
{
	if (t->strand->busy) {
		t->state = WAITING;
		tux_list_push(&t->strand->waiting, &t->node);
		return;
	}
	t->strand->busy = t;
	push_fresh(s, t);
}

void tux_sched_put(struct tux_sched *s, struct tux_task *t)
{
	tux_sched_enter();
	if (t->state == RUNNING)
		t->state = AGAIN;
	else if (t->state == IDLE)
		fifo_put(s, t);
	tux_sched_leave();
}

bool tux_sched_is_idle(const struct tux_task *t)
{
	return t->state == IDLE;
}

static void take_out(struct tux_sched *s, struct tux_task *t)
{
	t->state = IDLE;
	if (t->strand->busy == t) {
		pull_fresh(s, t);
		fifo_release(s, t->strand);
	} else {
		tux_list_remove(&t->node);
	}
}

static bool fifo_cancel(struct tux_sched *s, struct tux_task *t)
{
	struct tux_routine *r = tux_here.routine;

	if (t->state == QUEUED || t->state == WAITING)
		take_out(s, t);
	if (t->state == IDLE)
		return true;
	if (!r || r->task != t) {
		t->state = RUNNING;
		return false;
	}
	r->task = NULL;
	t->state = IDLE;
	fifo_release(s, t->strand);
	return true;
}

bool tux_sched_cancel(struct tux_sched *s, struct tux_task *t)
{
	bool gone;

	tux_sched_enter();
	gone = fifo_cancel(s, t);
	tux_sched_leave();
	return gone;
}

/* ---- for the routine that runs ---- */

struct tux_task *tux_fifo_next(struct tux_sched *s)
{
	struct tux_task *t = first_fresh(s);
	tux_tick now;

	if (!tux_fifo_fresh_first(s) || tux_here.pending)
		return NULL;
	now = tux_tick_read();
	if (now - s->began > s->most)
		return NULL;
	s->task_began = now;
	pull_fresh(s, t);
	return t;
}

void tux_fifo_began(struct tux_routine *r, struct tux_task *t)
{
	struct tux_sched_stats *st = &r->sched->stats;

	t->state = RUNNING;
	r->task = t;
	st->callbacks++;
	if (++st->routines > st->routines_most)
		st->routines_most = st->routines;
}

void tux_fifo_ended(struct tux_routine *r)
{
	struct tux_sched *s = r->sched;
	struct tux_task *t = r->task;
	bool again;

	s->stats.routines--;
	if (!t)
		return;
	again = t->state == AGAIN;
	r->task = NULL;
	t->state = IDLE;
	fifo_release(s, t->strand);
	if (again)
		fifo_put(s, t);
}
