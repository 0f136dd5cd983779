/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pass - sockets that leave our sight
 *
 * A program that gets a socket through exec, through a Unix socket, or as a
 * FILE, reads and writes the kernel's stream.  So that must be the only one.
 */
#ifndef TUX_PRELOAD_PASS_H
#define TUX_PRELOAD_PASS_H

#include <stdbool.h>

#include "base/time.h"
#include "sock/sock.h"
#include "wire/reason.h"

/* Makes @fd plain TCP for good, whatever it was.  False, with errno EBUSY: the
 * peer did not follow, or it does not have the bytes any more that came over Tux and
 * are not read yet. */
bool pass_plain(int fd);

/* As pass_plain(), of claimed @s, reached by @fd, for the reason @why, and waits at
 * most @for_ns.  Signals are deferred. */
bool pass_raw(struct sock *s, int fd, enum tux_reason why, tux_time for_ns);

/* The program resets the connection of @fd, and keeps the socket, which is the
 * kernel's from then on.  The peer of a claimed one is told. */
void pass_reset(int fd);

/* As pass_plain(), for the reason @why. */
bool pass_plain_for(int fd, enum tux_reason why);

/* exec() is about to replace this process by another program. */
bool pass_exec(void);

#endif
