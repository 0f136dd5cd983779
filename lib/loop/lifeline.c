/* SPDX-License-Identifier: BSD-2-Clause */
#include "loop/lifeline.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>

#include "sys/fd.h"
#include "sys/sys.h"

enum { READS = 16 };	/* in one turn: other connections want theirs, too */

void tux_lifeline_init(struct tux_lifeline *t)
{
	memset(t, 0, sizeof(*t));
	t->fd = -1;
}

int tux_lifeline_open(struct tux_lifeline *t, int fd, bool lent)
{
	if (t->fd < 0) {
		t->fd = lent ? fd : tux_fd_copy(fd);
		t->lent = lent;
	}
	return t->fd < 0 ? t->fd : 0;
}

void tux_lifeline_close(struct tux_lifeline *t, int epfd, bool reset)
{
	const struct linger now = { .l_onoff = 1, .l_linger = 0 };

	if (t->fd < 0)
		return;
	/* A forked child may hold the socket: close() alone would leave it
	 * with epoll for as long as that lives. */
	if (t->watched)
		tux_sys_epoll_ctl(epfd, EPOLL_CTL_DEL, t->fd, NULL);
	if (reset)
		tux_sys_setsockopt(t->fd, SOL_SOCKET, SO_LINGER, &now,
				   sizeof(now));
	if (!t->lent)
		tux_fd_close(t->fd);
	tux_lifeline_init(t);
}

void tux_lifeline_shut(struct tux_lifeline *t)
{
	if (t->fd >= 0)
		tux_sys_shutdown(t->fd, SHUT_WR);
}

/* TCP keeps to it until it sends data again. */
void tux_lifeline_acknowledge(struct tux_lifeline *t, bool alone)
{
	const int on = 1;

	if (alone && !t->alone && t->fd >= 0)
		tux_sys_setsockopt(t->fd, IPPROTO_TCP, TCP_QUICKACK, &on,
				   sizeof(on));
	t->alone = alone;
}

static void tell_end(struct tux_lifeline *t, struct tux_conn *c, int err,
		     tux_time now)
{
	if (t->ended && !err)
		return;
	t->ended = true;		/* a break may come after it */
	tux_conn_tcp_end(c, err, now);
}

/* A write failed: what has arrived counts first, if we are the ones to read. */
static void on_broken(struct tux_lifeline *t, struct tux_conn *c, int err,
		      tux_time now)
{
	t->broken = err;
	if (!tux_conn_tcp_want(c))
		tell_end(t, c, err, now);
}

/* The process may be killed where TCP must not just end: then the kernel resets it. */
static void lifeline_guard(struct tux_lifeline *t, const struct tux_conn *c)
{
	const struct linger reset = { .l_onoff = 1, .l_linger = 0 };
	bool cut = tux_conn_tcp_cut(c);
	socklen_t len = sizeof(t->linger);

	if (cut == t->cut)
		return;
	if (cut)
		tux_sys_getsockopt(t->fd, SOL_SOCKET, SO_LINGER, &t->linger,
				   &len);
	tux_sys_setsockopt(t->fd, SOL_SOCKET, SO_LINGER,
			   cut ? &reset : &t->linger, sizeof(reset));
	t->cut = cut;
}

/* TCP says its error once.  Where it carries both directions, that is for the
 * application, and a write here must not take it. */
static bool lifeline_failed(const struct tux_lifeline *t, const struct tux_conn *c)
{
	struct pollfd p = { .fd = t->fd };
	struct timespec none = { 0 };

	return !tux_conn_tx_on_tux(c) && !tux_conn_rx_on_tux(c) &&
	       tux_sys_ppoll(&p, 1, &none, NULL) > 0 && p.revents & POLLERR;
}

static long lifeline_send(const struct tux_lifeline *t, const struct tux_conn *c,
			  const uint8_t *buf, size_t len)
{
	return lifeline_failed(t, c) ? -ECONNRESET :
	       tux_sys_send(t->fd, buf, len, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void tux_lifeline_write(struct tux_lifeline *t, struct tux_conn *c,
			uint8_t *buf, tux_time now)
{
	if (t->fd < 0)
		return;
	while (!t->full && !t->broken) {
		size_t len = tux_conn_tcp_out(c, buf, TUX_LIFELINE_BUF, now);
		long n;

		if (!len)
			return;
		n = lifeline_send(t, c, buf, len);
		tux_conn_tcp_sent(c, n > 0 ? (size_t)n : 0, now);
		lifeline_guard(t, c);
		if (n >= 0 || n == -EAGAIN)
			t->full = n < (long)len;
		else if (n != -EINTR)
			on_broken(t, c, (int)-n, now);
	}
}

static void lifeline_read_some(struct tux_lifeline *t, struct tux_conn *c,
			       uint8_t *buf, tux_time now)
{
	unsigned i;

	for (i = 0; i < READS && !t->ended; i++) {
		size_t want = tux_conn_tcp_want(c);
		long n;

		if (!want)
			return;
		if (want > TUX_LIFELINE_BUF)
			want = TUX_LIFELINE_BUF;
		n = tux_sys_recv(t->fd, buf, want, MSG_DONTWAIT);
		if (n > 0)
			tux_conn_tcp_in(c, buf, (size_t)n, now);
		else if (n == 0)
			tell_end(t, c, t->broken, now);
		else if (n == -EAGAIN)
			return;
		else if (n != -EINTR)
			tell_end(t, c, (int)-n, now);
	}
}

void tux_lifeline_event(struct tux_lifeline *t, struct tux_conn *c,
			uint32_t events, uint8_t *buf, tux_time now)
{
	if (t->fd < 0)
		return;
	if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
		lifeline_read_some(t, c, buf, now);
	if (events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) {
		t->full = false;
		tux_lifeline_write(t, c, buf, now);
	}
}

void tux_lifeline_watch(struct tux_lifeline *t, struct tux_conn *c, int epfd,
			uint64_t data)
{
	struct epoll_event e = { .data.u64 = data };
	int op;

	if (t->fd < 0)
		return;
	if (!t->ended && tux_conn_tcp_want(c))
		e.events |= EPOLLIN;
	if (t->full && !t->broken)
		e.events |= EPOLLOUT;
	if (e.events == t->watched)
		return;
	op = !t->watched ? EPOLL_CTL_ADD :
	     !e.events ? EPOLL_CTL_DEL : EPOLL_CTL_MOD;
	if (!tux_sys_epoll_ctl(epfd, op, t->fd, &e))
		t->watched = e.events;
}
