/* SPDX-License-Identifier: BSD-2-Clause */
#include "writers.h"

#include <tux.h>

enum { AGAIN_NS = 10000 };	/* a routine that waits looks so often */

void writers_init(struct writers *w, struct store *s, struct tux *t)
{
	*w = (struct writers){ .store = s, .tux = t };
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->done, NULL);
	job_queue_init(&w->left);
}

/* A routine that were preempted here would make others spin. */
static void lock(struct writers *w)
{
	tux_uninterruptible_enter();
	pthread_mutex_lock(&w->lock);
}

static void unlock(struct writers *w)
{
	pthread_mutex_unlock(&w->lock);
	tux_uninterruptible_leave();
}

/* ---- turns ------------------------------------------------------------------ */

/* If somebody writes, leaves the jobs of @g, unless @g is NULL. */
static bool try_enter(struct writers *w, struct group *g)
{
	bool mine;
	unsigned i;

	lock(w);
	mine = !w->busy;
	w->busy = true;
	if (!mine && g) {
		for (i = 0; i < g->n; i++)
			job_push(&w->left, g->job[i]);
		g->n = 0;
	}
	unlock(w);
	return mine;
}

/* Waits for its turn. */
static void enter(struct writers *w)
{
	if (tux_can_block()) {
		while (!try_enter(w, NULL))
			tux_sleep(AGAIN_NS);
		return;
	}
	pthread_mutex_lock(&w->lock);
	while (w->busy)
		pthread_cond_wait(&w->done, &w->lock);
	w->busy = true;
	pthread_mutex_unlock(&w->lock);
}

static void drain(void *arg);

static void leave(struct writers *w)
{
	bool start;

	lock(w);
	w->busy = false;
	start = w->left.first && !w->drains;
	w->drains |= start;
	pthread_cond_signal(&w->done);
	unlock(w);
	if (start && tux_go(w->tux, drain, w)) {
		lock(w);
		w->drains = false;	/* the next one that leaves tries again */
		unlock(w);
	}
}

/* All steps, each in a turn of its own; the first turn has begun. */
static void run_steps(struct writers *w, struct group *g)
{
	bool more = group_step(g, w->store);

	leave(w);
	while (more) {
		enter(w);
		more = group_step(g, w->store);
		leave(w);
	}
	group_answer(g);
}

/* ---- what was left ----------------------------------------------------------- */

/* Begins a turn for jobs that were left; without any, the routine ends. */
static bool take_left(struct writers *w, struct group *g)
{
	lock(w);
	while (!w->busy && g->n < GROUP_MAX && w->left.first)
		g->job[g->n++] = job_pop(&w->left);
	w->busy |= g->n > 0;
	w->drains = g->n > 0;
	unlock(w);
	return g->n;
}

static void drain(void *arg)
{
	struct group g = { 0 };

	while (take_left(arg, &g))
		run_steps(arg, &g);
}

/* ---- for all ------------------------------------------------------------------ */

void writers_run(struct writers *w, struct group *g)
{
	if (!g->n)
		return;
	if (!tux_can_block())
		enter(w);
	else if (!try_enter(w, g))
		return;
	run_steps(w, g);
}

bool writers_busy(struct writers *w)
{
	bool busy;

	lock(w);
	busy = w->busy || w->drains || w->left.first;
	unlock(w);
	return busy;
}
