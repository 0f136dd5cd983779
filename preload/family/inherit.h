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

#include "sock/sock.h"

/* A fork is about to happen.  Its number, for inherit_failed(). */
uint32_t inherit_prepare(void);

/* Fork @n, and it was this thread's, made no child. */
void inherit_failed(uint32_t n);

/* In the child, right after fork. */
void inherit_in_child(void);

/* Counts another process, which gets @s, reached by @fd, among its holders: a candidate
 * is not claimed as long as there are several, and one that is claimed goes back to
 * TCP when this process closes it.  Others need no count, but go on with theirs. */
void inherit_count(struct sock *s, int fd);

/* Another program is about to take over the descriptors.  False, with errno
 * EBUSY: it must not, since a connection on Tux that it would get cannot go
 * back to TCP (sock/pass.h). */
bool inherit_exec(void);

/* It has not: takes back what was left to other processes. */
void inherit_exec_failed(void);

#endif
