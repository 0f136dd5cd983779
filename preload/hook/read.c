/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * read - the calls that receive
 */
#include <errno.h>
#include <limits.h>

#include "base/iov.h"
#include "family/rights.h"
#include "ground/libc.h"
#include "wait/rw.h"

enum { SCRATCH = 16384, SCRATCHES = 16 };

/* Urgent bytes and queued errors are beside the stream: the kernel's affair. */
static int stream_fd(int fd, int flags)
{
	return flags & (MSG_OOB | MSG_ERRQUEUE) ? -1 : fd;
}

/* On TCP, MSG_TRUNC throws the bytes away instead of storing them: all go to
 * the same place. */
static ssize_t discard(struct rw *r, size_t len, int flags)
{
	static char scratch[SCRATCH];	/* never read */
	struct iovec iov[SCRATCHES];
	int n = 0;

	do {
		iov[n].iov_base = scratch;
		iov[n].iov_len = len < SCRATCH ? len : SCRATCH;
		len -= iov[n++].iov_len;
	} while (len && n < SCRATCHES);
	return rw_recv(r, iov, n, flags & ~MSG_TRUNC);
}

/* A recv() of no bytes waits for one, and reports errors, as the kernel's does.
 * Also as there, it is no error if a time limit or a signal ends the wait.  A
 * read() of none does not wait. */
static ssize_t recv_none(struct rw *r, int flags)
{
	bool waits = !(flags & MSG_DONTWAIT) && !r->s->nonblock;
	char c;
	struct iovec iov = { &c, 1 };
	ssize_t n = rw_recv(r, &iov, 1, (flags & MSG_DONTWAIT) | MSG_PEEK);

	if (n < 0 && waits && (errno == EAGAIN || errno == EINTR))
		return 0;
	return n > 0 ? 0 : n;
}

static ssize_t recv_buf(struct rw *r, void *buf, size_t len, int flags)
{
	struct iovec iov = { buf, len };

	if (!len)
		return recv_none(r, flags);
	if (flags & MSG_TRUNC)
		return discard(r, len, flags);
	return rw_recv(r, &iov, 1, flags);
}

static ssize_t read_buf(struct rw *r, void *buf, size_t len)
{
	struct iovec iov = { buf, len };

	return rw_recv(r, &iov, 1, 0);
}

HOOK ssize_t read(int fd, void *buf, size_t len)
{
	struct rw r;

	/* In the kernel, a read() of no bytes does not reach the socket. */
	if (!rw_enter(&r, len ? fd : -1))
		return rw_left_received(&r, libc.read(fd, buf, len), 0);
	return read_buf(&r, buf, len);
}

HOOK ssize_t __read_chk(int fd, void *buf, size_t len, size_t size)
{
	struct rw r;

	/* libc's ends the process, with its message, if @len is too long. */
	if (!rw_enter(&r, len && len <= size ? fd : -1))
		return rw_left_received(&r, libc.__read_chk(fd, buf, len, size),
					0);
	return read_buf(&r, buf, len);
}

HOOK ssize_t readv(int fd, const struct iovec *iov, int n)
{
	struct rw r;

	if (!rw_enter_vector(&r, fd, iov, n))
		return rw_left_received(&r, libc.readv(fd, iov, n), 0);
	return rw_recv(&r, iov, n, 0);
}

/* An offset of -1 is "where the file stands": all that a socket allows. */
HOOK ssize_t preadv2(int fd, const struct iovec *iov, int n, off_t at,
		     int flags)
{
	bool ours = at == -1 && !(flags & ~RWF_NOWAIT);
	struct rw r;

	if (!rw_enter_vector(&r, ours ? fd : -1, iov, n))
		return rw_left_received(&r, libc.preadv2(fd, iov, n, at, flags),
					0);
	return rw_recv(&r, iov, n, flags & RWF_NOWAIT ? MSG_DONTWAIT : 0);
}

HOOK ssize_t preadv64v2(int fd, const struct iovec *iov, int n, off64_t at,
			int flags)
{
	return preadv2(fd, iov, n, at, flags);
}

HOOK ssize_t recv(int fd, void *buf, size_t len, int flags)
{
	struct rw r;

	if (!rw_enter(&r, stream_fd(fd, flags)))
		return rw_left_received(&r, libc.recv(fd, buf, len, flags),
					flags);
	return recv_buf(&r, buf, len, flags);
}

HOOK ssize_t __recv_chk(int fd, void *buf, size_t len, size_t size, int flags)
{
	struct rw r;

	if (!rw_enter(&r, len <= size ? stream_fd(fd, flags) : -1))
		return rw_left_received(&r, libc.__recv_chk(fd, buf, len, size,
							    flags), flags);
	return recv_buf(&r, buf, len, flags);
}

/* The caller knows the peer of a stream: the kernel stores no address
 * either. */
static ssize_t recv_from(struct rw *r, void *buf, size_t len, int flags,
			 struct sockaddr *addr, socklen_t *alen)
{
	ssize_t n = recv_buf(r, buf, len, flags);

	if (n >= 0 && addr && alen)
		*alen = 0;
	return n;
}

HOOK ssize_t recvfrom(int fd, void *restrict buf, size_t len, int flags,
		      struct sockaddr *addr, socklen_t *restrict alen)
{
	struct rw r;

	if (!rw_enter(&r, stream_fd(fd, flags)))
		return rw_left_received(&r, libc.recvfrom(fd, buf, len, flags,
							   addr, alen), flags);
	return recv_from(&r, buf, len, flags, addr, alen);
}

HOOK ssize_t __recvfrom_chk(int fd, void *buf, size_t len, size_t size,
			    int flags, struct sockaddr *addr, socklen_t *alen)
{
	struct rw r;

	if (!rw_enter(&r, len <= size ? stream_fd(fd, flags) : -1))
		return rw_left_received(&r, libc.__recvfrom_chk(fd, buf, len,
								 size, flags,
								 addr, alen),
					flags);
	return recv_from(&r, buf, len, flags, addr, alen);
}

static ssize_t recv_parts(struct rw *r, const struct msghdr *m, int flags)
{
	size_t len = tux_iov_len(m->msg_iov, (int)m->msg_iovlen);

	if (!len)
		return recv_none(r, flags);
	if (flags & MSG_TRUNC)
		return discard(r, len, flags);
	return rw_recv(r, m->msg_iov, (int)m->msg_iovlen, flags);
}

static ssize_t recv_msg(struct rw *r, struct msghdr *m, int flags)
{
	ssize_t n = recv_parts(r, m, flags & ~MSG_CMSG_CLOEXEC);

	if (n >= 0) {
		m->msg_namelen = 0;
		m->msg_controllen = 0;
		m->msg_flags = 0;
	}
	return n;
}

HOOK ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
	struct rw r;
	ssize_t n;

	if (rw_enter_message(&r, stream_fd(fd, flags), m))
		return recv_msg(&r, m, flags);
	n = rw_left_received(&r, libc.recvmsg(fd, m, flags), flags);
	if (n >= 0 && m->msg_controllen)
		rights_received(m);
	return n;
}

static int read_left_mmsg(struct rw *r, const struct mmsghdr *v, int n,
			  int flags)
{
	size_t sum = 0;

	for (int i = 0; i < n; i++) {
		sum += v[i].msg_len;
		if (v[i].msg_hdr.msg_controllen)
			rights_received(&v[i].msg_hdr);
	}
	rw_left_received(r, (ssize_t)sum, flags);
	return n;
}

/* Each message is a recvmsg(); only the first one waits, if so asked.  @timeout
 * is looked at between two, as the kernel does: so, of a stream, hardly. */
HOOK int recvmmsg(int fd, struct mmsghdr *v, unsigned n, int flags,
		  struct timespec *timeout)
{
	int one = flags & ~MSG_WAITFORONE;
	const struct sock *s;
	struct rw r;
	unsigned i;

	if (!rw_enter_message(&r, n ? stream_fd(fd, flags) : -1, &v->msg_hdr))
		return read_left_mmsg(&r, v, libc.recvmmsg(fd, v, n, flags,
							   timeout), flags);
	s = r.s;
	for (i = 0; i < n; i++) {
		ssize_t k;

		/* Another thread may have given the number to another file. */
		if (i && fd_peek(fd) != s)
			break;
		if (i && !rw_enter_message(&r, fd, &v[i].msg_hdr)) {
			rw_left(&r, 0);
			break;
		}
		k = recv_msg(&r, &v[i].msg_hdr, one);
		if (k < 0)
			return i ? (int)i : -1;
		v[i].msg_len = (unsigned)k;
		if (flags & MSG_WAITFORONE)
			one |= MSG_DONTWAIT;
		if (!k)
			return (int)i + 1;
	}
	return (int)i;
}
