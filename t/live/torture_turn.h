/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * torture_turn - the part of the network: it must have its turn, and in time
 *
 * Between two slices the loop of a stack would have a turn.  Here it is some
 * arithmetic, with an eye on the clock.  The time between two turns is a slice
 * and what it takes to end it; later than that is an error, unless the kernel
 * says that our threads were waiting for a processor.
 */
#ifndef TUX_TORTURE_TURN_H
#define TUX_TORTURE_TURN_H

#include "base/time.h"

/* Turns are taken by the calling thread. */
void torture_turn_start(tux_time slice);
void torture_turn(void);

/* Turns until now, for those who watch. */
uint64_t torture_turns(void);

/* How long this thread and the one that ends slices have waited for a processor
 * since the start, in sum. */
tux_time torture_turn_waited(void);

/* What the intervals were, in a line on stdout. */
void torture_turn_report(void);

#endif /* TUX_TORTURE_TURN_H */
