/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * preempt - what a tick does to the routine that it finds
 *
 * A tick is a signal.  Its handler runs on the routine's stack, and leaves for
 * the network thread's from there; when the routine goes on, it returns.  So the
 * kernel keeps the registers, and no mask is carried about.
 *
 * It does nothing if the slice is not over, and puts off what it has to do
 *   - between tux_sched_enter() and tux_sched_leave(), that is, while
 *     preempt_count is not 0: until the outermost leave;
 *   - in critical code (tick/critical.h): until the next tick;
 *   - within itself: a tick may come while another is being looked at.
 * But a routine that waits in a system call amidst critical code may wait for a
 * lock that a preempted routine holds.  It has to go, or no routine would ever
 * run again: at once if preemption is on, after 20 ticks if it is off.  While a
 * routine computes with preemption off, ticks come ever more rarely.  A routine
 * that is found in critical code 200 times in a row has to go as well, because it
 * may stay there for long (clearing memory, for example).
 */
#ifndef TUX_RUN_PREEMPT_H
#define TUX_RUN_PREEMPT_H

/* Installs the handler of ticks, once; which signal it is, or -errno. */
int tux_preempt_init(void);

#endif
