/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fifo - the FIFO of a scheduler: tasks that have not begun, and routines that
 * can go on
 *
 * Two lists, in the order of their turns.  Of each strand the FIFO has one task
 * at most.
 */
#ifndef TUX_RUN_FIFO_H
#define TUX_RUN_FIFO_H

#include "run/sched_in.h"

/* The first routine that can go on. */
static inline struct tux_routine *tux_fifo_first(const struct tux_sched *s)
{
	return TUX_CONTAINER(s->ready.next, struct tux_routine, node);
}

static inline void tux_fifo_push(struct tux_sched *s, struct tux_routine *r)
{
	r->turn = s->turn++;
	tux_list_push(&s->ready, &r->node);
	s->ready_n++;
	s->in_critical_n += r->in_critical;
}

static inline void tux_fifo_pull(struct tux_sched *s, struct tux_routine *r)
{
	tux_list_remove(&r->node);
	s->ready_n--;
	s->in_critical_n -= r->in_critical;
}

/* Is what comes next a task that has not begun, and may begin? */
static inline bool tux_fifo_fresh_first(const struct tux_sched *s)
{
	const struct tux_task *t = TUX_CONTAINER(s->fresh.next, struct tux_task,
						 node);

	return s->fresh_n && !s->held &&
	       (!s->ready_n || t->turn < tux_fifo_first(s)->turn);
}

/* The next task that may begin in the calling routine, in the slice that runs;
 * taken out of the FIFO. NULL: none. */
struct tux_task *tux_fifo_next(struct tux_sched *s);

/* The task of @r begins, and has ended. */
void tux_fifo_began(struct tux_routine *r, struct tux_task *t);
void tux_fifo_ended(struct tux_routine *r);

#endif
