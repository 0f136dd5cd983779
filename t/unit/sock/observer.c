/* SPDX-License-Identifier: BSD-2-Clause */
#include "sock/observer.h"

#include "../test.h"

enum { FD = 4 };

static unsigned rung, gone, moved;
static unsigned loop;

void sock_ring(struct sock *s)
{
	assert_non_null(s);
	rung++;
}

static void is_gone(int fd)
{
	assert_int_equal(fd, FD);
	gone++;
}

/* Threads in poll() know before. */
static void is_moved(struct sock *s, int fd)
{
	assert_non_null(s);
	assert_int_equal(fd, FD);
	assert_int_equal(rung, ++moved);
}

static unsigned which(int fd)
{
	assert_int_equal(fd, FD);
	return loop;
}

static struct observer a = { .gone = is_gone };
static struct observer b = { .gone = is_gone, .moved = is_moved, .loop = which };

static void observer__none_is_told_nothing(void **state)
{
	(void)state;
	observer_gone(FD);
	observer_left(FD);
	assert_int_equal(observer_loop(FD), 0);
	assert_int_equal(gone, 0);
}

static void observer__is_told_once(void **state)
{
	struct sock s = { .stage = SOCK_CLAIMED };

	(void)state;
	for (int i = 0; i < 2; i++) {
		observer_add(&a);
		observer_add(&b);
	}
	observer_gone(FD);
	assert_int_equal(gone, 2);
	observer_moved(&s, FD);
	assert_int_equal(moved, 1);
	observer_left(FD);
}

static void loop__of_the_first_that_knows_one(void **state)
{
	(void)state;
	assert_int_equal(observer_loop(FD), 0);
	loop = 3;
	assert_int_equal(observer_loop(FD), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(observer__none_is_told_nothing),
		cmocka_unit_test(observer__is_told_once),
		cmocka_unit_test(loop__of_the_first_that_knows_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
