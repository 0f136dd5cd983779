/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An epoll instance inside another, in poll and select, duplicated, closed.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pair.h"

static int polled(int fd, int ms)
{
	struct pollfd f = { .fd = fd, .events = POLLIN };

	return poll(&f, 1, ms) == 1 ? f.revents : 0;
}

static int selected(int fd, int ms)
{
	struct timeval t = { ms / 1000, ms % 1000 * 1000 };
	fd_set in;

	FD_ZERO(&in);
	FD_SET(fd, &in);
	return select(fd + 1, &in, NULL, NULL, &t);
}

static void in_poll(struct pair *p)
{
	int ep = pair_epoll();

	CHECK(pair_add(ep, p->a, EPOLLIN) == 0);
	CHECK(polled(ep, 20) == 0);
	CHECK(selected(ep, 20) == 0);
	pair_poke(p->b);
	CHECK(polled(ep, PAIR_PATIENCE_MS) == POLLIN);
	CHECK(selected(ep, PAIR_PATIENCE_MS) == 1);
	CHECK(pair_seen(ep, p->a, 0) == EPOLLIN);
	/* Reported, and still so. */
	CHECK(polled(ep, PAIR_PATIENCE_MS) == POLLIN);
	CHECK(pair_expect(p->a, 1));
	CHECK(polled(ep, 30) == 0);
	CHECK(selected(ep, 30) == 0);
	pair_poke(p->b);
	CHECK(polled(ep, PAIR_PATIENCE_MS) == POLLIN);
	CHECK(pair_expect(p->a, 1));
	close(ep);
}

/* Behind a socket that is ready at once, nobody having asked it before. */
static void beside_a_socket(struct pair *p)
{
	int in_poll = pair_epoll(), in_select = pair_epoll();
	int most = in_select > p->b ? in_select : p->b;
	struct pollfd f[2] = { { p->b, POLLOUT, 0 }, { in_poll, POLLIN, 0 } };
	fd_set in, out;

	CHECK(pair_add(in_poll, p->a, EPOLLIN) == 0);
	CHECK(pair_add(in_select, p->a, EPOLLIN) == 0);
	pair_poke(p->b);
	CHECK(pair_arrive(p->a, 1));
	CHECK(poll(f, 2, 0) == 2);
	FD_ZERO(&in);
	FD_ZERO(&out);
	FD_SET(in_select, &in);
	FD_SET(p->b, &out);
	CHECK(select(most + 1, &in, &out, NULL, &(struct timeval){ 0, 0 }) == 2);
	close(in_poll);
	close(in_select);
}

static void in_epoll(struct pair *p)
{
	int in = pair_epoll(), out = pair_epoll();

	CHECK(pair_add(in, p->a, EPOLLIN) == 0);
	CHECK(pair_add(out, in, EPOLLIN) == 0);
	CHECK(pair_add(in, out, EPOLLIN) == ELOOP);
	CHECK(pair_seen(out, in, 20) == 0);
	for (int i = 0; i < 3; i++) {
		pair_poke(p->b);
		CHECK(pair_until(out, in, EPOLLIN) == EPOLLIN);
		CHECK(pair_until(in, p->a, EPOLLIN) == EPOLLIN);
		CHECK(pair_seen(out, in, 0) == EPOLLIN);
		CHECK(pair_expect(p->a, 1));
		CHECK(pair_seen(out, in, 30) == 0);
	}
	CHECK(pair_del(out, in) == 0);
	pair_poke(p->b);
	CHECK(pair_seen(out, in, 30) == 0);
	CHECK(pair_until(in, p->a, EPOLLIN) == EPOLLIN);
	close(in);
	close(out);
}

/* Socket and inner instance side by side, and edges of the outer one. */
static void edges(struct pair *p)
{
	int in = pair_epoll(), out = pair_epoll();

	CHECK(pair_add(out, in, EPOLLIN | EPOLLET) == 0);
	CHECK(pair_add(in, p->a, EPOLLIN) == 0);
	CHECK(pair_add(out, p->b, EPOLLIN) == 0);
	pair_seen(out, in, 20);
	pair_poke(p->b);
	CHECK(pair_until(out, in, EPOLLIN) == EPOLLIN);
	CHECK(pair_expect(p->a, 1));
	pair_poke(p->a);
	CHECK(pair_until(out, p->b, EPOLLIN) == EPOLLIN);
	CHECK(pair_expect(p->b, 1));
	pair_seen(in, p->a, 20);
	pair_poke(p->b);
	CHECK(pair_until(out, in, EPOLLIN) == EPOLLIN);
	close(in);
	close(out);
}

/* An event that the inner one has no more when it is told, is no shot. */
static void one_shot(struct pair *p)
{
	int in = pair_epoll(), out = pair_epoll();

	CHECK(pair_add(in, p->a, EPOLLIN) == 0);
	CHECK(pair_add(out, in, EPOLLIN | EPOLLONESHOT) == 0);
	pair_poke(p->b);
	CHECK(pair_expect(p->a, 1));
	CHECK(pair_seen(out, in, 30) == 0);
	pair_poke(p->b);
	CHECK(pair_until(out, in, EPOLLIN) == EPOLLIN);
	CHECK(pair_seen(out, in, 30) == 0);
	close(in);
	close(out);
}

/* A poll of the middle one takes nothing away from who waits for its edges. */
static void edge_of_an_instance(struct pair *p)
{
	int in = pair_epoll(), mid = pair_epoll(), fd = eventfd(1, EFD_NONBLOCK);
	struct pollfd f[2] = { { p->a, POLLIN, 0 }, { mid, POLLIN, 0 } };

	CHECK(pair_add(in, fd, EPOLLIN) == 0);
	CHECK(pair_add(mid, in, EPOLLIN | EPOLLET) == 0);
	CHECK(poll(f, 2, PAIR_PATIENCE_MS) == 1);
	CHECK(f[1].revents == POLLIN);
	CHECK(pair_seen(mid, in, 0) == EPOLLIN);
	CHECK(pair_seen(mid, in, 20) == 0);
	close(fd);
	close(in);
	close(mid);
}

/* The room of TCP is no edge where the room of a ring counts: a poll that waits
 * for edges sleeps. */
static void poll_sleeps(struct pair *p)
{
	struct timespec from, to;
	int ep = pair_epoll();

	CHECK(pair_add(ep, p->a, EPOLLIN | EPOLLOUT | EPOLLET) == 0);
	CHECK(pair_until(ep, p->a, EPOLLOUT) == EPOLLOUT);
	while (pair_seen(ep, p->a, 20))
		;
	CHECK(!shutdown(p->a, SHUT_RD));
	CHECK(pair_until(ep, p->a, EPOLLIN | EPOLLOUT) != 0);
	while (pair_seen(ep, p->a, 20))
		;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	CHECK(polled(ep, 400) == 0);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	CHECK((to.tv_sec - from.tv_sec) * 1000 +
	      (to.tv_nsec - from.tv_nsec) / 1000000 < 200);
	close(ep);
}

/* What the kernel alone is asked about, in an instance with socks. */
static void kernel_inside(struct pair *p)
{
	int in = pair_epoll(), fd = eventfd(0, EFD_NONBLOCK);

	CHECK(pair_add(in, p->a, EPOLLIN) == 0);
	CHECK(pair_add(in, fd, EPOLLIN) == 0);
	CHECK(polled(in, 20) == 0);
	CHECK(eventfd_write(fd, 1) == 0);
	CHECK(polled(in, PAIR_PATIENCE_MS) == POLLIN);
	CHECK(pair_seen(in, fd, PAIR_PATIENCE_MS) == EPOLLIN);
	CHECK(polled(in, 0) == POLLIN);
	close(fd);
	CHECK(polled(in, 20) == 0);
	close(in);
}

static void duplicated(struct pair *p)
{
	int ep = pair_epoll(), copy;

	CHECK(pair_add(ep, p->a, EPOLLIN) == 0);
	copy = dup(ep);
	CHECK(pair_add(copy, p->a, EPOLLIN) == EEXIST);
	pair_poke(p->b);
	CHECK(pair_until(copy, p->a, EPOLLIN) == EPOLLIN);
	CHECK(pair_until(ep, p->a, EPOLLIN) == EPOLLIN);
	close(ep);
	CHECK(pair_until(copy, p->a, EPOLLIN) == EPOLLIN);
	CHECK(pair_mod(copy, p->a, EPOLLOUT) == 0);
	CHECK(pair_until(copy, p->a, EPOLLOUT) == EPOLLOUT);
	CHECK(pair_del(copy, p->a) == 0);
	close(copy);
	CHECK(pair_add(copy, p->a, EPOLLIN) == EBADF);
}

static void replaced(struct pair *p)
{
	int ep = pair_epoll(), other = pair_epoll();

	CHECK(pair_add(ep, p->a, EPOLLIN) == 0);
	CHECK(pair_add(other, p->b, EPOLLIN) == 0);
	CHECK(dup2(ep, other) == other);
	pair_poke(p->a);
	pair_poke(p->b);
	CHECK(pair_until(other, p->a, EPOLLIN) == EPOLLIN);
	CHECK(pair_del(other, p->b) == ENOENT);
	close(ep);
	CHECK(pair_until(other, p->a, EPOLLIN) == EPOLLIN);
	close(other);
}

/* The same socket in several instances; one of them is closed. */
static void several(struct pair *p)
{
	int ep[3];

	for (int i = 0; i < 3; i++) {
		ep[i] = pair_epoll();
		CHECK(pair_add(ep[i], p->a, EPOLLIN) == 0);
	}
	close(ep[1]);
	pair_poke(p->b);
	CHECK(pair_until(ep[0], p->a, EPOLLIN) == EPOLLIN);
	CHECK(pair_until(ep[2], p->a, EPOLLIN) == EPOLLIN);
	close(ep[0]);
	close(ep[2]);
	ep[0] = pair_epoll();
	CHECK(pair_add(ep[0], p->a, EPOLLIN) == 0);
	CHECK(pair_until(ep[0], p->a, EPOLLIN) == EPOLLIN);
	close(ep[0]);
}

static int in_child(int ep, int fd)
{
	struct epoll_event e;
	int n = epoll_wait(ep, &e, 1, PAIR_PATIENCE_MS);

	return n == 1 && e.data.fd == fd && e.events == EPOLLIN ? 0 : 1;
}

/* A child inherits an instance; what it finds there keeps its names. */
static void forked(struct pair *p)
{
	int ep = pair_epoll(), fd = eventfd(0, EFD_NONBLOCK), status = -1;
	pid_t pid;

	CHECK(pair_add(ep, p->a, EPOLLIN) == 0);
	CHECK(pair_add(ep, fd, EPOLLIN) == 0);
	CHECK(pair_seen(ep, p->a, 20) == 0);
	pid = fork();
	if (!pid)
		_exit(in_child(ep, fd));
	CHECK(eventfd_write(fd, 1) == 0);
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(status == 0);
	close(fd);
	pair_poke(p->b);
	CHECK(pair_until(ep, p->a, EPOLLIN) == EPOLLIN);
	close(ep);
}

int main(void)
{
	pair_case("in poll and select", in_poll);
	pair_case("beside a socket", beside_a_socket);
	pair_case("in another instance", in_epoll);
	pair_case("edges of the outer one", edges);
	pair_case("one shot of an instance", one_shot);
	pair_case("an edge of an instance", edge_of_an_instance);
	pair_case("poll() sleeps", poll_sleeps);
	pair_case("an eventfd inside", kernel_inside);
	pair_case("duplicated", duplicated);
	pair_case("replaced by dup2", replaced);
	pair_case("a socket in several instances", several);
	pair_case("inherited by a child", forked);
	return pair_done();
}
