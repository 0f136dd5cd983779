/* SPDX-License-Identifier: BSD-2-Clause */
#include "writers.h"

#include <tux.h>

void writers_init(struct writers *w, struct store *s, struct tux *t,
		  unsigned group)
{
	*w = (struct writers){ .store = s, .tux = t, .group = group };
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->done, NULL);
	job_queue_init(&w->given);
}

/* If a routine were preempted here, others would wait in the kernel. */
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

static void run_given(void *arg);

/* Starts a routine if there is something for it.  If that fails, for lack of memory,
 * the caller runs what was given. */
static void start_routine(struct writers *w)
{
	bool start;

	lock(w);
	start = w->given.first && !w->starts && !w->busy;
	w->starts |= start;
	unlock(w);
	if (start && tux_go(w->tux, run_given, w))
		run_given(w);
}

/* The end of a transaction; the lock is held. */
static void leave(struct writers *w)
{
	w->busy = false;
	pthread_cond_signal(&w->done);
	unlock(w);
	start_routine(w);
}

/* ---- routines -------------------------------------------------------------------- */

/* Begins a transaction for what was given.  If there is nothing, or if it is a thread's
 * turn, the routine ends; that thread starts one again. */
static bool take_given(struct writers *w, struct group *g)
{
	lock(w);
	w->starts = false;
	while (!w->busy && !(w->waiting && w->by_routine) && g->n < w->group &&
	       w->given.first)
		g->job[g->n++] = job_pop(&w->given);
	if (g->n)
		w->busy = w->by_routine = true;
	unlock(w);
	return g->n;
}

/* Jobs that have a further step go behind those that were given meanwhile. */
static void give_back(struct writers *w, struct group *g)
{
	struct job *j;

	while ((j = group_unfinished(g)))
		job_push(&w->given, j);
}

/* One group.  Without a wait for the disk, the routine is not preempted before others
 * may write again. */
static void run_given(void *arg)
{
	struct writers *w = arg;
	struct group g = { 0 };
	bool waits = w->store->sync;

	if (!waits)
		tux_uninterruptible_enter();
	if (take_given(w, &g)) {
		group_step(&g, w->store);
		lock(w);
		give_back(w, &g);
		leave(w);
	}
	if (!waits)
		tux_uninterruptible_leave();
	group_answer(&g);
}

void writers_give(struct writers *w, struct job *j)
{
	lock(w);
	job_push(&w->given, j);
	unlock(w);
	start_routine(w);
}

/* ---- threads ---------------------------------------------------------------------- */

static void enter(struct writers *w)
{
	pthread_mutex_lock(&w->lock);
	w->waiting++;
	while (w->busy)
		pthread_cond_wait(&w->done, &w->lock);
	w->waiting--;
	w->busy = true;
	w->by_routine = false;
	pthread_mutex_unlock(&w->lock);
}

void writers_run(struct writers *w, struct group *g)
{
	while (g->n) {
		enter(w);
		group_step(g, w->store);
		lock(w);
		leave(w);
		group_answer(g);
	}
}

bool writers_busy(struct writers *w)
{
	bool busy;

	lock(w);
	busy = w->busy || w->starts || w->given.first;
	unlock(w);
	return busy;
}
