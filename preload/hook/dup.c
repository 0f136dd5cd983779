/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dup - more descriptors for the same, and what they all share
 */
#include <errno.h>
#include <stdarg.h>

#include "ground/libc.h"
#include "ground/process.h"
#include "sock/claim.h"
#include "sock/close.h"
#include "sock/fd.h"
#include "sock/kind.h"
#include "sock/path.h"
#include "sys/defer.h"
#include "wait/epoll_fd.h"

/* The kernel has made @to from @fd. */
static int duped(int fd, int to)
{
	int saved = errno;
	struct sock *s;

	if (to < 0)
		return to;
	if (process_is_vfork()) {
		/* It may exec with it (family/spawn.c). */
		if (to < fd_limit())
			fd_seen(to);
		return to;
	}
	tux_defer_enter();
	close_fresh(to);
	if (kind_left(fd))
		kind_leave(to);
	s = sock_get(fd);
	if (s) {
		fd_add(to, s);
		sock_put(s);
	}
	epoll_duped_fd(fd, to);
	tux_defer_leave();
	errno = saved;
	return to;
}

/* dup2(@fd, @to) will close @to: unless it fails. */
static void make_way(int fd, int to)
{
	int saved = errno;

	if (fd != to && !process_is_sandboxed() && !process_is_vfork() &&
	    libc.fcntl(fd, F_GETFD) >= 0)
		close_forget(to);
	errno = saved;
}

HOOK int dup(int fd)
{
	return duped(fd, libc.dup(fd));
}

HOOK int dup2(int fd, int to)
{
	int r;

	if (fd == to)
		return libc.dup2(fd, to);
	make_way(fd, to);
	/* Busy while another thread is about to open @to. */
	do
		r = libc.dup2(fd, to);
	while (r < 0 && errno == EBUSY);
	return duped(fd, r);
}

HOOK int dup3(int fd, int to, int flags)
{
	make_way(fd, to);
	return duped(fd, libc.dup3(fd, to, flags));
}

/* ---- fcntl and ioctl -------------------------------------------------- */

static void set_nonblock(int fd, bool on)
{
	struct sock *s = fd_peek(fd) ? sock_get(fd) : NULL;

	if (!s)
		return;
	atomic_store(&s->nonblock, on);
	sock_put(s);
}

static int fcntl_done(int fd, int cmd, void *arg, int r)
{
	uintptr_t flags = (uintptr_t)arg;

	if (r < 0)
		return r;
	if (cmd == F_DUPFD || cmd == F_DUPFD_CLOEXEC)
		return duped(fd, r);
	if (cmd == F_SETFL && fd_peek(fd) && !process_is_vfork()) {
		set_nonblock(fd, flags & O_NONBLOCK);
		if (flags & O_ASYNC)
			claim_pin(fd);
	}
	return r;
}

HOOK int fcntl(int fd, int cmd, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, cmd);
	arg = va_arg(ap, void *);
	va_end(ap);
	return fcntl_done(fd, cmd, arg, libc.fcntl(fd, cmd, arg));
}

HOOK int fcntl64(int fd, int cmd, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, cmd);
	arg = va_arg(ap, void *);
	va_end(ap);
	return fcntl_done(fd, cmd, arg, libc.fcntl64(fd, cmd, arg));
}

static int ask_count(struct sock *s, int fd, unsigned long cmd, int *n)
{
	int r = cmd == FIONREAD ? path_readable(s, fd) : path_unsent(s, fd);

	sock_put(s);
	if (r < 0)
		return (int)libc_ret(r);
	*n = r;
	return 0;
}

HOOK int ioctl(int fd, unsigned long cmd, ...)
{
	struct sock *s;
	va_list ap;
	void *arg;
	int r;

	va_start(ap, cmd);
	arg = va_arg(ap, void *);
	va_end(ap);
	if ((cmd == FIONREAD || cmd == TIOCOUTQ) && (s = sock_claimed(fd)))
		return ask_count(s, fd, cmd, arg);
	r = libc.ioctl(fd, cmd, arg);
	if (!r && cmd == FIONBIO)
		set_nonblock(fd, *(int *)arg != 0);
	if (!r && cmd == FIOASYNC && *(int *)arg)
		claim_pin(fd);
	return r;
}
