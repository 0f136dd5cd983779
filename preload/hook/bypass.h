/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bypass - sockets that the program uses past the C library
 *
 * Once a connection has moved, the kernel's socket tells the program nothing.
 * So a socket that the program hands to io_uring or to aio stays on TCP, or
 * goes back to it.  If the preload cannot see which sockets those are, all
 * stay.
 */
#ifndef TUX_PRELOAD_BYPASS_H
#define TUX_PRELOAD_BYPASS_H

#include <stdbool.h>

/* The kernel is about to use @fd by itself: makes a socket plain TCP for good,
 * and the descriptor of an epoll instance readable when it should be.  False,
 * with errno EBUSY: see pass_plain(). */
bool bypass_fd(int fd);

/* As bypass_fd(), for all connections that there are and for all that are still
 * to come.  Waits for the peers of those that have moved for two seconds at
 * most; the others go back later. */
void bypass_all(void);

#endif
