/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Code of the application's own on the network thread, and what it may do in a
 * routine.
 */
#include "api/routine.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "api/connection.h"
#include "api/threads.h"
#include "sys/take.h"

enum { SECOND = 1000000000 };

struct errand {
	struct tux_task task;
	struct tux_strand strand;
	struct tux_list node;		/* in t->going, then in t->gone */
	struct tux *t;
	void (*fn)(void *arg);
	void *arg;
};

static void routine_run(struct tux_task *task)
{
	struct errand *e = TUX_CONTAINER(task, struct errand, task);

	e->fn(e->arg);
	tux_sched_enter();
	tux_list_remove(&e->node);
	tux_sched_cancel(e->t->sched, task);
	free(e);
	tux_sched_leave();
}

int tux_go(struct tux *t, void (*fn)(void *arg), void *arg)
{
	struct errand *e;

	if (t->forked)
		return -EOWNERDEAD;
	e = malloc(sizeof(*e));
	if (!e)
		return -ENOMEM;
	tux_sched_enter();
	t = tux_api_loop_next(t);
	e->t = t;
	e->fn = fn;
	e->arg = arg;
	tux_strand_init(&e->strand);
	tux_task_init(&e->task, &e->strand, routine_run);
	tux_latch_take(&t->go_latch);
	tux_list_push(&t->going, &e->node);
	tux_latch_drop(&t->go_latch);
	tux_api_ring(t);
	tux_sched_leave();
	return 0;
}

void tux_api_start(struct tux *t)
{
	struct tux_list *n;

	while ((n = tux_api_take_first(t, &t->going))) {
		tux_list_push(&t->gone, n);
		tux_sched_put(t->sched,
			      &TUX_CONTAINER(n, struct errand, node)->task);
	}
}

void tux_api_start_none(struct tux *t)
{
	struct tux_list *n, *m;

	tux_api_start(t);
	TUX_LIST_EACH_SAFE(n, m, &t->gone) {
		tux_list_remove(n);
		free(TUX_CONTAINER(n, struct errand, node));
	}
}

/* ---- in a routine ---- */

void tux_yield(void)
{
	if (tux_sched_inside())
		tux_sched_yield();
	else
		sched_yield();
}

void tux_sleep(uint64_t ns)
{
	struct timespec left = { .tv_sec = (time_t)(ns / SECOND),
				 .tv_nsec = (long)(ns % SECOND) };

	if (tux_sched_inside()) {
		tux_sched_sleep(ns);
		return;
	}
	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		;
}

/* In the child of a fork() that a routine has made there are no other threads:
 * the routine calls @fn itself. */
void tux_block(void (*fn)(void *arg), void *arg)
{
	const struct tux *t = tux_sched_arg();

	if (t && !tux_api_is_own(t))
		fn(arg);
	else
		tux_sched_blocking(fn, arg);
}

int tux_can_block(void)
{
	const struct tux *t = tux_sched_arg();

	return t && tux_sched_has_storage(t->sched) && tux_sched_may_leave() &&
	       !atomic_load(&t->exits) && tux_api_is_own(t);
}

void tux_uninterruptible_enter(void)
{
	tux_sched_enter();
}

void tux_uninterruptible_leave(void)
{
	tux_sched_leave();
}
