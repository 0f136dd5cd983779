/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/attempt.h"

#include <errno.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#include "../../filter.h"
#include "sys/sys.h"
#include "../test.h"

static int here;			/* calls in this very process */
static volatile sig_atomic_t told;	/* signals of children that ended */

static int well(void)
{
	here++;
	return 0;
}

static int asks_for_parent(void)
{
	long r = TUX_SYS(SYS_getppid, 0, 0, 0, 0, 0, 0);

	return r < 0 ? (int)r : 0;
}

static void count(int sig)
{
	(void)sig;
	told++;
}

/* In a child, since a filter stays: what @fn returns there. */
static int with_filter(uint32_t action, int (*fn)(void))
{
	int status = 0;
	pid_t pid = fork();

	if (!pid) {
		if (!filter_install(SYS_getppid, 0, 0, action, 0))
			_exit(255);
		_exit(fn());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 255)
		skip();
	return WEXITSTATUS(status);
}

static void attempt__is_a_call_without_a_filter(void **state)
{
	(void)state;
	if (tux_filtered())
		skip();
	assert_int_equal(tux_attempt(well), 0);
	assert_int_equal(here, 1);
}

static int in_a_copy(void)
{
	here = 0;
	signal(SIGCHLD, count);
	return !tux_filtered() || tux_attempt(well) || here || told ||
	       tux_attempt(asks_for_parent);
}

static void attempt__is_a_copy_with_one(void **state)
{
	(void)state;
	assert_int_equal(with_filter(SECCOMP_RET_ALLOW, in_a_copy), 0);
}

static int says_why(void)
{
	return -tux_attempt(asks_for_parent);
}

static void attempt__says_what_is_refused(void **state)
{
	(void)state;
	assert_int_equal(with_filter(SECCOMP_RET_ERRNO | ENOTSUP, says_why),
			 ENOTSUP);
}

/* Only the copy is, and the program sees no child that has ended. */
static int is_killed(void)
{
	signal(SIGCHLD, count);
	return -tux_attempt(asks_for_parent) + 100 * told;
}

static void attempt__may_be_killed(void **state)
{
	(void)state;
	assert_int_equal(with_filter(SECCOMP_RET_KILL_PROCESS, is_killed),
			 EPERM);
}

static unsigned long effective(void)
{
	unsigned long set = 0;
	char line[128];
	FILE *f = fopen("/proc/self/status", "r");

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		sscanf(line, "CapEff: %lx", &set);
	fclose(f);
	return set;
}

static void capable__as_the_kernel_says(void **state)
{
	unsigned long set = effective();

	(void)state;
	for (unsigned bit = 0; bit <= CAP_LAST_CAP; bit++)
		assert_int_equal(tux_capable(1UL << bit), set >> bit & 1);
	assert_int_equal(tux_capable(~0UL), set != 0);
	assert_false(tux_capable(0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(attempt__is_a_call_without_a_filter),
		cmocka_unit_test(attempt__is_a_copy_with_one),
		cmocka_unit_test(attempt__says_what_is_refused),
		cmocka_unit_test(attempt__may_be_killed),
		cmocka_unit_test(capable__as_the_kernel_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
