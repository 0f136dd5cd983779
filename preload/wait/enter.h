/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * enter - is a read or write ours, or the kernel's?
 */
#ifndef TUX_PRELOAD_ENTER_H
#define TUX_PRELOAD_ENTER_H

#include <limits.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/iov.h"
#include "sock/claim.h"
#include "sock/fd.h"

struct rw {
	struct sock *s;		/* with a reference; NULL: not ours */
	int fd;
};

bool rw_enter_slow(struct rw *r, int fd);
void rw_leave_slow(struct rw *r, bool out, size_t n);

/* Is @fd a claimed socket?  Then rw_recv() or rw_send() ends the call.  If not,
 * the kernel's call is the right one, and one of the rw_left*() ends it. */
static inline bool rw_enter(struct rw *r, int fd)
{
	if (fd_peek(fd))
		return rw_enter_slow(r, fd);
	r->s = NULL;
	return false;
}

/* As rw_enter(), for the bytes of a message.  The kernel refuses more than
 * IOV_MAX pieces, and more than SSIZE_MAX bytes, before they reach the socket.
 * They are counted for sockets that are looked after, and for no other file. */
static inline bool rw_enter_message(struct rw *r, int fd,
				    const struct msghdr *m)
{
	return rw_enter(r, fd_peek(fd) && m->msg_iovlen <= IOV_MAX &&
			   tux_iov_len(m->msg_iov, (int)m->msg_iovlen) <=
			   SSIZE_MAX ? fd : -1);
}

/* As rw_enter_message(), for readv() and writev(): no bytes do not reach the
 * socket, either. */
static inline bool rw_enter_vector(struct rw *r, int fd,
				   const struct iovec *iov, int n)
{
	size_t len = fd_peek(fd) && n > 0 && n <= IOV_MAX ?
		     tux_iov_len(iov, n) : 0;

	return rw_enter(r, len && len <= SSIZE_MAX ? fd : -1);
}

/* Hands on what the kernel's call returned: @n.  rw_left() is for calls that
 * have moved no bytes of the stream; the others count what was sent, or
 * received with @flags. */
static inline ssize_t rw_left(struct rw *r, ssize_t n)
{
	if (r->s)
		rw_leave_slow(r, false, 0);
	return n;
}

/* The receiver does not count an urgent byte as one of the stream, and the sender
 * does.  So a connection that has had one stays on TCP. */
static inline ssize_t rw_left_sent(struct rw *r, ssize_t n, int flags)
{
	if (r->s && (flags & MSG_OOB))
		claim_pin(r->fd);
	if (r->s)
		rw_leave_slow(r, true, n > 0 ? (size_t)n : 0);
	return n;
}

static inline ssize_t rw_left_received(struct rw *r, ssize_t n, int flags)
{
	if (r->s)
		rw_leave_slow(r, false,
			      n > 0 && !(flags & MSG_PEEK) ? (size_t)n : 0);
	return n;
}

#endif
