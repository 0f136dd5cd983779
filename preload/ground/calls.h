/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * calls - the functions that this object replaces
 */
#ifndef TUX_PRELOAD_CALLS_H
#define TUX_PRELOAD_CALLS_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
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

/* Every function replaced; preload.map exports the same names.  Before the
 * constructor, the first are bare system calls (early.c).  The others look the
 * real functions up at once, since no allocator and no library's constructor
 * calls them. */
#define LIBC_CALLS(X) LIBC_EARLY(X) LIBC_LATE(X)

#define LIBC_EARLY(X) \
	X(socket) X(socketpair) X(accept) X(accept4) X(bind) X(listen) \
	X(connect) X(shutdown) X(getsockopt) X(setsockopt) \
	X(close) X(close_range) X(dup) X(dup2) X(dup3) \
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
	X(_exit) X(_Exit) X(quick_exit) X(prctl) X(syscall)

#define LIBC_LATE(X) \
	X(closefrom) X(fork) X(_Fork) X(clone) \
	X(execve) X(execv) X(execvp) X(execvpe) X(fexecve) \
	X(execveat) \
	X(posix_spawn) X(posix_spawnp) X(posix_spawn_file_actions_adddup2) \
	X(popen) X(system) \
	X(fdopen) X(fclose) X(sigaction)

/* Makes -errno of @r what a POSIX call says: -1 and errno. */
static inline ssize_t libc_ret(ssize_t r)
{
	if (r >= 0)
		return r;
	errno = (int)-r;
	return -1;
}

#endif
