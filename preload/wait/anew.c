/* SPDX-License-Identifier: BSD-2-Clause */
#include "wait/anew.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "ground/libc.h"
#include "sock/kind.h"
#include "sys/clock.h"
#include "sys/defer.h"
#include "wait/pollset.h"
#include "wait/wait.h"

enum { BRIEF_US = 500 };	/* of a sleep that no event of TCP can end */

struct anew {
	struct rw *r;
	struct transfer *t;
	anew_fn *as;
	bool out, peek;
	uint32_t lowat;
	size_t target;		/* with so many bytes it need not wait for more */
	size_t done;		/* what it has moved; or found, in its last peek */
	struct stat file;	/* the socket */
	/* The last call: */
	size_t len;		/* the bytes that it was to move */
	ssize_t k;		/* what it returned, with errno */
	bool ours;		/* the socket was claimed again */
	bool polls;		/* the kernel was told not to wait */
	bool last;		/* a peek, and no more bytes will come */
};

/* ---- the number ------------------------------------------------------- */

/* Does @fd still name @s, or a connection that was left to the kernel? */
static bool names(int fd, const struct sock *s)
{
	const struct sock *is = fd_peek(fd);

	return is ? is == s : kind_left(fd);
}

/* By which number the kernel's call is to be made: that of the call, or, once a
 * thread has closed that, another one of the socket.  -1: there is none. */
static int anew_number(const struct rw *r)
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

static bool same_file(const struct anew *a)
{
	struct stat st;

	return !fstat(a->r->fd, &st) && st.st_ino == a->file.st_ino &&
	       st.st_dev == a->file.st_dev;
}

/* ---- one call --------------------------------------------------------- */

static short anew_events(const struct anew *a, short events)
{
	struct pollfd p = { .fd = a->r->fd, .events = events };

	return libc.poll(&p, 1, 0) == 1 ? p.revents : 0;
}

/* Has the next call nothing to add?  It would take what is for the call after
 * this one: an error, or what is behind an urgent byte. */
static bool is_over(const struct anew *a)
{
	bool err = anew_events(a, 0) & (POLLERR | POLLNVAL);
	int n = 0;

	if (a->out)
		return err;
	if (sockatmark(a->r->fd) == 1)
		return true;
	return err && (libc.ioctl(a->r->fd, FIONREAD, &n) || !n);
}

static bool must_poll(const struct anew *a)
{
	int flags;

	if (transfer_nonblocking(a->t))
		return false;
	if (a->done || a->t->until != TUX_NEVER)
		return true;
	flags = libc.fcntl(a->r->fd, F_GETFL);
	return flags >= 0 && flags & O_NONBLOCK;
}

static void one_call(struct anew *a)
{
	struct iovec v[TRANSFER_PIECES];
	struct msghdr m = { 0 };
	struct rw *r = a->r;
	int n, flags = a->t->flags;

	m.msg_iov = (void *)(uintptr_t)transfer_rest(a->t, v, &n);
	m.msg_iovlen = (size_t)n;
	a->len = tux_iov_len(m.msg_iov, n);
	if (a->done)		/* a part has been sent: no signal */
		flags |= MSG_NOSIGNAL;
	a->ours = rw_enter(r, r->fd);
	a->polls = !a->ours && must_poll(a);
	if (a->polls)
		flags |= MSG_DONTWAIT;
	if (a->ours)
		a->k = a->as(r, m.msg_iov, n, flags, a->t->until);
	else if (a->out)
		a->k = rw_left_sent(r, libc.sendmsg(r->fd, &m, flags), flags);
	else
		a->k = rw_left_received(r, libc.recvmsg(r->fd, &m, flags),
					flags);
}

/* A claimed socket tells an error once: it is for the next call, if this one has
 * moved something. */
static void keep_error(const struct anew *a)
{
	struct sock *s;

	if (a->k >= 0 || !a->done || errno == EAGAIN || errno == EINTR ||
	    errno == EBADF)
		return;
	s = sock_get(a->r->fd);
	if (!s)
		return;
	atomic_store(&s->err, (uint32_t)errno);
	sock_put(s);
}

/* ---- between two ------------------------------------------------------ */

/* Sleeps until the rest may move.  1: look; 0: its time is up; -errno. */
static int anew_sleep(const struct anew *a)
{
	struct pollfd p = { .fd = a->r->fd,
			    .events = a->out ? POLLOUT : POLLIN };
	tux_time now = tux_clock_read(), until = a->t->until, till = until;
	int old, k;

	if (until <= now)
		return 0;
	/* For what was found before, or for less than SO_RCVLOWAT, TCP is readable
	 * all the time, or not at all. */
	if (!a->out && a->done && (a->peek || a->lowat > 1)) {
		p.fd = -1;
		till = tux_time_min(until, now + TUX_USEC(BRIEF_US));
	}
	tux_defer_enter();
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	k = pollset_wait(&p, 1, till - now, NULL, false);
	if (k == -ENOMEM)		/* no descriptor: look again soon */
		k = libc.poll(NULL, 0, 1) == 0;
	pthread_setcancelstate(old, NULL);
	if ((k == 0 && till < until) ||
	    (k == -EINTR && wait_goes_on(until, a->done ? WAIT_PARTIAL : 0)))
		k = 1;
	tux_defer_leave();
	return k;
}

static bool anew_waits(const struct anew *a)
{
	int k = anew_sleep(a);

	if (k != 1)
		errno = k ? -k : EAGAIN;
	return k == 1;
}

/* With SO_PEEK_OFF, each peek finds what is behind the last one. */
static bool peeks_on(const struct anew *a)
{
	int off = -1;
	socklen_t len = sizeof(off);

	return !getsockopt(a->r->fd, SOL_SOCKET, SO_PEEK_OFF, &off, &len) &&
	       off >= 0;
}

/* After a call: is there to be another one? */
static bool anew_goes_on(struct anew *a)
{
	if (a->k == 0 || a->done >= a->target)
		return false;
	if (a->k == (ssize_t)a->len)		/* there are more pieces */
		return true;
	if (a->ours)
		keep_error(a);
	if (a->ours || transfer_nonblocking(a->t) ||
	    (a->k < 0 && errno != EAGAIN))
		return false;
	if (a->peek && a->k > 0 && (a->last || peeks_on(a)))
		return false;
	/* One that the kernel was to wait for, but for a thread that has just set
	 * O_NONBLOCK or a time limit. */
	return a->polls ? anew_waits(a) : a->k < 0;
}

/* A thread may have closed the number, and opened another file; then the rest is not
 * for that. */
static bool next_call(struct anew *a, bool first)
{
	if (!first && !same_file(a)) {
		errno = EBADF;
		a->k = -1;
		return false;
	}
	if (a->peek)
		a->last = anew_events(a, POLLRDHUP) &
			  (POLLRDHUP | POLLHUP | POLLERR);
	else if (a->done && is_over(a))
		return false;
	a->t->done = a->peek ? 0 : a->done;
	one_call(a);
	if (a->k > 0)
		a->done = a->t->done + (size_t)a->k;
	return anew_goes_on(a);
}

/* ---- all of it -------------------------------------------------------- */

/* 0: the kernel's call is to be made; else what ends this one instead. */
static ssize_t instead(const struct rw *r, const struct transfer *t)
{
	if (!transfer_nonblocking(t) && tux_defer.pending &&
	    (t->done || !tux_defer.restarts))
		return -EINTR;
	if (transfer_nonblocking(t) && t->done)
		return -EAGAIN;
	return r->fd >= 0 ? 0 : -EBADF;
}

static size_t target_of(const struct transfer *t, bool out)
{
	if (out || t->flags & MSG_WAITALL || t->s->lowat > t->want)
		return t->want;
	return t->s->lowat;
}

ssize_t anew_go_on(struct rw *r, struct transfer *t, bool out, anew_fn *as)
{
	struct anew a = { .r = r, .t = t, .as = as, .out = out,
			  .peek = t->flags & MSG_PEEK, .done = t->done,
			  .lowat = (uint32_t)t->s->lowat,
			  .target = target_of(t, out) };
	bool first = true;
	ssize_t k;

	r->fd = anew_number(r);
	k = instead(r, t);
	if (!k)
		fstat(r->fd, &a.file);
	transfer_until(t, out);
	sock_put(r->s);
	tux_defer_leave();
	if (k || (a.done && a.done >= a.target))
		return a.done ? (ssize_t)a.done : libc_ret(k);
	while (next_call(&a, first))
		first = false;
	return a.done ? (ssize_t)a.done : a.k;
}
