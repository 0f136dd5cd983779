/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls on files.  The ring makes those for which no thread has to be woken,
 * and which it makes as the C library would: reads that are short, and what
 * bypasses the page cache.  A thread makes the others, and those that the ring
 * gives back.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/ring.h"

enum {
	LONGEST = 0x7ffff000,		/* that Linux transfers in one call */
	SHORT = 128 * 1024,		/* copied in 10 us or so */
};

struct transfer {
	int fd;
	void *p;			/* bytes, or a vector of them, of */
	size_t len;			/* so many bytes, or pieces */
	off_t at;
	ssize_t ret;
};

/* ---- the ring ---- */

/* A function of its own, as the thread may have changed: a compiler looks up
 * once in a function where errno lies. */
static __attribute__((noinline)) ssize_t file_result(ssize_t ret)
{
	if (ret >= 0)
		return ret;
	errno = (int)-ret;
	return -1;
}

/* The ring would take no notice of the position where there is none, and takes
 * one of -1 for the position of the file. */
static bool has_place(int fd, off_t at)
{
	struct statx st;

	return at >= 0 && lseek(fd, 0, SEEK_CUR) >= 0 &&
	       !statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE,
		      &st) &&
	       (S_ISREG(st.stx_mode) || S_ISBLK(st.stx_mode));
}

/* More than can be counted, or too many: more than the ring takes. */
static size_t length_of(const struct iovec *iov, size_t n)
{
	size_t i, len = 0;

	if (n > IOV_MAX)
		return SIZE_MAX;
	for (i = 0; i < n; i++)
		if (__builtin_add_overflow(len, iov[i].iov_len, &len))
			return SIZE_MAX;
	return len;
}

/* What goes through the page cache, a worker of the kernel's would write.  That
 * takes longer than a thread of ours, and a write that was begun and goes on
 * there would be two, with another record between them (O_APPEND). */
static bool needs_no_thread(int fd, enum tux_ring_op op, size_t len)
{
	bool reads = op == TUX_RING_READ || op == TUX_RING_READV;

	return (reads && len <= SHORT) ||
	       (fcntl(fd, F_GETFL) & (O_DIRECT | O_APPEND)) == O_DIRECT;
}

/* Only where there is a ring is the vector looked at: elsewhere the call itself
 * says what is wrong with it. */
static bool by_ring(struct transfer *x, enum tux_ring_op op)
{
	bool pieces = op == TUX_RING_READV || op == TUX_RING_WRITEV;
	struct tux *t = tux_api_ring_of();
	struct tux_ring_call call = {
		.op = op, .fd = x->fd, .p = x->p, .len = (uint32_t)x->len,
		.at = (uint64_t)x->at,
	};
	size_t len;

	if (!t)
		return false;
	len = pieces ? length_of(x->p, x->len) : x->len;
	if (len > LONGEST || !needs_no_thread(x->fd, op, len) ||
	    !has_place(x->fd, x->at) || !tux_api_ring_make(t, &call, &x->ret))
		return false;
	x->ret = file_result(x->ret);
	return true;
}

/* ---- bytes at a place ---- */

static void call_pread(void *arg)
{
	struct transfer *x = arg;

	x->ret = pread(x->fd, x->p, x->len, x->at);
}

ssize_t tux_pread(int fd, void *p, size_t len, off_t at)
{
	struct transfer x = { .fd = fd, .p = p, .len = len, .at = at };

	if (!by_ring(&x, TUX_RING_READ))
		tux_block(call_pread, &x);
	return x.ret;
}

static void call_pwrite(void *arg)
{
	struct transfer *x = arg;

	x->ret = pwrite(x->fd, x->p, x->len, x->at);
}

ssize_t tux_pwrite(int fd, const void *p, size_t len, off_t at)
{
	struct transfer x = { .fd = fd, .p = (void *)p, .len = len, .at = at };

	if (!by_ring(&x, TUX_RING_WRITE))
		tux_block(call_pwrite, &x);
	return x.ret;
}

static void call_preadv(void *arg)
{
	struct transfer *x = arg;

	x->ret = preadv(x->fd, x->p, (int)x->len, x->at);
}

/* A count below 0 is more than the ring takes. */
ssize_t tux_preadv(int fd, const struct iovec *iov, int n, off_t at)
{
	struct transfer x = {
		.fd = fd, .p = (void *)iov, .len = (size_t)n, .at = at,
	};

	if (!by_ring(&x, TUX_RING_READV))
		tux_block(call_preadv, &x);
	return x.ret;
}

static void call_pwritev(void *arg)
{
	struct transfer *x = arg;

	x->ret = pwritev(x->fd, x->p, (int)x->len, x->at);
}

ssize_t tux_pwritev(int fd, const struct iovec *iov, int n, off_t at)
{
	struct transfer x = {
		.fd = fd, .p = (void *)iov, .len = (size_t)n, .at = at,
	};

	if (!by_ring(&x, TUX_RING_WRITEV))
		tux_block(call_pwritev, &x);
	return x.ret;
}

/* ---- by a thread ----
 *
 * The ring does not lock the position of a file that others use, and does not
 * move it where no byte is transferred; it opens a FIFO without waiting for the
 * other end; it closes a file whose last error it then reports too late; and it
 * wakes a thread of the kernel's for a sync.
 */

static void call_fsync(void *arg)
{
	struct transfer *x = arg;

	x->ret = fsync(x->fd);
}

int tux_fsync(int fd)
{
	struct transfer x = { .fd = fd };

	tux_block(call_fsync, &x);
	return (int)x.ret;
}

static void call_fdatasync(void *arg)
{
	struct transfer *x = arg;

	x->ret = fdatasync(x->fd);
}

int tux_fdatasync(int fd)
{
	struct transfer x = { .fd = fd };

	tux_block(call_fdatasync, &x);
	return (int)x.ret;
}

static void call_read(void *arg)
{
	struct transfer *x = arg;

	x->ret = read(x->fd, x->p, x->len);
}

ssize_t tux_read_file(int fd, void *p, size_t len)
{
	struct transfer x = { .fd = fd, .p = p, .len = len };

	tux_block(call_read, &x);
	return x.ret;
}

static void call_write(void *arg)
{
	struct transfer *x = arg;

	x->ret = write(x->fd, x->p, x->len);
}

ssize_t tux_write_file(int fd, const void *p, size_t len)
{
	struct transfer x = { .fd = fd, .p = (void *)p, .len = len };

	tux_block(call_write, &x);
	return x.ret;
}

struct opening {
	int dir;
	const char *path;
	int flags;
	mode_t mode;
	int fd;
};

static void call_openat(void *arg)
{
	struct opening *o = arg;

	o->fd = openat(o->dir, o->path, o->flags, o->mode);
}

int tux_openat(int dir, const char *path, int flags, mode_t mode)
{
	struct opening o = { dir, path, flags, mode, -1 };

	tux_block(call_openat, &o);
	return o.fd;
}

static void call_close(void *arg)
{
	struct transfer *x = arg;

	x->ret = close(x->fd);
}

int tux_close_file(int fd)
{
	struct transfer x = { .fd = fd };

	tux_block(call_close, &x);
	return (int)x.ret;
}
