/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/alive.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../test.h"

static enum tux_alive alive(pid_t pid)
{
	struct tux_alive_who who;

	tux_alive_self(&who);
	assert_int_equal(who.pid, getpid());
	who.pid = pid;
	who.start = 0;
	return tux_alive_look(&who);
}

static void look__this_process_runs(void **state)
{
	struct tux_alive_who who;

	(void)state;
	tux_alive_self(&who);
	assert_true(who.space && who.start);
	assert_int_equal(tux_alive_look(&who), TUX_ALIVE_RUNS);
	assert_int_equal(alive(1), TUX_ALIVE_RUNS);
}

/* A process may choose its name. */
static void look__whatever_it_is_called(void **state)
{
	struct tux_alive_who who;

	(void)state;
	prctl(PR_SET_NAME, "a) Z (b");
	tux_alive_self(&who);
	assert_true(who.start);
	assert_int_equal(tux_alive_look(&who), TUX_ALIVE_RUNS);
}

static void look__a_child_until_its_end(void **state)
{
	pid_t pid = fork();
	siginfo_t i;

	(void)state;
	if (!pid)
		for (;;)
			pause();
	assert_int_equal(alive(pid), TUX_ALIVE_RUNS);
	kill(pid, SIGSTOP);
	assert_int_equal(waitid(P_PID, (id_t)pid, &i, WSTOPPED), 0);
	assert_int_equal(alive(pid), TUX_ALIVE_STOPPED);
	kill(pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)pid, &i, WEXITED | WNOWAIT), 0);
	assert_int_equal(alive(pid), TUX_ALIVE_GONE);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(alive(pid), TUX_ALIVE_GONE);
}

/* The number is another process's: here the one that was meant has ended; in another
 * PID namespace it need not have. */
static void look__who_has_its_number(void **state)
{
	struct tux_alive_who who;

	(void)state;
	tux_alive_self(&who);
	who.start++;
	assert_int_equal(tux_alive_look(&who), TUX_ALIVE_GONE);
	who.space++;
	assert_int_equal(tux_alive_look(&who), TUX_ALIVE_RUNS);
	who.space = 0;
	assert_int_equal(tux_alive_look(&who), TUX_ALIVE_RUNS);
}

static void *outlives(void *arg)
{
	(void)arg;
	for (;;)
		pause();
	return NULL;
}

/* Its first thread has ended, and it has others. */
static void look__without_a_first_thread(void **state)
{
	pid_t pid = fork();
	char path[64], line[256] = "";
	pthread_t t;

	(void)state;
	if (!pid) {
		pthread_create(&t, NULL, outlives, NULL);
		pthread_exit(NULL);
	}
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	while (!strstr(line, ") Z ")) {
		FILE *f = fopen(path, "r");

		assert_non_null(f);
		assert_non_null(fgets(line, sizeof(line), f));
		fclose(f);
	}
	assert_int_equal(alive(pid), TUX_ALIVE_RUNS);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(look__this_process_runs),
		cmocka_unit_test(look__whatever_it_is_called),
		cmocka_unit_test(look__a_child_until_its_end),
		cmocka_unit_test(look__who_has_its_number),
		cmocka_unit_test(look__without_a_first_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
