/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loops - opens the loops of a stack, and chooses one for each connection and for
 * each thread that waits
 *
 * With dedicated threads, all loops are there from the start, and the one with
 * the fewest connections gets the next.
 *
 * Inline, a thread runs the loop of the connections that it waits for.  Two
 * threads that wait for connections of one loop hinder each other: one of them
 * runs the loop, and wakes the other for each packet.  So each thread has a
 * home, a loop that gets the connections that it claims; threads share one where
 * there are more of them than processors.  The first loop is there from the
 * start, the others come when a thread needs one.
 *
 * With tuxd, a process announces Tux in every connection, and most peers may not
 * have it.  So there, over UDP, only the descriptors of the first loop are there
 * from the start; the loop comes with the first connection that is claimed.
 *
 * Threads that wait for an epoll instance run the loop of its first connection,
 * which also gets the connections that join later, claimed by whichever thread.
 *
 * The first loop hears for all: its port is the one that is announced, and it
 * forwards what is for the others.  Over AF_XDP each loop does, for what comes by its
 * queues; an end that has heard nothing may go to the loop that its first packet comes
 * to.
 */
#ifndef TUX_STACK_LOOPS_H
#define TUX_STACK_LOOPS_H

#include <stdbool.h>
#include <stdint.h>

#include "stack/driver.h"
#include "stack/waiter.h"

/* Opens the loops that are there from the start.  -errno. */
int tux_loops_open(struct tux_stack *s);

/* How many there are. */
unsigned tux_loops_n(const struct tux_stack *s);

/* The port that is announced. */
uint16_t tux_loops_port(const struct tux_stack *s);

/* The first loop's driver, which is running from now on; NULL: the loop cannot be
 * opened, or its thread cannot be started. */
struct tux_driver *tux_loops_first(struct tux_stack *s);

/* How many loops there can be that each have a thread of their own.  Asks the kernel, and
 * may call malloc(). */
unsigned tux_loops_max(const struct tux_stack *s);

/* One more loop, if there are fewer than @max, for connections that ask for it by its
 * number, *@n, counted from 1: a spare one, or else a new one.  It is running from now on.
 * NULL: there are so many, or it cannot be opened or run. */
struct tux_driver *tux_loops_add(struct tux_stack *s, unsigned max, unsigned *n);

/* The caller does not run loop @n any more, which may still have connections. */
void tux_loops_spare(struct tux_stack *s, unsigned n);

/* Which of @n loops, with @ends[i] connections each, becomes the home of one
 * more thread, where there may be @max.  @n: a new one. */
unsigned tux_loops_pick(const uint32_t *ends, unsigned n, unsigned max);

/* The driver of the loop that gets a connection which the calling thread
 * claims, counted there from now on; @loop: as in struct tux_end_opts.  NULL:
 * it cannot be opened, or its threads cannot be started. */
struct tux_driver *tux_loops_choose(struct tux_stack *s, unsigned loop);

/* Does the loop that tux_loops_choose() gives, or would any of the dedicated ones,
 * leave its connections to TCP for now, because the processors are busy
 * (policy/cpu_busy.h)?  False if that loop is not there yet. */
bool tux_loops_away(const struct tux_stack *s, unsigned loop, tux_time now);

/* The driver of the loop that the calling thread runs while it waits with @w,
 * or with NULL.  The loop may not be there as long as the driver is not
 * started. */
struct tux_driver *tux_loops_run(struct tux_stack *s,
				 const struct tux_waiter *w);

#endif
