/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inherit - connections that a child, or a new program, gets
 *
 * A fork counts the child among the holders of each candidate (sock/share.h).
 * Exec gives the new program what stays open, as plain TCP, and leaves each
 * candidate that it closes to its other holders.
 */
#ifndef TUX_PRELOAD_INHERIT_H
#define TUX_PRELOAD_INHERIT_H

#include <stdbool.h>
#include <stdint.h>

/* A fork is about to happen.  Its number, for inherit_failed(). */
uint32_t inherit_prepare(void);

/* Fork @n, and it was this thread's, made no child. */
void inherit_failed(uint32_t n);

/* In the child, right after fork. */
void inherit_in_child(void);

/* Another program is about to take over the descriptors.  False, with errno
 * EBUSY: it must not, since a connection on Tux that it would get cannot go
 * back to TCP (sock/pass.h). */
bool inherit_exec(void);

/* It has not: takes back what was left to other processes. */
void inherit_exec_failed(void);

#endif
