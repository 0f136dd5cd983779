/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * open - calls that hand out descriptors
 *
 * Nothing here is ours.  But a number that comes back from the kernel was free,
 * so whatever the table says about it is stale: somebody closed it unseen.
 */
#include <stdarg.h>

#include "ground/libc.h"
#include "sock/close.h"

#define MODE(last, mode) \
	do { \
		va_list ap; \
		va_start(ap, last); \
		(mode) = va_arg(ap, mode_t); \
		va_end(ap); \
	} while (0)

HOOK int open(const char *path, int flags, ...)
{
	mode_t mode;

	MODE(flags, mode);
	return close_fresh(libc.open(path, flags, mode));
}

HOOK int open64(const char *path, int flags, ...)
{
	mode_t mode;

	MODE(flags, mode);
	return close_fresh(libc.open64(path, flags, mode));
}

HOOK int openat(int dir, const char *path, int flags, ...)
{
	mode_t mode;

	MODE(flags, mode);
	return close_fresh(libc.openat(dir, path, flags, mode));
}

HOOK int openat64(int dir, const char *path, int flags, ...)
{
	mode_t mode;

	MODE(flags, mode);
	return close_fresh(libc.openat64(dir, path, flags, mode));
}

HOOK int creat(const char *path, mode_t mode)
{
	return close_fresh(libc.creat(path, mode));
}

HOOK int creat64(const char *path, mode_t mode)
{
	return close_fresh(libc.creat64(path, mode));
}

static int fresh_pair(int r, const int fds[2])
{
	if (!r) {
		close_fresh(fds[0]);
		close_fresh(fds[1]);
	}
	return r;
}

HOOK int pipe(int fds[2])
{
	return fresh_pair(libc.pipe(fds), fds);
}

HOOK int pipe2(int fds[2], int flags)
{
	return fresh_pair(libc.pipe2(fds, flags), fds);
}

HOOK int eventfd(unsigned n, int flags)
{
	return close_fresh(libc.eventfd(n, flags));
}
