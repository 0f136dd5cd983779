/* SPDX-License-Identifier: BSD-2-Clause */
#include "wait/rw.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>

#include "ground/libc.h"
#include "sock/candidate.h"
#include "sock/close.h"
#include "sock/kind.h"
#include "sock/pass.h"
#include "sys/clock.h"
#include "sys/defer.h"
#include "sys/sys.h"
#include "wait/pollset.h"
#include "wait/transfer.h"
#include "wait/wait.h"

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

/* As rw_recv() and rw_send(), of a call that has settled whether it waits, and
 * until when (0: not yet). */
static ssize_t recv_as(struct rw *r, const struct iovec *iov, int n, int flags,
		       tux_time until);
static ssize_t send_as(struct rw *r, const struct iovec *iov, int n, int flags,
		       tux_time until);

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

/* ---- going on by the kernel ------------------------------------------- */

enum { PEEK_US = 500 };		/* between two peeks that wait for more */

/* The rest of a call, as calls one after the other. */
struct anew {
	struct rw *r;
	struct transfer *t;
	bool out;
	size_t target;		/* it need not wait for more */
	struct stat file;	/* the socket */
	/* The last one: */
	size_t len;		/* the bytes that it was to move */
	ssize_t k;		/* what it returned, with errno */
	bool ours;		/* the socket was claimed again */
	bool polls;		/* the kernel was told not to wait: we do */
};

/* The kernel waits as long as SO_RCVTIMEO or SO_SNDTIMEO say, from the beginning
 * of its call on, and not at all for a file with O_NONBLOCK.  Where that is not
 * what @t is to do, we wait. */
static bool anew_polls(const struct anew *a)
{
	int flags = libc.fcntl(a->r->fd, F_GETFL);

	return !transfer_nonblocking(a->t) &&
	       (a->t->until != TUX_NEVER ||
		(flags >= 0 && flags & O_NONBLOCK));
}

static void anew_call(struct anew *a)
{
	struct iovec v[TRANSFER_PIECES];
	struct msghdr m = { 0 };
	struct transfer *t = a->t;
	struct rw *r = a->r;
	int n, flags = t->flags;

	m.msg_iov = (void *)(uintptr_t)transfer_rest(t, v, &n);
	m.msg_iovlen = (size_t)n;
	a->len = tux_iov_len(m.msg_iov, n);
	if (t->done)		/* a part has been sent: no signal */
		flags |= MSG_NOSIGNAL;
	a->ours = rw_enter(r, r->fd);
	a->polls = !a->ours && anew_polls(a);
	if (a->polls)
		flags |= MSG_DONTWAIT;
	if (a->ours)
		a->k = a->out ? send_as(r, m.msg_iov, n, flags, t->until) :
				recv_as(r, m.msg_iov, n, flags, t->until);
	else if (a->out)
		a->k = rw_left_sent(r, libc.sendmsg(r->fd, &m, flags), flags);
	else
		a->k = rw_left_received(r, libc.recvmsg(r->fd, &m, flags),
					flags);
}

/* Sleeps until the rest may move.  1: look; 0: its time is up; -errno. */
static int anew_sleep(const struct anew *a)
{
	struct pollfd p = { .fd = a->r->fd,
			    .events = a->out ? POLLOUT : POLLIN };
	tux_time now = tux_clock_read(), until = a->t->until, till = until;
	bool peeks = a->t->done && a->t->flags & MSG_PEEK;
	int k;

	if (until <= now)
		return 0;
	if (peeks) {			/* the same bytes again end no wait */
		p.events = 0;
		till = tux_time_min(until, now + TUX_USEC(PEEK_US));
	}
	tux_defer_enter();
	k = pollset_wait(&p, 1, till - now, NULL, false);
	if ((k == 0 && till < until) ||
	    (k == -EINTR &&
	     wait_goes_on(until, a->t->done ? WAIT_PARTIAL : 0)))
		k = 1;
	tux_defer_leave();
	return k;
}

/* Reads stop at an urgent byte. */
static bool anew_is_at_mark(const struct anew *a)
{
	return !a->out && a->k > 0 && sockatmark(a->r->fd) == 1;
}

static bool anew_same_file(const struct anew *a)
{
	struct stat st;

	return !fstat(a->r->fd, &st) && st.st_ino == a->file.st_ino &&
	       st.st_dev == a->file.st_dev;
}

static bool anew_waits(const struct anew *a)
{
	int k = anew_sleep(a);

	/* A thread may have closed the number, and opened another file. */
	if (k == 1 && !anew_same_file(a))
		k = -EBADF;
	if (k != 1)
		errno = k ? -k : EAGAIN;
	return k == 1;
}

/* Is another call to be made? */
static bool anew_again(const struct anew *a)
{
	if (a->k == 0 || a->t->done >= a->target)
		return false;
	if (a->k == (ssize_t)a->len)	/* there are more pieces */
		return true;
	if (a->ours || transfer_nonblocking(a->t) ||
	    (a->k < 0 && errno != EAGAIN) || anew_is_at_mark(a))
		return false;
	/* Without a time limit, the kernel says EAGAIN only if a thread has set
	 * O_NONBLOCK just before. */
	return a->polls ? anew_waits(a) : a->k < 0;
}

/* How many bytes end the wait of @t? */
static size_t anew_target(const struct transfer *t, bool out)
{
	if (out || t->flags & MSG_WAITALL || t->s->lowat > t->want)
		return t->want;
	return t->s->lowat;
}

/* The socket went back to the kernel during the call: what is still to be moved
 * is moved as by a new call. */
static ssize_t rw_go_on(struct rw *r, struct transfer *t, bool out)
{
	struct anew a = { .r = r, .t = t, .out = out,
			  .target = anew_target(t, out) };
	bool peek = t->flags & MSG_PEEK;
	ssize_t k;

	if (peek)
		t->done = 0;
	r->fd = rw_number(r);
	k = instead(r, t);
	if (!k)
		fstat(r->fd, &a.file);
	if (k || (t->done && t->done >= a.target))
		return rw_finish(r, t->done ? (ssize_t)t->done : k);
	transfer_until(t, out);
	sock_put(r->s);
	tux_defer_leave();
	do {
		if (peek)
			t->done = 0;
		anew_call(&a);
		if (a.k > 0)
			t->done += (size_t)a.k;
	} while (anew_again(&a));
	return t->done ? (ssize_t)t->done : a.k;
}

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
		return rw_go_on(r, &t, true);
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
