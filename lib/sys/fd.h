/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fd - descriptors of our own in somebody else's process
 *
 * They keep out of the way: at high numbers, so that the low ones, which
 * select() can take and which programs count on, stay the application's.
 */
#ifndef TUX_SYS_FD_H
#define TUX_SYS_FD_H

#include <stdbool.h>

enum { TUX_FD_MAX = 1 << 20 };	/* nobody remembers those above it */

/* A duplicate of @fd at a high number, closed on exec.  -errno. */
int tux_fd_copy(int fd);

/* Moves @fd, ours alone, to a high number and returns that; @fd itself if that
 * is not possible, or if it is negative (an error passed through). */
int tux_fd_lift(int fd);

/* Makes the kernel's table of descriptors long enough for the first of ours, if
 * that takes little memory: with a limit of descriptors below 5000 or so.  In a
 * process with threads the table grows only after an RCU grace period, some
 * 10 ms.  So this is called before there are threads. */
void tux_fd_reserve(void);

/* Closes @fd if it is one. */
void tux_fd_close(int fd);

/* Did tux_fd_copy() or tux_fd_lift() give @fd, and is it open still?  A program
 * that closes all numbers there are must not close ours. */
bool tux_fd_ours(int fd);

/* The lowest of those from @fd on, or TUX_FD_MAX. */
int tux_fd_next(int fd);

#endif
