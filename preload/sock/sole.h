/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sole - is a descriptor the only one of its connection, in all processes?
 *
 * The kernel counts the descriptors and the messages that hold a connection,
 * and tuxd's programs tell (handshake/mark.h).
 */
#ifndef TUX_PRELOAD_SOLE_H
#define TUX_PRELOAD_SOLE_H

#include <stdbool.h>

#include "sock/sock.h"

/* A thread is about to send descriptors, or has, @n times.  Until the kernel
 * has taken them, it does not count them, so the count is not believed. */
void sole_sending(void);
void sole_sent(unsigned n);

/* Is @fd the only descriptor of candidate @s, and no message brings another?
 * And has no process closed a direction, asked for the key, or set what needs
 * plain TCP? */
bool sole_is(const struct sock *s, int fd);

/* Does the kernel say that others have @s, too?  False also if it does not say. */
bool sole_is_not(const struct sock *s, int fd);

/* In a child, right after fork. */
void sole_forked(void);

#endif
