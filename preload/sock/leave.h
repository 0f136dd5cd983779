/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * leave - a connection is the kernel's from now on
 */
#ifndef TUX_PRELOAD_LEAVE_H
#define TUX_PRELOAD_LEAVE_H

#include "sock/sock.h"
#include "wire/reason.h"

/* @s needs its listener no longer. */
void leave_listener(struct sock *s);

/* @s has come to SOCK_TCP, which was said: no call of it is looked at any more.
 * If the caller holds no reference, @s may be gone. */
void leave_calls(struct sock *s);

/* @s, which is SOCK_CLAIMING by this thread, comes to SOCK_TCP, and @why is
 * said; then as leave_calls().  An end of @s that is asleep in this process has
 * left before. */
void leave_for(struct sock *s, enum tux_reason why);

#endif
