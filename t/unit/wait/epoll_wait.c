/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Does the kernel wait, or does a thread run the loop meanwhile?  The instances
 * of these tests count a sock that does not exist, as one on TCP.
 */
#include "wait/epoll.h"

#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "no_socks.h"
#include "wait/epoll_fd.h"
#include "wait/epoll_item.h"
#include "wait/seat.h"
#include "../test.h"

enum { WAIT_MS = 20, LONG_MS = 20000, DATA = 7 };

struct fixture {
	int fd;			/* an instance */
	struct ep *ep;
	int target;		/* in it */
	struct epoll_event evs[4];
};

static int setup(void **state)
{
	static struct fixture f;
	struct epoll_event e = { .events = EPOLLIN, .data.u64 = DATA };

	f.fd = epoll_create1(EPOLL_CLOEXEC);
	f.ep = ep_peek(f.fd);
	f.target = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	assert_non_null(f.ep);
	assert_int_equal(epoll_ctl(f.fd, EPOLL_CTL_ADD, f.target, &e), 0);
	ep_lock(f.ep);
	assert_int_equal(item_waiter(f.ep, f.target), 0);
	ep_unlock(f.ep);
	f.ep->socks = 1;
	f.ep->plain_waits = READY_PLAIN;
	channel_waits = 0;
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	f->ep->socks = f->ep->nests = 0;
	epoll_forget_fd(f->fd);
	libc.close(f->fd);
	epoll_forget_fd(f->target);
	libc.close(f->target);
	return 0;
}

static int waits(struct fixture *f, int ms)
{
	return epoll_wait(f->fd, f->evs, 4, ms);
}

static void attach(struct fixture *f, struct sock *s)
{
	ep_lock(f->ep);
	assert_int_equal(item_attach(f->ep, item_find(f->ep, f->target), s), 0);
	ep_unlock(f->ep);
}

static void detach(struct fixture *f)
{
	ep_lock(f->ep);
	item_detach(f->ep, item_find(f->ep, f->target));
	ep_unlock(f->ep);
}

static void plain__the_kernel_waits(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(waits(f, WAIT_MS), 0);
	assert_int_equal(eventfd_write(f->target, 1), 0);
	assert_int_equal(waits(f, LONG_MS), 1);
	assert_int_equal(f->evs[0].data.u64, DATA);
	assert_int_equal(channel_waits, 0);
}

static void not_plain__the_loop_is_run(void **state)
{
	struct fixture *f = *state;

	f->ep->plain_waits = 0;
	assert_int_equal(waits(f, WAIT_MS), 0);
	assert_int_equal(channel_waits, 1);
}

/* After so many waits without a direction on a ring, the kernel waits. */
static void not_plain__becomes_plain(void **state)
{
	struct fixture *f = *state;

	f->ep->plain_waits = 0;
	for (unsigned i = 0; i < READY_PLAIN + 10; i++)
		assert_int_equal(waits(f, 1), 0);
	assert_int_equal(channel_waits, READY_PLAIN);
}

static void plain__not_with_a_ring(void **state)
{
	struct fixture *f = *state;

	f->ep->on_ring = 1;
	assert_int_equal(waits(f, WAIT_MS), 0);
	assert_int_equal(channel_waits, 1);
	assert_int_equal(f->ep->plain_waits, 0);
	f->ep->on_ring = 0;
}

static void plain__not_with_an_instance_inside(void **state)
{
	struct fixture *f = *state;

	f->ep->nests = 1;
	assert_int_equal(waits(f, WAIT_MS), 0);
	assert_int_equal(channel_waits, 1);
}

/* A program may register its connection anew for each request. */
static void plain__while_a_sock_goes_and_comes(void **state)
{
	static struct sock s;
	struct fixture *f = *state;

	sock_is.tcp = READY_IN | READY_OUT | READY_ALWAYS;
	for (unsigned i = 0; i < 10; i++) {
		attach(f, &s);
		assert_int_equal(waits(f, 1), 0);
		detach(f);
	}
	assert_int_equal(channel_waits, 0);
	assert_int_equal(f->ep->plain_waits, READY_PLAIN);
}

static void not_plain__if_what_comes_has_bytes(void **state)
{
	static struct sock s;
	struct fixture *f = *state;

	sock_is.tcp = READY_IN | READY_OUT | READY_ALWAYS;
	sock_is.now = EPOLLIN;
	attach(f, &s);
	assert_int_equal(waits(f, LONG_MS), 1);
	assert_int_equal(f->evs[0].data.u64, DATA);
	assert_int_equal(f->ep->plain_waits, 0);
	detach(f);
	sock_is.now = 0;
}

static void *ring(void *arg)
{
	struct fixture *f = arg;

	usleep(WAIT_MS * 1000);
	tux_waiter_ring(&f->ep->w, (uint32_t)f->target);
	return NULL;
}

/* A sock that moves rings, and the thread runs the loop from then on. */
static void plain__until_the_bell_rings(void **state)
{
	struct fixture *f = *state;
	pthread_t t;

	assert_int_equal(pthread_create(&t, NULL, ring, f), 0);
	assert_int_equal(waits(f, LONG_MS), 0);
	assert_int_equal(pthread_join(t, NULL), 0);
	assert_int_equal(channel_waits, 1);
	assert_true(f->ep->plain_waits < READY_PLAIN);
	assert_false(f->ep->belled);
}

static void *wait_long(void *arg)
{
	struct epoll_event e;
	struct fixture *f = arg;

	return (void *)(intptr_t)epoll_wait(f->fd, &e, 1, LONG_MS);
}

/* All threads that sleep in the kernel look again, not only the one that hears
 * the bell: it may leave, and never come back. */
static void plain__each_thread_hears_the_bell(void **state)
{
	struct fixture *f = *state;
	pthread_t t[3];
	void *n;

	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&t[i], NULL, wait_long, f), 0);
	while (seat_count(f->ep) < 3)
		usleep(1000);
	ring(f);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(pthread_join(t[i], &n), 0);
		assert_null(n);
	}
	assert_true(channel_waits >= 1);
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(plain__the_kernel_waits),
		TEST(not_plain__the_loop_is_run),
		TEST(not_plain__becomes_plain),
		TEST(plain__not_with_a_ring),
		TEST(plain__not_with_an_instance_inside),
		TEST(plain__while_a_sock_goes_and_comes),
		TEST(not_plain__if_what_comes_has_bytes),
		TEST(plain__until_the_bell_rings),
		TEST(plain__each_thread_hears_the_bell),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
