/* SPDX-License-Identifier: BSD-2-Clause */
#include "wait/rw.h"

#include <errno.h>
#include <signal.h>

#include "ground/libc.h"
#include "sock/candidate.h"
#include "sock/close.h"
#include "sock/pass.h"
#include "sys/defer.h"
#include "sys/sys.h"
#include "wait/anew.h"
#include "wait/transfer.h"

/* Whether a call waits is settled when it begins, and stays with it when it goes
 * on by the kernel: a later O_NONBLOCK changes nothing for it. */
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

/* As rw_recv(), of a call that has settled whether it waits, and until when (0: not
 * yet); send_as() below. */
static ssize_t recv_as(struct rw *r, const struct iovec *iov, int n, int flags,
		       tux_time until)
{
	struct transfer t = { .s = r->s, .tcp = { r->fd, flags & MSG_MORE },
			      .flags = flags, .until = until,
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
		return anew_go_on(r, &t, false, recv_as);
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

static ssize_t send_as(struct rw *r, const struct iovec *iov, int n, int flags,
		       tux_time until)
{
	struct transfer t = { .s = r->s, .tcp = { r->fd, flags & MSG_MORE },
			      .flags = flags, .until = until,
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
		return anew_go_on(r, &t, true, send_as);
	if (atomic_load(&r->s->stage) == SOCK_CLAIMED)
		tux_end_flush(r->s->end, !transfer_nonblocking(&t));
	if (k == -EPIPE && !(flags & MSG_NOSIGNAL))
		raise_sigpipe();
	return rw_finish(r, k);
}

ssize_t rw_recv(struct rw *r, const struct iovec *iov, int n, int flags)
{
	return recv_as(r, iov, n, flags_now(r, flags), 0);
}

ssize_t rw_send(struct rw *r, const struct iovec *iov, int n, int flags)
{
	return send_as(r, iov, n, flags_now(r, flags), 0);
}
