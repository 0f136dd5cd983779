/* SPDX-License-Identifier: BSD-2-Clause */
#include "sock/path.h"

#include <errno.h>
#include <sys/ioctl.h>

#include "sys/defer.h"
#include "sys/sys.h"
#include "sys/take.h"

/* ---- TCP -------------------------------------------------------------- */

static struct msghdr path_header(const struct iovec *iov, int n)
{
	return (struct msghdr){ .msg_iov = (void *)(uintptr_t)iov,
				.msg_iovlen = (size_t)n };
}

/* Most have a single piece, for which the kernel need not copy a header. */
static ssize_t path_tcp_send(void *arg, const struct iovec *iov, int n)
{
	const struct path_tcp *t = arg;
	int flags = MSG_DONTWAIT | MSG_NOSIGNAL | t->flags;
	struct msghdr m;

	if (n == 1)
		return TUX_SYS(SYS_sendto, t->fd, iov->iov_base, iov->iov_len,
			       flags, 0, 0);
	m = path_header(iov, n);
	return TUX_SYS(SYS_sendmsg, t->fd, &m, flags, 0, 0, 0);
}

static ssize_t path_tcp_recv(void *arg, const struct iovec *iov, int n,
			     bool peek)
{
	const struct path_tcp *t = arg;
	int flags = MSG_DONTWAIT | (peek ? MSG_PEEK : 0);
	struct msghdr m;

	if (n == 1)
		return TUX_SYS(SYS_recvfrom, t->fd, iov->iov_base, iov->iov_len,
			       flags, 0, 0);
	m = path_header(iov, n);
	return TUX_SYS(SYS_recvmsg, t->fd, &m, flags, 0, 0, 0);
}

struct tux_tcp path_tcp(struct path_tcp *t)
{
	return (struct tux_tcp){ path_tcp_send, path_tcp_recv, t };
}

/* ---- latches ---------------------------------------------------------- */

/* Its address says which thread we are, without a system call. */
static __thread char self;

static bool lock(struct tux_latch *l, _Atomic uintptr_t *owner)
{
	for (unsigned i = 1; !tux_latch_try(l); i++) {
		if (atomic_load_explicit(owner, memory_order_relaxed) ==
		    (uintptr_t)&self)
			return false;
		tux_await(i);
	}
	atomic_store_explicit(owner, (uintptr_t)&self, memory_order_relaxed);
	return true;
}

static void unlock(struct tux_latch *l, _Atomic uintptr_t *owner)
{
	atomic_store_explicit(owner, 0, memory_order_relaxed);
	tux_latch_drop(l);
}

bool path_lock_rx(struct sock *s)
{
	return lock(&s->dx->rx.latch, &s->rx_owner);
}

bool path_lock_tx(struct sock *s)
{
	return lock(&s->dx->tx.latch, &s->tx_owner);
}

void path_unlock_rx(struct sock *s)
{
	unlock(&s->dx->rx.latch, &s->rx_owner);
}

void path_unlock_tx(struct sock *s)
{
	unlock(&s->dx->tx.latch, &s->tx_owner);
}

void path_notice(struct sock *s)
{
	unsigned p = 0;

	if (s->dx->rx.state == TUX_RX_SWITCHED)
		p |= TUX_RX_ON_RING;
	if (s->dx->tx.state == TUX_TX_SWITCHED || s->dx->tx.hold)
		p |= TUX_TX_ON_RING;
	else if (s->dx->tx.bars & 1)
		p |= TUX_TX_WAITS;
	if (p != s->path)
		sock_ready(s, NULL);
}

/* ---- readiness -------------------------------------------------------- */

bool path_advance(struct sock *s, int fd)
{
	struct path_tcp t = { .fd = fd };
	struct tux_tcp tcp = path_tcp(&t);
	bool yes = true;

	/* In the middle of it, or at N?  The rest needs no latch. */
	if (s->dx->rx.state == TUX_RX_PLAIN)
		return true;
	if (!path_lock_rx(s))
		return true;
	if (s->stage == SOCK_CLAIMED)
		yes = tux_duplex_advance(s->dx, &tcp);
	path_unlock_rx(s);
	path_notice(s);
	tux_end_flush(s->end, false);
	return yes;
}

int path_readable(struct sock *s, int fd)
{
	struct path_tcp t = { .fd = fd };
	struct tux_tcp tcp = path_tcp(&t);
	struct tux_duplex *d = s->dx;
	int n = 0;
	int r;

	if (d->rx.state == TUX_RX_SWITCHED)
		return (int)tux_duplex_readable(d);
	r = (int)TUX_SYS(SYS_ioctl, fd, FIONREAD, &n, 0, 0, 0);
	if (r < 0)
		return r;
	tux_defer_enter();
	if (path_lock_rx(s)) {
		/* It may have switched meanwhile. */
		if (d->rx.state == TUX_RX_SWITCHED)
			n = 0;
		n = (int)tux_duplex_unread(d, (uint64_t)n, &tcp);
		path_unlock_rx(s);
	}
	tux_defer_leave();
	return n;
}

int path_unsent(struct sock *s, int fd)
{
	int n = 0;
	int r = (int)TUX_SYS(SYS_ioctl, fd, TIOCOUTQ, &n, 0, 0, 0);

	if (r < 0)
		return r;
	if (s->dx->tx.state == TUX_TX_SWITCHED)
		return (int)tux_pipe_len(&s->dx->txp);
	return n;
}

/* ---- shutdown --------------------------------------------------------- */

/* After shutdown() has done its work, so that who sees the count finds that done.
 * @hidden: the kernel has not seen it, and tells no edge of it. */
static void count_shut(struct sock *s, bool hidden)
{
	if (hidden)
		atomic_fetch_add(&s->hidden_shuts, 1);
	atomic_fetch_add(&s->shuts, 1);
}

static int shut_tx(struct sock *s, int fd)
{
	bool hidden;
	int r = 0;

	if (!path_lock_tx(s))
		return 0;
	hidden = tux_duplex_shut(s->dx);
	if (!hidden)
		r = tux_sys_shutdown(fd, SHUT_WR);
	count_shut(s, hidden);
	path_unlock_tx(s);
	tux_end_flush(s->end, true);
	return r;
}

/* Reading is ended here only: the kernel's own end of it would look to the
 * loop like the peer's. */
int path_shutdown(struct sock *s, int fd, int how)
{
	int r = 0;

	if (how != SHUT_RD && how != SHUT_WR && how != SHUT_RDWR)
		return -EINVAL;
	tux_defer_enter();
	if (how != SHUT_WR)
		atomic_store(&s->rdshut, 1);
	if (how != SHUT_RD)
		r = shut_tx(s, fd);
	else
		count_shut(s, true);
	sock_ring(s);
	tux_defer_leave();
	return r;
}
