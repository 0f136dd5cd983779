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

/* Starts a routine if there is something for it.  Returns false if that fails, for lack
 * of memory: then the caller has to run what was given. */
static bool start_routine(struct writers *w)
{
	bool start;

	lock(w);
	start = w->given.first && !w->starts && !w->busy;
	w->starts |= start;
	unlock(w);
	return !start || !tux_go(w->tux, run_given, w);
}

/* The end of a transaction; the lock is held.  Returns as start_routine() does. */
static bool leave(struct writers *w)
{
	w->busy = false;
	pthread_cond_broadcast(&w->done);
	unlock(w);
	return start_routine(w);
}

/* ---- routines ------------------------------------------------------------ */

/* A transaction is open, or the last one was a routine's and a thread waits: they
 * alternate. */
static bool must_wait(const struct writers *w)
{
	return w->busy || (w->by_routine && w->tickets != w->served);
}

/* Begins a transaction for what was given.  If there is nothing, or if it is a thread's
 * turn, the routine ends; that thread starts one again. */
static bool take_given(struct writers *w, struct group *g)
{
	lock(w);
	w->starts = false;
	while (!must_wait(w) && g->n < w->group && w->given.first)
		g->job[g->n++] = job_pop(&w->given);
	if (g->n) {
		w->busy = w->by_routine = true;
		w->answering++;
	}
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

static void have_answered(struct writers *w)
{
	lock(w);
	w->answering--;
	unlock(w);
}

/* One group, and further ones if no routine can be started for them.  Without a wait for
 * the disk, the routine is not preempted until it has answered. */
static void run_given(void *arg)
{
	struct writers *w = arg;
	bool waits = w->store->mode == STORE_SYNC, started = true;

	do {
		struct group g = { 0 };

		if (!waits)
			tux_uninterruptible_enter();
		if (take_given(w, &g)) {
			group_step(&g, w->store);
			lock(w);
			give_back(w, &g);
			started = leave(w);
			group_answer(&g);
			have_answered(w);
		} else {
			started = true;
		}
		if (!waits)
			tux_uninterruptible_leave();
	} while (!started);
}

void writers_give(struct writers *w, struct job *j)
{
	lock(w);
	job_push(&w->given, j);
	unlock(w);
	if (!start_routine(w))
		run_given(w);
}

/* ---- threads ------------------------------------------------------------- */

static bool is_turn(const struct writers *w, uint64_t ticket)
{
	return !w->busy && ticket == w->served &&
	       (!w->given.first || w->by_routine);
}

static void enter(struct writers *w)
{
	uint64_t ticket;

	pthread_mutex_lock(&w->lock);
	ticket = w->tickets++;
	while (!is_turn(w, ticket))
		pthread_cond_wait(&w->done, &w->lock);
	w->served++;
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
		if (!leave(w))
			run_given(w);
		group_answer(g);
	}
}

bool writers_busy(struct writers *w)
{
	bool busy;

	lock(w);
	busy = w->busy || w->starts || w->answering || w->given.first;
	unlock(w);
	return busy;
}
