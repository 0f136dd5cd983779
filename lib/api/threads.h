/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * threads - the network threads of a stack
 *
 * There are as many loops, each with a scheduler and connections of its own: a
 * struct tux.  The program knows the first one.  Thread 0 is the one that runs it,
 * the program's own.  The others are the library's, which are there from tux_open()
 * to tux_close() and do nothing unless they have a job.  A thread may run several
 * loops, or none (hand_over.h).
 *
 * Services and listeners are the first loop's.  It accepts for all, and gives each
 * connection to the loop that has the fewest.  So nothing is shared on the way of a
 * packet.
 */
#ifndef TUX_API_THREADS_H
#define TUX_API_THREADS_H

#include <pthread.h>
#include <signal.h>

#include "api/api_in.h"
#include "policy/scale.h"

struct tux_thread {
	unsigned number;
	struct tux_threads *all;
	void (*job)(struct tux_thread *x);
	_Atomic uint32_t state;
	pthread_t thread;

	/* hand_over.c's */
	struct tux *runs;		/* its loops; NULL: none */
	bool holds;			/* a loop of them waits to leave */
	struct tux *given;		/* under the latch: loops that others have
					 * left to it */
	_Atomic uint32_t called;	/* a futex: there are some, or the end has
					 * come */
};

struct tux_threads {
	unsigned n;			/* with thread 0 */
	struct tux *loop[TUX_THREADS_MAX];
	_Atomic uint32_t next;		/* for tux_go() of other threads */
	_Atomic bool run;		/* a job may be under way, */
	sigset_t mask;			/* of the thread that has given it */

	/* hand_over.c's */
	bool scales;			/* how many threads run is not fixed */
	struct tux_latch latch;		/* of what follows */
	struct tux_scale scale;		/* which thread is to run each loop; */
	struct tux_scale before;	/* as of the look that decided it */
	bool left, stayed;		/* a loop has moved since, and one could
					 * not */
	tux_time looked_at;
	tux_tick seen[TUX_THREADS_MAX];	/* spent by each loop, then */
	_Atomic tux_time look_at;	/* the next look is due */
	_Atomic unsigned moves;		/* loops that are yet to go to another thread, */
	_Atomic tux_time move_until;	/* before that time */
	_Atomic unsigned running;	/* threads that have loops */
	_Atomic uint64_t moved;		/* loops, ever */
	_Atomic bool ends;		/* the threads are to return from their
					 * job */

	struct tux_thread at[TUX_THREADS_MAX];
};

/* Starts a thread for @loop, which is one more of @t's.  -ENOMEM, -EAGAIN. */
int tux_api_threads_add(struct tux *t, struct tux *loop);

/* Each thread of the library's calls @job, with the caller's mask of signals.  Those
 * that are busy go on with the job that they have. */
void tux_api_threads_do(struct tux *t, void (*job)(struct tux_thread *x));

/* Waits until all of them have returned. */
void tux_api_threads_wait(struct tux *t);

/* Ends the threads, which have no job.  The loops are still there. */
void tux_api_threads_end(struct tux *t);

/* How many loops there are, and loop @i. */
static inline unsigned tux_api_loops(const struct tux *t)
{
	return t->threads ? t->threads->n : 1;
}

static inline struct tux *tux_api_loop(struct tux *t, unsigned i)
{
	return i ? t->threads->loop[i] : t;
}

/* The first of the loops that the thread of @t runs. */
static inline struct tux *tux_api_runs(struct tux *t)
{
	struct tux_threads *a = t->first->threads;

	return a ? a->at[atomic_load(&t->thread)].runs : t;
}

/* Do the threads of the library's run the loops that are theirs? */
static inline bool tux_api_threads_run(const struct tux *t)
{
	return t->threads && atomic_load(&t->threads->run);
}

/* The loop of the calling routine, if it is of the same stack as @t; NULL. */
static inline struct tux *tux_api_here(const struct tux *t)
{
	struct tux *here = tux_sched_arg();

	return here && here->first == t->first ? here : NULL;
}

/* Outside of turns: waits until no thread is amidst giving a loop away. */
static inline void tux_api_threads_settle(struct tux_threads *a)
{
	tux_latch_take(&a->latch);
	tux_latch_drop(&a->latch);
}

/* The caller is in no routine: is it thread 0, and @t a loop of that? */
static inline bool tux_api_is_ours(const struct tux *t)
{
	return tux_sched_is_here(t->first->sched) && !atomic_load(&t->thread);
}

/* The loop that gets a connection of @s which the caller begins; NULL: the caller
 * is on another loop than all connections of @s, which is serial. */
struct tux *tux_api_loop_near(const struct tux_service *s);

/* The loop that gets a connection of @s which was accepted. */
struct tux *tux_api_loop_least(const struct tux_service *s);

/* The loop that gets a call of tux_go(). */
struct tux *tux_api_loop_next(struct tux *t);

#endif
