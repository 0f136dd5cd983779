/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which sock a descriptor names, for how long, and what is counted of them.
 */
#include "sock/fd.h"

#include <pthread.h>

#include "ground/process.h"
#include "sock/kind.h"
#include "sock/observer.h"
#include "../test.h"

enum { FD = 3, OTHER = 7, TIMES = 200000 };

static int left[2], left_n;	/* descriptors that were left */
static _Atomic unsigned recycled;	/* socks */

/* ---- what fd.c calls ---- */

struct process_here process_here = {
	.epoch = 1, .stack = (void *)&process_here,
};
_Atomic uint8_t kind_table[FD_MAX];

void process_init(void)
{
}

void kind_leave(int fd)
{
	left[left_n++] = fd;
}

void observer_left(int fd)
{
	assert_null(fd_peek(fd));
}

/* Each sock of these tests is reachable. */
void tux_stack_unlisten(struct tux_stack *stack, const struct tux_addr *a)
{
	(void)stack, (void)a;
	recycled++;
}

void tux_end_free(struct tux_end *e)
{
	fail_msg("there is no end %p", (void *)e);
}

void tux_waiter_ring_later(struct tux_waiter *w, uint32_t i,
			   struct tux_wakes *k)
{
	(void)w, (void)i, (void)k;
}

/* ---- references ---- */

static struct sock *add(int fd, enum sock_stage stage)
{
	struct sock *s = sock_new(stage);

	assert_non_null(s);
	s->reachable = true;
	assert_true(fd_add(fd, s));
	sock_put(s);
	return s;
}

static void drop(int fd)
{
	struct sock *s = fd_take(fd);

	assert_non_null(s);
	sock_put(s);
}

static int setup(void **state)
{
	(void)state;
	left_n = 0;
	recycled = 0;
	return 0;
}

static void sock__is_free_after_the_last_reference(void **state)
{
	struct sock *s = add(FD, SOCK_CANDIDATE);

	(void)state;
	assert_ptr_equal(sock_get(FD), s);
	assert_ptr_equal(sock_pass(FD), s);
	drop(FD);
	assert_null(sock_get(FD));
	assert_int_equal(recycled, 0);
	sock_passed(s);
	assert_int_equal(recycled, 0);
	sock_put(s);
	assert_int_equal(recycled, 1);
	assert_ptr_equal(add(FD, SOCK_CANDIDATE), s);
	drop(FD);
	assert_int_equal(recycled, 2);
}

static _Atomic bool stop;

static void *gets(void *arg)
{
	while (!stop) {
		struct sock *s = sock_get(FD);

		if (s)
			sock_put(s);
	}
	return arg;
}

/* A thread that is late finds no sock, or the next one; no sock is freed
 * twice. */
static void sock__is_free_once(void **state)
{
	pthread_t t[2];

	(void)state;
	stop = false;
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&t[i], NULL, gets, NULL), 0);
	for (int i = 0; i < TIMES; i++) {
		add(FD, SOCK_CANDIDATE);
		drop(FD);
	}
	stop = true;
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	assert_int_equal(recycled, TIMES);
	assert_int_equal(fd_live, 0);
}

/* ---- counts ---- */

static void live__counts_what_is_no_listener(void **state)
{
	struct sock *s = add(FD, SOCK_LISTENER), *t = add(OTHER, SOCK_CANDIDATE);

	(void)state;
	assert_int_equal(fd_live, 1);
	assert_true(fd_add(OTHER + 1, t) && fd_add(OTHER + 2, s));
	assert_int_equal(fd_live, 2);
	/* Closed, for all that it was. */
	atomic_store(&s->stage, SOCK_CLOSED);
	drop(FD);
	drop(OTHER + 2);
	assert_int_equal(fd_live, 2);
	drop(OTHER);
	drop(OTHER + 1);
	assert_int_equal(fd_live, 0);
}

static void moved__counts_a_sock_once(void **state)
{
	struct sock *s = add(FD, SOCK_CANDIDATE);

	(void)state;
	sock_moves(s);
	sock_moves(s);
	assert_int_equal(socks_moved, 1);
	drop(FD);
	assert_int_equal(socks_moved, 0);
	s = add(FD, SOCK_CANDIDATE);
	sock_moves(s);
	sock_unmoves(s);
	assert_int_equal(socks_moved, 0);
	drop(FD);
	assert_int_equal(socks_moved, 0);
}

static void leave__takes_all_its_descriptors(void **state)
{
	struct sock *s = add(OTHER, SOCK_CANDIDATE);

	(void)state;
	assert_true(fd_add(FD, s));
	assert_ptr_equal(sock_get(FD), s);
	fd_leave(s);
	assert_int_equal(left_n, 2);
	assert_int_equal(left[0], OTHER);
	assert_int_equal(left[1], FD);
	assert_null(fd_peek(FD));
	assert_null(fd_peek(OTHER));
	assert_int_equal(fd_live, 0);
	assert_int_equal(recycled, 0);
	sock_put(s);
	assert_int_equal(recycled, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(sock__is_free_after_the_last_reference,
				       setup),
		cmocka_unit_test_setup(live__counts_what_is_no_listener, setup),
		cmocka_unit_test_setup(moved__counts_a_sock_once, setup),
		cmocka_unit_test_setup(leave__takes_all_its_descriptors, setup),
		cmocka_unit_test_setup(sock__is_free_once, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
