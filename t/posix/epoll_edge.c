/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * epoll: edges, one shot, exclusive, and what epoll_ctl() refuses.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pair.h"

/* Nothing is reported for @fd for @ms. Before that there may be a few reports
 * of nothing, while its connection moves. */
static bool quiet(int ep, int fd, int ms)
{
	for (int i = 0; i < 10; i++)
		if (!pair_seen(ep, fd, ms))
			return true;
	return false;
}

static void edge_in(struct pair *p)
{
	int ep = pair_epoll();

	CHECK(pair_add(ep, p->a, EPOLLIN | EPOLLET) == 0);
	CHECK(pair_seen(ep, p->a, 20) == 0);
	pair_poke(p->b);
	CHECK(pair_until(ep, p->a, EPOLLIN) == EPOLLIN);
	CHECK(quiet(ep, p->a, 20));
	/* More data is an edge, though the first was never read. */
	pair_poke(p->b);
	CHECK(pair_until(ep, p->a, EPOLLIN) == EPOLLIN);
	CHECK(pair_expect(p->a, 2));
	CHECK(quiet(ep, p->a, 20));
	pair_poke(p->b);
	CHECK(pair_until(ep, p->a, EPOLLIN) == EPOLLIN);
	close(ep);
}

static void edge_out(struct pair *p)
{
	int ep = pair_epoll();
	size_t n, got = 0;

	CHECK(pair_add(ep, p->a, EPOLLOUT | EPOLLET) == 0);
	CHECK(pair_until(ep, p->a, EPOLLOUT) == EPOLLOUT);
	CHECK(quiet(ep, p->a, 20));
	for (n = pair_fill(p->a); pair_seen(ep, p->a, 100); )
		n += pair_fill(p->a);
	while (got < n && pair_expect(p->b, 1))
		got += 1 + pair_drain(p->b);
	CHECK(got == n);
	CHECK(pair_until(ep, p->a, EPOLLOUT) == EPOLLOUT);
	close(ep);
}

/* Bytes and room have more names than one, also for edges. */
static void edge_other_names(struct pair *p)
{
	int bytes = pair_epoll(), room = pair_epoll(), level = pair_epoll();
	size_t n, got = 0;

	CHECK(pair_add(bytes, p->a, EPOLLRDNORM | EPOLLET) == 0);
	CHECK(pair_add(room, p->a, EPOLLWRNORM | EPOLLET) == 0);
	CHECK(pair_add(level, p->a, EPOLLRDNORM) == 0);
	CHECK(pair_until(room, p->a, EPOLLWRNORM) == EPOLLWRNORM);
	CHECK(quiet(room, p->a, 20));
	for (int i = 0; i < 30; i++) {
		pair_poke(p->b);
		CHECK(pair_until(bytes, p->a, EPOLLRDNORM) == EPOLLRDNORM);
		CHECK(pair_until(level, p->a, EPOLLRDNORM) == EPOLLRDNORM);
		CHECK(pair_expect(p->a, 1));
		CHECK(quiet(level, p->a, 1));
		pair_poke(p->a);
		CHECK(pair_expect(p->b, 1));
	}
	for (n = pair_fill(p->a); pair_seen(room, p->a, 100); )
		n += pair_fill(p->a);
	while (got < n && pair_expect(p->b, 1))
		got += 1 + pair_drain(p->b);
	CHECK(got == n);
	CHECK(pair_until(room, p->a, EPOLLWRNORM) == EPOLLWRNORM);
	close(bytes);
	close(room);
	close(level);
}

static void edge_shutdown(struct pair *p)
{
	int ep = pair_epoll();

	CHECK(pair_add(ep, p->a, EPOLLIN | EPOLLOUT | EPOLLET) == 0);
	CHECK(pair_until(ep, p->a, EPOLLOUT) == EPOLLOUT);
	CHECK(quiet(ep, p->a, 20));
	CHECK(!shutdown(p->a, SHUT_WR));
	CHECK(pair_until(ep, p->a, EPOLLOUT) == EPOLLOUT);
	CHECK(quiet(ep, p->a, 20));
	close(ep);
}

/* Each call wakes those that wait, also if it ends nothing that has not ended. */
static void edge_each_shutdown(struct pair *p)
{
	int i, ep = pair_epoll();

	CHECK(pair_add(ep, p->a, EPOLLOUT | EPOLLET) == 0);
	CHECK(pair_until(ep, p->a, EPOLLOUT) == EPOLLOUT);
	CHECK(quiet(ep, p->a, 20));
	CHECK(!shutdown(p->b, SHUT_WR));
	CHECK(pair_until(ep, p->a, EPOLLOUT) == EPOLLOUT);
	CHECK(quiet(ep, p->a, 20));
	for (i = 0; i < 3; i++) {
		CHECK(!shutdown(p->a, SHUT_RD));
		CHECK(pair_until(ep, p->a, EPOLLOUT) == EPOLLOUT);
		CHECK(quiet(ep, p->a, 20));
	}
	close(ep);
}

/* The peer's end wakes them also where reads have ended before. */
static void edge_end_of_no_reads(struct pair *p)
{
	int ep = pair_epoll();

	CHECK(pair_add(ep, p->a, EPOLLOUT | EPOLLET) == 0);
	CHECK(pair_until(ep, p->a, EPOLLOUT) == EPOLLOUT);
	CHECK(quiet(ep, p->a, 20));
	CHECK(!shutdown(p->a, SHUT_RD));
	CHECK(pair_until(ep, p->a, EPOLLOUT) == EPOLLOUT);
	CHECK(quiet(ep, p->a, 20));
	CHECK(!shutdown(p->b, SHUT_WR));
	CHECK(pair_until(ep, p->a, EPOLLOUT) == EPOLLOUT);
	CHECK(quiet(ep, p->a, 20));
	close(ep);
}

/* One byte comes and is read: the room that is told then, within @ms. */
static uint32_t read_before(struct pair *p, int ep, int ms)
{
	pair_poke(p->b);
	CHECK(pair_expect(p->a, 1));
	return pair_seen(ep, p->a, ms);
}

/* Bytes came and were read: what is left of the edge is the room. One such edge
 * is lost if the direction moves between the read and the wait (edge.h). */
static void edge_read_before(struct pair *p)
{
	int ep = pair_epoll();

	CHECK(pair_add(ep, p->a, EPOLLIN | EPOLLOUT | EPOLLET) == 0);
	CHECK(pair_until(ep, p->a, EPOLLOUT) == EPOLLOUT);
	CHECK(quiet(ep, p->a, 20));
	CHECK(read_before(p, ep, 1000) == EPOLLOUT ||
	      read_before(p, ep, PAIR_PATIENCE_MS) == EPOLLOUT);
	CHECK(quiet(ep, p->a, 20));
	close(ep);
}

/* A stream as edge-triggered programs move it: until EAGAIN, then wait. */
static void edge_stream(struct pair *p)
{
	enum { ALL = 8 << 20 };
	static char buf[100000];
	int ep = pair_epoll();
	size_t sent = 0, got = 0;
	double end = pair_ms() + PAIR_PATIENCE_MS;

	CHECK(pair_add(ep, p->a, EPOLLIN | EPOLLET) == 0);
	CHECK(pair_add(ep, p->b, EPOLLOUT | EPOLLET) == 0);
	while (got < ALL && pair_ms() < end) {
		struct epoll_event e[2];
		int n = epoll_wait(ep, e, 2, PAIR_PATIENCE_MS);

		if (n <= 0)
			break;
		for (int i = 0; i < n; i++) {
			ssize_t k;

			if (e[i].data.fd == p->a)
				got += pair_drain(p->a);
			while (e[i].data.fd == p->b && sent < ALL &&
			       (k = write(p->b, buf, ALL - sent < sizeof(buf) ?
					  ALL - sent : sizeof(buf))) > 0)
				sent += (size_t)k;
		}
	}
	CHECK(sent == ALL);
	CHECK(got == ALL);
	close(ep);
}

static void rearm_edge(struct pair *p)
{
	int ep = pair_epoll();

	pair_poke(p->b);
	CHECK(pair_add(ep, p->a, EPOLLIN | EPOLLET) == 0);
	CHECK(pair_until(ep, p->a, EPOLLIN) == EPOLLIN);
	CHECK(quiet(ep, p->a, 20));
	CHECK(pair_mod(ep, p->a, EPOLLIN | EPOLLET) == 0);
	CHECK(pair_until(ep, p->a, EPOLLIN) == EPOLLIN);
	CHECK(pair_del(ep, p->a) == 0);
	CHECK(pair_seen(ep, p->a, 20) == 0);
	CHECK(pair_add(ep, p->a, EPOLLIN | EPOLLET) == 0);
	CHECK(pair_until(ep, p->a, EPOLLIN) == EPOLLIN);
	close(ep);
}

static void oneshot(struct pair *p)
{
	int ep = pair_epoll();

	CHECK(pair_add(ep, p->a, EPOLLIN | EPOLLONESHOT) == 0);
	CHECK(pair_seen(ep, p->a, 20) == 0);
	pair_poke(p->b);
	CHECK(pair_until(ep, p->a, EPOLLIN) == EPOLLIN);
	CHECK(pair_seen(ep, p->a, 20) == 0);
	pair_poke(p->b);
	CHECK(pair_seen(ep, p->a, 20) == 0);
	CHECK(pair_mod(ep, p->a, EPOLLIN | EPOLLONESHOT) == 0);
	CHECK(pair_until(ep, p->a, EPOLLIN) == EPOLLIN);
	CHECK(pair_expect(p->a, 2));
	CHECK(pair_mod(ep, p->a, EPOLLIN | EPOLLOUT | EPOLLONESHOT) == 0);
	CHECK(pair_seen(ep, p->a, 100) == EPOLLOUT);
	pair_poke(p->b);
	CHECK(pair_seen(ep, p->a, 50) == 0);
	close(ep);
}

/* Bytes wait, and the other direction may move to Tux meanwhile: the one event has
 * both. */
static void oneshot_both(struct pair *p)
{
	const uint32_t both = EPOLLIN | EPOLLOUT;
	struct pollfd f = { p->a, POLLIN, 0 };
	int ep = pair_epoll();

	pair_poke(p->b);
	CHECK(poll(&f, 1, PAIR_PATIENCE_MS) == 1);
	CHECK(pair_add(ep, p->a, both | EPOLLONESHOT) == 0);
	CHECK(pair_seen(ep, p->a, 20) == both);
	for (int i = 0; i < 30; i++) {
		pair_poke(p->a);
		CHECK(pair_expect(p->b, 1));
		CHECK(pair_mod(ep, p->a, both | EPOLLONESHOT) == 0);
		CHECK(pair_seen(ep, p->a, i % 2 ? 20 : 0) == both);
		poll(NULL, 0, 1);
	}
	close(ep);
}

/* Disarmed, not even the end is told. */
static void oneshot_end(struct pair *p)
{
	int ep = pair_epoll();

	CHECK(pair_add(ep, p->a, EPOLLOUT | EPOLLONESHOT) == 0);
	CHECK(pair_until(ep, p->a, EPOLLOUT) == EPOLLOUT);
	shutdown(p->b, SHUT_WR);
	shutdown(p->a, SHUT_WR);
	CHECK(pair_seen(ep, p->a, 50) == 0);
	CHECK(pair_mod(ep, p->a, EPOLLIN | EPOLLRDHUP) == 0);
	CHECK(pair_until(ep, p->a, EPOLLIN | EPOLLRDHUP | EPOLLHUP) != 0);
	close(ep);
}

static void exclusive(struct pair *p)
{
	int ep1 = pair_epoll(), ep2 = pair_epoll();
	double end = pair_ms() + PAIR_PATIENCE_MS;
	uint32_t seen = 0;

	CHECK(pair_add(ep1, p->a, EPOLLIN | EPOLLEXCLUSIVE) == 0);
	CHECK(pair_add(ep2, p->a, EPOLLIN | EPOLLEXCLUSIVE) == 0);
	pair_poke(p->b);
	while (!seen && pair_ms() < end)
		seen = pair_seen(ep1, p->a, 20) | pair_seen(ep2, p->a, 20);
	CHECK(seen == EPOLLIN);
	CHECK(pair_expect(p->a, 1));
	CHECK(pair_mod(ep1, p->a, EPOLLIN) == EINVAL);
	CHECK(pair_mod(ep1, p->a, EPOLLIN | EPOLLEXCLUSIVE) == EINVAL);
	CHECK(pair_del(ep1, p->a) == 0);
	CHECK(pair_add(ep1, p->a, EPOLLIN) == 0);
	CHECK(pair_mod(ep1, p->a, EPOLLIN | EPOLLEXCLUSIVE) == EINVAL);
	CHECK(pair_add(ep1, p->b, EPOLLIN | EPOLLEXCLUSIVE | EPOLLONESHOT) ==
	      EINVAL);
	close(ep1);
	close(ep2);
}

static void refused(struct pair *p)
{
	int ep = pair_epoll(), file = open("/proc/self/exe", O_RDONLY);

	CHECK(pair_mod(ep, p->a, EPOLLIN) == ENOENT);
	CHECK(pair_del(ep, p->a) == ENOENT);
	CHECK(pair_add(ep, p->a, EPOLLIN) == 0);
	CHECK(pair_add(ep, p->a, EPOLLIN) == EEXIST);
	pair_poke(p->b);
	CHECK(pair_until(ep, p->a, EPOLLIN) == EPOLLIN);
	CHECK(pair_add(ep, p->a, EPOLLIN) == EEXIST);
	CHECK(pair_del(ep, p->a) == 0);
	CHECK(pair_del(ep, p->a) == ENOENT);
	CHECK(pair_add(ep, -1, EPOLLIN) == EBADF);
	CHECK(pair_del(ep, 900) == EBADF);
	CHECK(pair_add(ep, ep, EPOLLIN) == EINVAL);
	CHECK(pair_add(ep, file, EPOLLIN) == EPERM);
	CHECK(pair_add(p->b, p->a, EPOLLIN) == EINVAL);
	CHECK(epoll_ctl(ep, 77, p->a, &(struct epoll_event){ 0 }) == -1 &&
	      errno == EINVAL);
	CHECK(epoll_ctl(ep, EPOLL_CTL_ADD, p->a, NULL) == -1 &&
	      errno == EFAULT);
	close(file);
	close(ep);
}

/* close() takes it out of the set; its number may come back as another. */
static void reused(struct pair *p)
{
	int ep = pair_epoll(), old = p->b;
	struct pair q;

	CHECK(pair_add(ep, p->b, EPOLLIN | EPOLLOUT) == 0);
	CHECK(pair_until(ep, p->b, EPOLLOUT) == EPOLLOUT);
	close(p->b);
	CHECK(pair_seen(ep, old, 20) == 0);
	pair_fresh(&q);
	CHECK(pair_seen(ep, old, 20) == 0);
	CHECK(pair_mod(ep, q.b, EPOLLIN) == ENOENT);
	CHECK(pair_add(ep, q.b, EPOLLIN) == 0);
	pair_poke(q.a);
	CHECK(pair_until(ep, q.b, EPOLLIN) == EPOLLIN);
	p->b = q.b;
	close(p->a);
	p->a = q.a;
	close(ep);
}

/* Added before connect(), as some programs do; EPOLLOUT says it is there. */
static void connecting(void)
{
	static const uint32_t flags[] = { 0, EPOLLET, EPOLLONESHOT };
	uint16_t port;
	int l = pair_listen(&port);

	for (int i = 0; i < 3; i++) {
		int ep = pair_epoll(), b = pair_dial(port), a;

		CHECK(pair_add(ep, b, EPOLLIN | EPOLLOUT | flags[i]) == 0);
		CHECK(pair_until(ep, b, EPOLLOUT) == EPOLLOUT);
		a = accept4(l, NULL, NULL, SOCK_NONBLOCK);
		CHECK(pair_mod(ep, b, EPOLLIN | flags[i]) == 0);
		pair_poke(a);
		CHECK(pair_until(ep, b, EPOLLIN) == EPOLLIN);
		CHECK(pair_expect(b, 1));
		pair_move(&(struct pair){ a, b });
		CHECK(pair_mod(ep, b, EPOLLIN | flags[i]) == 0);
		pair_poke(a);
		CHECK(pair_until(ep, b, EPOLLIN) == EPOLLIN);
		close(a);
		close(b);
		close(ep);
	}
	close(l);
}

/* Added before connect(), when it is nobody's yet, and a copy afterwards. */
static void early(void)
{
	uint16_t port;
	int l = pair_listen(&port), ep = pair_epoll(), b = pair_socket(), a;
	int copy;

	CHECK(pair_add(ep, b, EPOLLIN) == 0);
	CHECK(pair_until(ep, b, EPOLLHUP) == EPOLLHUP);
	pair_connect(b, port);
	copy = dup(b);
	CHECK(pair_add(ep, copy, EPOLLIN | EPOLLET) == 0);
	CHECK(pair_add(ep, l, EPOLLIN) == 0);
	CHECK(pair_until(ep, l, EPOLLIN) == EPOLLIN);
	a = accept4(l, NULL, NULL, SOCK_NONBLOCK);
	CHECK(pair_del(ep, l) == 0);
	pair_poke(b);
	CHECK(pair_expect(a, 1));
	pair_move(&(struct pair){ a, b });
	CHECK(pair_until(ep, copy, 0) == 0);
	pair_poke(a);
	CHECK(pair_until(ep, copy, EPOLLIN) == EPOLLIN);
	CHECK(pair_until(ep, b, EPOLLIN) == EPOLLIN);
	close(copy);
	CHECK(pair_until(ep, b, EPOLLIN) == EPOLLIN);
	close(a);
	close(b);
	close(l);
	close(ep);
}

/* One shot that was fired before the socket was connected stays fired. */
static void early_shot(void)
{
	uint16_t port;
	int l = pair_listen(&port), ep = pair_epoll(), b = pair_socket(), a;
	struct epoll_event e;

	CHECK(pair_add(ep, b, EPOLLIN | EPOLLONESHOT) == 0);
	CHECK(pair_until(ep, b, EPOLLHUP) == EPOLLHUP);
	pair_connect(b, port);
	while ((a = accept4(l, NULL, NULL, SOCK_NONBLOCK)) < 0)
		usleep(1000);
	pair_poke(b);
	CHECK(pair_expect(a, 1));
	pair_move(&(struct pair){ a, b });
	pair_poke(a);
	CHECK(epoll_wait(ep, &e, 1, 50) == 0);
	CHECK(pair_mod(ep, b, EPOLLIN | EPOLLONESHOT) == 0);
	CHECK(pair_until(ep, b, EPOLLIN) == EPOLLIN);
	close(a);
	close(b);
	close(l);
	close(ep);
}

static void no_server(void)
{
	uint16_t port;
	int ep = pair_epoll(), fd, l = pair_listen(&port);

	shutdown(l, SHUT_RD);	/* the port is taken, and no socket listens */
	fd = pair_dial(port);
	CHECK(pair_add(ep, fd, EPOLLOUT) == 0);
	CHECK(pair_until(ep, fd, EPOLLERR) ==
	      (EPOLLOUT | EPOLLERR | EPOLLHUP));
	close(fd);
	close(l);
	close(ep);
}

int main(void)
{
	pair_case("an edge for new data", edge_in);
	pair_case("an edge for new room", edge_out);
	pair_case("bytes and room by their other names", edge_other_names);
	pair_case("an edge whose bytes were read before", edge_read_before);
	pair_case("an edge for shutdown() of the own writes", edge_shutdown);
	pair_case("an edge for each shutdown", edge_each_shutdown);
	pair_case("an edge for the end behind SHUT_RD", edge_end_of_no_reads);
	pair_case("a stream by edges", edge_stream);
	pair_case("MOD and ADD look again", rearm_edge);
	pair_case("EPOLLONESHOT", oneshot);
	pair_case("EPOLLONESHOT for both directions", oneshot_both);
	pair_case("EPOLLONESHOT and the end", oneshot_end);
	pair_case("EPOLLEXCLUSIVE", exclusive);
	pair_case("what epoll_ctl refuses", refused);
	pair_case("closed, and the number used again", reused);
	pair_once("added while connecting", connecting);
	pair_once("added before connect(), and a copy", early);
	pair_once("one shot before connect()", early_shot);
	pair_once("nobody listens", no_server);
	return pair_done();
}
