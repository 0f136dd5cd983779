/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What one submission entry does to sockets and epoll instances.  An entry
 * whose work is done here becomes a NOP, which succeeds.
 */
#include "hook/uring_entry.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "family/rights.h"
#include "ground/libc.h"
#include "hook/bypass.h"
#include "sock/close.h"
#include "sys/fd.h"
#include "wait/epoll.h"
#include "wait/epoll_ctl.h"

enum {
	/* Newer ones, by value: headers may be older. */
	OP_WAITID = 50,
	OP_FUTEX_WAIT = 51,
	OP_FUTEX_WAKE = 52,
	OP_FUTEX_WAITV = 53,
	OP_EPOLL_WAIT = 59,
	OP_NONE = 255,		/* fails with EINVAL */
};

#define ORDERED (IOSQE_IO_LINK | IOSQE_IO_HARDLINK | IOSQE_IO_DRAIN)

static void make(struct io_uring_sqe *e, uint8_t opcode)
{
	struct io_uring_sqe to = {
		.opcode = opcode,
		.flags = e->flags & (uint8_t)~IOSQE_FIXED_FILE,
		.fd = -1,
		.user_data = e->user_data,
		.personality = e->personality,
	};

	*e = to;
}

static void entry_bypass(struct io_uring_sqe *e, int fd)
{
	if (!bypass_fd(fd))
		make(e, OP_NONE);
}

/* ---- epoll ------------------------------------------------------------ */

/* A private instance that holds itself an eventfd, which is *@fd.  -1: none. */
static int pair_of_ours(int *fd)
{
	static _Atomic uint64_t made;	/* both + 1 */
	uint64_t have = atomic_load(&made), none = 0;
	struct epoll_event e = { .events = 0 };
	int ep;

	if (!have) {
		ep = tux_fd_lift(libc.epoll_create1(EPOLL_CLOEXEC));
		*fd = tux_fd_lift(libc.eventfd(0, EFD_CLOEXEC));
		if (libc.epoll_ctl(ep, EPOLL_CTL_ADD, *fd, &e)) {
			tux_fd_close(ep);
			tux_fd_close(*fd);
			return -1;
		}
		have = (uint64_t)(ep + 1) << 32 | (uint32_t)(*fd + 1);
		if (!atomic_compare_exchange_strong(&made, &none, have)) {
			tux_fd_close(ep);
			tux_fd_close(*fd);
			have = none;
		}
	}
	*fd = (int)(uint32_t)have - 1;
	return (int)(have >> 32) - 1;
}

/* EEXIST, which the kernel would not say of an item that only the rings have:
 * it says so of the private pair. */
static void make_exist(struct io_uring_sqe *e)
{
	int fd, ep = pair_of_ours(&fd);

	if (ep < 0) {
		make(e, OP_NONE);
		return;
	}
	e->fd = ep;
	e->off = (uint64_t)fd;
}

/* What an entry that must not be done early asks for is the kernel's: a foreign
 * registration. */
static void entry_epoll(struct io_uring_sqe *e, bool ordered)
{
	struct epoll_event *ev = (void *)(uintptr_t)e->addr;
	struct ep *ep = ordered ? NULL : ep_lock_fd(e->fd);
	int r;

	if (!ep) {
		entry_bypass(e, (int)e->off);
		return;
	}
	r = ep_ctl(ep, (int)e->len, (int)e->off, ev);
	if (!r)
		make(e, IORING_OP_NOP);
	else if (r == -EEXIST)
		make_exist(e);
	else
		entry_bypass(e, (int)e->off);
}

/* ---- the others ------------------------------------------------------- */

static void entry_files(struct io_uring_sqe *e)
{
	const int32_t *fd = (const void *)(uintptr_t)e->addr;

	for (uint32_t i = 0; i < e->len && e->opcode != OP_NONE; i++)
		entry_bypass(e, fd[i]);
}

static void entry_close(struct io_uring_sqe *e)
{
	if (e->file_index)
		return;
	if (tux_fd_ours(e->fd))
		e->fd = -1;
	else
		close_forget(e->fd);
}

static void entry_splice(struct io_uring_sqe *e)
{
	if (!(e->splice_flags & SPLICE_F_FD_IN_FIXED))
		entry_bypass(e, e->splice_fd_in);
}

static void entry_message(struct io_uring_sqe *e)
{
	if (!rights_pin((const void *)(uintptr_t)e->addr))
		make(e, OP_NONE);
}

void uring_entry(struct io_uring_sqe *e, bool ordered)
{
	int fd = e->flags & IOSQE_FIXED_FILE ? -1 : e->fd;

	switch (e->opcode) {
	case IORING_OP_NOP:
	case OP_WAITID:		/* these keep other things where `fd` is */
	case OP_FUTEX_WAIT:
	case OP_FUTEX_WAKE:
	case OP_FUTEX_WAITV:
		return;
	case IORING_OP_EPOLL_CTL:
		entry_epoll(e, ordered || (e->flags & ORDERED));
		return;
	case OP_EPOLL_WAIT:	/* would give the program our tags */
		make(e, OP_NONE);
		return;
	case IORING_OP_CLOSE:
		entry_close(e);
		return;
	case IORING_OP_FILES_UPDATE:
		entry_files(e);
		return;
	case IORING_OP_SPLICE:
	case IORING_OP_TEE:
		entry_splice(e);
		break;
	case IORING_OP_SENDMSG:
		entry_message(e);
		break;
	}
	if (fd >= 0)
		entry_bypass(e, fd);
}
