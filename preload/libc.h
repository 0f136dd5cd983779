/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libc - the functions behind the ones that this object replaces
 *
 * `libc.read(...)` is what read() would be without us.  Until the constructor
 * has run the entries make bare system calls, because looking a symbol up may
 * allocate memory, and the allocator may be who is calling.
 *
 * A plain read() anywhere in this object is our own; nobody here writes that.
 * (The stack, linked into the same object, makes its system calls itself.)
 */
#ifndef TUX_PRELOAD_LIBC_H
#define TUX_PRELOAD_LIBC_H

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* What a program compiled with _FORTIFY_SOURCE calls instead. */
ssize_t __read_chk(int fd, void *buf, size_t len, size_t size);
ssize_t __recv_chk(int fd, void *buf, size_t len, size_t size, int flags);
ssize_t __recvfrom_chk(int fd, void *buf, size_t len, size_t size, int flags,
		       struct sockaddr *addr, socklen_t *alen);
int __poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t size);
int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
		const sigset_t *mask, size_t size);

/* Every function replaced; preload.map exports the same names. */
#define LIBC_CALLS(X) \
	X(socket) X(socketpair) X(accept) X(accept4) X(bind) X(listen) \
	X(connect) X(shutdown) X(getsockopt) X(setsockopt) \
	X(close) X(close_range) X(closefrom) X(dup) X(dup2) X(dup3) \
	X(fcntl) X(fcntl64) X(ioctl) \
	X(open) X(open64) X(openat) X(openat64) X(creat) X(creat64) \
	X(pipe) X(pipe2) X(eventfd) \
	X(read) X(__read_chk) X(readv) X(preadv2) X(preadv64v2) \
	X(write) X(writev) X(pwritev2) X(pwritev64v2) \
	X(recv) X(__recv_chk) X(recvfrom) X(__recvfrom_chk) \
	X(recvmsg) X(recvmmsg) \
	X(send) X(sendto) X(sendmsg) X(sendmmsg) \
	X(sendfile) X(sendfile64) X(splice) \
	X(poll) X(ppoll) X(__poll_chk) X(__ppoll_chk) X(select) X(pselect) \
	X(epoll_create) X(epoll_create1) X(epoll_ctl) \
	X(epoll_wait) X(epoll_pwait) X(epoll_pwait2) \
	X(fork) X(_Fork) X(execve) X(execv) X(execvp) X(execvpe) X(fexecve) \
	X(_exit) X(_Exit) X(quick_exit) X(daemon) \
	X(fdopen) X(fclose) X(sigaction) X(syscall)

struct libc {
#define X(name) __typeof__(name) *name;
	LIBC_CALLS(X)
#undef X
};

extern struct libc libc;

/* Looks all of them up; does nothing the second time. */
void libc_init(void);

/* Makes -errno of @r what a POSIX call says: -1 and errno. */
ssize_t libc_ret(ssize_t r);

#define HOOK __attribute__((visibility("default")))

#endif
