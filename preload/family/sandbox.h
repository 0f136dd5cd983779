/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sandbox - a program restricts its own system calls (seccomp(2))
 *
 * The stack needs calls that the program may not make itself, in threads to
 * which the filter may apply as well (SECCOMP_FILTER_FLAG_TSYNC), and one that
 * the filter kills is the program's end.  So all connections go back to TCP
 * before the filter is there, the stack ends, and the hooks make no system call
 * of their own from then on.  A filter that the process was started with
 * forbids nothing by itself.
 */
#ifndef TUX_PRELOAD_SANDBOX_H
#define TUX_PRELOAD_SANDBOX_H

/* The process is about to install its first filter.  Takes three seconds at
 * most.  A connection is reset if its peer has not followed by then, if the
 * peer cannot send again what is not read, or if one direction of it has ended
 * on Tux.  A later call does nothing. */
void sandbox_begin(void);

#endif
