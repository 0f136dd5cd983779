/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * threads - the network threads of a stack
 *
 * Each has a loop, a scheduler and connections of its own: a struct tux.  The
 * program knows the first one, which its own thread runs.  The others belong to
 * threads of the library's, which are there from tux_open() to tux_close() and
 * do nothing unless they have a job.
 *
 * Services and listeners are the first one's.  It accepts for all, and gives each
 * connection to the loop that has the fewest.  So nothing is shared on the way of a
 * packet.
 */
#ifndef TUX_API_THREADS_H
#define TUX_API_THREADS_H

#include <pthread.h>
#include <signal.h>

#include "api/api_in.h"

struct tux_thread {
	struct tux *t;			/* its loop */
	void (*job)(struct tux *t);
	sigset_t mask;			/* for the job: of the thread that has
					 * given it */
	_Atomic uint32_t state;
	pthread_t thread;
};

struct tux_threads {
	unsigned n;			/* with the first, which is no thread of
					 * ours */
	_Atomic uint32_t next;		/* for tux_go() of other threads */
	_Atomic bool run;		/* a job may be under way */
	struct tux_thread at[TUX_THREADS_MAX];
};

/* Starts a thread for @loop, which is one more of @t's.  -ENOMEM, -EAGAIN. */
int tux_api_threads_add(struct tux *t, struct tux *loop);

/* Each thread of the library's calls @job with its loop, and with the caller's mask
 * of signals.  Those that are busy go on with the job that they have. */
void tux_api_threads_do(struct tux *t, void (*job)(struct tux *t));

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
	return i ? t->threads->at[i].t : t;
}

/* Do the threads of the library's run the other loops? */
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

/* The loop that gets a connection of @s which the caller begins; NULL: the caller
 * is on another thread than all connections of @s, which is serial. */
struct tux *tux_api_loop_near(const struct tux_service *s);

/* The loop that gets a connection of @s which was accepted. */
struct tux *tux_api_loop_least(const struct tux_service *s);

/* The loop that gets a call of tux_go(). */
struct tux *tux_api_loop_next(struct tux *t);

#endif
