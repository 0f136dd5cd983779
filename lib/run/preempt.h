/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * preempt - what a tick does to the routine that it finds
 *
 * A tick is a signal.  Its handler runs on the routine's stack, and leaves for
 * the network thread's from there; when the routine goes on, it returns.  So the
 * kernel keeps the registers, and no mask is carried about.
 *
 * It does nothing if the slice is not over, and puts off what it has to do
 *   - while a guard is held (tux_sched_enter()): until that is left;
 *   - amidst code that is guarded (run/guard.h): until the next tick;
 *   - within itself: a tick may come while another is being looked at.
 * But whoever waits in a system call amidst guarded code may wait for a lock
 * that a preempted routine holds.  He has to go, or nobody would ever run again:
 * at once if he holds no guard, after a number of ticks if he does.  So has
 * whoever is never found elsewhere: he may be clearing memory for ever.
 */
#ifndef TUX_RUN_PREEMPT_H
#define TUX_RUN_PREEMPT_H

/* Installs the handler of ticks, once; which signal it is, or -errno. */
int tux_preempt_init(void);

#endif
