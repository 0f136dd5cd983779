/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * drive - a thread of the application waits, and runs the loop meanwhile
 */
#ifndef TUX_STACK_DRIVE_H
#define TUX_STACK_DRIVE_H

#include "stack/driver.h"
#include "stack/poll.h"

/* Waits as tux_channel_wait() says, and runs the loop meanwhile if no other
 * thread does.  The caller leaves @x->loop NULL. */
int tux_driver_wait(struct tux_driver *d, struct tux_poll *x, tux_time until);

/* Waits as tux_channel_wait() says, without running the loop. */
int tux_passive_wait(struct tux_poll *x, tux_time until);

#endif
