/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * torture_turn - the part of the network: it must have its turn, and in time
 *
 * Between two slices the loop of a stack would have a turn.  Here it is some
 * arithmetic, with an eye on the clock.  The time between two turns is a slice
 * and what it takes to end it.  A turn that comes later is late, unless the
 * kernel says that our threads were waiting for a processor, or a routine that
 * it was in a call for which the kernel stops the thread: a fork, or set*id,
 * which waits for each thread of the process.
 */
#ifndef TUX_TORTURE_TURN_H
#define TUX_TORTURE_TURN_H

#include <stdbool.h>

#include "base/time.h"

/* Turns are taken by the calling thread.  Late ones are counted, and with
 * @in_time they are errors. */
void torture_turn_start(tux_time slice, bool in_time);
void torture_turn(void);

/* A call that stops the thread took @ns; elsewhere than in a routine that is no
 * matter. */
void torture_turn_stopped(tux_time ns);

/* Turns until now, for those who watch. */
uint64_t torture_turns(void);

/* What the intervals were, and how many turns were late, on stdout. */
void torture_turn_report(void);

#endif /* TUX_TORTURE_TURN_H */
