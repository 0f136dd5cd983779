/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * anew - the rest of a read or write whose connection goes back to the kernel during
 * the call
 *
 * The rest is moved by calls of the kernel, one after the other, which together do
 * what one call would have done.  So the kernel is told not to wait, and anew_go_on()
 * waits, wherever the kernel would decide otherwise than for the whole: by a time
 * limit that begins anew, by an O_NONBLOCK of now, or because it does not know that
 * a part has been moved already.
 */
#ifndef TUX_PRELOAD_ANEW_H
#define TUX_PRELOAD_ANEW_H

#include "wait/enter.h"
#include "wait/transfer.h"

/* The call for a socket that is claimed again; it waits until @until. */
typedef ssize_t anew_fn(struct rw *r, const struct iovec *iov, int n, int flags,
			tux_time until);

/* Ends the call of @t, which has left (t->left), and drops the reference of @r.
 * The result as of the POSIX call, with errno. */
ssize_t anew_go_on(struct rw *r, struct transfer *t, bool out, anew_fn *as);

#endif
