/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../test.h"

enum { LIMIT = 64 };

static void set_limit(rlim_t n)
{
	struct rlimit l;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &l), 0);
	l.rlim_cur = n;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &l), 0);
}

static void copy__is_high_and_closed_on_exec(void **state)
{
	int fd;

	(void)state;
	set_limit(LIMIT);
	fd = tux_fd_copy(0);
	assert_in_range(fd, LIMIT / 4 * 3, LIMIT - 1);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	tux_fd_close(fd);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
}

static void copy__takes_a_low_one_if_the_high_are_gone(void **state)
{
	int fd[LIMIT], n = 0, low;

	(void)state;
	set_limit(LIMIT);
	while ((fd[n] = tux_fd_copy(0)) >= LIMIT / 4 * 3)
		n++;
	low = fd[n];
	assert_in_range(low, 3, LIMIT / 4 * 3 - 1);
	while ((fd[++n] = tux_fd_copy(0)) >= 0)
		;
	assert_int_equal(fd[n], -EMFILE);
	while (n-- > 0)
		tux_fd_close(fd[n]);
}

static void copy__of_nothing_fails(void **state)
{
	(void)state;
	assert_int_equal(tux_fd_copy(LIMIT - 1), -EBADF);
}

static void lift__moves(void **state)
{
	int fd = dup(0), high;

	(void)state;
	set_limit(LIMIT);
	high = tux_fd_lift(fd);
	assert_in_range(high, LIMIT / 4 * 3, LIMIT - 1);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	tux_fd_close(high);
	assert_int_equal(tux_fd_lift(-EMFILE), -EMFILE);
}

static void ours__until_closed(void **state)
{
	int fd = tux_fd_copy(0), low = dup(0);

	(void)state;
	assert_true(tux_fd_ours(fd));
	assert_false(tux_fd_ours(low));
	assert_int_equal(tux_fd_next(0), fd);
	assert_int_equal(tux_fd_next(fd), fd);
	assert_int_equal(tux_fd_next(fd + 1), TUX_FD_MAX);
	tux_fd_close(fd);
	assert_false(tux_fd_ours(fd));
	assert_int_equal(tux_fd_next(0), TUX_FD_MAX);
	assert_false(tux_fd_ours(-1));
	assert_false(tux_fd_ours(TUX_FD_MAX));
	close(low);
}

/* Places in the kernel's table of this process's descriptors. */
static int table_size(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	char line[256];
	int n = 0;

	assert_non_null(f);
	while (!n && fgets(line, sizeof(line), f))
		sscanf(line, "FDSize: %d", &n);
	fclose(f);
	return n;
}

static void reserve__so_that_the_first_finds_its_place(void **state)
{
	int fd, size;

	(void)state;
	set_limit(1024);
	tux_fd_reserve();
	size = table_size();
	assert_int_equal(tux_fd_next(0), TUX_FD_MAX);
	fd = tux_fd_copy(0);
	assert_in_range(fd, 768, 1023);
	assert_in_range(fd, 0, size - 1);
	assert_int_equal(table_size(), size);
	tux_fd_close(fd);
}

/* A long table is made by the processes that need it. */
static void reserve__no_long_table(void **state)
{
	struct rlimit l;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &l), 0);
	if (l.rlim_max < 8192)
		skip();
	set_limit(8192);
	tux_fd_reserve();
	assert_in_range(table_size(), 0, 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copy__is_high_and_closed_on_exec),
		cmocka_unit_test(copy__takes_a_low_one_if_the_high_are_gone),
		cmocka_unit_test(copy__of_nothing_fails),
		cmocka_unit_test(lift__moves),
		cmocka_unit_test(ours__until_closed),
		cmocka_unit_test(reserve__so_that_the_first_finds_its_place),
		cmocka_unit_test(reserve__no_long_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
