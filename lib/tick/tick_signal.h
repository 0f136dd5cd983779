/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tick_signal - the signal that is a tick
 */
#ifndef TUX_TICK_TICK_SIGNAL_H
#define TUX_TICK_TICK_SIGNAL_H

#include <signal.h>

/* Takes a signal that nobody uses, once, and installs @handler for it; which it
 * is, or -ENOENT.  All signals but faults are blocked in the handler, until it
 * returns or puts another mask in place. */
int tux_tick_signal_take(void (*handler)(int, siginfo_t *, void *));

/* Which signal it is, if there is a handler; else 0. */
int tux_tick_signal(void);

/* Lets the signal come to the calling thread. */
void tux_tick_signal_open(void);

#endif
