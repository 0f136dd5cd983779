/* SPDX-License-Identifier: BSD-2-Clause */
#include "wait/rw.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

#include "base/iov.h"
#include "ground/libc.h"
#include "ground/process.h"
#include "sock/candidate.h"
#include "sock/close.h"
#include "sock/kind.h"
#include "sock/pass.h"
#include "sock/path.h"
#include "sys/clock.h"
#include "sys/defer.h"
#include "sys/sys.h"
#include "wait/wait.h"

enum {
	PIECES = 8,		/* of a vector that is moved in part */
	BRIEF_AFTER = 2,	/* wake-ups for nothing */
};

/* One transfer under way. */
struct job {
	struct sock *s;
	struct path_tcp tcp;
	int flags;
	const struct iovec *iov;
	int n;
	size_t done, want;
	bool left;		/* the socket is not claimed any more */
	tux_time until;		/* 0: not asked for yet */
	int futile;		/* wake-ups that brought nothing */
};

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

/* ---- jobs ------------------------------------------------------------- */

/* An error after some bytes waits for the next call. */
static ssize_t rw_outcome(struct job *j, ssize_t err)
{
	j->left = err == -ERESTART;
	if (!j->done)
		return err;
	if (err != -EAGAIN && err != -EINTR && err != -EBADF && !j->left)
		atomic_store(&j->s->err, (uint32_t)-err);
	return (ssize_t)j->done;
}

/* 0 if the socket is claimed; else the error of the call.  -ERESTART: the
 * socket has gone back to the kernel, and so does the call (rw_go_on); or a handler
 * has forked and returned in the child, which asks for it there. */
static int not_ours(const struct sock *s)
{
	switch (atomic_load(&s->stage)) {
	case SOCK_CLAIMED:
		return s->epoch == process_epoch ? 0 : -ERESTART;
	case SOCK_LOST:
		return -EIO;
	case SOCK_CLOSED:
	case SOCK_FREE:
		return -EBADF;
	default:
		return -ERESTART;
	}
}

static bool nonblocking(const struct job *j)
{
	return j->flags & MSG_DONTWAIT;
}

/* Whether a call waits is settled when it begins: a later O_NONBLOCK changes
 * nothing for it. */
static int flags_now(const struct rw *r, int flags)
{
	return flags | (r->s->nonblock ? MSG_DONTWAIT : 0);
}

/* 1: try again; else the error to return. */
static int wait_more(struct job *j, short events, int64_t timeout)
{
	unsigned how = j->done ? WAIT_PARTIAL : 0;
	int r;

	if (nonblocking(j))
		return -EAGAIN;
	if (!j->until)
		j->until = timeout ? tux_clock_read() + (tux_time)timeout : TUX_NEVER;
	tux_end_flush(j->s->end, true);
	if (j->futile++ >= BRIEF_AFTER)
		how |= WAIT_BRIEF;
	r = wait_for(j->s, j->tcp.fd, events, j->until, how);
	return r == 0 ? -EAGAIN : r;
}

/* ---- receiving -------------------------------------------------------- */

/* Will the next bytes come from TCP, so that a short read has emptied it? */
static bool rw_from_tcp(const struct tux_duplex *d)
{
	uint8_t state = d->rx.state;

	if (d->rx.spill_len)
		return false;
	switch (state) {
	case TUX_RX_ARMED:
		return d->rx.off < d->rx.at;
	case TUX_RX_PLAIN:
	case TUX_RX_RAW:
		return !tux_duplex_readable(d);
	default:
		return false;
	}
}

/* ... but have the bytes that TCP had come to N, or beyond? */
static bool rw_at_switch(const struct tux_duplex *d)
{
	return d->rx.state == TUX_RX_SWITCHED ||
	       (d->rx.state == TUX_RX_ARMED && d->rx.off == d->rx.at);
}

/* What is still to be moved: at first all, later up to PIECES of it, in @v. */
static const struct iovec *rw_rest(const struct job *j, struct iovec *v, int *n)
{
	*n = j->n;
	if (!j->done)
		return j->iov;
	*n = tux_iov_skip(v, PIECES, j->iov, j->n, j->done);
	return v;
}

/* As much as there is, without waiting.  1: full; 0: the end; -errno. */
static ssize_t rw_take(struct job *j)
{
	bool peek = j->flags & MSG_PEEK;
	struct tux_tcp tcp = path_tcp(&j->tcp);
	struct iovec pieces[PIECES];
	struct tux_duplex *d = j->s->dx;

	for (;;) {
		int m;
		const struct iovec *v = rw_rest(j, pieces, &m);
		size_t len = tux_iov_len(v, m);
		bool last = rw_from_tcp(d);
		ssize_t k = tux_duplex_read(d, v, m, peek, &tcp);

		if (k <= 0)
			return k;
		j->futile = 0;
		j->done += (size_t)k;
		if (j->done == j->want || peek)
			return 1;
		/* Of more pieces, it may have taken the first only. */
		if ((size_t)k < len && m <= PIECES && last && !rw_at_switch(d))
			return -EAGAIN;
	}
}

static ssize_t take_latched(struct job *j)
{
	struct sock *s = j->s;
	ssize_t k = not_ours(s);

	if (k)
		return k;
	if (!path_lock_rx(s))
		return -EAGAIN;
	/* A peek starts from the front each time. */
	if (j->flags & MSG_PEEK)
		j->done = 0;
	k = not_ours(s);
	if (!k)
		k = rw_take(j);
	path_unlock_rx(s);
	path_notice(s);
	return k;
}

static size_t target(const struct job *j)
{
	if (j->flags & MSG_WAITALL)
		return j->want;
	return j->s->lowat < j->want ? j->s->lowat : j->want;
}

/* Will no bytes come behind those that are there? */
static bool is_last(const struct job *j)
{
	struct pollfd p = { .fd = j->tcp.fd, .events = POLLRDHUP };
	unsigned can = sock_poll(j->s);

	if (can & (TUX_IS_EOF | TUX_IS_ERR))
		return true;
	return !(can & TUX_RX_ON_RING) && libc.poll(&p, 1, 0) == 1;
}

static ssize_t run_recv(struct job *j)
{
	ssize_t k = -(ssize_t)atomic_exchange(&j->s->err, 0);

	if (k)
		return k;
	for (;;) {
		/* A read sees the end by itself, and a peek does not. */
		bool last = j->done && (j->flags & MSG_PEEK) && is_last(j);
		short events = POLLIN;

		k = take_latched(j);
		if (k == 0 || j->done >= target(j) || (last && j->done))
			return (ssize_t)j->done;
		if (k != -EAGAIN && k != 1)
			return rw_outcome(j, k);
		if (j->s->rdshut)
			return (ssize_t)j->done;
		/* A peek that wants more finds the same bytes again: they end
		 * no wait. */
		if (j->done && (j->flags & MSG_PEEK)) {
			j->futile = BRIEF_AFTER;
			events = 0;
		}
		k = wait_more(j, events, j->s->rcvtimeo);
		if (k != 1)
			return rw_outcome(j, k);
	}
}

/* ---- sending ---------------------------------------------------------- */

/* As much as there is room for.  1: all; -errno. */
static ssize_t rw_give(struct job *j)
{
	struct tux_tcp tcp = path_tcp(&j->tcp);
	struct iovec pieces[PIECES];

	for (;;) {
		int m;
		const struct iovec *v = rw_rest(j, pieces, &m);
		ssize_t k = tux_duplex_write(j->s->dx, v, m, &tcp);

		if (k < 0)
			return k;
		j->futile = 0;
		j->done += (size_t)k;
		if (j->done == j->want)
			return 1;
	}
}

static ssize_t rw_give_latched(struct job *j)
{
	struct sock *s = j->s;
	ssize_t k = not_ours(s);

	if (k)
		return k;
	if (!path_lock_tx(s))
		return -EAGAIN;
	k = not_ours(s);
	if (!k)
		k = rw_give(j);
	path_unlock_tx(s);
	path_notice(s);
	return k;
}

/* No bytes go out.  But the call says what keeps others from going out. */
static ssize_t send_none(struct job *j)
{
	ssize_t k;

	if (j->s->dx->tx.mute)
		return 0;
	k = rw_give_latched(j);
	return k == 1 || k == -EAGAIN ? 0 : rw_outcome(j, k);
}

static ssize_t run_send(struct job *j)
{
	ssize_t k = -(ssize_t)atomic_exchange(&j->s->err, 0);

	if (k)
		return k;
	if (!j->want)
		return send_none(j);
	for (;;) {
		k = rw_give_latched(j);
		if (k == 1)
			return (ssize_t)j->done;
		if (k == -EAGAIN)
			k = wait_more(j, POLLOUT, j->s->sndtimeo);
		if (k != 1)
			return rw_outcome(j, k);
	}
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

/* 0: the kernel's call is to be made; else what ends this one instead. */
static ssize_t instead(const struct rw *r, const struct job *j)
{
	if (!nonblocking(j) && tux_defer.pending && !tux_defer.restarts)
		return -EINTR;
	if (nonblocking(j) && j->done)
		return -EAGAIN;
	return names(r->fd, r->s) ? 0 : -EBADF;
}

/* The socket went back to the kernel during the call: what is still to be moved
 * is moved as by a new call.  One that has received something need not wait for
 * more, unless it was told to. */
static ssize_t rw_go_on(struct rw *r, struct job *j, bool out)
{
	bool all = out || (j->flags & (MSG_WAITALL | MSG_PEEK)) == MSG_WAITALL;
	struct iovec v[PIECES];
	ssize_t k;

	if (j->flags & MSG_PEEK)
		j->done = 0;
	k = instead(r, j);
	if (k || (j->done && !all))
		return rw_finish(r, j->done ? (ssize_t)j->done : k);
	sock_put(r->s);
	tux_defer_leave();
	do {
		int m;
		const struct iovec *rest = rw_rest(j, v, &m);

		k = rw_anew(r, out, rest, m,
			    j->flags | (j->done ? MSG_NOSIGNAL : 0));
		if (k > 0)
			j->done += (size_t)k;
		all = all && k > 0 && (size_t)k == tux_iov_len(rest, m);
	} while (all && j->done < j->want);
	return j->done ? (ssize_t)j->done : k;
}

ssize_t rw_recv(struct rw *r, const struct iovec *iov, int n, int flags)
{
	struct job j = { .s = r->s, .tcp = { r->fd, flags & MSG_MORE },
			 .flags = flags_now(r, flags), .iov = iov, .n = n,
			 .want = tux_iov_len(iov, n) };
	ssize_t k;

	tux_defer_enter();
	k = run_recv(&j);
	if (k > 0)
		tux_recent_mark(&candidate_recent, r->s);
	if (is_odd(r, k)) {
		close_forget(r->fd);
		sock_put(r->s);
		tux_defer_leave();
		return libc.readv(r->fd, iov, n);
	}
	if (j.left)
		return rw_go_on(r, &j, false);
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
	struct job j = { .s = r->s, .tcp = { r->fd, flags & MSG_MORE },
			 .flags = flags_now(r, flags), .iov = iov, .n = n,
			 .want = tux_iov_len(iov, n) };
	ssize_t k;

	if (flags & MSG_OOB)
		return send_urgent(r, iov, n, flags);
	tux_defer_enter();
	k = run_send(&j);
	if (is_odd(r, k)) {
		close_forget(r->fd);
		sock_put(r->s);
		tux_defer_leave();
		return libc.writev(r->fd, iov, n);
	}
	if (j.left)
		return rw_go_on(r, &j, true);
	if (atomic_load(&r->s->stage) == SOCK_CLAIMED)
		tux_end_flush(r->s->end, !nonblocking(&j));
	if (k == -EPIPE && !(flags & MSG_NOSIGNAL))
		raise_sigpipe();
	return rw_finish(r, k);
}
