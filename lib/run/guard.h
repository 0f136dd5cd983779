/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guard - code that is not preempted in the middle
 *
 * Whoever is stopped inside malloc or the dynamic linker holds a lock of the
 * process, and others would wait for it on the network thread.  So a tick is
 * not used while the program counter is in the C library, the linker, the vdso,
 * an allocator or the unwinder.  (That is for speed.  What keeps us from a
 * deadlock is that who waits for a lock can always be preempted.)
 *
 * Ranges are found by looking at what is loaded; an allocator inside the
 * executable has to be named by tux_guard_add().
 */
#ifndef TUX_RUN_GUARD_H
#define TUX_RUN_GUARD_H

#include <stdbool.h>
#include <stdint.h>

/* Looks at what is loaded, unless that has not changed since the last time.
 * Takes locks of the linker: not in a signal handler, nor in a routine.
 * -ENOMEM; what was known stays. */
int tux_guard_refresh(void);

/* Code of one's own, [@start, @end).  As above; -ENOSPC. */
int tux_guard_add(const void *start, const void *end);

/* Is @pc in any of them?  In a signal handler, too. */
bool tux_guard_has(uintptr_t pc);

#endif
