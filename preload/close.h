/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * close - the end of a descriptor
 */
#ifndef TUX_PRELOAD_CLOSE_H
#define TUX_PRELOAD_CLOSE_H

/* @fd is about to be closed by somebody else's code (fclose, dup2). */
void close_forget(int fd);

/* @fd was closed behind our back, and may name something else by now. */
void close_stale(int fd);

/* At the end of the process: all connections are closed, as the kernel would,
 * and what is left to send is sent, for a second at most. */
void close_all(void);

#endif
