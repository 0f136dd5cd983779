/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hand_over - which thread of a stack runs which loop
 *
 * The loops of a stack stay with their threads, from one tux_run() or
 * tux_turn() to the next, unless tux_opts.threads_min lets the threads follow
 * the load.  Then some thread that is awake measures every 50 ms how much time
 * each loop has taken, and policy/scale.h says which thread is to run it.  For
 * that, only thread 0 is woken, and only while more threads than the least run.
 *
 * A loop moves whole, between two turns, with the callbacks that are under way,
 * if their routines have storage of their own.  But it does not go
 *   - to thread 0, while a routine that could go on may have a lock of libc:
 *     thread 0 also runs code of the program, which may want that lock;
 *   - with storage of the thread's, while a callback is under way, which may
 *     keep an address there;
 *   - while another loop has asked for something (request.h), or thread 0 waits
 *     outside of routines.
 * Until it can go, no callback of the loop begins.  At the first gap between
 * turns after 20 ms, its thread cancels the move, and the next measurement comes
 * a second later.
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

/* Is @x to take loops, or to return? */
static inline bool tux_api_hand_over_called(const struct tux_thread *x)
{
	return atomic_load_explicit(&x->called, memory_order_relaxed);
}

/* Without loops: waits for one, or for the end. */
void tux_api_hand_over_wait(struct tux_thread *x);

/* Between a turn of each of its loops and its sleep, at @now: gives away what others
 * are to run, and looks, if a look is due.  The thread may have no loop then. */
void tux_api_hand_over_give(struct tux_thread *x, tux_time now);

/* When it is due next. */
tux_time tux_api_hand_over_deadline(const struct tux_thread *x);

#endif
