/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Instances that are closed, and whose numbers and structs are used again, while
 * other threads call epoll_ctl() and epoll_wait() on the same numbers.
 */
#include "../../../preload/epoll.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "../../../preload/claim.h"
#include "../../../preload/conf.h"
#include "../../../preload/fd.h"
#include "../../../preload/fork.h"
#include "../../../preload/hooks.h"
#include "../../../preload/libc.h"
#include "../../../preload/pass.h"
#include "../../../preload/wait.h"
#include "../test.h"

enum { THREADS = 3, NUMBERS = 4, TARGETS = 4, ROUNDS = 4000 };

/* ---- what else the preload has: no socket is on Tux here ---------------- */

struct sock *_Atomic fd_table[FD_MAX];
struct conf conf = { .path = TUX_PATH_MODE_TCP };
uint32_t fork_epoch = 1;

int fd_top(void)
{
	return 0;
}

int fd_fresh(int fd)
{
	return fd;
}

void fd_seen(int fd)
{
	(void)fd;
}

bool pass_plain(int fd)
{
	(void)fd;
	return true;
}

void claim_stop(void)
{
}

bool claim_stopped(void)
{
	return true;
}

tux_time wait_now(void)
{
	return 0;
}

/* No thread waits. */
struct waiting *wait_take(void)
{
	return NULL;
}

void wait_give(struct waiting *t)
{
	(void)t;
}

struct tux_stack *preload_stack(void)
{
	return NULL;
}

void tux_channel_turn(struct tux_stack *s)
{
	(void)s;
}

int tux_channel_wait(struct tux_stack *s, struct tux_waiter *w,
		     struct pollfd *fds, unsigned n, tux_time until,
		     const sigset_t *mask)
{
	(void)s, (void)w, (void)fds, (void)n, (void)until, (void)mask;
	return 0;
}

struct sock *sock_claimed(int fd)
{
	(void)fd;
	return NULL;
}

struct sock *sock_get(int fd)
{
	(void)fd;
	return NULL;
}

void sock_put(struct sock *s)
{
	(void)s;
}

void sock_ring(struct sock *s)
{
	(void)s;
}

void sock_watch(struct sock *s, struct watch *w)
{
	(void)s, (void)w;
}

void sock_unwatch(struct sock *s, struct watch *w)
{
	(void)s, (void)w;
}

struct ready ready_of(struct sock *s)
{
	(void)s;
	return (struct ready){ .now = 0 };
}

bool ready_plain(const struct sock *s)
{
	return !s;
}

bool ready_turn(tux_time now)
{
	return !now;
}

uint32_t ready_told(struct sock *s, int fd, uint32_t told, struct ready *r)
{
	(void)fd;
	*r = ready_of(s);
	return told;
}

void edge_init(struct edge *e)
{
	(void)e;
}

bool edge_new(struct edge *e, struct sock *s, uint32_t now)
{
	return e && s && now;
}

bool edge_wrote(const struct edge *e, struct sock *s)
{
	return e && s;
}

void edge_told(struct edge *e, struct sock *s, uint32_t told)
{
	(void)e, (void)s, (void)told;
}

bool edge_hidden(struct edge *e, struct sock *s)
{
	return e && s;
}

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
