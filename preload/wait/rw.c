/* SPDX-License-Identifier: BSD-2-Clause */
#include "wait/rw.h"

#include <errno.h>
#include <signal.h>

#include "ground/libc.h"
#include "sock/candidate.h"
#include "sock/close.h"
#include "sock/kind.h"
#include "sock/pass.h"
#include "sys/defer.h"
#include "sys/sys.h"
#include "wait/transfer.h"

/* ---- entering --------------------------------------------------------- */

bool rw_enter_slow(struct rw *r, int fd)
{
	r->fd = fd;
	for (;;) {
		uint8_t stage;

		r->s = sock_claimed(fd);
		if (r->s)
			return true;
		r->s = fd_peek(fd);
		if (!r->s || r->s->stage == SOCK_TCP ||
		    r->s->stage == SOCK_PLAIN ||
		    !(r->s = sock_pass(fd)))
			break;
		stage = atomic_load(&r->s->stage);
		if (stage == SOCK_CANDIDATE)
			return false;
		atomic_fetch_sub(&r->s->refs, SOCK_PASSING);
		if (stage == SOCK_LOST)
			return true;
		sock_put(r->s);
		if (stage != SOCK_CLAIMED && stage != SOCK_CLAIMING &&
		    stage != SOCK_CANDIDATE)
			break;
	}
	r->s = NULL;
	return false;
}

void rw_leave_slow(struct rw *r, bool out, size_t n)
{
	if (n)
		candidate_moved(r->s, out, n);
	sock_passed(r->s);
}

/* Whether a call waits is settled when it begins: a later O_NONBLOCK changes
 * nothing for it. */
static int flags_now(const struct rw *r, int flags)
{
	return flags | (r->s->nonblock ? MSG_DONTWAIT : 0);
}

static void raise_sigpipe(void)
{
	TUX_SYS(SYS_tgkill, getpid(), TUX_SYS(SYS_gettid, 0, 0, 0, 0, 0, 0),
		SIGPIPE, 0, 0, 0);
}

/* ---- the calls -------------------------------------------------------- */

/* The descriptor does not name our socket any more, though nobody told us. */
static bool is_odd(struct rw *r, ssize_t k)
{
	return (k == -EBADF || k == -ENOTSOCK) &&
	       atomic_load(&r->s->stage) == SOCK_CLAIMED &&
	       fd_peek(r->fd) == r->s;
}

/* ... and the file that it names has the call to itself. */
static void rw_forget(struct rw *r)
{
	close_forget(r->fd);
	sock_put(r->s);
	tux_defer_leave();
}

static ssize_t rw_finish(struct rw *r, ssize_t k)
{
	sock_put(r->s);
	tux_defer_leave();
	return libc_ret(k);
}

/* The program's call once more, for what is in @iov. */
static ssize_t rw_anew(struct rw *r, bool out, const struct iovec *iov, int n,
		       int flags)
{
	struct msghdr m = { .msg_iov = (void *)(uintptr_t)iov,
			    .msg_iovlen = (size_t)n };

	if (rw_enter(r, r->fd))
		return out ? rw_send(r, iov, n, flags) :
			     rw_recv(r, iov, n, flags);
	return out ? rw_left_sent(r, libc.sendmsg(r->fd, &m, flags), flags) :
		     rw_left_received(r, libc.recvmsg(r->fd, &m, flags), flags);
}

/* Does @fd still name @s, or a connection that was left to the kernel? */
static bool names(int fd, const struct sock *s)
{
	const struct sock *is = fd_peek(fd);

	return is ? is == s : kind_left(fd);
}

/* By which number the kernel's call is to be made: that of the call, or, once a
 * thread has closed that, another one of the socket.  -1: there is none. */
static int rw_number(const struct rw *r)
{
	int other = r->s->fd;

	if (fd_peek(r->fd) == r->s)
		return r->fd;
	/* Of a connection that was left, no number is known any more: it had @other
	 * when a thread closed that of the call. */
	if (names(other, r->s))
		return other;
	return names(r->fd, r->s) ? r->fd : -1;
}

/* 0: the kernel's call is to be made; else what ends this one instead. */
static ssize_t instead(const struct rw *r, const struct transfer *t)
{
	if (!transfer_nonblocking(t) && tux_defer.pending && !tux_defer.restarts)
		return -EINTR;
	if (transfer_nonblocking(t) && t->done)
		return -EAGAIN;
	return r->fd >= 0 ? 0 : -EBADF;
}

/* The socket went back to the kernel during the call: what is still to be moved
 * is moved as by a new call.  One that has received something need not wait for
 * more, unless it was told to. */
static ssize_t rw_go_on(struct rw *r, struct transfer *t, bool out)
{
	bool all = out || (t->flags & (MSG_WAITALL | MSG_PEEK)) == MSG_WAITALL;
	struct iovec v[TRANSFER_PIECES];
	ssize_t k;

	if (t->flags & MSG_PEEK)
		t->done = 0;
	r->fd = rw_number(r);
	k = instead(r, t);
	if (k || (t->done && !all))
		return rw_finish(r, t->done ? (ssize_t)t->done : k);
	sock_put(r->s);
	tux_defer_leave();
	do {
		int m;
		const struct iovec *rest = transfer_rest(t, v, &m);

		k = rw_anew(r, out, rest, m,
			    t->flags | (t->done ? MSG_NOSIGNAL : 0));
		if (k > 0)
			t->done += (size_t)k;
		all = all && k > 0 && (size_t)k == tux_iov_len(rest, m);
	} while (all && t->done < t->want);
	return t->done ? (ssize_t)t->done : k;
}

ssize_t rw_recv(struct rw *r, const struct iovec *iov, int n, int flags)
{
	struct transfer t = { .s = r->s, .tcp = { r->fd, flags & MSG_MORE },
			      .flags = flags_now(r, flags),
			      .iov = iov, .n = n,
			      .want = tux_iov_len(iov, n) };
	ssize_t k;

	tux_defer_enter();
	k = transfer_in(&t);
	if (k > 0)
		tux_recent_mark(&candidate_recent, r->s);
	if (is_odd(r, k)) {
		rw_forget(r);
		return libc.readv(r->fd, iov, n);
	}
	if (t.left)
		return rw_go_on(r, &t, false);
	if (atomic_load(&r->s->stage) == SOCK_CLAIMED)
		tux_end_flush(r->s->end, false);
	return rw_finish(r, k);
}

/* Only TCP can do that: the connection goes back to it for good. */
static ssize_t send_urgent(struct rw *r, const struct iovec *iov, int n,
			   int flags)
{
	struct msghdr m = { .msg_iov = (void *)(uintptr_t)iov,
			    .msg_iovlen = (size_t)n };

	bool ok = pass_plain(r->fd);

	sock_put(r->s);
	if (!ok)
		return libc_ret(-EOPNOTSUPP);
	return libc.sendmsg(r->fd, &m, flags);
}

ssize_t rw_send(struct rw *r, const struct iovec *iov, int n, int flags)
{
	struct transfer t = { .s = r->s, .tcp = { r->fd, flags & MSG_MORE },
			      .flags = flags_now(r, flags),
			      .iov = iov, .n = n,
			      .want = tux_iov_len(iov, n) };
	ssize_t k;

	if (flags & MSG_OOB)
		return send_urgent(r, iov, n, flags);
	tux_defer_enter();
	k = transfer_out(&t);
	if (is_odd(r, k)) {
		rw_forget(r);
		return libc.writev(r->fd, iov, n);
	}
	if (t.left)
		return rw_go_on(r, &t, true);
	if (atomic_load(&r->s->stage) == SOCK_CLAIMED)
		tux_end_flush(r->s->end, !transfer_nonblocking(&t));
	if (k == -EPIPE && !(flags & MSG_NOSIGNAL))
		raise_sigpipe();
	return rw_finish(r, k);
}
