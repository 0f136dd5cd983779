/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs that make system calls by number, and what the preload cannot see: a
 * libc function that it has not replaced in between.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/aio_abi.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "client.h"
#include "pair.h"

enum { ROUNDS = 50 };

#define DATA 0x00007f1234567890u	/* an address, perhaps */

static long (*unseen)(long n, ...);

/* ---- by number -------------------------------------------------------- */

static int add(long (*call)(long n, ...), int ep, int fd, uint64_t data)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u64 = data };

	return call(SYS_epoll_ctl, ep, EPOLL_CTL_ADD, fd, &e) ? errno : 0;
}

static uint64_t wait_one(int ep)
{
	struct epoll_event e = { .events = 0 };

	return syscall(SYS_epoll_pwait, ep, &e, 1, PAIR_PATIENCE_MS, NULL,
		       8) == 1 ?
	       e.data.u64 : 0;
}

static void by_number(struct pair *p)
{
	int ep = (int)syscall(SYS_epoll_create1, EPOLL_CLOEXEC);
	char c;

	CHECK(add(syscall, ep, p->a, DATA) == 0);
	CHECK(add(syscall, ep, p->a, DATA) == EEXIST);
	for (int i = 0; i < ROUNDS; i++) {
		CHECK(syscall(SYS_write, p->b, "x", 1) == 1);
		CHECK(wait_one(ep) == DATA);
		CHECK(syscall(SYS_recvfrom, p->a, &c, 1, 0, NULL, NULL) == 1);
		CHECK(syscall(SYS_read, p->a, &c, 1) == -1 && errno == EAGAIN);
		CHECK(syscall(SYS_sendto, p->a, "y", 1, 0, NULL, 0) == 1);
		CHECK(pair_expect(p->b, 1));
		poll(NULL, 0, 1);
	}
	CHECK(syscall(SYS_close, ep) == 0);
	CHECK(syscall(SYS_close, ep) == -1 && errno == EBADF);
}

/* ---- aio -------------------------------------------------------------- */

static void aio_round(aio_context_t ctx, struct pair *p)
{
	struct iocb io = {
		.aio_lio_opcode = IOCB_CMD_POLL, .aio_fildes = (uint32_t)p->a,
		.aio_buf = POLLIN,
	};
	struct timespec patience = { .tv_sec = 30 };
	struct iocb *list = &io;
	struct io_event done;

	CHECK(syscall(SYS_io_submit, ctx, 1L, &list) == 1);
	pair_poke(p->b);
	CHECK(syscall(SYS_io_getevents, ctx, 1L, 1L, &done, &patience) == 1);
	CHECK(pair_expect(p->a, 1));
	pair_poke(p->a);
	CHECK(pair_expect(p->b, 1));
	poll(NULL, 0, 1);
}

/* aio says when, and libc moves the bytes. */
static void by_aio(struct pair *p)
{
	aio_context_t ctx = 0;

	if (syscall(SYS_io_setup, 1L, &ctx)) {
		pair_skip("aio waits", "this kernel has no aio");
		return;
	}
	for (int i = 0; i < ROUNDS; i++)
		aio_round(ctx, p);
	CHECK(syscall(SYS_io_destroy, ctx) == 0);
}

/* ---- unseen ----------------------------------------------------------- */

/* Its events come with the program's own data, besides those that libc has been
 * told of.  From then on, no connection is on Tux. */
static void beside(struct pair *p)
{
	int ep = pair_epoll(), fd = eventfd(1, EFD_NONBLOCK);
	uint64_t n;

	CHECK(pair_add(ep, p->a, EPOLLIN) == 0);
	CHECK(add(unseen, ep, fd, DATA) == 0);
	CHECK(wait_one(ep) == DATA);
	CHECK(read(fd, &n, sizeof(n)) == sizeof(n));
	for (int i = 0; i < ROUNDS; i++) {
		CHECK(pair_seen(ep, p->a, 0) == 0);
		pair_poke(p->b);
		CHECK(pair_until(ep, p->a, EPOLLIN) == EPOLLIN);
		CHECK(pair_expect(p->a, 1));
		pair_poke(p->a);
		CHECK(pair_expect(p->b, 1));
		poll(NULL, 0, 1);
	}
	CHECK(pair_del(ep, fd) == 0);
	CHECK(pair_del(ep, fd) == ENOENT);
	close(fd);
	close(ep);
}

/* Interest unseen, bytes by libc. */
static void interest(struct pair *p)
{
	int ep = pair_epoll();

	CHECK(add(unseen, ep, p->a, DATA) == 0);
	for (int i = 0; i < ROUNDS; i++) {
		pair_poke(p->b);
		CHECK(wait_one(ep) == DATA);
		CHECK(pair_expect(p->a, 1));
		pair_poke(p->a);
		CHECK(pair_expect(p->b, 1));
		poll(NULL, 0, 1);
	}
	CHECK(pair_add(ep, p->a, EPOLLIN) == EEXIST);
	CHECK(pair_mod(ep, p->a, EPOLLIN | EPOLLOUT) == 0);
	CHECK(pair_until(ep, p->a, EPOLLOUT) == EPOLLOUT);
	CHECK(pair_del(ep, p->a) == 0);
	CHECK(pair_seen(ep, p->a, 0) == 0);
	close(ep);
}

int main(void)
{
	void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
	void *f = libc ? dlsym(libc, "syscall") : NULL;
	struct pair moved, fresh;

	if (!f)
		client_fail("no syscall() in libc");
	memcpy(&unseen, &f, sizeof(f));
	pair_case("calls by number", by_number);
	pair_case("aio waits, bytes by libc", by_aio);
	pair_open(&moved, true);
	pair_fresh(&fresh);
	pair_report("a registration that nobody saw, beside another", beside,
		    &moved);
	pair_report("such a one of a socket", interest, &fresh);
	return pair_done();
}
