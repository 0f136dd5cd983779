/* SPDX-License-Identifier: BSD-2-Clause */
#include "close.h"

#include <errno.h>
#include <linux/close_range.h>

#include "claim.h"
#include "fd.h"
#include "fork.h"
#include "hooks.h"
#include "kind.h"
#include "libc.h"
#include "path.h"
#include "rest.h"
#include "share.h"
#include "stack.h"
#include "sys/defer.h"
#include "sys/fd.h"
#include "sys/sys.h"
#include "uring.h"

enum { DRAIN_S = 1, TRIES = 10000 };

/* Under both latches: no thread is using the number then, and none will. */
static void close_mark_closed(struct sock *s)
{
	bool rx = path_lock_rx(s);
	bool tx = path_lock_tx(s);

	atomic_store(&s->stage, SOCK_CLOSED);
	if (tx)
		path_unlock_tx(s);
	if (rx)
		path_unlock_rx(s);
}

/* The stage that @s was in; no thread claims it any more.  At exit, the thread
 * that was about to claim it may not run any more, and is not waited for. */
static uint8_t close_settle(struct sock *s)
{
	uint8_t stage = atomic_load(&s->stage);

	for (int i = 0; stage == SOCK_CLAIMING && i < TRIES; i++) {
		tux_sys_yield();
		stage = atomic_load(&s->stage);
	}
	if (stage != SOCK_CANDIDATE)
		return stage;
	/* Else another thread has just begun. */
	return atomic_compare_exchange_strong(&s->stage, &stage, SOCK_CLOSED) ?
	       SOCK_CANDIDATE : close_settle(s);
}

/* The last descriptor is about to go. */
static void end(struct sock *s, int fd)
{
	uint8_t stage = close_settle(s);
	bool goes_on = share_leave(s);
	bool closes = stage == SOCK_CLAIMED || stage == SOCK_PLAIN;

	if (s->asleep)
		closes = rest_close(s, fd, goes_on);
	else if (stage == SOCK_CANDIDATE)
		claim_over(s, fd, goes_on);
	if (closes && s->epoch == fork_epoch) {
		close_mark_closed(s);
		sock_ring(s);
		tux_end_close(s->end, s->linger0);
	} else {
		atomic_store(&s->stage, SOCK_CLOSED);
		/* The reference of the loop that the parent had stays. */
		fd_unmoves(s);
	}
	claim_leave_listener(s);
}

/* @fd goes, but another descriptor of @s stays: the loop must know. */
static void close_move(struct sock *s, int fd)
{
	if (s->fd != fd || !s->end || s->epoch != fork_epoch)
		return;
	for (int to = 0; to < fd_top(); to++) {
		if (fd_peek(to) != s)
			continue;
		s->fd = to;
		tux_end_set_fd(s->end, to);
		return;
	}
}

static void close_drop(struct sock *s, int fd)
{
	if (atomic_fetch_sub(&s->fds, 1) == 1)
		end(s, fd);
	else
		close_move(s, fd);
	sock_put(s);
}

void close_forget(int fd)
{
	int saved = errno;
	struct sock *s;

	tux_defer_enter();
	kind_forget(fd);
	epoll_forget_fd(fd);
	uring_forget(fd);
	s = fd_take(fd);
	if (s)
		close_drop(s, fd);
	tux_defer_leave();
	errno = saved;
}

void close_stale(int fd)
{
	close_forget(fd);
}

void close_all(void)
{
	tux_defer_enter();
	for (int fd = 0; fd < fd_top(); fd++) {
		struct sock *s = fd_take(fd);

		if (s)
			close_drop(s, fd);
	}
	stack_end(TUX_SEC(DRAIN_S));
	tux_defer_leave();
}

/* ---- the calls -------------------------------------------------------- */

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
	if ((tux_fd_ours(fd) || close_kept(fd)) && !fork_is_vfork()) {
		if (tux_fd_ours(fd))
			return (int)libc_ret(-EBADF);
		close_forget(fd);
	}
	return libc.close(fd);
}

static void forget_range(unsigned from, unsigned to)
{
	unsigned top = (unsigned)fd_top();

	for (unsigned fd = from; fd < top && fd <= to; fd++)
		close_forget((int)fd);
}

/* In pieces, around what is ours. */
static int close_others(unsigned from, unsigned to, int flags)
{
	int r = 0;

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
	if ((flags & CLOSE_RANGE_CLOEXEC) || from > to || fork_is_vfork())
		return libc.close_range(from, to, flags);
	return close_others(from, to, flags);
}

HOOK void closefrom(int from)
{
	if (fork_is_vfork() ||
	    close_others(from < 0 ? 0 : (unsigned)from, ~0u, 0))
		libc.closefrom(from);
}
