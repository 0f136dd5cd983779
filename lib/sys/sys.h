/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sys - system calls without the C library in between
 *
 * The library may live in a process in which read() and close() are the
 * preload's: what it asks of the kernel for itself must not come back to it.
 * These neither set errno nor are they cancellation points. Each returns what
 * the kernel does: a count or number, or -errno.
 */
#ifndef TUX_SYS_SYS_H
#define TUX_SYS_SYS_H

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)

static inline long tux_sys(long n, long a, long b, long c, long d, long e,
			   long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8),
			   "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

#elif defined(__aarch64__)

static inline long tux_sys(long n, long a, long b, long c, long d, long e,
			   long f)
{
	register long x8 __asm__("x8") = n;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc #0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}

#else
#error "libtux needs the system call sequence of this processor in sys/sys.h"
#endif

#define TUX_SYS(n, a, b, c, d, e, f) \
	tux_sys((n), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), \
		(long)(f))

/* Bytes of a signal set as the kernel has it. */
enum { TUX_SIGSET_LEN = 8 };

/* ---- descriptors ---- */

static inline int tux_sys_close(int fd)
{
	return (int)TUX_SYS(SYS_close, fd, 0, 0, 0, 0, 0);
}

static inline long tux_sys_read(int fd, void *p, size_t len)
{
	return TUX_SYS(SYS_read, fd, p, len, 0, 0, 0);
}

static inline long tux_sys_write(int fd, const void *p, size_t len)
{
	return TUX_SYS(SYS_write, fd, p, len, 0, 0, 0);
}

static inline int tux_sys_fcntl(int fd, int cmd, long arg)
{
	return (int)TUX_SYS(SYS_fcntl, fd, cmd, arg, 0, 0, 0);
}

static inline int tux_sys_eventfd(int flags)
{
	return (int)TUX_SYS(SYS_eventfd2, 0, flags, 0, 0, 0, 0);
}

static inline int tux_sys_nofile(struct rlimit *l)
{
	return (int)TUX_SYS(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, l, 0, 0);
}

/* ---- sockets ---- */

static inline int tux_sys_socket(int domain, int type, int protocol)
{
	return (int)TUX_SYS(SYS_socket, domain, type, protocol, 0, 0, 0);
}

static inline int tux_sys_bind(int fd, const void *sa, socklen_t len)
{
	return (int)TUX_SYS(SYS_bind, fd, sa, len, 0, 0, 0);
}

static inline int tux_sys_listen(int fd, int backlog)
{
	return (int)TUX_SYS(SYS_listen, fd, backlog, 0, 0, 0, 0);
}

/* Nonblocking, closed on exec. */
static inline int tux_sys_accept(int fd)
{
	return (int)TUX_SYS(SYS_accept4, fd, 0, 0, SOCK_NONBLOCK | SOCK_CLOEXEC,
			    0, 0);
}

static inline int tux_sys_connect(int fd, const void *sa, socklen_t len)
{
	return (int)TUX_SYS(SYS_connect, fd, sa, len, 0, 0, 0);
}

static inline int tux_sys_getpeername(int fd, void *sa, socklen_t *len)
{
	return (int)TUX_SYS(SYS_getpeername, fd, sa, len, 0, 0, 0);
}

static inline int tux_sys_getsockname(int fd, void *sa, socklen_t *len)
{
	return (int)TUX_SYS(SYS_getsockname, fd, sa, len, 0, 0, 0);
}

static inline int tux_sys_setsockopt(int fd, int level, int name, const void *v,
				     socklen_t len)
{
	return (int)TUX_SYS(SYS_setsockopt, fd, level, name, v, len, 0);
}

static inline int tux_sys_getsockopt(int fd, int level, int name, void *v,
				     socklen_t *len)
{
	return (int)TUX_SYS(SYS_getsockopt, fd, level, name, v, len, 0);
}

static inline int tux_sys_shutdown(int fd, int how)
{
	return (int)TUX_SYS(SYS_shutdown, fd, how, 0, 0, 0, 0);
}

static inline long tux_sys_send(int fd, const void *p, size_t len, int flags)
{
	return TUX_SYS(SYS_sendto, fd, p, len, flags, 0, 0);
}

static inline long tux_sys_recv(int fd, void *p, size_t len, int flags)
{
	return TUX_SYS(SYS_recvfrom, fd, p, len, flags, 0, 0);
}

static inline int tux_sys_sendmmsg(int fd, struct mmsghdr *m, unsigned n,
				   int flags)
{
	return (int)TUX_SYS(SYS_sendmmsg, fd, m, n, flags, 0, 0);
}

static inline int tux_sys_recvmmsg(int fd, struct mmsghdr *m, unsigned n,
				   int flags)
{
	return (int)TUX_SYS(SYS_recvmmsg, fd, m, n, flags, 0, 0);
}

/* ---- waiting ---- */

static inline int tux_sys_epoll_create(void)
{
	return (int)TUX_SYS(SYS_epoll_create1, EPOLL_CLOEXEC, 0, 0, 0, 0, 0);
}

static inline int tux_sys_epoll_ctl(int epfd, int op, int fd,
				    struct epoll_event *e)
{
	return (int)TUX_SYS(SYS_epoll_ctl, epfd, op, fd, e, 0, 0);
}

/* What is ready now; never waits. */
static inline int tux_sys_epoll_look(int epfd, struct epoll_event *e, int n)
{
	return (int)TUX_SYS(SYS_epoll_pwait, epfd, e, n, 0, 0, 0);
}

/* @t is overwritten with what is left. */
static inline int tux_sys_ppoll(struct pollfd *p, unsigned n,
				struct timespec *t, const sigset_t *mask)
{
	return (int)TUX_SYS(SYS_ppoll, p, n, t, mask, TUX_SIGSET_LEN, 0);
}

/* FUTEX_WAIT, FUTEX_WAKE with FUTEX_PRIVATE_FLAG. */
static inline int tux_sys_futex(const void *at, int op, uint32_t v,
				const struct timespec *t)
{
	return (int)TUX_SYS(SYS_futex, at, op, v, t, 0, 0);
}

static inline void tux_sys_yield(void)
{
	TUX_SYS(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
}

/* For @ns, less than a second; for less, if a signal comes. */
static inline void tux_sys_sleep(uint64_t ns)
{
	struct timespec t = { .tv_nsec = (long)ns };

	TUX_SYS(SYS_nanosleep, &t, 0, 0, 0, 0, 0);
}

/* @old may be NULL. */
static inline void tux_sys_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	TUX_SYS(SYS_rt_sigprocmask, how, set, old, TUX_SIGSET_LEN, 0, 0);
}

/* ---- the rest ---- */

static inline long tux_sys_getrandom(void *p, size_t len)
{
	return TUX_SYS(SYS_getrandom, p, len, 0, 0, 0, 0);
}

/* @usage: a struct rusage. */
static inline int tux_sys_getrusage(int of, void *usage)
{
	return (int)TUX_SYS(SYS_getrusage, of, usage, 0, 0, 0, 0);
}

/* How many processors the thread may use. */
static inline unsigned tux_sys_cpus(void)
{
	uint64_t mask[128] = { 0 };
	unsigned i, n = 0;

	TUX_SYS(SYS_sched_getaffinity, 0, sizeof(mask), mask, 0, 0, 0);
	for (i = 0; i < 128; i++)
		n += (unsigned)__builtin_popcountll(mask[i]);
	return n;
}

#endif
