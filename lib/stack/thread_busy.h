/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * thread_busy - whether the calling thread has too little of the processors for
 * its connections to move
 */
#ifndef TUX_STACK_THREAD_BUSY_H
#define TUX_STACK_THREAD_BUSY_H

#include <stdbool.h>

#include "policy/recent.h"
#include "stack/stack.h"

/* The calling thread, which has received what @r says, carries bytes of a
 * connection over TCP.  Should the connection stay there for now
 * (policy/cpu_busy.h)?  Asks the kernel ten times a second at most.  Never true
 * where AF_XDP carries the packets, or where the kernel does not tell how long
 * threads wait. */
bool tux_thread_busy(const struct tux_stack *s, struct tux_recent *r);

#endif
