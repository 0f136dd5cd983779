/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls from a stack of a few pages, as a fiber may have it: none needs more
 * than 4 KiB of it, the first calls included.
 *
 * Linked with -z now: to bind a symbol at its first call takes stack as well.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "client.h"
#include "pair.h"

enum {
	LEN = 1 << 16,
	PAINT = 0xa5,
	MOST = 4096 + 256,	/* with what this program needs to make a call */
	TURNS = 100,
	MANY = 200,
};

/* ---- a stack ---------------------------------------------------------- */

static unsigned char *stack;
static ucontext_t here, there;
static void (*work)(void);

static void run(void)
{
	work();
}

/* How much of the stack has not its paint any more. */
static size_t used(void)
{
	size_t i = 0;

	while (i < LEN && stack[i] == PAINT)
		i++;
	return LEN - i;
}

/* @fn runs on the stack.  Is what it took little enough? */
static bool fits(void (*fn)(void))
{
	memset(stack, PAINT, LEN);
	work = fn;
	getcontext(&there);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = LEN;
	there.uc_link = &here;
	makecontext(&there, run, 0);
	swapcontext(&here, &there);
	if (used() <= MOST)
		return true;
	fprintf(stderr, "%zu bytes of stack\n", used());
	return false;
}

/* ---- the calls -------------------------------------------------------- */

static struct pair pair;
static int listener, dialed, file, ep, got;
static uint16_t port;
static char bytes[4096];

static void make_listener(void)
{
	listener = pair_listen(&port);
}

static void make_client(void)
{
	dialed = pair_dial(port);
}

static void make_server(void)
{
	got = accept(listener, NULL, NULL);
}

/* Where a byte goes, and comes from. */
static int to, from;

static void send_byte(void)
{
	got = (int)write(from, bytes, 1);
}

static void await_byte(void)
{
	struct pollfd p = { .fd = to, .events = POLLIN };

	got = poll(&p, 1, PAIR_PATIENCE_MS);
}

static void take_byte(void)
{
	got = (int)read(to, bytes, 1);
}

static void read_one(void)
{
	got = (int)read(pair.a, bytes, 1);
}

static void write_one(void)
{
	got = (int)write(pair.b, bytes, 1);
}

static void poll_one(void)
{
	struct pollfd p = { .fd = pair.a, .events = POLLIN };

	got = poll(&p, 1, 10);
}

static struct pollfd set[MANY];

static void poll_many(void)
{
	got = poll(set, MANY, 10);
}

static fd_set in;

static void select_many(void)
{
	struct timeval t = { .tv_usec = 10000 };

	FD_ZERO(&in);
	FD_SET(pair.a, &in);
	FD_SET(pair.b, &in);
	got = select((pair.a > pair.b ? pair.a : pair.b) + 1, &in, NULL, NULL,
		     &t);
}

static void epoll_one(void)
{
	struct epoll_event e;

	got = epoll_wait(ep, &e, 1, 10);
}

static void epoll_many(void)
{
	static struct epoll_event e[64];

	got = epoll_wait(ep, e, 64, 10);
}

static void add(void)
{
	struct epoll_event e = { .events = EPOLLIN };

	got = epoll_ctl(ep, EPOLL_CTL_ADD, pair.a, &e);
}

static void discard(void)
{
	got = (int)recv(pair.a, NULL, sizeof(bytes), MSG_TRUNC);
}

static void peek(void)
{
	got = (int)recv(pair.a, bytes, sizeof(bytes), MSG_PEEK);
}

static void send_file(void)
{
	off_t at = 0;

	got = (int)sendfile(pair.b, file, &at, sizeof(bytes));
}

static void readable(void)
{
	ioctl(pair.a, FIONREAD, &got);
}

static void message(void)
{
	static struct iovec v[64];
	struct msghdr m = { .msg_iov = v, .msg_iovlen = 64 };

	for (int i = 0; i < 64; i++)
		v[i] = (struct iovec){ bytes, 16 };
	got = (int)sendmsg(pair.b, &m, 0);
}

static void child(void)
{
	got = fork();
	if (!got)
		_exit(0);
}

static void shut(void)
{
	got = shutdown(pair.b, SHUT_WR);
}

static void end(void)
{
	close(pair.a);
	close(pair.b);
}

/* ---- cases ------------------------------------------------------------ */

/* The first of them starts the stack. */
static void begins(void)
{
	CHECK(fits(make_listener));
	CHECK(fits(make_client));
	poll(&(struct pollfd){ .fd = listener, .events = POLLIN }, 1, -1);
	CHECK(fits(make_server) && got >= 0);
	close(got);
	close(dialed);
	close(listener);
}

static void fill_set(void)
{
	for (int i = 0; i < MANY; i++)
		set[i] = (struct pollfd){ .fd = i % 2 ? pair.a : pair.b,
					  .events = POLLIN };
}

/* A byte each way. */
static bool turn(void)
{
	bool small = true;

	for (int i = 0; i < 2; i++) {
		from = i ? pair.b : pair.a;
		to = i ? pair.a : pair.b;
		small = fits(send_byte) && small && got == 1;
		small = fits(await_byte) && small && got == 1;
		small = fits(take_byte) && small && got == 1;
	}
	return small;
}

static void all(struct pair *p)
{
	bool small = true;

	pair = *p;
	fill_set();
	ep = pair_epoll();
	CHECK(fits(add) && !got);
	for (int i = 0; i < TURNS && small; i++)
		small = turn();
	CHECK(small);
	CHECK(fits(read_one) && got == -1);
	CHECK(fits(poll_one) && got == 0);
	CHECK(fits(poll_many) && got == 0);
	CHECK(fits(select_many) && got == 0);
	CHECK(fits(epoll_one) && got == 0);
	CHECK(fits(epoll_many) && got == 0);
	CHECK(fits(write_one) && got == 1);
	to = pair.a;
	CHECK(fits(await_byte) && got == 1);
	CHECK(fits(poll_one) && got == 1);
	CHECK(fits(poll_many) && got == MANY / 2);
	CHECK(fits(select_many) && got == 1);
	CHECK(fits(epoll_one) && got == 1);
	CHECK(fits(peek) && got == 1);
	CHECK(fits(readable) && got == 1);
	CHECK(fits(discard) && got == 1);
	CHECK(fits(send_file) && got == sizeof(bytes));
	CHECK(pair_expect(pair.a, sizeof(bytes)));
	CHECK(fits(message) && got == 1024);
	CHECK(pair_expect(pair.a, 1024));
	CHECK(fits(child) && got > 0);
	waitpid(got, NULL, 0);
	CHECK(fits(shut) && !got);
	CHECK(fits(end));
	close(ep);
	/* For pair_close(). */
	p->a = dup(0);
	p->b = dup(0);
}

int main(void)
{
	char name[] = "/tmp/tux-shallow-XXXXXX";

	stack = mmap(NULL, LEN, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	file = mkstemp(name);
	if (stack == MAP_FAILED || file < 0 || unlink(name) ||
	    ftruncate(file, sizeof(bytes)))
		client_fail("no stack, or no file: %s", strerror(errno));
	pair_once("a connection begins", begins);
	pair_case("a connection is used, and ends", all);
	return pair_done();
}
