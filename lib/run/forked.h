/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * forked - the child of a fork() in a routine
 *
 * It is a process with one thread, on the routine's stack and with its storage;
 * libc sees to that.  There is no network thread, so no routine either: what is
 * asked of the scheduler there does nothing.
 */
#ifndef TUX_RUN_FORKED_H
#define TUX_RUN_FORKED_H

/* Once in a process, before there are routines.  -errno. */
int tux_forked_init(void);

#endif
