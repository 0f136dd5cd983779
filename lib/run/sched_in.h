/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sched_in - what the files of the scheduler share
 */
#ifndef TUX_RUN_SCHED_IN_H
#define TUX_RUN_SCHED_IN_H

#include <locale.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "base/heap.h"
#include "run/donors.h"
#include "run/sched.h"
#include "run/switch.h"
#include "tick/tick.h"
#include "tick/watch.h"

enum tux_routine_state {
	TUX_ROUTINE_IDLE,		/* between tasks, wants more */
	TUX_ROUTINE_READY,		/* amidst one, can go on */
	TUX_ROUTINE_ASLEEP,
	TUX_ROUTINE_BLOCKED,
	TUX_ROUTINE_AWAY,		/* on its donor's own thread */
};

struct tux_routine {
	struct tux_donor donor;		/* the first */
	struct tux_sched *sched;
	uint32_t number;
	struct tux_list node;		/* idle or ready */
	uint64_t turn;
	struct tux_heap_node alarm;
	struct tux_switch at;
	uint64_t modes;			/* that each task begins with */
	struct tux_task *task;		/* NULL: none, or cancelled */
	struct tux_strand *strand;	/* of the task that it is amidst */
	enum tux_routine_state state;	/* as it was left */
	uint32_t preempt_count;		/* kept here without storage of its own */
	uint32_t skipped;		/* ticks, in this slice */
	bool in_critical;		/* it left where it may hold a lock that
					 * is not the application's, */
	bool waits;			/* and in a system call that is not over */
	bool strange;			/* with a mask that nobody knows of */
	uint64_t preempted;
	bool localed;			/* the task has a locale of its own, */
	locale_t locale;		/* and found this one */
	bool masked;			/* by a mask of its own: */
	uint64_t mask;			/* as it was left */
	_Atomic uint32_t token;		/* of block and wake */
	struct tux_switch *home;	/* its donor's own context, while away */
	struct tux_routine *woken;	/* the next that was */
};

struct tux_sched {
	struct tux_sched_opts o;
	bool tls;			/* routines have storage of their own */
	bool preempt;
	tux_tick slice, most;		/* a group begins nothing after most */
	tux_tick began;			/* this slice, */
	tux_tick task_began;		/* ... and what it is amidst */
	tux_tick took;			/* time that the last slice took */
	struct tux_watch watch;
	int sig;			/* a tick */
	uint32_t opened_by;		/* the thread that has made it */
	_Atomic uint32_t thread;	/* the network thread's number, or 0; */
	struct tux_switch net;		/* its own context, */
	void *net_stack;		/* its alternate stack, */
	uint64_t mask;			/* and mask of signals, */
	uint32_t mask_changes;		/* at that time of mask.c */
	struct tux_list fresh, ready;	/* the FIFO, in two; by turn; */
	struct tux_routine *last;	/* and the one that will be its last */
	struct tux_list idle;
	unsigned fresh_n, ready_n;
	unsigned in_critical_n;		/* of those that are ready */
	uint64_t turn;
	struct tux_heap asleep;
	struct tux_donors donors;
	_Atomic(struct tux_routine *) woken;
	unsigned away_n;		/* routines */
	bool ends;			/* none goes away any more */
	bool held;			/* no task begins */
	struct tux_sched *after;	/* the next one of the same thread; NULL */
	struct tux_sched_stats stats;
};

/* Gives @line to o.say, if it is set. */
void tux_sched_say(const struct tux_sched *s, const char *line);

/* What the calling thread is called here: neither by the place of its storage,
 * nor by what libc or the kernel call it, since a thread may have them from one
 * that is no more. */
uint32_t tux_sched_number(void);

#endif
