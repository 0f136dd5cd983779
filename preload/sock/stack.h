/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stack - the stack of this process, started when it is first needed
 */
#ifndef TUX_PRELOAD_STACK_H
#define TUX_PRELOAD_STACK_H

#include "ground/process.h"
#include "sock/sock.h"

/* preload_stack(), started if need be.  NULL: it cannot start, or not yet; with
 * the reason in *@why, unless @why is NULL. */
struct tux_stack *stack_get(enum tux_reason *why);

/* At exit: sends what is left, for at most @for_ns, once, and if verbose says
 * how the interface stands; then there is no stack. */
void stack_end(tux_time for_ns);

/* The stack ends now, with its threads, and no other is started. */
void stack_leave(void);

/* Before a fork; and in the child, right after it. */
void stack_forks(void);
void stack_forked(void);

#endif
