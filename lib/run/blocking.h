/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * blocking - calls that may block, made while the network thread goes on
 *
 * The routine goes over to the thread that lends it the stack.  There it is a
 * thread like any other: it has the whole stack, the storage of its own that it
 * had before, and can be preempted by the kernel alone.  When the call is over,
 * the thread parks again, and the network thread goes on with the routine.
 */
#ifndef TUX_RUN_BLOCKING_H
#define TUX_RUN_BLOCKING_H

struct tux_donor;
struct tux_routine;

/* The network thread has left @r, which is away: its donor goes on with it.  After
 * tux_sched_end_blocking(), @r stands still instead. */
void tux_blocking_begin(struct tux_routine *r);

/* The network thread: @r was away, and has returned. */
void tux_blocking_is_over(struct tux_routine *r);

/* On the donor: goes on with the routine until tux_blocking_end(). */
void tux_blocking_run(struct tux_donor *d);

/* In such a call: the network thread goes on with what follows. */
void tux_blocking_end(void);

#endif
