/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loop_busy - what a loop knows of the processor that its thread gets
 */
#ifndef TUX_LOOP_LOOP_BUSY_H
#define TUX_LOOP_LOOP_BUSY_H

#include <stdbool.h>

#include "loop/loop.h"

/* For the thread that drives, once in a while: looks whether the connections are
 * better left to TCP, or may move again (policy/cpu_busy.h).  True: that has
 * changed.  Where the kernel does not tell how long threads wait, nothing
 * changes. */
bool tux_loop_look_busy(struct tux_loop *l);

#endif
