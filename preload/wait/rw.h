/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rw - bytes in and out of a claimed socket, as the kernel's calls would
 *
 * A hook reads:
 *
 *	struct rw r;
 *
 *	if (!rw_enter(&r, fd))
 *		return rw_left_received(&r, libc.read(fd, buf, len), 0);
 *	return rw_recv(&r, &iov, 1, 0);
 */
#ifndef TUX_PRELOAD_RW_H
#define TUX_PRELOAD_RW_H

#include <sys/uio.h>

#include "wait/enter.h"

/* recv() and send() with vectors; the result as of the POSIX call, with errno.
 * They drop the reference. */
ssize_t rw_recv(struct rw *r, const struct iovec *iov, int n, int flags);
ssize_t rw_send(struct rw *r, const struct iovec *iov, int n, int flags);

#endif
