/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * drive - a thread of the application waits, and runs the loop meanwhile
 */
#ifndef TUX_STACK_DRIVE_H
#define TUX_STACK_DRIVE_H

#include "stack/driver.h"
#include "stack/nap.h"

/* Waits as tux_channel_wait() says, driving if that is the caller's to do; @x
 * without its loop. */
int tux_driver_wait(struct tux_driver *d, struct tux_nap *x, tux_time until);

/* Sleeps, without driving, as tux_channel_wait() says. */
int tux_drive_not(struct tux_nap *x, tux_time until);

#endif
