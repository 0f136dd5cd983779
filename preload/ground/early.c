/* SPDX-License-Identifier: BSD-2-Clause */
#include "ground/early.h"

#include <stdarg.h>
#include <sys/syscall.h>

#include "sys/sys.h"

/* syscall() itself is a hook.  Arguments that are not there are not looked at
 * by the kernel either. */
long early_syscall(long n, ...)
{
	long a[6];
	va_list ap;

	va_start(ap, n);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	return libc_ret(tux_sys(n, a[0], a[1], a[2], a[3], a[4], a[5]));
}

/* The old calls are missing on newer architectures; the new ones do. */
#define RAW(type, call, params, ...) \
	type early_##call params \
	{ \
		return (type)early_syscall(__VA_ARGS__); \
	}

RAW(int, socket, (int d, int t, int p), SYS_socket, d, t, p)
RAW(int, socketpair, (int d, int t, int p, int v[2]), SYS_socketpair, d, t, p,
    v)
RAW(int, accept4, (int fd, struct sockaddr *a, socklen_t *n, int f),
    SYS_accept4, fd, a, n, f)
RAW(int, accept, (int fd, struct sockaddr *a, socklen_t *n), SYS_accept4, fd,
    a, n, 0)
RAW(int, bind, (int fd, const struct sockaddr *a, socklen_t n), SYS_bind, fd,
    a, n)
RAW(int, listen, (int fd, int n), SYS_listen, fd, n)
RAW(int, connect, (int fd, const struct sockaddr *a, socklen_t n), SYS_connect,
    fd, a, n)
RAW(int, shutdown, (int fd, int how), SYS_shutdown, fd, how)
RAW(int, getsockopt, (int fd, int l, int o, void *v, socklen_t *n),
    SYS_getsockopt, fd, l, o, v, n)
RAW(int, setsockopt, (int fd, int l, int o, const void *v, socklen_t n),
    SYS_setsockopt, fd, l, o, v, n)

RAW(int, close, (int fd), SYS_close, fd)
RAW(int, close_range, (unsigned a, unsigned b, int f), SYS_close_range, a, b,
    f)
RAW(int, dup, (int fd), SYS_dup, fd)
RAW(int, dup2, (int fd, int to), fd == to ? SYS_fcntl : SYS_dup3, fd,
    fd == to ? F_DUPFD : to, fd == to ? to : 0)
RAW(int, dup3, (int fd, int to, int f), SYS_dup3, fd, to, f)
RAW(int, creat, (const char *p, mode_t m), SYS_openat, AT_FDCWD, p,
    O_CREAT | O_WRONLY | O_TRUNC, m)
RAW(int, creat64, (const char *p, mode_t m), SYS_openat, AT_FDCWD, p,
    O_CREAT | O_WRONLY | O_TRUNC | O_LARGEFILE, m)
RAW(int, pipe, (int v[2]), SYS_pipe2, v, 0)
RAW(int, pipe2, (int v[2], int f), SYS_pipe2, v, f)
RAW(int, eventfd, (unsigned n, int f), SYS_eventfd2, n, f)

RAW(ssize_t, read, (int fd, void *b, size_t n), SYS_read, fd, b, n)
RAW(ssize_t, __read_chk, (int fd, void *b, size_t n, size_t size), SYS_read,
    fd, b, n <= size ? n : size)
RAW(ssize_t, readv, (int fd, const struct iovec *v, int n), SYS_readv, fd, v,
    n)
RAW(ssize_t, write, (int fd, const void *b, size_t n), SYS_write, fd, b, n)
RAW(ssize_t, writev, (int fd, const struct iovec *v, int n), SYS_writev, fd, v,
    n)
RAW(ssize_t, preadv2, (int fd, const struct iovec *v, int n, off_t at, int f),
    SYS_preadv2, fd, v, n, at, 0, f)
RAW(ssize_t, preadv64v2,
    (int fd, const struct iovec *v, int n, off64_t at, int f), SYS_preadv2, fd,
    v, n, at, 0, f)
RAW(ssize_t, pwritev2, (int fd, const struct iovec *v, int n, off_t at, int f),
    SYS_pwritev2, fd, v, n, at, 0, f)
RAW(ssize_t, pwritev64v2,
    (int fd, const struct iovec *v, int n, off64_t at, int f), SYS_pwritev2,
    fd, v, n, at, 0, f)
RAW(ssize_t, recvfrom,
    (int fd, void *b, size_t n, int f, struct sockaddr *a, socklen_t *an),
    SYS_recvfrom, fd, b, n, f, a, an)
RAW(ssize_t, __recvfrom_chk,
    (int fd, void *b, size_t n, size_t size, int f, struct sockaddr *a,
     socklen_t *an), SYS_recvfrom, fd, b, n <= size ? n : size, f, a, an)
RAW(ssize_t, recv, (int fd, void *b, size_t n, int f), SYS_recvfrom, fd, b, n,
    f, NULL, NULL)
RAW(ssize_t, __recv_chk, (int fd, void *b, size_t n, size_t size, int f),
    SYS_recvfrom, fd, b, n <= size ? n : size, f, NULL, NULL)
RAW(ssize_t, recvmsg, (int fd, struct msghdr *m, int f), SYS_recvmsg, fd, m,
    f)
RAW(int, recvmmsg,
    (int fd, struct mmsghdr *m, unsigned n, int f, struct timespec *t),
    SYS_recvmmsg, fd, m, n, f, t)
RAW(ssize_t, sendto,
    (int fd, const void *b, size_t n, int f, const struct sockaddr *a,
     socklen_t an), SYS_sendto, fd, b, n, f, a, an)
RAW(ssize_t, send, (int fd, const void *b, size_t n, int f), SYS_sendto, fd, b,
    n, f, NULL, 0)
RAW(ssize_t, sendmsg, (int fd, const struct msghdr *m, int f), SYS_sendmsg, fd,
    m, f)
RAW(int, sendmmsg, (int fd, struct mmsghdr *m, unsigned n, int f),
    SYS_sendmmsg, fd, m, n, f)
RAW(ssize_t, sendfile, (int out, int in, off_t *at, size_t n), SYS_sendfile,
    out, in, at, n)
RAW(ssize_t, sendfile64, (int out, int in, off64_t *at, size_t n),
    SYS_sendfile, out, in, at, n)
RAW(ssize_t, splice,
    (int in, off64_t *ia, int out, off64_t *oa, size_t n, unsigned f),
    SYS_splice, in, ia, out, oa, n, f)

/* The kernel's own sigset is this long. */
enum { SIGSET_LEN = 8 };

RAW(int, epoll_create1, (int f), SYS_epoll_create1, f)
RAW(int, epoll_ctl, (int ep, int op, int fd, struct epoll_event *e),
    SYS_epoll_ctl, ep, op, fd, e)
RAW(int, epoll_pwait,
    (int ep, struct epoll_event *e, int n, int ms, const sigset_t *s),
    SYS_epoll_pwait, ep, e, n, ms, s, SIGSET_LEN)
RAW(int, epoll_wait, (int ep, struct epoll_event *e, int n, int ms),
    SYS_epoll_pwait, ep, e, n, ms, NULL, SIGSET_LEN)
RAW(int, epoll_pwait2,
    (int ep, struct epoll_event *e, int n, const struct timespec *t,
     const sigset_t *s), SYS_epoll_pwait2, ep, e, n, t, s, SIGSET_LEN)

int early_epoll_create(int n)
{
	return early_epoll_create1(n > 0 ? 0 : -1);
}

int early_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
		const sigset_t *mask)
{
	struct timespec t = { 0 };

	/* The kernel writes the rest of the time into it. */
	if (timeout)
		t = *timeout;
	return (int)early_syscall(SYS_ppoll, fds, n, timeout ? &t : NULL, mask,
			    SIGSET_LEN);
}

int early___ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *t,
		      const sigset_t *mask, size_t size)
{
	return early_ppoll(fds, n <= size / sizeof(*fds) ? n : 0, t, mask);
}

int early_poll(struct pollfd *fds, nfds_t n, int ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000L };

	return early_ppoll(fds, n, ms < 0 ? NULL : &t, NULL);
}

int early___poll_chk(struct pollfd *fds, nfds_t n, int ms, size_t size)
{
	return early_poll(fds, n <= size / sizeof(*fds) ? n : 0, ms);
}

int early_pselect(int n, fd_set *r, fd_set *w, fd_set *e,
		  const struct timespec *timeout, const sigset_t *mask)
{
	struct { const sigset_t *set; size_t len; } m = { mask, SIGSET_LEN };
	struct timespec t = { 0 };

	if (timeout)
		t = *timeout;
	return (int)early_syscall(SYS_pselect6, n, r, w, e, timeout ? &t : NULL, &m);
}

int early_select(int n, fd_set *r, fd_set *w, fd_set *e, struct timeval *tv)
{
	struct timespec t = { 0 };

	if (tv)
		t = (struct timespec){ tv->tv_sec, tv->tv_usec * 1000L };
	return early_pselect(n, r, w, e, tv ? &t : NULL, NULL);
}

/* ---- variadic --------------------------------------------------------- */

#define ARG(type, last, into) \
	do { \
		va_list ap; \
		va_start(ap, last); \
		(into) = va_arg(ap, type); \
		va_end(ap); \
	} while (0)

int early_fcntl(int fd, int cmd, ...)
{
	void *arg;

	ARG(void *, cmd, arg);
	return (int)early_syscall(SYS_fcntl, fd, cmd, arg);
}

int early_fcntl64(int fd, int cmd, ...)
{
	void *arg;

	ARG(void *, cmd, arg);
	return (int)early_syscall(SYS_fcntl, fd, cmd, arg);
}

/* Arguments that an option does not have must be there as well. */
int early_prctl(int option, ...)
{
	long a[4];
	va_list ap;

	va_start(ap, option);
	for (int i = 0; i < 4; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	return (int)early_syscall(SYS_prctl, option, a[0], a[1], a[2], a[3]);
}

int early_ioctl(int fd, unsigned long cmd, ...)
{
	void *arg;

	ARG(void *, cmd, arg);
	return (int)early_syscall(SYS_ioctl, fd, cmd, arg);
}

#define OPEN(name, extra) \
	int early_##name(const char *path, int flags, ...) \
	{ \
		mode_t mode; \
		ARG(mode_t, flags, mode); \
		return (int)early_syscall(SYS_openat, AT_FDCWD, path, \
				    flags | (extra), mode); \
	}

#define OPENAT(name, extra) \
	int early_##name(int dir, const char *path, int flags, ...) \
	{ \
		mode_t mode; \
		ARG(mode_t, flags, mode); \
		return (int)early_syscall(SYS_openat, dir, path, flags | (extra), \
				    mode); \
	}

OPEN(open, 0)
OPEN(open64, O_LARGEFILE)
OPENAT(openat, 0)
OPENAT(openat64, O_LARGEFILE)

/* ---- the end ----------------------------------------------------------- */

void early__exit(int status)
{
	for (;;)
		early_syscall(SYS_exit_group, status);
}

void early__Exit(int status)
{
	early__exit(status);
}

void early_quick_exit(int status)
{
	early__exit(status);
}
