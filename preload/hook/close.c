/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * close - the calls that close descriptors
 */
#include "sock/close.h"

#include <errno.h>
#include <linux/close_range.h>

#include "ground/libc.h"
#include "ground/process.h"
#include "hook/uring_ring.h"
#include "sock/fd.h"
#include "sock/kind.h"
#include "sys/fd.h"
#include "wait/epoll_fd.h"

/* Is anything kept for @fd that close_forget() would take away?  Its kind is no
 * such thing: what is forgotten is asked for. */
static bool close_kept(int fd)
{
	return fd_peek(fd) || epoll_kept(fd) || uring_find(fd);
}

/* A number that the program was never given is none, to the program. */
HOOK int close(int fd)
{
	kind_forget(fd);
	if (tux_fd_ours(fd))
		return (int)libc_ret(-EBADF);
	if (close_kept(fd) && !process_is_vfork())
		close_forget(fd);
	return libc.close(fd);
}

static void forget_range(unsigned from, unsigned to)
{
	unsigned top = (unsigned)fd_top();

	for (unsigned fd = from; fd < top && fd <= to; fd++)
		close_forget((int)fd);
}

/* In pieces, around what is ours: a vfork child needs it, too (family/spawn.c), and exec
 * closes it. */
static int close_others(unsigned from, unsigned to, int flags)
{
	int r = 0;

	if (!process_is_vfork())
		forget_range(from, to);
	while (!r && from <= to && from < TUX_FD_MAX) {
		unsigned ours = (unsigned)tux_fd_next((int)from);

		if (ours > to)
			break;
		if (ours > from)
			r = libc.close_range(from, ours - 1, flags);
		from = ours + 1;
	}
	return r || from > to ? r : libc.close_range(from, to, flags);
}

HOOK int close_range(unsigned from, unsigned to, int flags)
{
	if ((flags & CLOSE_RANGE_CLOEXEC) || from > to)
		return libc.close_range(from, to, flags);
	return close_others(from, to, flags);
}

HOOK void closefrom(int from)
{
	if (close_others(from < 0 ? 0 : (unsigned)from, ~0u, 0))
		libc.closefrom(from);
}
