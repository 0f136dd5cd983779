/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * names - calls on files by the names of the C library
 *
 * For programs that link this library on purpose, and code in them that knows
 * nothing of libtux, a database engine for example.  Where tux_can_block() says
 * so, the call lets the network and other routines go on, as those of
 * tux_pread(3).  Elsewhere, and of what is no file, it is the next definition:
 * the C library's, or that of a library which has been preloaded.
 */
#undef _FORTIFY_SOURCE			/* has inline functions of these names */
#undef _FILE_OFFSET_BITS		/* gives them others */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tux.h>

#define NAME __attribute__((visibility("default")))

/* Those that end the process if a call would exceed the room that the compiler
 * knows of, or lacks a mode. */
ssize_t __read_chk(int fd, void *p, size_t len, size_t room);
ssize_t __pread_chk(int fd, void *p, size_t len, off_t at, size_t room);
ssize_t __pread64_chk(int fd, void *p, size_t len, off_t at, size_t room);
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int dir, const char *path, int flags);
int __openat64_2(int dir, const char *path, int flags);

/* ---- the next definitions ---- */

#define NAMES(X) \
	X(pread) X(pwrite) X(preadv) X(pwritev) X(read) X(readv) X(write) \
	X(writev) X(fsync) X(fdatasync) X(ftruncate) X(openat) X(close) \
	X(__read_chk) X(__pread_chk) X(__open_2) X(__openat_2)

#define X(name) __typeof__(&(name)) name;
static struct { NAMES(X) } next;
#undef X

/* Before main(), since dlsym() is not for handlers of signals.  Constructors of
 * other libraries may call earlier. */
static __attribute__((constructor)) void names_find(void)
{
#define X(name) next.name = (__typeof__(&(name)))dlsym(RTLD_NEXT, #name);
	NAMES(X)
#undef X
}

#define NEXT(name) (next.name ? next.name : (names_find(), next.name))

/* ---- calls by a thread ---- */

struct names_call {
	int fd;
	const char *path;
	void *p;
	size_t len;
	int n;
	off_t at;
	mode_t mode;
	ssize_t ret;
};

#define CALL(name, ...) \
	static void block_##name(void *arg) \
	{ \
		struct names_call *x = arg; \
\
		x->ret = next.name(__VA_ARGS__); \
	}

CALL(read, x->fd, x->p, x->len)
CALL(readv, x->fd, x->p, x->n)
CALL(write, x->fd, x->p, x->len)
CALL(writev, x->fd, x->p, x->n)
CALL(fsync, x->fd)
CALL(fdatasync, x->fd)
CALL(ftruncate, x->fd, x->at)
CALL(openat, x->fd, x->path, x->n, x->mode)
CALL(close, x->fd)

/* The result of the function. */
static ssize_t by_thread(void (*fn)(void *arg), struct names_call x)
{
	tux_block(fn, &x);
	return x.ret;
}

#define BY_THREAD(name, ...) \
	by_thread(block_##name, (struct names_call){ __VA_ARGS__ })

/* Sockets and pipes are what the program waits for by other means. */
static bool on_file(int fd)
{
	struct statx st;

	return tux_can_block() &&
	       !statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE,
		      &st) &&
	       (S_ISREG(st.stx_mode) || S_ISBLK(st.stx_mode));
}

/* ---- bytes at a place ---- */

NAME ssize_t pread(int fd, void *p, size_t len, off_t at)
{
	return tux_can_block() ? tux_pread(fd, p, len, at) :
				 NEXT(pread)(fd, p, len, at);
}

NAME ssize_t pwrite(int fd, const void *p, size_t len, off_t at)
{
	return tux_can_block() ? tux_pwrite(fd, p, len, at) :
				 NEXT(pwrite)(fd, p, len, at);
}

NAME ssize_t preadv(int fd, const struct iovec *iov, int n, off_t at)
{
	return tux_can_block() ? tux_preadv(fd, iov, n, at) :
				 NEXT(preadv)(fd, iov, n, at);
}

NAME ssize_t pwritev(int fd, const struct iovec *iov, int n, off_t at)
{
	return tux_can_block() ? tux_pwritev(fd, iov, n, at) :
				 NEXT(pwritev)(fd, iov, n, at);
}

/* ---- bytes at the position ---- */

NAME ssize_t read(int fd, void *p, size_t len)
{
	return on_file(fd) ? BY_THREAD(read, .fd = fd, .p = p, .len = len) :
			     NEXT(read)(fd, p, len);
}

NAME ssize_t readv(int fd, const struct iovec *iov, int n)
{
	return on_file(fd) ?
	       BY_THREAD(readv, .fd = fd, .p = (void *)iov, .n = n) :
	       NEXT(readv)(fd, iov, n);
}

NAME ssize_t write(int fd, const void *p, size_t len)
{
	return on_file(fd) ?
	       BY_THREAD(write, .fd = fd, .p = (void *)p, .len = len) :
	       NEXT(write)(fd, p, len);
}

NAME ssize_t writev(int fd, const struct iovec *iov, int n)
{
	return on_file(fd) ?
	       BY_THREAD(writev, .fd = fd, .p = (void *)iov, .n = n) :
	       NEXT(writev)(fd, iov, n);
}

/* ---- files ---- */

NAME int fsync(int fd)
{
	return tux_can_block() ? (int)BY_THREAD(fsync, .fd = fd) :
				 NEXT(fsync)(fd);
}

NAME int fdatasync(int fd)
{
	return tux_can_block() ? (int)BY_THREAD(fdatasync, .fd = fd) :
				 NEXT(fdatasync)(fd);
}

NAME int ftruncate(int fd, off_t len)
{
	return tux_can_block() ?
	       (int)BY_THREAD(ftruncate, .fd = fd, .at = len) :
	       NEXT(ftruncate)(fd, len);
}

NAME int close(int fd)
{
	return on_file(fd) ? (int)BY_THREAD(close, .fd = fd) : NEXT(close)(fd);
}

static int open_at(int dir, const char *path, int flags, mode_t mode)
{
	return tux_can_block() ?
	       (int)BY_THREAD(openat, .fd = dir, .path = path, .n = flags,
			      .mode = mode) :
	       NEXT(openat)(dir, path, flags, mode);
}

/* Is there a mode behind @flags?  (O_TMPFILE is several bits.) */
static bool has_mode(int flags)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
}

NAME int open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list rest;

	va_start(rest, flags);
	if (has_mode(flags))
		mode = va_arg(rest, mode_t);
	va_end(rest);
	return open_at(AT_FDCWD, path, flags, mode);
}

NAME int openat(int dir, const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list rest;

	va_start(rest, flags);
	if (has_mode(flags))
		mode = va_arg(rest, mode_t);
	va_end(rest);
	return open_at(dir, path, flags, mode);
}

NAME int creat(const char *path, mode_t mode)
{
	return open_at(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

/* ---- the same by other names ----
 *
 * Of programs that are compiled for large files, or with _FORTIFY_SOURCE.
 */

_Static_assert(sizeof(off_t) == 8, "off_t is off64_t");

#define SAME(name, as) \
	NAME extern __typeof__(name) name __attribute__((alias(#as)))

SAME(pread64, pread);
SAME(pwrite64, pwrite);
SAME(preadv64, preadv);
SAME(pwritev64, pwritev);
SAME(ftruncate64, ftruncate);
SAME(open64, open);
SAME(openat64, openat);
SAME(creat64, creat);

NAME ssize_t __read_chk(int fd, void *p, size_t len, size_t room)
{
	return len > room ? NEXT(__read_chk)(fd, p, len, room) :
			    read(fd, p, len);
}

NAME ssize_t __pread_chk(int fd, void *p, size_t len, off_t at, size_t room)
{
	return len > room ? NEXT(__pread_chk)(fd, p, len, at, room) :
			    pread(fd, p, len, at);
}

NAME int __open_2(const char *path, int flags)
{
	return has_mode(flags) ? NEXT(__open_2)(path, flags) :
				 open_at(AT_FDCWD, path, flags, 0);
}

NAME int __openat_2(int dir, const char *path, int flags)
{
	return has_mode(flags) ? NEXT(__openat_2)(dir, path, flags) :
				 open_at(dir, path, flags, 0);
}

SAME(__pread64_chk, __pread_chk);
SAME(__open64_2, __open_2);
SAME(__openat64_2, __openat_2);
