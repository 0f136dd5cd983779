/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fork - a child by the number of a system call
 */
#ifndef TUX_PRELOAD_HOOK_FORK_H
#define TUX_PRELOAD_HOOK_FORK_H

#include <stdbool.h>

/* Does system call @n with arguments @a make a process with a copy of this one's
 * memory, that goes on where the call returns? */
bool fork_is(long n, const long *a);

/* Makes that call, as syscall(2) does.  The C library's handlers of forks do not
 * run. */
long fork_by_number(long n, const long *a);

#endif
