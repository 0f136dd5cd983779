/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * critical - code that is not preempted in the middle
 *
 * A routine that is preempted inside malloc or the dynamic linker holds a lock
 * of the process, and other routines would wait for it.  So a tick preempts
 * nothing while the program counter is in the C library, the linker, the vdso,
 * an allocator or the unwinder.  This is only an optimization: a routine that
 * waits for a lock can always be preempted, which is what prevents deadlocks.
 *
 * Ranges are found by looking at what is loaded; an allocator inside the
 * executable has to be named by tux_critical_add().
 */
#ifndef TUX_TICK_CRITICAL_H
#define TUX_TICK_CRITICAL_H

#include <stdbool.h>
#include <stdint.h>

/* Looks at what is loaded, unless that has not changed since the last time.
 * Takes locks of the linker: not in a signal handler, nor in a routine.
 * -ENOMEM; what was known stays. */
int tux_critical_refresh(void);

/* Adds the code in [@start, @end).  As above; -ENOSPC. */
int tux_critical_add(const void *start, const void *end);

/* Is @pc in critical code?  Signal handlers may call it. */
bool tux_critical_has(uintptr_t pc);

#endif
