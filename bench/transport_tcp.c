/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp - connections are non-blocking sockets in one epoll instance
 *
 * Somebody who spins on a single connection asks its socket, not epoll: nothing
 * is faster over the kernel.
 */
#include "transport.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sys/clock.h"

struct peer {
	void *user;
	bool full;			/* waits for room to send */
};

struct tcp {
	struct transport t;
	int epfd;
	bool spin;
	struct sockaddr_in to;
	struct peer *peer;		/* by handle */
	int peers;			/* how many fit in it */
	int dialled;
	void *last;			/* the user of the newest */
};

static struct tcp *tcp_of(struct transport *t)
{
	return (struct tcp *)(void *)t;
}

static void tcp_close(struct transport *t)
{
	struct tcp *c = tcp_of(t);

	close(c->epfd);
	free(c->peer);
	free(c);
}

static int tcp_open(struct transport **tp, const struct transport_opts *o)
{
	struct tcp *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->t.ops = &transport_tcp;
	c->spin = o->spin;
	c->to.sin_family = AF_INET;
	c->to.sin_port = htons(o->port);
	if (inet_pton(AF_INET, o->host, &c->to.sin_addr) != 1) {
		free(c);
		return -EINVAL;
	}
	c->epfd = epoll_create1(EPOLL_CLOEXEC);
	if (c->epfd < 0) {
		free(c);
		return -errno;
	}
	*tp = &c->t;
	return 0;
}

/* For data; and for room too if @full. */
static int watch(struct tcp *c, int op, int fd, bool full)
{
	struct epoll_event e = {
		.events = EPOLLIN | (full ? EPOLLOUT : 0),
		.data.ptr = c->peer[fd].user,
	};

	c->peer[fd].full = full;
	return epoll_ctl(c->epfd, op, fd, &e) ? -errno : 0;
}

static int remember(struct tcp *c, int fd, void *user)
{
	int n = 2 * fd + 1;
	struct peer *more;

	if (fd >= c->peers) {
		more = realloc(c->peer, (size_t)n * sizeof(*more));
		if (!more)
			return -ENOMEM;
		c->peer = more;
		c->peers = n;
	}
	c->peer[fd].user = c->last = user;
	return 0;
}

static int tcp_dial(struct transport *t, void *user)
{
	struct tcp *c = tcp_of(t);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int one = 1, err;

	if (fd < 0)
		return -errno;
	err = setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) ||
	      connect(fd, (struct sockaddr *)&c->to, sizeof(c->to)) ?
		-errno : remember(c, fd, user);
	if (!err)
		err = watch(c, EPOLL_CTL_ADD, fd, false);
	if (err) {
		close(fd);
		return err;
	}
	c->dialled++;
	return fd;
}

static void tcp_hang_up(struct transport *t, int h)
{
	(void)t;
	close(h);
}

static ssize_t tcp_send(struct transport *t, int h, const void *p, size_t len)
{
	ssize_t n = send(h, p, len, MSG_NOSIGNAL | MSG_DONTWAIT);
	struct tcp *c = tcp_of(t);
	bool full = n < 0 && (errno == EAGAIN || errno == EINTR);

	if (n < 0 && !full)
		return -errno;
	if (full != c->peer[h].full)
		watch(c, EPOLL_CTL_MOD, h, full);
	return full ? -EAGAIN : n;
}

static ssize_t tcp_recv(struct transport *t, int h, void *p, size_t cap)
{
	ssize_t n = recv(h, p, cap, MSG_DONTWAIT);

	(void)t;
	if (n >= 0)
		return n;
	return errno == EINTR ? -EAGAIN : -errno;
}

static int tcp_wait(struct transport *t, tux_time until, void **ready)
{
	struct epoll_event e[TRANSPORT_READY];
	struct timespec in = { 0, 0 }, *left = &in;
	struct tcp *c = tcp_of(t);
	int i, n;

	if (c->spin && c->dialled == 1) {
		ready[0] = c->last;
		return 1;
	}
	if (!c->spin)
		left = tux_clock_until(&in, until, tux_clock_read());
	n = epoll_pwait2(c->epfd, e, TRANSPORT_READY, left, NULL);
	for (i = 0; i < n; i++)
		ready[i] = e[i].data.ptr;
	return n;
}

const struct transport_ops transport_tcp = {
	.name = "tcp",
	.open = tcp_open,
	.close = tcp_close,
	.dial = tcp_dial,
	.hang_up = tcp_hang_up,
	.send = tcp_send,
	.recv = tcp_recv,
	.wait = tcp_wait,
};
