/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * close - the end of a descriptor
 */
#ifndef TUX_PRELOAD_CLOSE_H
#define TUX_PRELOAD_CLOSE_H

/* @fd is about to be closed, by whatever call, or was closed past the preload:
 * forgets what it named. */
void close_forget(int fd);

/* The kernel has just handed out @fd, which may be -1: what was known of that
 * number is stale.  Returns @fd. */
int close_fresh(int fd);

/* At the end of the process: all connections are closed, as the kernel would,
 * and what is left to send is sent, for a second at most. */
void close_all(void);

#endif
