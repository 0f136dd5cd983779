/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sendfile - from a file, by way of a buffer
 */
#include <errno.h>

#include "ground/buffer.h"
#include "ground/libc.h"
#include "sock/fd.h"
#include "wait/rw.h"

/* From @in at *@at on, which moves by what was sent, by way of @buf. */
static ssize_t sendfile_by(char *buf, struct rw *r, int in, off64_t *at,
			   size_t len)
{
	const struct sock *s = r->s;
	size_t done = 0;
	int fd = r->fd;

	while (done < len) {
		size_t want = len - done < BUFFER_LEN ? len - done : BUFFER_LEN;
		ssize_t n = pread64(in, buf, want, *at);
		struct iovec iov = { buf, n > 0 ? (size_t)n : 0 };
		ssize_t k;

		if (n <= 0) {
			sock_put(r->s);
			return done ? (ssize_t)done : n;
		}
		k = rw_send(r, &iov, 1, 0);
		if (k < 0)
			return done ? (ssize_t)done : k;
		done += (size_t)k;
		*at += k;
		if (k < n || done == len)
			return (ssize_t)done;
		/* Another thread may have given the number to another file. */
		if (fd_peek(fd) != s)
			return (ssize_t)done;
		if (!rw_enter(r, fd))
			return rw_left(r, 0) + (ssize_t)done;
	}
	sock_put(r->s);
	return (ssize_t)done;
}

static ssize_t sendfile_copy(struct rw *r, int in, off64_t *at, size_t len)
{
	char *buf = buffer_take(BUFFER_LEN);
	ssize_t n;

	if (!buf) {
		sock_put(r->s);
		return libc_ret(-ENOMEM);
	}
	n = sendfile_by(buf, r, in, at, len);
	buffer_give(buf, BUFFER_LEN);
	return n;
}

/* A pipe has no place, and the kernel's sendfile() does not take one either. */
static ssize_t copy_here(struct rw *r, int in, size_t len)
{
	off64_t at = lseek64(in, 0, SEEK_CUR);
	ssize_t n;

	if (at < 0) {
		sock_put(r->s);
		return libc_ret(-EINVAL);
	}
	n = sendfile_copy(r, in, &at, len);
	lseek64(in, at, SEEK_SET);
	return n;
}

HOOK ssize_t sendfile64(int out, int in, off64_t *at, size_t len)
{
	struct rw r;

	if (!rw_enter(&r, out))
		return rw_left_sent(&r, libc.sendfile64(out, in, at, len), 0);
	return at ? sendfile_copy(&r, in, at, len) : copy_here(&r, in, len);
}

HOOK ssize_t sendfile(int out, int in, off_t *at, size_t len)
{
	off64_t at64 = at ? *at : 0;
	ssize_t n = sendfile64(out, in, at ? &at64 : NULL, len);

	if (at)
		*at = (off_t)at64;
	return n;
}

/* The kernel would move its own stream's bytes.  Programs that splice have
 * another way for sockets that cannot.  They choose it at the first call: so a
 * candidate for which that call works stays on TCP. */
HOOK ssize_t splice(int in, off64_t *in_at, int out, off64_t *out_at,
		    size_t len, unsigned flags)
{
	struct rw from, to;
	ssize_t n;

	if (rw_enter(&from, in)) {
		sock_put(from.s);
		errno = EINVAL;
		return -1;
	}
	if (rw_enter(&to, out)) {
		sock_put(to.s);
		rw_left(&from, 0);
		errno = EINVAL;
		return -1;
	}
	if (from.s)
		claim_pin(in);
	if (to.s)
		claim_pin(out);
	n = libc.splice(in, in_at, out, out_at, len, flags);
	return rw_left_received(&from, rw_left_sent(&to, n, 0), 0);
}
