/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Instances that are closed, and whose numbers and structs are used again,
 * while other threads call epoll_ctl() and epoll_wait() on the same numbers.
 */
#include "wait/epoll.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "no_socks.h"
#include "wait/epoll_fd.h"
#include "../test.h"

enum { THREADS = 3, NUMBERS = 4, TARGETS = 4, ROUNDS = 4000 };

/* ---- the race ---------------------------------------------------------- */

struct race {
	int first;		/* the lowest number that an instance may have */
	int target[TARGETS];	/* always readable */
	bool copies;		/* dup() is called, too */
	_Atomic bool over;
	_Atomic unsigned done, told;
	_Atomic unsigned tags;	/* events without the program's data */
};

static int number(const struct race *r, unsigned *seed)
{
	return r->first + (int)((unsigned)rand_r(seed) % NUMBERS);
}

static void change(struct race *r, unsigned *seed)
{
	static const int ops[] = {
		EPOLL_CTL_ADD, EPOLL_CTL_MOD, EPOLL_CTL_DEL,
	};
	int fd = r->target[(unsigned)rand_r(seed) % TARGETS];
	int op = ops[(unsigned)rand_r(seed) % 3];
	struct epoll_event e = { .events = EPOLLIN };

	e.data.fd = fd;
	if (!epoll_ctl(number(r, seed), op, fd, &e))
		r->done++;
}

static void look(struct race *r, unsigned *seed)
{
	struct epoll_event e[TARGETS];
	int n = epoll_wait(number(r, seed), e, TARGETS, 0);

	r->told += n > 0 ? (unsigned)n : 0;
	for (int i = 0; i < n; i++)
		r->tags += tag_is(e[i].data.u64);
}

static void shut(int fd)
{
	epoll_forget_fd(fd);
	libc.close(fd);
}

/* As the preload's dup() does, while another thread closes the original. */
static void copy(struct race *r, unsigned *seed)
{
	int fd = number(r, seed), to;

	to = fcntl(fd, F_DUPFD_CLOEXEC, r->first + NUMBERS);
	if (to < 0)
		return;
	epoll_duped_fd(fd, to);
	shut(to);
}

static void *use(void *arg)
{
	static _Atomic unsigned seeds = 1;
	struct race *r = arg;
	unsigned seed = seeds++;

	while (!r->over) {
		change(r, &seed);
		look(r, &seed);
		if (r->copies)
			copy(r, &seed);
	}
	return NULL;
}

static void create_and_close(void)
{
	int ep[NUMBERS];

	for (int i = 0; i < NUMBERS; i++)
		ep[i] = epoll_create1(EPOLL_CLOEXEC);
	for (int i = 0; i < NUMBERS; i++)
		shut(ep[i]);
}

static void run(struct race *r)
{
	pthread_t thread[THREADS];

	r->first = dup(0);
	close(r->first);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, use, r), 0);
	for (int i = 0; i < ROUNDS; i++)
		create_and_close();
	r->over = true;
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	print_message("%u calls done, %u events\n", r->done, r->told);
	assert_int_equal(r->tags, 0);
}

static void open_targets(struct race *r)
{
	for (int i = 0; i < TARGETS; i++)
		r->target[i] = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
}

/* No instance is left that holds them. */
static void close_targets(struct race *r)
{
	for (int i = 0; i < TARGETS; i++) {
		assert_false(epoll_kept(r->target[i]));
		shut(r->target[i]);
	}
}

/* An item that came to an instance after the close would stay counted. */
static void ctl__adds_nothing_to_a_closed_instance(void **state)
{
	struct race r = { .over = false };

	(void)state;
	open_targets(&r);
	run(&r);
	close_targets(&r);
}

/* Here an epoll_ctl() goes on without the latch, and keeps the instance. */
static void ctl__keeps_an_instance_that_gets_another(void **state)
{
	struct race r = { .over = false };
	int inner;

	(void)state;
	open_targets(&r);
	inner = r.target[0];
	shut(inner);
	assert_int_equal(epoll_create1(EPOLL_CLOEXEC), inner);
	run(&r);
	shut(inner);
	r.target[0] = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
	close_targets(&r);
}

/* dup() may come back just when the last descriptor of the instance goes. */
static void dup__revives_no_closed_instance(void **state)
{
	struct race r = { .copies = true };

	(void)state;
	open_targets(&r);
	run(&r);
	close_targets(&r);
}

/* A number that was closed is of interest again only when it is added again. */
static void forget__keeps_no_closed_number(void **state)
{
	struct epoll_event e = { .events = EPOLLIN, .data.fd = 7 };
	int ep = epoll_create1(EPOLL_CLOEXEC);
	int fd = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e), 0);
		assert_true(epoll_kept(fd));
		assert_int_equal(epoll_wait(ep, &e, 1, 0), 1);
		assert_int_equal(e.data.fd, 7);
		shut(fd);
		assert_false(epoll_kept(fd));
		assert_int_equal(eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK), fd);
	}
	assert_int_equal(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e), 0);
	assert_int_equal(epoll_ctl(ep, EPOLL_CTL_DEL, fd, &e), 0);
	assert_false(epoll_kept(fd));
	assert_int_equal(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e), 0);
	shut(fd);
	shut(ep);
	assert_false(epoll_kept(fd));
}

/* An instance that was inherited, before there is one of ours. */
static void wait__knows_no_tags_before_the_first(void **state)
{
	struct epoll_event e = { .events = EPOLLIN, .data.fd = 7 };
	int ep = libc.epoll_create1(EPOLL_CLOEXEC);
	int fd = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);

	(void)state;
	assert_int_equal(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e), 0);
	assert_int_equal(epoll_wait(ep, &e, 1, 0), 1);
	assert_int_equal(e.data.fd, 7);
	libc.close(fd);
	libc.close(ep);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wait__knows_no_tags_before_the_first),
		cmocka_unit_test(forget__keeps_no_closed_number),
		cmocka_unit_test(ctl__adds_nothing_to_a_closed_instance),
		cmocka_unit_test(ctl__keeps_an_instance_that_gets_another),
		cmocka_unit_test(dup__revives_no_closed_instance),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
