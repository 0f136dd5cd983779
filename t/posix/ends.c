/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ends of connections, and of the descriptors that name them.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pair.h"

/* Reads until the end: what read() says then, 1 if it does not come. */
static ssize_t the_end(int fd)
{
	struct pollfd f = { .fd = fd, .events = POLLIN };
	double end = pair_ms() + PAIR_PATIENCE_MS;
	char buf[4096];
	ssize_t n;

	do {
		poll(&f, 1, 100);
		n = read(fd, buf, sizeof(buf));
	} while ((n > 0 || (n < 0 && errno == EAGAIN)) && pair_ms() < end);
	return n < 0 && errno == EAGAIN ? 1 : n;
}

static bool works(int from, int to)
{
	pair_poke(from);
	return pair_expect(to, 1);
}

/* ---- one direction, both directions ------------------------------------- */

static void half_closed(struct pair *p)
{
	pair_poke(p->b);
	CHECK(shutdown(p->b, SHUT_WR) == 0);
	CHECK(pair_expect(p->a, 1));
	CHECK(the_end(p->a) == 0);
	CHECK(the_end(p->a) == 0);
	for (int i = 0; i < 3; i++)
		CHECK(works(p->a, p->b));
	CHECK(shutdown(p->a, SHUT_WR) == 0);
	CHECK(the_end(p->b) == 0);
}

static void closed_with_data(struct pair *p)
{
	enum { LEN = 100000 };
	static char buf[LEN];
	size_t sent = 0, got = 0;
	double end = pair_ms() + PAIR_PATIENCE_MS;
	ssize_t n;

	while ((n = write(p->b, buf, LEN)) > 0 && sent < LEN)
		sent += (size_t)n;
	if (n > 0)
		sent += (size_t)n;
	close(p->b);
	p->b = -1;
	while (got < sent && pair_ms() < end)
		got += pair_drain(p->a);
	CHECK(got == sent);
	CHECK(the_end(p->a) == 0);
}

static void shut_both(struct pair *p)
{
	char c;

	CHECK(shutdown(p->a, SHUT_RDWR) == 0);
	CHECK(read(p->a, &c, 1) == 0);
	CHECK(the_end(p->b) == 0);
	CHECK(shutdown(p->a, 7) == -1 && errno == EINVAL);
}

static volatile sig_atomic_t pipes;

static void on_pipe(int sig)
{
	(void)sig;
	pipes++;
}

static void sigpipe(struct pair *p)
{
	signal(SIGPIPE, on_pipe);
	pipes = 0;
	CHECK(shutdown(p->a, SHUT_WR) == 0);
	CHECK(write(p->a, "x", 1) == -1 && errno == EPIPE);
	CHECK(pipes == 1);
	CHECK(send(p->a, "x", 1, MSG_NOSIGNAL) == -1 && errno == EPIPE);
	CHECK(pipes == 1);
	CHECK(works(p->b, p->a));
	signal(SIGPIPE, SIG_DFL);
}

static void peer_gone(struct pair *p)
{
	double end = pair_ms() + PAIR_PATIENCE_MS;

	signal(SIGPIPE, SIG_IGN);
	close(p->b);
	p->b = -1;
	CHECK(the_end(p->a) == 0);
	while (write(p->a, "x", 1) == 1 && pair_ms() < end)
		poll(NULL, 0, 5);
	CHECK(errno == EPIPE || errno == ECONNRESET);
	CHECK(write(p->a, "x", 1) == -1 && errno == EPIPE);
	signal(SIGPIPE, SIG_DFL);
}

static void reset(struct pair *p)
{
	struct linger l = { 1, 0 };
	int err = 0;
	socklen_t len = sizeof(err);

	CHECK(!setsockopt(p->b, SOL_SOCKET, SO_LINGER, &l, sizeof(l)));
	close(p->b);
	p->b = -1;
	CHECK(the_end(p->a) == -1 && errno == ECONNRESET);
	CHECK(!getsockopt(p->a, SOL_SOCKET, SO_ERROR, &err, &len) && !err);
}

/* ---- descriptors -------------------------------------------------------- */

static void duplicates(struct pair *p)
{
	int d = dup(p->a), e = fcntl(p->a, F_DUPFD_CLOEXEC, 100), f;

	CHECK(d >= 0 && e >= 100);
	CHECK(works(d, p->b) && works(p->b, e));
	close(p->a);
	CHECK(works(p->b, d) && works(e, p->b));
	close(d);
	f = dup3(e, 120, O_CLOEXEC);
	CHECK(f == 120 && works(f, p->b));
	close(e);
	CHECK(works(p->b, f) && works(f, p->b));
	close(f);
	CHECK(the_end(p->b) == 0);
	p->a = -1;
}

static void replaced(struct pair *p)
{
	struct pair q;
	int null = open("/dev/null", O_RDWR);

	pair_open(&q, false);
	CHECK(dup2(-1, p->a) == -1 && errno == EBADF);
	CHECK(works(p->a, p->b));
	CHECK(dup2(q.a, p->a) == p->a);
	CHECK(the_end(p->b) == 0);
	CHECK(works(p->a, q.b) && works(q.b, p->a) && works(q.b, q.a));
	CHECK(dup2(p->a, p->a) == p->a && works(q.b, p->a));
	CHECK(dup2(null, p->a) == p->a && write(p->a, "x", 1) == 1);
	CHECK(works(q.b, q.a) && works(q.a, q.b));
	close(null);
	pair_close(&q);
}

/* Opens a file, which gets the number @was. */
static bool opens_as(int was)
{
	int fd = open("/proc/self/comm", O_RDONLY);
	bool ok;
	char c;

	if (fd < 0)
		return false;
	ok = fd == was ? read(fd, &c, 1) == 1 && c == 'e' :
	     fd < was && opens_as(was);
	close(fd);
	return ok;
}

/* The number is used again, for a file and for another connection. */
static void reused(struct pair *p)
{
	int was = p->a;

	close(p->a);
	CHECK(opens_as(was));
	CHECK(the_end(p->b) == 0);
	CHECK(opens_as(was));
	close(p->b);
	pair_open(p, false);
	CHECK(works(p->a, p->b) && works(p->b, p->a));
}

/* As stdio, or a library with its own system calls, does it. */
static void closed_unseen(struct pair *p)
{
	syscall(SYS_close, p->a);
	CHECK(opens_as(p->a));
	CHECK(the_end(p->b) <= 0);
	p->a = -1;
}

static void ranges(struct pair *p)
{
	int a = dup2(p->a, 200), b = dup2(p->a, 210);

	close(p->a);
	p->a = -1;
	CHECK(a == 200 && b == 210);
	CHECK(close_range(190, 205, 0) == 0);
	CHECK(fcntl(200, F_GETFD) == -1 && works(210, p->b));
	CHECK(close_range(205, 220, CLOSE_RANGE_CLOEXEC) == 0);
	CHECK(works(p->b, 210));
	CHECK(close_range(205, 220, 0) == 0);
	CHECK(the_end(p->b) == 0);
}

static void names(struct pair *p)
{
	struct sockaddr_in a, b;
	socklen_t len = sizeof(a);
	int type = 0;

	CHECK(getsockname(p->a, (void *)&a, &len) == 0);
	CHECK(getpeername(p->b, (void *)&b, &len) == 0);
	CHECK(a.sin_port == b.sin_port);
	len = sizeof(type);
	CHECK(!getsockopt(p->a, SOL_SOCKET, SO_TYPE, &type, &len) &&
	      type == SOCK_STREAM);
}

/* ---- before there is a connection ---------------------------------------- */

static void not_connected(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1, err = 0, l;
	uint16_t port;
	char c;

	CHECK(read(fd, &c, 1) == -1 && errno == ENOTCONN);
	CHECK(send(fd, &c, 1, MSG_NOSIGNAL) == -1 && errno == EPIPE);
	CHECK(shutdown(fd, SHUT_WR) == -1 && errno == ENOTCONN);
	CHECK(!setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)));
	l = pair_listen(&port);
	shutdown(l, SHUT_RD);	/* the port is taken, and no socket listens */
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	a.sin_port = htons(port);
	CHECK(connect(fd, (void *)&a, len) == -1 && errno == ECONNREFUSED);
	CHECK(read(fd, &c, 1) == -1);
	close(fd);
	fd = pair_dial(port);
	poll(&(struct pollfd){ .fd = fd, .events = POLLOUT }, 1,
	     PAIR_PATIENCE_MS);
	len = sizeof(err);
	CHECK(!getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len) &&
	      err == ECONNREFUSED);
	close(fd);
	close(l);
}

static void connects_blocking(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	uint16_t port;
	int l = pair_listen(&port);
	struct pair p = { .b = fd };

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	a.sin_port = htons(port);
	CHECK(connect(fd, (void *)&a, sizeof(a)) == 0);
	CHECK(connect(fd, (void *)&a, sizeof(a)) == -1 && errno == EISCONN);
	p.a = accept(l, NULL, NULL);
	CHECK(p.a >= 0 && !(fcntl(p.a, F_GETFL) & O_NONBLOCK));
	CHECK(works(p.a, p.b) && works(p.b, p.a));
	CHECK(accept(l, NULL, NULL) == -1 && errno == EAGAIN);
	close(l);
	CHECK(works(p.a, p.b) && works(p.b, p.a));
	pair_close(&p);
}

/* The kernel does not know of it while the connection is on Tux, and then must. */
static void shut_and_plain(struct pair *p)
{
	struct pollfd f = { .fd = p->a, .events = POLLIN | POLLRDHUP };
	char c;

	CHECK(shutdown(p->a, SHUT_RD) == 0);
	CHECK(system("true") == 0);
	CHECK(poll(&f, 1, 0) == 1 && f.revents == (POLLIN | POLLRDHUP));
	CHECK(read(p->a, &c, 1) == 0);
	CHECK(works(p->a, p->b));
}

/* A reset is no clean end, and is told once, also by what has become plain. */
static void reset_and_plain(struct pair *p)
{
	const struct sockaddr none = { .sa_family = AF_UNSPEC };
	struct pollfd f = { .fd = p->a, .events = POLLRDHUP };

	CHECK(!connect(p->b, &none, sizeof(none)));
	CHECK(poll(&f, 1, PAIR_PATIENCE_MS) == 1);
	CHECK(system("true") == 0);
	CHECK(send(p->a, "x", 1, MSG_NOSIGNAL) == -1 && errno == ECONNRESET);
	CHECK(send(p->a, "x", 1, MSG_NOSIGNAL) == -1 && errno == EPIPE);
	CHECK(poll(&f, 1, 0) == 1 && !(f.revents & POLLERR));
}

/* connect() to no address; then the socket has another connection.  @events: of its
 * item, which lives on. */
static void disconnects(struct pair *p, uint32_t events)
{
	const struct sockaddr none = { .sa_family = AF_UNSPEC };
	struct pollfd f = { .events = POLLIN };
	struct epoll_event e = { .events = events, .data.fd = p->b };
	int ep = epoll_create1(0);
	uint16_t port;
	char c;

	f.fd = pair_listen(&port);
	CHECK(!epoll_ctl(ep, EPOLL_CTL_ADD, p->b, &e));
	pair_poke(p->a);
	CHECK(pair_until(ep, p->b, EPOLLIN) == EPOLLIN);
	CHECK(!connect(p->b, &none, sizeof(none)));
	CHECK(the_end(p->a) == -1 && errno == ECONNRESET);
	CHECK(read(p->b, &c, 1) == -1 && errno == ECONNRESET);
	CHECK(read(p->b, &c, 1) == -1 && errno == ENOTCONN);
	close(p->a);
	pair_connect(p->b, port);
	CHECK(poll(&f, 1, PAIR_PATIENCE_MS) == 1);
	p->a = accept4(f.fd, NULL, NULL, SOCK_NONBLOCK);
	close(f.fd);
	pair_talk(p, 60);
	CHECK(!epoll_ctl(ep, EPOLL_CTL_MOD, p->b, &e));
	pair_poke(p->a);
	CHECK(pair_until(ep, p->b, EPOLLIN) == EPOLLIN);
	CHECK(pair_expect(p->b, 1));
	CHECK(!epoll_ctl(ep, EPOLL_CTL_DEL, p->b, NULL));
	close(ep);
}

static void disconnected(struct pair *p)
{
	disconnects(p, EPOLLIN);
}

static void disconnected_shot(struct pair *p)
{
	disconnects(p, EPOLLIN | EPOLLONESHOT);
}

int main(void)
{
	pair_case("half-close", half_closed);
	pair_case("close behind data", closed_with_data);
	pair_case("shutdown of both directions", shut_both);
	pair_case("SIGPIPE and MSG_NOSIGNAL", sigpipe);
	pair_case("writing to a peer that has gone", peer_gone);
	pair_case("SO_LINGER of 0 resets", reset);
	pair_case("SHUT_RD, and then plain TCP", shut_and_plain);
	pair_case("a reset, and then plain TCP", reset_and_plain);
	pair_case("connect() to no address", disconnected);
	pair_case("... after a report of EPOLLONESHOT", disconnected_shot);
	pair_case("dup, dup3, F_DUPFD", duplicates);
	pair_case("dup2 over a connection", replaced);
	pair_case("a number is used again", reused);
	pair_case("closed behind our back", closed_unseen);
	pair_case("close_range", ranges);
	pair_case("names and types", names);
	pair_once("sockets without a connection", not_connected);
	pair_once("blocking connect and accept", connects_blocking);
	return pair_done();
}
