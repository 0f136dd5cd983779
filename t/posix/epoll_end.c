/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How the end of a connection, or of one direction, looks to epoll and poll.
 */
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pair.h"

enum { ASK = EPOLLIN | EPOLLOUT | EPOLLRDHUP };

static bool at_end(int fd)
{
	char c;

	return read(fd, &c, 1) == 0;
}

/* The peer has sent all; we have not. */
static void half(struct pair *p)
{
	int ep = pair_epoll();

	CHECK(pair_add(ep, p->a, ASK) == 0);
	shutdown(p->b, SHUT_WR);
	CHECK(pair_until(ep, p->a, ASK) == ASK);
	CHECK(at_end(p->a));
	CHECK(pair_seen(ep, p->a, 0) == ASK);
	pair_poke(p->a);
	CHECK(pair_expect(p->b, 1));
	CHECK(pair_seen(ep, p->a, 20) == ASK);
	close(ep);
}

/* As above, and one direction may move to Tux though the other has ended: each
 * look says all that holds. */
static void half_moving(struct pair *p)
{
	int ep = pair_epoll();

	CHECK(pair_add(ep, p->a, ASK) == 0);
	shutdown(p->b, SHUT_WR);
	CHECK(pair_until(ep, p->a, ASK) == ASK);
	for (int i = 0; i < 30; i++) {
		pair_poke(p->a);
		CHECK(pair_expect(p->b, 1));
		for (int j = 0; j < 5; j++)
			CHECK(pair_seen(ep, p->a, 0) == ASK);
		poll(NULL, 0, 1);
	}
	CHECK(at_end(p->a));
	close(ep);
}

/* Who does not ask for EPOLLRDHUP is told of something to read. */
static void half_quiet(struct pair *p)
{
	int ep = pair_epoll();

	CHECK(pair_add(ep, p->a, EPOLLIN) == 0);
	shutdown(p->b, SHUT_WR);
	CHECK(pair_until(ep, p->a, EPOLLIN) == EPOLLIN);
	CHECK(at_end(p->a));
	CHECK(pair_mod(ep, p->a, EPOLLOUT) == 0);
	CHECK(pair_seen(ep, p->a, PAIR_PATIENCE_MS) == EPOLLOUT);
	CHECK(pair_mod(ep, p->a, EPOLLRDHUP) == 0);
	CHECK(pair_seen(ep, p->a, PAIR_PATIENCE_MS) == EPOLLRDHUP);
	close(ep);
}

static void both(struct pair *p)
{
	int ep = pair_epoll();

	CHECK(pair_add(ep, p->a, 0) == 0);
	shutdown(p->b, SHUT_WR);
	CHECK(pair_seen(ep, p->a, 50) == 0);
	shutdown(p->a, SHUT_WR);
	CHECK(pair_until(ep, p->a, EPOLLHUP) == EPOLLHUP);
	CHECK(pair_mod(ep, p->a, ASK) == 0);
	CHECK(pair_until(ep, p->a, ASK | EPOLLHUP) == (ASK | EPOLLHUP));
	close(ep);
}

/* Data, and then the end: both can be read. */
static void data_first(struct pair *p)
{
	int ep = pair_epoll();

	CHECK(pair_add(ep, p->a, ASK) == 0);
	for (int i = 0; i < 10; i++)
		pair_poke(p->b);
	shutdown(p->b, SHUT_WR);
	CHECK(pair_until(ep, p->a, ASK) == ASK);
	CHECK(pair_expect(p->a, 10));
	CHECK(at_end(p->a));
	close(ep);
}

static void edges(struct pair *p)
{
	int ep = pair_epoll(), more = 0;

	CHECK(pair_add(ep, p->a, EPOLLIN | EPOLLRDHUP | EPOLLET) == 0);
	CHECK(pair_seen(ep, p->a, 20) == 0);
	pair_poke(p->b);
	CHECK(pair_until(ep, p->a, EPOLLIN) == EPOLLIN);
	CHECK(pair_expect(p->a, 1));
	shutdown(p->b, SHUT_WR);
	CHECK(pair_until(ep, p->a, EPOLLRDHUP) == (EPOLLIN | EPOLLRDHUP));
	/* Maybe once more: the end comes by both paths. */
	while (more < 2 && pair_seen(ep, p->a, 50))
		more++;
	CHECK(more < 2);
	close(ep);
}

static void closed(struct pair *p)
{
	int ep = pair_epoll();

	CHECK(pair_add(ep, p->a, EPOLLIN | EPOLLRDHUP) == 0);
	close(p->b);
	p->b = -1;
	CHECK(pair_until(ep, p->a, EPOLLRDHUP) == (EPOLLIN | EPOLLRDHUP));
	CHECK(at_end(p->a));
	close(ep);
}

static void reset(struct pair *p)
{
	struct linger l = { 1, 0 };
	int ep = pair_epoll();
	char c;

	CHECK(pair_add(ep, p->a, ASK) == 0);
	CHECK(pair_until(ep, p->a, EPOLLOUT) == EPOLLOUT);
	setsockopt(p->b, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
	close(p->b);
	p->b = -1;
	CHECK(pair_until(ep, p->a, EPOLLERR) == (ASK | EPOLLERR | EPOLLHUP));
	CHECK(read(p->a, &c, 1) == -1 && errno == ECONNRESET);
	/* The error is told once; that it is over, for ever. */
	CHECK(pair_seen(ep, p->a, 50) == (ASK | EPOLLHUP));
	CHECK(at_end(p->a));
	CHECK(send(p->a, "x", 1, MSG_NOSIGNAL) == -1 && errno == EPIPE);
	close(ep);
}

static void reset_unasked(struct pair *p)
{
	struct linger l = { 1, 0 };
	int ep = pair_epoll();

	CHECK(pair_add(ep, p->a, 0) == 0);
	CHECK(pair_seen(ep, p->a, 20) == 0);
	setsockopt(p->b, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
	close(p->b);
	p->b = -1;
	CHECK(pair_until(ep, p->a, EPOLLERR) == (EPOLLERR | EPOLLHUP));
	close(ep);
}

static void own(struct pair *p)
{
	int ep = pair_epoll();

	CHECK(pair_add(ep, p->a, ASK) == 0);
	shutdown(p->a, SHUT_RD);
	CHECK(pair_until(ep, p->a, ASK) == ASK);
	shutdown(p->a, SHUT_WR);
	CHECK(pair_until(ep, p->a, ASK | EPOLLHUP) == (ASK | EPOLLHUP));
	close(ep);
}

static void urgent(struct pair *p)
{
	int ep = pair_epoll();

	CHECK(pair_add(ep, p->a, EPOLLPRI) == 0);
	pair_poke(p->b);
	CHECK(pair_seen(ep, p->a, 50) == 0);
	CHECK(pair_mod(ep, p->a, EPOLLIN | EPOLLRDNORM | EPOLLPRI) == 0);
	CHECK(pair_until(ep, p->a, EPOLLIN) == (EPOLLIN | EPOLLRDNORM));
	CHECK(pair_mod(ep, p->a, EPOLLOUT | EPOLLWRNORM) == 0);
	CHECK(pair_until(ep, p->a, EPOLLOUT) == (EPOLLOUT | EPOLLWRNORM));
	close(ep);
}

/* ---- poll ------------------------------------------------------------- */

static int look(int fd, short events, int ms)
{
	struct pollfd f = { fd, events, -1 };
	int r = poll(&f, 1, ms);

	CHECK(r == (f.revents != 0));
	return f.revents;
}

/* What poll says once it says all of @want, or when the patience ends. */
static int until(int fd, short events, int want)
{
	double end = pair_ms() + PAIR_PATIENCE_MS;
	int got;

	do
		got = look(fd, events, 20);
	while ((got & want) != want && pair_ms() < end);
	return got;
}

static void poll_half(struct pair *p)
{
	shutdown(p->b, SHUT_WR);
	CHECK(until(p->a, POLLIN | POLLRDHUP, POLLRDHUP) ==
	      (POLLIN | POLLRDHUP));
	CHECK(at_end(p->a));
	CHECK(look(p->a, POLLIN, 0) == POLLIN);
	CHECK(look(p->a, POLLOUT, 0) == POLLOUT);
	CHECK(look(p->a, 0, 20) == 0);
	shutdown(p->a, SHUT_WR);
	CHECK(until(p->a, 0, POLLHUP) == POLLHUP);
}

static void poll_reset(struct pair *p)
{
	struct linger l = { 1, 0 };

	CHECK(look(p->a, 0, 20) == 0);
	setsockopt(p->b, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
	close(p->b);
	p->b = -1;
	CHECK(until(p->a, POLLIN | POLLOUT, POLLERR) ==
	      (POLLIN | POLLOUT | POLLERR | POLLHUP));
	CHECK(look(p->a, 0, 0) == (POLLERR | POLLHUP));
}

int main(void)
{
	pair_case("half-closed by the peer", half);
	pair_case("half-closed, and half moved", half_moving);
	pair_case("half-closed, not asked for", half_quiet);
	pair_case("closed in both directions", both);
	pair_case("data before the end", data_first);
	pair_case("the end is an edge", edges);
	pair_case("closed by the peer", closed);
	pair_case("reset by the peer", reset);
	pair_case("reset, not asked for", reset_unasked);
	pair_case("shut down by ourselves", own);
	pair_case("nothing urgent, other names", urgent);
	pair_case("poll: half-closed", poll_half);
	pair_case("poll: reset", poll_reset);
	return pair_done();
}
