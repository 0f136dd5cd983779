/* SPDX-License-Identifier: BSD-2-Clause */
#include "hook/uring.h"

#include <errno.h>
#include <sys/syscall.h>

#include "ground/libc.h"
#include "hook/bypass.h"
#include "hook/uring_entry.h"
#include "hook/uring_ring.h"
#include "sys/defer.h"
#include "sys/take.h"

/* By value: headers may be older. */
enum { ENTER_REGISTERED_RING = 1 << 4, REGISTER_RESIZE_RINGS = 33 };

#define REGISTER_BY_INDEX (1u << 31)

long uring_setup(unsigned entries, struct io_uring_params *p)
{
	int fd = (int)libc.syscall(SYS_io_uring_setup, entries, p);
	int saved = errno;

	if (fd < 0)
		return fd;
	uring_forget(fd);	/* it was closed unseen */
	if (!uring_add(fd, p))
		bypass_all();
	errno = saved;
	return fd;
}

/* ---- what is submitted ------------------------------------------------ */

static struct io_uring_sqe *entry_at(const struct uring *r, uint32_t i)
{
	uint32_t at = r->array ? r->array[i & r->mask] : i & r->mask;

	return at <= r->mask ? (void *)(r->entries + (size_t)at * r->size) :
	       NULL;		/* the kernel drops it */
}

static bool links(const struct io_uring_sqe *e)
{
	return e->flags & (IOSQE_IO_LINK | IOSQE_IO_HARDLINK);
}

/* Up to @n entries that the kernel has not taken, each once. */
static void uring_look(struct uring *r, uint32_t n)
{
	uint32_t head = atomic_load_explicit(r->head, memory_order_acquire);
	uint32_t tail = atomic_load_explicit(r->tail, memory_order_acquire);
	uint32_t end = tail - head < n ? tail : head + n;

	if ((int32_t)(head - r->seen) > 0)
		r->seen = head;
	while ((int32_t)(end - r->seen) > 0) {
		struct io_uring_sqe *e = entry_at(r, r->seen++);
		bool ordered = r->linked;

		r->linked = e && links(e);
		if (e)
			uring_entry(e, ordered);
	}
}

static void uring_submit(struct uring *r, uint32_t n)
{
	tux_latch_take(&r->latch);
	if (r->map)
		uring_look(r, n);
	tux_latch_drop(&r->latch);
}

/* The ring has a number that only the kernel can resolve: looks at all. */
static void uring_submit_all(uint32_t n)
{
	struct uring *r;
	uint32_t at = 0;

	while ((r = uring_each(&at)))
		uring_submit(r, n);
}

static void enters(int fd, uint32_t n, unsigned flags)
{
	struct uring *r;

	if (flags & ENTER_REGISTERED_RING)
		uring_submit_all(n);
	else if ((r = uring_find(fd)))
		uring_submit(r, n);
	else
		bypass_all();	/* it came from elsewhere */
}

long uring_enter(int fd, unsigned n, unsigned min, unsigned flags,
		 const void *arg, unsigned long len)
{
	int saved = errno;

	tux_defer_enter();
	if (n)
		enters(fd, n, flags);
	tux_defer_leave();
	errno = saved;
	return libc.syscall(SYS_io_uring_enter, fd, n, min, flags, arg, len);
}

/* ---- registered files ------------------------------------------------- */

static bool bypass_fds(const int32_t *fd, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (!bypass_fd(fd[i]))
			return false;
	return true;
}

static bool registers(unsigned op, const void *arg, unsigned n)
{
	const struct io_uring_files_update *u = arg;
	const struct io_uring_rsrc_register *f = arg;
	const struct io_uring_rsrc_update2 *f2 = arg;

	switch (op) {
	case IORING_REGISTER_FILES:
		return bypass_fds(arg, n);
	case IORING_REGISTER_FILES_UPDATE:
		return bypass_fds((const void *)(uintptr_t)u->fds, n);
	case IORING_REGISTER_FILES2:
		return !f->data ||
		       bypass_fds((const void *)(uintptr_t)f->data, f->nr);
	case IORING_REGISTER_FILES_UPDATE2:
		return bypass_fds((const void *)(uintptr_t)f2->data, f2->nr);
	case REGISTER_RESIZE_RINGS:
		bypass_all();	/* what is mapped here is a ring no more */
		return true;
	default:
		return true;
	}
}

long uring_register(int fd, unsigned op, void *arg, unsigned n)
{
	if (arg && !registers(op & ~REGISTER_BY_INDEX, arg, n))
		return -1;
	return libc.syscall(SYS_io_uring_register, fd, op, arg, n);
}
