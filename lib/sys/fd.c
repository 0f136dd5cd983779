/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/fd.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/eventfd.h>

#include "sys/sys.h"

/* The kernel's table of descriptors is as long as the highest of them, with 8
 * bytes for each.  Programs keep arrays that are as long as their connections
 * are many, Redis and Memcached among them: our numbers must not push theirs
 * beyond the end. */
enum {
	BASE_MAX = 49152,
	RESERVE_MAX = 4096,	/* 32 KB: each process can afford that */
};

/* A bit for each of ours.  Descriptors are the process's, and so is this; what
 * is not used of it stays untouched. */
static _Atomic uint64_t ours[TUX_FD_MAX / 64];

static uint64_t fd_bit(int fd)
{
	return UINT64_C(1) << (fd % 64);
}

static int fd_keep(int fd)
{
	if (fd >= 0 && fd < TUX_FD_MAX)
		atomic_fetch_or(&ours[fd / 64], fd_bit(fd));
	return fd;
}

bool tux_fd_ours(int fd)
{
	return fd >= 0 && fd < TUX_FD_MAX &&
	       (atomic_load(&ours[fd / 64]) & fd_bit(fd));
}

int tux_fd_next(int fd)
{
	while (fd < TUX_FD_MAX) {
		uint64_t left = atomic_load(&ours[fd / 64]) >> (fd % 64);

		if (left)
			return fd + __builtin_ctzll(left);
		fd = (fd | 63) + 1;
	}
	return TUX_FD_MAX;
}

static long base(void)
{
	struct rlimit l;

	if (tux_sys_nofile(&l) < 0)
		return 3;
	l.rlim_cur = l.rlim_cur / 4 * 3;
	return l.rlim_cur < BASE_MAX ? (long)l.rlim_cur : BASE_MAX;
}

int tux_fd_copy(int fd)
{
	int copy = tux_sys_fcntl(fd, F_DUPFD_CLOEXEC, base());

	/* The upper quarter is full: any number will do. */
	if (copy == -EMFILE || copy == -EINVAL)
		copy = tux_sys_fcntl(fd, F_DUPFD_CLOEXEC, 3);
	return fd_keep(copy);
}

int tux_fd_lift(int fd)
{
	int copy;

	if (fd < 0)
		return fd;
	copy = tux_fd_copy(fd);
	if (copy < 0)
		return fd_keep(fd);
	tux_sys_close(fd);
	return copy;
}

void tux_fd_reserve(void)
{
	if (base() < RESERVE_MAX)
		tux_fd_close(tux_fd_lift(tux_sys_eventfd(EFD_CLOEXEC)));
}

void tux_fd_close(int fd)
{
	if (fd < 0)
		return;
	if (fd < TUX_FD_MAX)
		atomic_fetch_and(&ours[fd / 64], ~fd_bit(fd));
	tux_sys_close(fd);
}
