/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * echo - sends back what it receives, on every connection
 *
 * One epoll loop.  With --spin it never sleeps; while it has one connection
 * only, it then asks that one and seldom epoll.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "option.h"

enum {
	BATCH = 64,
	ROOM = 1 << 17,
	LOOK = 1000,		/* turns between two looks at epoll */
};

struct peer {
	int fd;
	bool full;		/* waits for room to send */
	size_t at, end;		/* received and not sent back */
	uint8_t buf[ROOM];
};

struct server {
	int epfd, listener;
	bool spin;
	uint32_t n;		/* connections */
	struct peer *last;	/* the newest; NULL: it has gone */
};

static void watch(struct server *s, int op, int fd, uint32_t events, void *p)
{
	struct epoll_event e = { .events = events, .data.ptr = p };

	if (epoll_ctl(s->epfd, op, fd, &e))
		option_fail(1, "epoll_ctl: %s", strerror(errno));
}

static void gone(struct server *s, struct peer *p)
{
	if (s->last == p)
		s->last = NULL;
	s->n--;
	close(p->fd);
	free(p);
}

/* While the peer does not take its bytes, no more are received. */
static void want(struct server *s, struct peer *p)
{
	bool full = p->at < p->end;

	if (full != p->full)
		watch(s, EPOLL_CTL_MOD, p->fd, full ? EPOLLOUT : EPOLLIN, p);
	p->full = full;
}

static bool again(ssize_t n)
{
	return n < 0 && (errno == EAGAIN || errno == EINTR);
}

static void serve(struct server *s, struct peer *p)
{
	ssize_t n;

	if (p->at == p->end) {
		n = recv(p->fd, p->buf, sizeof(p->buf), MSG_DONTWAIT);
		if (again(n))
			return;
		if (n <= 0) {
			gone(s, p);
			return;
		}
		p->at = 0;
		p->end = (size_t)n;
	}
	n = send(p->fd, p->buf + p->at, p->end - p->at,
		 MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n < 0 && !again(n)) {
		gone(s, p);
		return;
	}
	if (n > 0)
		p->at += (size_t)n;
	want(s, p);
}

static void welcome(struct server *s)
{
	int one = 1, fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC);
	struct peer *p;

	if (fd < 0)
		return;
	p = malloc(sizeof(*p));
	if (!p) {
		close(fd);
		return;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	p->fd = fd;
	p->full = false;
	p->at = p->end = 0;
	s->n++;
	s->last = p;
	watch(s, EPOLL_CTL_ADD, fd, EPOLLIN, p);
}

static void turn(struct server *s)
{
	struct epoll_event e[BATCH];
	int i, n;

	for (i = 0; s->spin && s->n == 1 && s->last && i < LOOK; i++)
		serve(s, s->last);
	n = epoll_wait(s->epfd, e, BATCH, s->spin ? 0 : -1);
	for (i = 0; i < n; i++) {
		if (e[i].data.ptr)
			serve(s, e[i].data.ptr);
		else
			welcome(s);
	}
}

static void start(struct server *s, const char *host, uint16_t port)
{
	struct sockaddr_in at = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
	};
	int one = 1;

	if (inet_pton(AF_INET, host, &at.sin_addr) != 1)
		option_fail(2, "%s: not an IPv4 address", host);
	s->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	s->epfd = epoll_create1(EPOLL_CLOEXEC);
	if (s->listener < 0 || s->epfd < 0)
		option_fail(1, "socket: %s", strerror(errno));
	setsockopt(s->listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(s->listener, (struct sockaddr *)&at, sizeof(at)) ||
	    listen(s->listener, SOMAXCONN))
		option_fail(1, "%s port %u: %s", host, port, strerror(errno));
	watch(s, EPOLL_CTL_ADD, s->listener, EPOLLIN, NULL);
}

static void usage(FILE *to, int code)
{
	fputs("usage: bench/echo --port P [--host A] [--spin]\n"
	      "Sends back what it receives over TCP, until it is ended.\n", to);
	exit(code);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "host", 1, 0, 'h' }, { "port", 1, 0, 'p' },
		{ "spin", 0, 0, 's' }, { "help", 0, 0, 'H' }, { 0 },
	};
	struct server s = { .listener = -1 };
	const char *host = "0.0.0.0";
	uint16_t port = 0;
	struct rlimit files;
	int k;

	while ((k = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (k == 'h')
			host = optarg;
		else if (k == 'p')
			port = (uint16_t)option_number("port", optarg, 1,
						       65535);
		else if (k == 's')
			s.spin = true;
		else
			usage(k == 'H' ? stdout : stderr, k == 'H' ? 0 : 2);
	}
	if (optind != argc || !port)
		usage(stderr, 2);
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	start(&s, host, port);
	for (;;)
		turn(&s);
}
