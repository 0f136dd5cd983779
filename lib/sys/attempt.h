/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * attempt - system calls that a filter may kill the process for (seccomp(2))
 *
 * A filter that the process was started with, for example by systemd's
 * SystemCallFilter=, cannot be read.  A copy of the process finds out.
 */
#ifndef TUX_SYS_ATTEMPT_H
#define TUX_SYS_ATTEMPT_H

#include <stdbool.h>

/* Has the process a filter of system calls? */
bool tux_filtered(void);

/* Has the process one of the capabilities in @set, of which bit n is CAP_* n? */
bool tux_capable(unsigned long set);

/* Calls @fn, which makes system calls only: in the process itself, or in a copy of
 * it if there is a filter.  What @fn has returned, 0 or -errno; -EPERM if it was
 * killed, or could not be called. */
int tux_attempt(int (*fn)(void));

#endif
