/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * driver - which thread runs a loop
 *
 * Inline, the thread that waits for its connections runs the loop meanwhile and
 * sleeps in the kernel for both: no second core, no wake-up between threads.
 * Each loop has a helper thread beside it, which
 *
 *   sleeps    as long as another thread runs the loop or sleeps on it: nothing
 *             wakes the helper;
 *   watches   after a thread has released the loop: looks after two
 *             milliseconds whether a thread runs it again, and less and less
 *             often, down to every eight, while threads do;
 *   fills in  when no thread does, so that acknowledgments and timers never
 *             depend on the application; the next thread that waits takes over;
 *   drives    for good if that was asked for, or as long as several threads
 *             wait for the same loop, and a second longer.
 *
 * drive.c is how an application's thread runs the loop while it waits,
 * drive_helper.c is the helper.
 */
#ifndef TUX_STACK_DRIVER_H
#define TUX_STACK_DRIVER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/latch.h"
#include "base/time.h"
#include "loop/loop.h"
#include "stack/spin.h"

struct tux_stack;

enum tux_helper { TUX_SLEEPS, TUX_WATCHES, TUX_FILLS_IN, TUX_DRIVES };

struct tux_driver {
	struct tux_stack *stack;
	struct tux_loop *loop;
	bool dedicated;			/* the helper runs the loop for good */
	bool spare;			/* the thread that ran the loop needs it no
					 * more: see tux_loops_add() */

	_Atomic uint32_t taken;		/* a thread has the loop, maybe asleep */
	_Atomic uint32_t leaves;	/* times that a thread released it */
	_Atomic uint32_t waiters;	/* threads in tux_driver_wait() */
	_Atomic uint32_t crowds;	/* releases while other threads waited */
	_Atomic uint64_t crowd_at;	/* when several threads waited last */

	_Atomic uint32_t helper;	/* enum tux_helper; a futex */
	tux_time watch;			/* until its next look while it watches */
	_Atomic uint32_t helper_sleeps;	/* while it fills in, */
	int helper_fd;			/* on this eventfd of its own */
	_Atomic uint32_t stop;
	struct tux_latch start_latch;
	_Atomic bool started;
	pthread_t thread;

	tux_time fds_at;		/* the last look at descriptors */
	struct tux_spin spin;
};

/* All but d->loop, which must be there before anything else is called. */
void tux_driver_init(struct tux_driver *d, struct tux_stack *s, bool dedicated);

/* The right to run the loop.  False: another thread has it. */
bool tux_driver_take(struct tux_driver *d);
void tux_driver_drop(struct tux_driver *d);

/* Moves the helper from state @from to @to and wakes it.  False if it was not
 * in @from. */
bool tux_helper_move(struct tux_driver *d, uint32_t from, uint32_t to);

enum { TUX_WATCH_MIN_MS = 2, TUX_WATCH_MAX_MS = 8 };

/* The helper has watched for @in; @driven: threads have run the loop meanwhile.
 * For how long does it watch next?  Each look costs two switches of threads.  A
 * look every 2 ms took a tenth of the rate of fifty processes on two
 * processors. */
static inline tux_time tux_watch_next(tux_time in, bool driven)
{
	return driven ? tux_time_min(2 * in, TUX_MSEC(TUX_WATCH_MAX_MS)) :
			TUX_MSEC(TUX_WATCH_MIN_MS);
}

/* One turn, if no thread runs the loop. */
void tux_driver_turn(struct tux_driver *d);

/* Takes the loop for turns of the caller's own.  False: another thread has it;
 * a turn in which the helper fills in is waited for. */
bool tux_driver_acquire(struct tux_driver *d);

/* Gives the loop back; the helper watches from then on.  With @waits,
 * d->waiters counts the caller. */
void tux_driver_release(struct tux_driver *d, bool waits);

/* The loop has work: sees to it that a thread runs it. */
void tux_driver_notice(struct tux_driver *d);

#endif
