/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * driver - which thread runs a loop
 *
 * Inline, the thread that waits for its connections runs the loop meanwhile and
 * sleeps in the kernel for both: no second core, no wake-up between threads.
 * Each loop has a helper thread beside it, which
 *
 *   rests     as long as somebody drives, maybe asleep: nothing wakes it;
 *   watches   after a driver has left for its application: looks every two
 *             milliseconds whether somebody drives again;
 *   fills in  when nobody does, so that acknowledgments and timers never
 *             depend on the application; whoever waits next takes over;
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

enum tux_helper { TUX_RESTS, TUX_WATCHES, TUX_FILLS_IN, TUX_DRIVES };

struct tux_driver {
	struct tux_stack *stack;
	struct tux_loop *loop;
	bool dedicated;			/* the helper drives for good */

	_Atomic uint32_t taken;		/* somebody drives, maybe asleep */
	_Atomic uint32_t leaves;	/* times that an application left */
	_Atomic uint32_t waiters;	/* threads in tux_driver_wait() */
	_Atomic uint32_t crowds;	/* of those, left with others waiting */
	_Atomic uint64_t crowd_at;	/* when several waited last */

	_Atomic uint32_t helper;	/* enum tux_helper; a futex */
	_Atomic uint32_t dozing;	/* it sleeps while filling in ... */
	int doze_fd;			/* ... and on this eventfd, its own */
	_Atomic uint32_t stop;
	struct tux_latch start_latch;
	_Atomic bool started;
	pthread_t thread;

	tux_time fds_at;		/* a driver looked at its descriptors */
	struct tux_spin spin;
};

/* All but d->loop, which must be there before anything else is called. */
void tux_driver_init(struct tux_driver *d, struct tux_stack *s, bool dedicated);

bool tux_driver_take(struct tux_driver *d);	/* false: somebody has it */
void tux_driver_drop(struct tux_driver *d);

/* Moves the helper from state @from to @to and wakes it.  False if it was not
 * in @from. */
bool tux_helper_move(struct tux_driver *d, uint32_t from, uint32_t to);

/* One turn, if nobody drives. */
void tux_driver_turn(struct tux_driver *d);

/* For who drives by himself, turn for turn.  To begin: false if it is another's,
 * which a turn of the helper's that is about to end is not.  And to end: the
 * helper watches from then on; with @waits, the caller is one of the waiters. */
bool tux_driver_board(struct tux_driver *d);
void tux_driver_leave(struct tux_driver *d, bool waits);

/* Something waits for the loop: sees to it that somebody comes for it. */
void tux_driver_notice(struct tux_driver *d);

#endif
