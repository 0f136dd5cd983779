/* SPDX-License-Identifier: BSD-2-Clause */
#include "io/fd.h"

#include <errno.h>

#include "io/sys.h"

/* The kernel's table of descriptors is as long as the highest of them. */
enum { BASE_MAX = 49152 };

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
	return copy;
}

int tux_fd_lift(int fd)
{
	int copy;

	if (fd < 0)
		return fd;
	copy = tux_fd_copy(fd);
	if (copy < 0)
		return fd;
	tux_sys_close(fd);
	return copy;
}

void tux_fd_close(int fd)
{
	if (fd >= 0)
		tux_sys_close(fd);
}
