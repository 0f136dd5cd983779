/* SPDX-License-Identifier: BSD-2-Clause */
#include "sock/close.h"

#include <errno.h>

#include "ground/process.h"
#include "sock/claim.h"
#include "sock/fd.h"
#include "sock/holders.h"
#include "sock/kind.h"
#include "sock/leave.h"
#include "sock/observer.h"
#include "sock/pass.h"
#include "sock/path.h"
#include "sock/unclaim.h"
#include "sock/share.h"
#include "sock/stack.h"
#include "sock/stage.h"
#include "sys/clock.h"
#include "sys/defer.h"
#include "sys/take.h"

enum { DRAIN_S = 1, GIVE_MS = 300, GIVE_ALL_S = 1, SETTLE_MS = 100 };

/* Under both latches: no thread is using the number then, and none will. */
static void close_mark_closed(struct sock *s)
{
	bool rx = path_lock_rx(s);
	bool tx = path_lock_tx(s);

	stage_close(s);
	if (tx)
		path_unlock_tx(s);
	if (rx)
		path_unlock_rx(s);
}

/* A thread is about to claim @s.  At exit, it may not run any more. */
static enum sock_stage close_await(struct sock *s)
{
	tux_time until = tux_clock_read() + TUX_MSEC(SETTLE_MS);
	enum sock_stage stage = SOCK_CLAIMING;

	for (unsigned i = 1;
	     stage == SOCK_CLAIMING && tux_clock_read() < until; i++) {
		tux_await(i);
		stage = stage_of(s);
	}
	return stage;
}

/* The stage that @s was in; no thread claims it any more, or none that runs. */
static enum sock_stage close_settle(struct sock *s)
{
	enum sock_stage stage = stage_of(s);

	if (stage == SOCK_CLAIMING)
		stage = close_await(s);
	if (stage != SOCK_CANDIDATE)
		return stage;
	/* Else another thread has just begun. */
	return stage_try(s, SOCK_CANDIDATE, SOCK_CLOSED) ? SOCK_CANDIDATE :
							  close_settle(s);
}

/* Does another process hold @s, which this one has claimed? */
static bool close_heirs(const struct sock *s)
{
	return stage_of(s) == SOCK_CLAIMED && s->epoch == process_here.epoch &&
	       holders_several(s->holders);
}

/* @fd is about to go.  If it is the last of this process, and others hold the
 * connection, they go on with it, on TCP.  Calls of other threads find it in the table
 * until then. */
static void close_give(int fd, tux_time until)
{
	struct sock *s = fd_peek(fd);

	if (!s || !s->holders || !(s = sock_get(fd)))
		return;
	if (close_heirs(s) && atomic_load(&s->fds) == 1) {
		tux_time left = tux_time_since(tux_clock_read(), until);

		pass_raw(s, fd, TUX_REASON_SHARED,
			 tux_time_min(left, TUX_MSEC(GIVE_MS)));
	}
	sock_put(s);
}

/* The last descriptor is about to go. */
static void end(struct sock *s, int fd)
{
	enum sock_stage stage = close_settle(s);
	bool several = holders_several(s->holders), goes_on;
	bool closes = stage == SOCK_CLAIMED || stage == SOCK_PLAIN;

	/* For those who have not asked for it yet. */
	if (s->asleep)
		holders_set_plain(s->holders);
	goes_on = share_leave(s);
	if (s->asleep)
		closes = unclaim_close(s, fd, goes_on);
	else if (stage == SOCK_CANDIDATE)
		claim_over(s, fd, goes_on);
	if (closes && s->epoch == process_here.epoch) {
		close_mark_closed(s);
		sock_ring(s);
		tux_end_close(s->end, s->linger0 && !several);
	} else {
		stage_close(s);
		/* The reference of the loop that the parent had stays. */
		sock_unmoves(s);
	}
	leave_listener(s);
}

/* The number of @s has gone; it has another one. */
static void close_renumber(struct sock *s)
{
	for (int to = 0; to < fd_top(); to++) {
		if (fd_peek(to) != s)
			continue;
		s->fd = to;
		tux_end_set_fd(s->end, to);
		/* Else another thread has just closed that one, too. */
		if (fd_peek(to) == s)
			return;
	}
}

/* @fd goes, but another descriptor of @s stays.  The loop must know.  So must the
 * threads inside: each has dropped its latch once since then, and those that wait are
 * rung. */
static void close_move(struct sock *s, int fd)
{
	if (!s->end || !s->dx || s->epoch != process_here.epoch)
		return;
	if (s->fd == fd)
		close_renumber(s);
	if (path_lock_rx(s))
		path_unlock_rx(s);
	if (path_lock_tx(s))
		path_unlock_tx(s);
	sock_ring(s);
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
	observer_gone(fd);
	close_give(fd, TUX_NEVER);
	s = fd_take(fd);
	if (s)
		close_drop(s, fd);
	tux_defer_leave();
	errno = saved;
}

int close_fresh(int fd)
{
	kind_forget(fd);
	if (fd_peek(fd) && !process_is_vfork())
		close_forget(fd);
	return fd;
}

/* All that are to go back are asked for at once. */
static void close_ask(struct sock *s, int fd, void *arg)
{
	(void)fd;
	(void)arg;
	if (close_heirs(s))
		tux_end_ask_raw(s->end, TUX_REASON_SHARED, false);
}

void close_all(void)
{
	tux_time until = tux_clock_read() + TUX_SEC(GIVE_ALL_S);

	tux_defer_enter();
	fd_each(close_ask, NULL);
	for (int fd = 0; fd < fd_top(); fd++) {
		struct sock *s;

		close_give(fd, until);
		s = fd_take(fd);
		if (s)
			close_drop(s, fd);
	}
	stack_end(TUX_SEC(DRAIN_S));
	tux_defer_leave();
}
