/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sched - runs an application's callbacks in routines, a slice at a time
 *
 * A task is work that is queued again and again: a connection with its
 * callbacks.  A routine is a stack, with thread-local storage of its own if
 * routines are to be preempted and the processor allows it.  Tasks share a
 * routine, one after another; one that is preempted, blocks or sleeps in the
 * middle keeps the routine, and the others get another.  So there is a routine
 * for each task that has begun and not ended, and one more for the next task.
 *
 * One thread, "the network thread", calls tux_sched_run(), and between two
 * slices does what else it has to do, on its own stack. All calls belong to
 * that thread, inside a routine or outside, unless a line says "any thread".
 * The FIFO holds tasks that have not begun and routines that can go on. A
 * routine that was preempted, or has yielded, goes there when the next slice
 * begins, behind the tasks that came during its own slice.
 */
#ifndef TUX_RUN_SCHED_H
#define TUX_RUN_SCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/time.h"
#include "run/here.h"
#include "tick/tick.h"

struct tux_sched;
struct tux_routine;
struct tux_task;

/* Its tasks run one at a time, also while one is preempted, blocked or
 * asleep. */
struct tux_strand {
	struct tux_task *busy;		/* in the FIFO, or amidst its work */
	struct tux_list waiting;	/* tasks; the FIFO has none of them */
};

struct tux_task {
	struct tux_list node;
	uint64_t turn;			/* place in the FIFO */
	struct tux_strand *strand;
	/* What it does, in a routine.  May put the task again, or cancel it and
	 * then free it. */
	void (*run)(struct tux_task *);
	uint8_t state;
};

struct tux_sched_opts {
	tux_time slice;			/* 0: 100 us */
	bool preempt;			/* end a slice by a signal */
	size_t stack_len;		/* of a routine; 0: 256 KiB */
	uint32_t routines_max;		/* 0: 1024 */
	/* A line of text, without a newline, about what goes wrong; or NULL. */
	void (*say)(const char *line, void *arg);
	/* Called by any thread: there is something to run again, though nothing
	 * was put and no deadline has come. NULL: the caller of tux_sched_run()
	 * looks anyway. */
	void (*wake)(void *arg);
	void *arg;
};

struct tux_sched_stats {
	uint64_t callbacks;		/* tasks that began to run */
	uint64_t slices;
	tux_tick spent;			/* in them */
	uint64_t preemptions;		/* by a tick, or in tux_sched_leave() */
	uint64_t skipped;		/* ticks that came at a bad moment */
	uint64_t escapes;		/* preemptions while off: see preempt.h */
	uint64_t yields;		/* tux_sched_yield() */
	uint64_t sleeps;
	uint64_t blocks;		/* tux_sched_block() that had to wait */
	uint64_t blocking;		/* tux_sched_blocking() */
	uint64_t overruns;		/* slices that took more than twice their time */
	uint32_t routines;		/* amidst a task */
	uint32_t routines_most;
	uint32_t routines_ever;		/* made */
};

/* ---- outside ---- */

/* -errno. */
int tux_sched_new(struct tux_sched **sp, const struct tux_sched_opts *o);

/* How many routines of @s are away, in calls of tux_sched_blocking(). */
unsigned tux_sched_away(const struct tux_sched *s);

/* From now on no such call of @s begins: its routine stands still. */
void tux_sched_end_blocking(struct tux_sched *s);
bool tux_sched_ends_blocking(const struct tux_sched *s);

/* Routines amidst a task are given up where they stand, and tasks that are
 * queued are forgotten.  Waits for calls of tux_sched_blocking() that have begun.
 * NULL is fine. */
void tux_sched_free(struct tux_sched *s);

/* One slice.  How many tasks and routines could run right away; 0: there is
 * nothing to do until the deadline, a put or a wake. */
unsigned tux_sched_run(struct tux_sched *s);

/* Is a task or a routine queued, and did the last slice take a quarter of its time at
 * most? */
bool tux_sched_is_brief(const struct tux_sched *s);

/* Does a routine of @s, which could go on, have a lock that is not the
 * application's, as far as one knows?  Between slices. */
bool tux_sched_in_critical(const struct tux_sched *s);

/* With @held, no task begins; those that have begun go on. */
void tux_sched_hold(struct tux_sched *s, bool held);

/* The network thread is done with @s: another thread runs the next slice.  If
 * routines have no storage of their own, none may be amidst a task.  If @s has
 * given the thread its alternate stack, @heir, which this thread runs too, has
 * that from now on; NULL: the thread has none any more. */
void tux_sched_part(struct tux_sched *s, struct tux_sched *heir);

/* The network thread, which runs slices of @s, runs those of @after, too, and so on;
 * NULL: of none. */
void tux_sched_link(struct tux_sched *s, struct tux_sched *after);

/* The network thread is about to run code of the program.  Runs routines of @s, and
 * of those linked behind it, that were preempted in libc or an allocator until they
 * are out of it: 16 slices in all, and fewer if they only wait in the kernel.
 * Routines that are still inside go on when the thread waits for a lock, until
 * tux_sched_back(@s) or tux_sched_run(@s). */
void tux_sched_drain(struct tux_sched *s);
void tux_sched_back(struct tux_sched *s);

/* When a routine wants to be woken; TUX_NEVER. */
tux_time tux_sched_deadline(const struct tux_sched *s);

/* Has this process, or one that forked it, ever made one? */
bool tux_sched_ever(void);

/* Outside of routines, is the caller the thread that ran the last slice of @s
 * (before the first: that made @s)?  _is_near: a routine of @s counts, too. */
bool tux_sched_is_near(const struct tux_sched *s);
bool tux_sched_is_here(const struct tux_sched *s);

/* Is the caller the thread that ran the last slice of @s, or a routine on
 * it? */
bool tux_sched_runs_here(const struct tux_sched *s);

/* The number of the thread that ran the last slice of @s; no other thread gets
 * it later. */
uint32_t tux_sched_thread(const struct tux_sched *s);

/* How many routines there may be. */
uint32_t tux_sched_routines_max(const struct tux_sched *s);

/* Have routines storage of their own? */
bool tux_sched_has_storage(const struct tux_sched *s);

/* Are routines preempted?  Fixed at tux_sched_new(), which says why not. */
bool tux_sched_preempts(const struct tux_sched *s);

/* ---- outside and inside ---- */

void tux_strand_init(struct tux_strand *x);

/* Of @x, which outlives it. */
void tux_task_init(struct tux_task *t, struct tux_strand *x,
		   void (*run)(struct tux_task *));

/* To the end of the FIFO.  A task that is there is left where it is; one that
 * runs is queued again when it returns. */
void tux_sched_put(struct tux_sched *s, struct tux_task *t);

/* @t is not queued, and does not run.  On the network thread of its scheduler. */
bool tux_sched_is_idle(const struct tux_task *t);

/* @t is not queued any more, and is not touched after this call if true; it may
 * be called in @t's own run().  False: @t runs, in another routine that was
 * preempted, blocks or sleeps; it will not be queued again. */
bool tux_sched_cancel(struct tux_sched *s, struct tux_task *t);

const struct tux_sched_stats *tux_sched_stats(const struct tux_sched *s);

/* Calls @fn(@arg), which may block.  Inside, another thread does so with the
 * routine's stack, and with its storage, if it has some of its own; to @fn it is
 * outside.  Others run meanwhile. */
void tux_sched_blocking(void (*fn)(void *arg), void *arg);

/* Is the caller in such a call of a routine? */
bool tux_sched_is_lent(void);

/* ---- inside; else they do nothing ---- */

/* To the back of the FIFO. */
void tux_sched_yield(void);

void tux_sched_sleep(tux_time ns);

/* The routine of the caller, for tux_sched_wake(); NULL outside. */
static inline struct tux_routine *tux_sched_self(void)
{
	return tux_here.routine;
}

static inline bool tux_sched_inside(void)
{
	return tux_here.routine;
}

/* Can the caller be left here without harm?  It is in a routine, with
 * preemption on, and not in a handler of a signal on the alternate stack, which
 * there is once for all. */
bool tux_sched_may_leave(void);

/* What tux_sched_opts.arg is for the caller's routine; NULL outside. */
void *tux_sched_arg(void);

/* Waits until somebody has called tux_sched_wake(), or has done so since the
 * last time.  May return early: look again. */
void tux_sched_block(void);

/* The same, but it returns at the time @at at the latest. */
void tux_sched_block_until(tux_time at);

/* Does the caller run a task of @x, in a routine or in a call that one makes by
 * tux_sched_blocking()? */
bool tux_sched_holds(const struct tux_strand *x);

/* Any thread.  The routine is still amidst its task. */
void tux_sched_wake(struct tux_routine *r);

/* How often the caller's routine has been preempted, ever. */
uint64_t tux_sched_preempted(void);

/* ---- any thread ---- */

/* The slow part of tux_sched_leave(): a tick came meanwhile, and acts now. */
void tux_sched_give_way(void);

/* The caller is not preempted between these; they may be nested.  Also outside
 * of routines, where they do nothing. */
static inline void tux_sched_enter(void)
{
	volatile struct tux_here *h = &tux_here;

	h->preempt_count = h->preempt_count + 1;
	__asm__ volatile("" ::: "memory");
}

static inline void tux_sched_leave(void)
{
	volatile struct tux_here *h = &tux_here;

	__asm__ volatile("" ::: "memory");
	h->preempt_count = h->preempt_count - 1;
	if (__builtin_expect(h->pending && !h->preempt_count, 0))
		tux_sched_give_way();
}

#endif
