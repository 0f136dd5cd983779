/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sendfile - from a file, by way of a buffer
 */
#include <errno.h>

#include "fd.h"
#include "libc.h"
#include "rw.h"

enum { BUFFER = 16384 };

static ssize_t fill(int in, char *buf, size_t len, const off64_t *at)
{
	return at ? pread64(in, buf, len, *at) : libc.read(in, buf, len);
}

/* What was read but not sent goes back; a file can do that.  A pipe cannot, but
 * then, the kernel's sendfile() does not take pipes. */
static void advance(int in, off64_t *at, ssize_t read, ssize_t sent)
{
	if (at)
		*at += sent;
	else if (sent < read)
		lseek64(in, sent - read, SEEK_CUR);
}

static ssize_t copy(struct rw *r, int in, off64_t *at, size_t len)
{
	char buf[BUFFER];
	size_t done = 0;
	int fd = r->fd;

	while (done < len) {
		size_t want = len - done < BUFFER ? len - done : BUFFER;
		ssize_t n = fill(in, buf, want, at);
		struct iovec iov = { buf, n > 0 ? (size_t)n : 0 };
		ssize_t k;

		if (n <= 0) {
			sock_put(r->s);
			return done ? (ssize_t)done : n;
		}
		k = rw_send(r, &iov, 1, 0);
		advance(in, at, n, k > 0 ? k : 0);
		if (k < 0)
			return done ? (ssize_t)done : k;
		done += (size_t)k;
		if (k < n || done == len)
			return (ssize_t)done;
		if (!rw_enter(r, fd))
			return rw_left(r, 0) + (ssize_t)done;
	}
	sock_put(r->s);
	return (ssize_t)done;
}

HOOK ssize_t sendfile64(int out, int in, off64_t *at, size_t len)
{
	struct rw r;

	if (!rw_enter(&r, out))
		return rw_left(&r, libc.sendfile64(out, in, at, len));
	return copy(&r, in, at, len);
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
 * another way for sockets that cannot. */
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
	n = libc.splice(in, in_at, out, out_at, len, flags);
	return rw_left(&from, rw_left(&to, n));
}
