/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * write - the calls that send
 */
#include <errno.h>
#include <limits.h>

#include "family/rights.h"
#include "ground/libc.h"
#include "wait/rw.h"

HOOK ssize_t write(int fd, const void *buf, size_t len)
{
	struct iovec iov = { (void *)(uintptr_t)buf, len };
	struct rw r;

	if (!rw_enter(&r, fd))
		return rw_left_sent(&r, libc.write(fd, buf, len), 0);
	return rw_send(&r, &iov, 1, 0);
}

HOOK ssize_t writev(int fd, const struct iovec *iov, int n)
{
	struct rw r;

	if (!rw_enter_vector(&r, fd, iov, n))
		return rw_left_sent(&r, libc.writev(fd, iov, n), 0);
	return rw_send(&r, iov, n, 0);
}

HOOK ssize_t pwritev2(int fd, const struct iovec *iov, int n, off_t at,
		      int flags)
{
	bool ours = at == -1 && !(flags & ~RWF_NOWAIT);
	struct rw r;

	if (!rw_enter_vector(&r, ours ? fd : -1, iov, n))
		return rw_left_sent(&r, libc.pwritev2(fd, iov, n, at, flags),
				    0);
	return rw_send(&r, iov, n, flags & RWF_NOWAIT ? MSG_DONTWAIT : 0);
}

HOOK ssize_t pwritev64v2(int fd, const struct iovec *iov, int n, off64_t at,
			 int flags)
{
	return pwritev2(fd, iov, n, at, flags);
}

HOOK ssize_t send(int fd, const void *buf, size_t len, int flags)
{
	struct iovec iov = { (void *)(uintptr_t)buf, len };
	struct rw r;

	if (!rw_enter(&r, fd))
		return rw_left_sent(&r, libc.send(fd, buf, len, flags), flags);
	return rw_send(&r, &iov, 1, flags);
}

/* A connected stream ignores the address, as the kernel does. */
HOOK ssize_t sendto(int fd, const void *buf, size_t len, int flags,
		    const struct sockaddr *addr, socklen_t alen)
{
	struct iovec iov = { (void *)(uintptr_t)buf, len };
	struct rw r;

	if (!rw_enter(&r, fd))
		return rw_left_sent(&r, libc.sendto(fd, buf, len, flags, addr,
						     alen), flags);
	return rw_send(&r, &iov, 1, flags);
}

HOOK ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
	struct rights rights = { 0 };
	struct rw r;
	ssize_t n;

	if (rw_enter_message(&r, fd, m))
		return rw_send(&r, m->msg_iov, (int)m->msg_iovlen, flags);
	if (m->msg_controllen && !rights_send(&rights, m))
		n = rw_left(&r, -1);
	else
		n = rw_left_sent(&r, libc.sendmsg(fd, m, flags), flags);
	rights_sent(&rights);
	return n;
}

static int write_send_all(struct rw *r, struct mmsghdr *v, unsigned n,
			  int flags)
{
	const struct sock *s = r->s;
	unsigned i;

	for (i = 0; i < n; i++) {
		struct msghdr *m = &v[i].msg_hdr;
		ssize_t k;

		/* Another thread may have given the number to another file. */
		if (i && fd_peek(r->fd) != s)
			break;
		if (i && !rw_enter_message(r, r->fd, m)) {
			rw_left(r, 0);
			break;
		}
		k = rw_send(r, m->msg_iov, (int)m->msg_iovlen, flags);
		if (k < 0)
			return i ? (int)i : -1;
		v[i].msg_len = (unsigned)k;
		/* What follows must not overtake the rest of this one. */
		if ((size_t)k < tux_iov_len(m->msg_iov, (int)m->msg_iovlen))
			return (int)i + 1;
	}
	return (int)i;
}

static int write_left_mmsg(struct rw *r, const struct mmsghdr *v, int n,
			   int flags)
{
	size_t sum = 0;

	for (int i = 0; i < n; i++)
		sum += v[i].msg_len;
	rw_left_sent(r, (ssize_t)sum, flags);
	return n;
}

static bool write_rights_mmsg(struct rights *r, const struct mmsghdr *v,
			      unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (v[i].msg_hdr.msg_controllen &&
		    !rights_send(r, &v[i].msg_hdr))
			return false;
	return true;
}

HOOK int sendmmsg(int fd, struct mmsghdr *v, unsigned n, int flags)
{
	struct rights rights = { 0 };
	struct rw r;
	int sent;

	if (rw_enter_message(&r, n ? fd : -1, &v->msg_hdr))
		return write_send_all(&r, v, n, flags);
	if (!write_rights_mmsg(&rights, v, n))
		sent = (int)rw_left(&r, -1);
	else
		sent = write_left_mmsg(&r, v, libc.sendmmsg(fd, v, n, flags),
				       flags);
	rights_sent(&rights);
	return sent;
}
