/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mask - which signals are blocked, in a routine and beside it
 *
 * The kernel keeps one mask for the network thread.  A routine that changes it
 * keeps its own: it is put aside when the routine leaves, and the thread's own
 * is there again for its turns and for the others.
 */
#ifndef TUX_RUN_MASK_H
#define TUX_RUN_MASK_H

#include <stdint.h>

struct tux_sched;
struct tux_routine;

/* The network thread, before a slice: what its mask is. */
void tux_mask_look(struct tux_sched *s);

/* Some thread has changed its mask outside of routines. */
void tux_mask_changed(void);

/* @r has changed it. */
void tux_mask_own(struct tux_routine *r);

/* @r, which has a mask of its own, leaves, and is back. */
void tux_mask_aside(struct tux_routine *r);
void tux_mask_back(struct tux_routine *r);

/* Puts @mask in place: in the handler of a tick that does not return at once,
 * the mask of the code that it interrupts; in a donor that makes a call of its
 * routine, the routine's.  Which one was there. */
uint64_t tux_mask_put(uint64_t mask);

#endif
