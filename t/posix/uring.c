/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs that tell the kernel through an io_uring of their own what they wait
 * for, as libuv does from 1.45 on, or that receive and send through one.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pair.h"
#include "ring.h"

enum { ROUNDS = 50 };

static struct ring ring;

/* A byte there and back, while a connection that is new would move to Tux. */
static void echoed(int ep, struct pair *p)
{
	pair_poke(p->b);
	CHECK(pair_until(ep, p->a, EPOLLIN) & EPOLLIN);
	CHECK(pair_expect(p->a, 1));
	pair_poke(p->a);
	CHECK(pair_expect(p->b, 1));
}

/* ---- interest --------------------------------------------------------- */

static void interest(struct pair *p)
{
	int ep = pair_epoll();

	CHECK(ring_epoll(&ring, ep, EPOLL_CTL_ADD, p->a, EPOLLIN) == 0);
	CHECK(pair_seen(ep, p->a, 0) == 0);
	for (int i = 0; i < ROUNDS; i++) {
		echoed(ep, p);
		poll(NULL, 0, 1);
	}
	CHECK(ring_epoll(&ring, ep, EPOLL_CTL_ADD, p->a, EPOLLIN) == -EEXIST);
	CHECK(ring_epoll(&ring, ep, EPOLL_CTL_MOD, p->a, EPOLLIN | EPOLLOUT) ==
	      0);
	CHECK(pair_until(ep, p->a, EPOLLOUT) == EPOLLOUT);
	CHECK(ring_epoll(&ring, ep, EPOLL_CTL_DEL, p->a, 0) == 0);
	pair_poke(p->b);
	CHECK(pair_seen(ep, p->a, 20) == 0);
	CHECK(pair_expect(p->a, 1));
	CHECK(ring_epoll(&ring, ep, EPOLL_CTL_DEL, p->a, 0) == -ENOENT);
	CHECK(ring_epoll(&ring, ep, EPOLL_CTL_MOD, p->a, EPOLLIN) == -ENOENT);
	CHECK(ring_epoll(&ring, ep, EPOLL_CTL_ADD, 1000, EPOLLIN) == -EBADF);
	close(ep);
}

/* Both ways to say it, on the same socket. */
static void both_ways(struct pair *p)
{
	int ep = pair_epoll();

	CHECK(ring_epoll(&ring, ep, EPOLL_CTL_ADD, p->a, EPOLLOUT) == 0);
	CHECK(pair_add(ep, p->a, EPOLLIN) == EEXIST);
	CHECK(pair_mod(ep, p->a, EPOLLIN) == 0);
	CHECK(pair_seen(ep, p->a, 0) == 0);
	echoed(ep, p);
	CHECK(ring_epoll(&ring, ep, EPOLL_CTL_MOD, p->a,
			 EPOLLIN | EPOLLOUT) == 0);
	CHECK(pair_until(ep, p->a, EPOLLOUT) == EPOLLOUT);
	CHECK(pair_del(ep, p->a) == 0);
	CHECK(pair_add(ep, p->a, EPOLLIN) == 0);
	echoed(ep, p);
	CHECK(ring_epoll(&ring, ep, EPOLL_CTL_DEL, p->a, 0) == 0);
	CHECK(pair_del(ep, p->a) == ENOENT);
	close(ep);
}

/* Entries that wait until the next call, and go together. */
static void together(struct pair *p)
{
	struct epoll_event a = { .events = EPOLLOUT, .data.fd = p->a };
	struct epoll_event b = { .events = EPOLLIN, .data.fd = p->b };
	struct epoll_event again = { .events = EPOLLIN, .data.fd = p->a };
	int ep = pair_epoll();

	ring_prepare_epoll(&ring, ep, EPOLL_CTL_ADD, p->a, &a);
	ring_prepare_epoll(&ring, ep, EPOLL_CTL_ADD, p->b, &b);
	ring_prepare_epoll(&ring, ep, EPOLL_CTL_MOD, p->a, &again);
	ring_submit(&ring);
	for (int i = 0; i < 3; i++)
		CHECK(ring_result(&ring) == 0);
	CHECK(pair_seen(ep, p->a, 0) == 0);
	echoed(ep, p);
	pair_poke(p->a);
	CHECK(pair_until(ep, p->b, EPOLLIN) == EPOLLIN);
	CHECK(pair_expect(p->b, 1));
	close(ep);
}

/* What is no socket is told as ever, and so is what comes to a listener. */
static void listener(void)
{
	int ep = pair_epoll(), fd;
	struct pair p;
	uint16_t port;
	int l = pair_listen(&port);

	CHECK(ring_epoll(&ring, ep, EPOLL_CTL_ADD, l, EPOLLIN) == 0);
	p.b = pair_dial(port);
	CHECK(pair_until(ep, l, EPOLLIN) == EPOLLIN);
	p.a = accept4(l, NULL, NULL, SOCK_NONBLOCK);
	CHECK(ring_epoll(&ring, ep, EPOLL_CTL_ADD, p.a, EPOLLIN) == 0);
	for (int i = 0; i < ROUNDS; i++)
		echoed(ep, &p);
	pair_move(&p);
	echoed(ep, &p);
	fd = p.a;
	close(p.b);
	CHECK(pair_until(ep, fd, EPOLLIN) & EPOLLIN);
	close(p.a);
	close(l);
	close(ep);
}

/* ---- waiting and bytes ------------------------------------------------ */

/* The ring says when, and libc moves the bytes. */
static void polled(struct pair *p)
{
	for (int i = 0; i < ROUNDS; i++) {
		ring_poll(&ring, p->a, POLLIN);
		pair_poke(p->b);
		CHECK(ring_result(&ring) == POLLIN);
		CHECK(pair_expect(p->a, 1));
		pair_poke(p->a);
		CHECK(pair_expect(p->b, 1));
		poll(NULL, 0, 1);
	}
}

/* libc says when, and the ring moves the bytes. */
static void moved_by_ring(struct pair *p)
{
	int ep = pair_epoll();
	char c = 0;

	CHECK(pair_add(ep, p->a, EPOLLIN) == 0);
	for (int i = 0; i < ROUNDS; i++) {
		CHECK(ring_send(&ring, p->a, "y") == 1);
		CHECK(pair_expect(p->b, 1));
		pair_poke(p->b);
		CHECK(pair_until(ep, p->a, EPOLLIN) == EPOLLIN);
		CHECK(ring_recv(&ring, p->a, &c) == 1 && c == 'x');
		poll(NULL, 0, 1);
	}
	close(ep);
}

/* A byte of a connection that has moved is unread: the ring gets it. */
static void unread(void)
{
	struct pair p;
	int ep = pair_epoll();
	char c = 0;

	pair_open(&p, true);
	CHECK(pair_add(ep, p.a, EPOLLIN) == 0);
	pair_poke(p.b);
	CHECK(pair_until(ep, p.a, EPOLLIN) == EPOLLIN);
	CHECK(ring_recv(&ring, p.a, &c) == 1 && c == 'x');
	CHECK(ring_send(&ring, p.a, "y") == 1);
	CHECK(pair_expect(p.b, 1));
	pair_close(&p);
	close(ep);
}

/* The ring knows the socket by another number. */
static void registered(struct pair *p)
{
	char c = 0;

	CHECK(syscall(SYS_io_uring_register, ring.fd, IORING_REGISTER_FILES,
		      &p->a, 1) == 0);
	for (int i = 0; i < ROUNDS; i++) {
		struct io_uring_sqe *s = ring_next(&ring);

		pair_poke(p->b);
		s->opcode = IORING_OP_RECV;
		s->flags = IOSQE_FIXED_FILE;
		s->addr = (uintptr_t)&c;
		s->len = 1;
		ring_submit(&ring);
		CHECK(ring_result(&ring) == 1);
		pair_poke(p->a);
		CHECK(pair_expect(p->b, 1));
	}
	CHECK(syscall(SYS_io_uring_register, ring.fd, IORING_UNREGISTER_FILES,
		      NULL, 0) == 0);
}

/* A ring waits for an instance that waits for a socket.  It may be woken early,
 * but not too late. */
static void instance_polled(struct pair *p)
{
	int ep = pair_epoll();

	CHECK(pair_add(ep, p->a, EPOLLIN) == 0);
	for (int i = 0; i < ROUNDS; i++) {
		ring_poll(&ring, ep, POLLIN);
		pair_poke(p->b);
		CHECK(ring_result(&ring) == POLLIN);
		CHECK(pair_until(ep, p->a, EPOLLIN) == EPOLLIN);
		CHECK(pair_expect(p->a, 1));
		CHECK(pair_seen(ep, p->a, 0) == 0);
		pair_poke(p->a);
		CHECK(pair_expect(p->b, 1));
	}
	close(ep);
}

static void closed(void)
{
	for (int move = 0; move < 2; move++) {
		struct io_uring_sqe *s;
		struct pair p;
		char c;

		pair_open(&p, move);
		pair_poke(p.a);
		s = ring_next(&ring);
		s->opcode = IORING_OP_CLOSE;
		s->fd = p.a;
		ring_submit(&ring);
		CHECK(ring_result(&ring) == 0);
		CHECK(pair_expect(p.b, 1));
		CHECK(poll(&(struct pollfd){ .fd = p.b, .events = POLLIN }, 1,
			   PAIR_PATIENCE_MS) == 1);
		CHECK(read(p.b, &c, 1) == 0);
		CHECK(write(p.a, "x", 1) < 0 && errno == EBADF);
		close(p.b);
	}
}

/* ---- a ring that nothing can look into -------------------------------- */

static void by_thread(struct pair *p)
{
	struct ring r;
	int ep = pair_epoll();

	CHECK(pair_add(ep, p->b, EPOLLIN) == 0);
	CHECK(ring_open(&r, IORING_SETUP_SQPOLL));
	for (int i = 0; i < ROUNDS; i++) {
		ring_poll(&r, p->a, POLLIN);
		pair_poke(p->b);
		CHECK(ring_result(&r) == POLLIN);
		CHECK(pair_expect(p->a, 1));
		pair_poke(p->a);
		CHECK(pair_until(ep, p->b, EPOLLIN) == EPOLLIN);
		CHECK(pair_expect(p->b, 1));
		poll(NULL, 0, 1);
	}
	ring_close(&r);
	close(ep);
}

int main(void)
{
	struct pair p;

	if (!ring_open(&ring, 0)) {
		pair_skip("rings of the program", "this kernel has no io_uring");
		return pair_done();
	}
	pair_case("interest by a ring, bytes by libc", interest);
	pair_case("interest by a ring and by libc", both_ways);
	pair_case("interest in several by one call", together);
	pair_once("a listener, and what comes from it", listener);
	pair_case("a ring waits, bytes by libc", polled);
	pair_case("interest by libc, bytes by a ring", moved_by_ring);
	pair_once("bytes by a ring, after bytes of libc", unread);
	pair_case("a registered file", registered);
	pair_case("a ring waits for an instance", instance_polled);
	pair_once("closed by a ring", closed);
	ring_close(&ring);

	/* From here on, no connection moves. */
	pair_open(&p, true);
	pair_report("a ring of a kernel thread, moved", by_thread, &p);
	pair_open(&p, false);
	pair_report("a ring of a kernel thread, new", by_thread, &p);
	return pair_done();
}
