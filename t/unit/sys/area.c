/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/area.h"

#include <sys/wait.h>
#include <unistd.h>

#include "../test.h"

enum { LEN = 64 * 1024 };

/* What a child finds at @p[0], after it has put 9 there; 255 if nothing. */
static int child_sees(volatile uint8_t *p)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		int was = p[0];

		p[0] = 9;
		_exit(was);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

static void map__is_zero_and_keeps_errno(void **state)
{
	uint8_t *p;
	size_t i;

	(void)state;
	assert_int_equal(tux_area_map((void **)&p, LEN, TUX_AREA_PRIVATE), 0);
	for (i = 0; i < LEN; i++)
		assert_int_equal(p[i], 0);
	tux_area_unmap(p, LEN);
	tux_area_unmap(NULL, 0);
}

static void map__fails_with_an_error(void **state)
{
	void *p = (void *)1;

	(void)state;
	assert_true(tux_area_map(&p, SIZE_MAX / 2, TUX_AREA_PRIVATE) < 0);
	assert_null(p);
}

static void map__shared_is_the_same_in_a_child(void **state)
{
	uint8_t *p;

	(void)state;
	assert_int_equal(tux_area_map((void **)&p, LEN, TUX_AREA_SHARED), 0);
	p[0] = 5;
	assert_int_equal(child_sees(p), 5);
	assert_int_equal(p[0], 9);
	tux_area_unmap(p, LEN);
}

static void map__private_is_a_copy_in_a_child(void **state)
{
	uint8_t *p;

	(void)state;
	assert_int_equal(tux_area_map((void **)&p, LEN, TUX_AREA_PRIVATE), 0);
	p[0] = 5;
	assert_int_equal(child_sees(p), 5);
	assert_int_equal(p[0], 5);
	tux_area_unmap(p, LEN);
}

static void drop__reads_as_zero_again(void **state)
{
	uint8_t *p;

	(void)state;
	assert_int_equal(tux_area_map((void **)&p, LEN, TUX_AREA_OWN), 0);
	memset(p, 7, LEN);
	tux_area_drop(p + 100, LEN - 100);
	assert_int_equal(p[99], 7);
	assert_int_equal(p[100], 7);	/* not a whole page */
	assert_int_equal(p[4096], 0);
	assert_int_equal(p[LEN - 1], 0);
	tux_area_unmap(p, LEN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(map__is_zero_and_keeps_errno),
		cmocka_unit_test(map__fails_with_an_error),
		cmocka_unit_test(map__shared_is_the_same_in_a_child),
		cmocka_unit_test(map__private_is_a_copy_in_a_child),
		cmocka_unit_test(drop__reads_as_zero_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
