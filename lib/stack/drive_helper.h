/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * drive_helper - the thread that runs a loop when no thread of the application
 * does
 */
#ifndef TUX_STACK_DRIVE_HELPER_H
#define TUX_STACK_DRIVE_HELPER_H

#include "stack/driver.h"

/* Starts the helper if it does not run yet.  -errno. */
int tux_driver_start(struct tux_driver *d);

/* Ends the helper, if it runs, and waits for that. */
void tux_driver_stop(struct tux_driver *d);

/* At exit: ends the helper, and the driving of application threads that still
 * run, for good.  False: one of them does not let go. */
bool tux_driver_halt(struct tux_driver *d);

#endif
