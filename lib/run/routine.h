/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * routine - a stack that is gone to, and left
 */
#ifndef TUX_RUN_ROUTINE_H
#define TUX_RUN_ROUTINE_H

#include "run/sched_in.h"

/* On the donor: says in its storage which routine it is. */
void tux_routine_parks(struct tux_donor *d);

/* On the donor, which ends: it is no routine any more, but a thread. */
void tux_routine_ends(struct tux_donor *d);

/* Goes on with @r until it leaves; @r->state then says how. */
void tux_routine_resume(struct tux_routine *r);

/* In @r, with preemption off: back to the network thread. */
void tux_routine_leave(struct tux_routine *r, enum tux_routine_state state);

/* In @r: leaves for @to.  When another context switches back to @r, errno and the
 * routine's mask are what they were. */
void tux_routine_cross(struct tux_routine *r, struct tux_switch *to);

/* Sets errno of the thread that runs now.  A function of its own, since a compiler
 * looks up once in a function where errno lies.  A routine without storage of its
 * own may be left in one thread and go on in another. */
void tux_routine_set_errno(int err);

/* @r was left as blocked: does it have to wait? If so, from now on the thread
 * that wakes it puts it among the woken. */
bool tux_routine_waits(struct tux_routine *r);

/* The alarm of @r has come, and is off now: does @r go on by it?  If not, it was
 * woken before, and is among the woken. */
bool tux_routine_expires(struct tux_routine *r);

/* Any thread, once: @r, which waits or is away, is among the woken from now on. */
void tux_routine_returns(struct tux_routine *r);

/* @r was among the woken, and is not any more. */
void tux_routine_woken(struct tux_routine *r);

#endif
