/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * overflow - says so when a routine has used up its stack
 *
 * The page below it faults.  A handler on an alternate stack says which routine
 * that was, and then lets the fault happen again with whatever the process does
 * about faults; other faults go there at once.  What looks at the process then
 * sees the place where it happened.
 */
#ifndef TUX_RUN_OVERFLOW_H
#define TUX_RUN_OVERFLOW_H

/* Installs the handler, in front of the one that is there now. */
void tux_overflow_init(void);

/* Gives the calling thread an alternate stack, if it has none, into *@stack, to
 * be given back there by tux_overflow_close(); else NULL.  -errno. */
int tux_overflow_open(void **stack);

/* In the thread that opened it; in another, the stack just goes. */
void tux_overflow_close(void *stack);

#endif
