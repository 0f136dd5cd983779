/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts of processes: what each call makes of them, and that descendants of a
 * process see the same ones.
 */
#include "sock/holders.h"

#include <sys/wait.h>
#include <unistd.h>

#include "../test.h"

enum { CHILDREN = 4, ROUNDS = 20000 };

static void end__only_if_alone(void **state)
{
	uint64_t h = holders_new();

	(void)state;
	assert_true(h);
	holders_add(h);
	assert_false(holders_end(h));
	assert_true(holders_leave(h));
	assert_true(holders_end(h));
}

static void leave__tells_if_others_are_left(void **state)
{
	uint64_t h = holders_new();

	(void)state;
	holders_add(h);
	holders_add(h);
	assert_true(holders_leave(h));
	assert_true(holders_leave(h));
	assert_false(holders_leave(h));
}

static void add__none_is_no_count(void **state)
{
	(void)state;
	holders_add(0);
	assert_false(holders_leave(0));
	assert_false(holders_return(0));
	assert_false(holders_end(0));
}

static void return__finds_what_was_left(void **state)
{
	uint64_t h = holders_new();

	(void)state;
	holders_add(h);
	assert_true(holders_leave(h));
	assert_true(holders_return(h));
	assert_false(holders_end(h));
	/* The others have gone meanwhile. */
	assert_true(holders_leave(h));
	assert_false(holders_leave(h));
	assert_true(holders_return(h));
	assert_true(holders_end(h));
}

static void return__not_to_what_another_has_ended(void **state)
{
	uint64_t h = holders_new();

	(void)state;
	holders_add(h);
	assert_true(holders_leave(h));	/* here */
	assert_true(holders_end(h));	/* the other process */
	assert_false(holders_return(h));
}

static void new__makes_old_names_void(void **state)
{
	uint64_t old = holders_new(), h = 0;

	(void)state;
	assert_true(holders_end(old));
	/* Until the same place has another count. */
	for (int i = 0; i < HOLDERS_MAX; i++) {
		h = holders_new();
		if ((uint32_t)h == (uint32_t)old)
			break;
		assert_true(holders_end(h));
	}
	assert_int_equal((uint32_t)h, (uint32_t)old);
	assert_true(h != old);
	holders_add(old);
	assert_false(holders_return(old));
	assert_false(holders_leave(old));
	assert_false(holders_end(old));
	assert_true(holders_end(h));
}

static void new__until_all_are_taken(void **state)
{
	static uint64_t h[HOLDERS_MAX];

	(void)state;
	for (int i = 0; i < HOLDERS_MAX; i++)
		assert_true(h[i] = holders_new());
	assert_false(holders_new());
	assert_true(holders_end(h[7]));
	assert_true(h[7] = holders_new());
	for (int i = 0; i < HOLDERS_MAX; i++)
		assert_true(holders_end(h[i]));
}

/* Each makes counts of its own, and comes and goes at one of the parent's. */
static void child_works(uint64_t shared)
{
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t h = holders_new();

		holders_add(shared);
		holders_add(h);
		if (!holders_leave(h) || !holders_end(h) ||
		    !holders_leave(shared))
			_exit(1);
	}
	holders_leave(shared);
	_exit(0);
}

static void new__children_see_the_same(void **state)
{
	uint64_t h = holders_new();
	int status;

	(void)state;
	for (int i = 0; i < CHILDREN; i++) {
		holders_add(h);
		if (!fork())
			child_works(h);
	}
	for (int i = 0; i < CHILDREN; i++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	assert_true(holders_end(h));
}

static void end__one_that_is_killed_stays(void **state)
{
	uint64_t h = holders_new();
	pid_t pid;

	(void)state;
	holders_add(h);
	pid = fork();
	if (!pid)
		for (;;)
			pause();
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_false(holders_end(h));
	assert_true(holders_leave(h));
}

/* What the others are told stays as long as one of them is there. */
static void plain__until_all_have_left(void **state)
{
	uint64_t h = holders_new(), next;

	(void)state;
	assert_false(holders_are_plain(0));
	assert_false(holders_are_plain(h));
	holders_add(h);
	holders_set_plain(h);
	assert_true(holders_are_plain(h));
	assert_true(holders_several(h));
	assert_false(holders_end(h));
	assert_true(holders_leave(h));
	assert_true(holders_are_plain(h));
	assert_false(holders_several(h));
	assert_true(holders_end(h));
	assert_false(holders_are_plain(h));
	holders_set_plain(h);
	do
		next = holders_new();
	while ((uint32_t)next != (uint32_t)h && holders_end(next));
	assert_false(holders_are_plain(next));
	assert_true(holders_end(next));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(end__only_if_alone),
		cmocka_unit_test(leave__tells_if_others_are_left),
		cmocka_unit_test(add__none_is_no_count),
		cmocka_unit_test(return__finds_what_was_left),
		cmocka_unit_test(return__not_to_what_another_has_ended),
		cmocka_unit_test(new__makes_old_names_void),
		cmocka_unit_test(new__until_all_are_taken),
		cmocka_unit_test(new__children_see_the_same),
		cmocka_unit_test(plain__until_all_have_left),
		cmocka_unit_test(end__one_that_is_killed_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
