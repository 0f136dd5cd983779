/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hand_over - which thread of a stack runs which loop
 *
 * The loops of a stack stay with their threads, from one tux_run() or
 * tux_turn() to the next, unless tux_opts.threads_min lets the threads follow
 * the load.  Then some thread that is awake looks every 50 ms how much time
 * each loop has taken, and policy/scale.h says which thread is to run it.  For
 * a look, only thread 0 is woken, and only while there are more threads than
 * the least.
 *
 * A loop moves whole, between two turns, and callbacks that are under way go
 * with it, if their routines have storage of their own.  If not, these may keep
 * the address of what is the thread's.  So then the loop moves when none is
 * under way; and to thread 0, when none may have a lock of libc.  Until then
 * its thread begins none.  After 20 ms, as soon as the thread can look, it
 * gives up, and the next look comes after a second: callbacks that take longer,
 * or wait, keep the loop where it is.
 */
#ifndef TUX_API_HAND_OVER_H
#define TUX_API_HAND_OVER_H

#include "api/threads.h"

/* The loops of @t are there: deals them out.  Nothing is handed over before the
 * first tux_api_hand_over_begin(). */
void tux_api_hand_over_init(struct tux *t);

/* Loops may move from now on, until the call of _end(), which wakes each thread.
 * After that, thread @x calls _leave(), and has what it then has. */
void tux_api_hand_over_begin(struct tux_threads *a);
void tux_api_hand_over_end(struct tux_threads *a);
void tux_api_hand_over_leave(struct tux_thread *x);

/* In thread @x, between turns: takes the loops that others have left to it. */
void tux_api_hand_over_take(struct tux_thread *x);

/* Has it been called, to do so or to end? */
static inline bool tux_api_hand_over_called(const struct tux_thread *x)
{
	return atomic_load_explicit(&x->called, memory_order_relaxed);
}

/* Without loops: waits until it is called, or the end has come. */
void tux_api_hand_over_wait(struct tux_thread *x);

/* Between a turn of each of its loops and its sleep, at @now: gives away what others
 * are to run, and looks, if a look is due.  The thread may have no loop then. */
void tux_api_hand_over_give(struct tux_thread *x, tux_time now);

/* When it is due next. */
tux_time tux_api_hand_over_deadline(const struct tux_thread *x);

#endif
