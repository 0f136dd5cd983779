/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/alive.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../test.h"

static void look__this_process_runs(void **state)
{
	(void)state;
	assert_int_equal(tux_alive_look(getpid()), TUX_ALIVE_RUNS);
	assert_int_equal(tux_alive_look(1), TUX_ALIVE_RUNS);
}

/* A process may choose its name. */
static void look__whatever_it_is_called(void **state)
{
	(void)state;
	prctl(PR_SET_NAME, "a) Z (b");
	assert_int_equal(tux_alive_look(getpid()), TUX_ALIVE_RUNS);
}

static void look__a_child_until_its_end(void **state)
{
	pid_t pid = fork();
	siginfo_t i;

	(void)state;
	if (!pid)
		for (;;)
			pause();
	assert_int_equal(tux_alive_look(pid), TUX_ALIVE_RUNS);
	kill(pid, SIGSTOP);
	assert_int_equal(waitid(P_PID, (id_t)pid, &i, WSTOPPED), 0);
	assert_int_equal(tux_alive_look(pid), TUX_ALIVE_STOPPED);
	kill(pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)pid, &i, WEXITED | WNOWAIT), 0);
	assert_int_equal(tux_alive_look(pid), TUX_ALIVE_GONE);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(tux_alive_look(pid), TUX_ALIVE_GONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(look__this_process_runs),
		cmocka_unit_test(look__whatever_it_is_called),
		cmocka_unit_test(look__a_child_until_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
