/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * syscall - system calls by number
 *
 * A call that has a hook goes there.  All the others are the kernel's.
 */
#include <errno.h>
#include <linux/aio_abi.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "ground/libc.h"
#include "ground/process.h"
#include "hook/bypass.h"
#include "hook/fork.h"
#include "hook/prctl.h"
#include "hook/uring.h"

/* Arguments by number, as what the hook takes. */
#define I(n) ((int)a[n])
#define U(n) ((unsigned)a[n])
#define Z(n) ((size_t)a[n])
#define P(n) ((void *)(uintptr_t)a[n])

#define CALL(name, ...) \
	case SYS_##name: \
		*r = name(__VA_ARGS__); \
		return true;

/* ---- bytes ------------------------------------------------------------ */

static bool call_bytes(long n, const long *a, long *r)
{
	switch (n) {
	CALL(read, I(0), P(1), Z(2))
	CALL(readv, I(0), P(1), I(2))
	CALL(recvfrom, I(0), P(1), Z(2), I(3), P(4), P(5))
	CALL(recvmsg, I(0), P(1), I(2))
	CALL(recvmmsg, I(0), P(1), U(2), I(3), P(4))
	CALL(write, I(0), P(1), Z(2))
	CALL(writev, I(0), P(1), I(2))
	CALL(sendto, I(0), P(1), Z(2), I(3), P(4), (socklen_t)a[5])
	CALL(sendmsg, I(0), P(1), I(2))
	CALL(sendmmsg, I(0), P(1), U(2), I(3))
	CALL(sendfile, I(0), I(1), P(2), Z(3))
	CALL(splice, I(0), P(1), I(2), P(3), Z(4), U(5))
	CALL(preadv2, I(0), P(1), I(2), a[3], I(5))
	CALL(pwritev2, I(0), P(1), I(2), a[3], I(5))
	}
	return false;
}

/* ---- sockets and descriptors ------------------------------------------ */

static bool call_socket(long n, const long *a, long *r)
{
	switch (n) {
	CALL(socket, I(0), I(1), I(2))
	CALL(socketpair, I(0), I(1), I(2), P(3))
	CALL(accept, I(0), P(1), P(2))
	CALL(accept4, I(0), P(1), P(2), I(3))
	CALL(bind, I(0), P(1), (socklen_t)a[2])
	CALL(listen, I(0), I(1))
	CALL(connect, I(0), P(1), (socklen_t)a[2])
	CALL(shutdown, I(0), I(1))
	CALL(getsockopt, I(0), I(1), I(2), P(3), P(4))
	CALL(setsockopt, I(0), I(1), I(2), P(3), (socklen_t)a[4])
	CALL(close, I(0))
	CALL(close_range, U(0), U(1), I(2))
	CALL(dup, I(0))
#ifdef SYS_dup2
	CALL(dup2, I(0), I(1))
#endif
	CALL(dup3, I(0), I(1), I(2))
	CALL(fcntl, I(0), I(1), P(2))
	CALL(ioctl, I(0), (unsigned long)a[1], P(2))
	}
	return false;
}

/* ---- waiting ---------------------------------------------------------- */

/* The sixth argument of pselect6(2). */
struct mask_ref {
	const sigset_t *set;
	size_t len;
};

static const sigset_t *pselect_mask(const struct mask_ref *m)
{
	return m ? m->set : NULL;
}

static bool call_wait(long n, const long *a, long *r)
{
	switch (n) {
#ifdef SYS_poll
	CALL(poll, P(0), (nfds_t)a[1], I(2))
	CALL(select, I(0), P(1), P(2), P(3), P(4))
	CALL(epoll_create, I(0))
	CALL(epoll_wait, I(0), P(1), I(2), I(3))
#endif
	CALL(ppoll, P(0), (nfds_t)a[1], P(2), P(3))
	case SYS_pselect6:
		*r = pselect(I(0), P(1), P(2), P(3), P(4), pselect_mask(P(5)));
		return true;
	CALL(epoll_create1, I(0))
	CALL(epoll_ctl, I(0), I(1), I(2), P(3))
	CALL(epoll_pwait, I(0), P(1), I(2), I(3), P(4))
#ifdef SYS_epoll_pwait2
	CALL(epoll_pwait2, I(0), P(1), I(2), P(3), P(4))
#endif
	}
	return false;
}

/* ---- the kernel's own I/O, and the end -------------------------------- */

/* io_submit(2): each request names a descriptor. */
static long submit_aio(unsigned long ctx, long n, struct iocb **request)
{
	for (long i = 0; i < n; i++)
		if (!bypass_fd((int)request[i]->aio_fildes))
			return -1;
	return libc.syscall(SYS_io_submit, ctx, n, request);
}

static bool call_other(long n, const long *a, long *r)
{
	switch (n) {
	case SYS_io_uring_setup:
		*r = uring_setup(U(0), P(1));
		return true;
	case SYS_io_uring_enter:
		*r = uring_enter(I(0), U(1), U(2), U(3), P(4), Z(5));
		return true;
	case SYS_io_uring_register:
		*r = uring_register(I(0), U(1), P(2), U(3));
		return true;
	case SYS_io_submit:
		*r = submit_aio((unsigned long)a[0], a[1], P(2));
		return true;
	CALL(execve, P(0), P(1), P(2))
	CALL(prctl, I(0), a[1], a[2], a[3], a[4])
	case SYS_seccomp:
		*r = prctl_seccomp(U(0), U(1), P(2));
		return true;
	case SYS_exit_group:
		_exit(I(0));
	}
	return false;
}

/* ---- the call --------------------------------------------------------- */

static bool call_fork(long n, const long *a, long *r)
{
	if (!fork_is(n, a))
		return false;
	*r = fork_by_number(n, a);
	return true;
}

static bool hooked(long n, const long *a, long *r)
{
	return call_bytes(n, a, r) || call_socket(n, a, r) ||
	       call_wait(n, a, r) || call_other(n, a, r) || call_fork(n, a, r);
}

HOOK long syscall(long n, ...)
{
	long a[6], r;
	va_list ap;

	va_start(ap, n);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (!process_is_sandboxed() && hooked(n, a, &r))
		return r;
	return libc.syscall(n, a[0], a[1], a[2], a[3], a[4], a[5]);
}
