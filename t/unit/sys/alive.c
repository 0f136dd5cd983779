/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/alive.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../test.h"

/* What @pid would say of itself: the 22nd field of its line. */
static enum tux_alive alive(pid_t pid)
{
	struct tux_alive_who who;
	char path[64], line[512] = "";
	const char *at = NULL;
	FILE *f;

	tux_alive_self(&who);
	assert_int_equal(who.pid, getpid());
	who.pid = pid;
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "r");
	if (f && fgets(line, sizeof(line), f))
		at = strrchr(line, ')');
	for (int n = 0; at && n < 20; n++)
		at = strchr(at + 1, ' ');
	if (at)
		who.start = strtoull(at, NULL, 10);
	if (f)
		fclose(f);
	return tux_alive_look(&who);
}

static pid_t pausing(void)
{
	pid_t pid = fork();

	if (!pid)
		for (;;)
			pause();
	return pid;
}

static void stop(pid_t pid)
{
	siginfo_t i;

	kill(pid, SIGSTOP);
	assert_int_equal(waitid(P_PID, (id_t)pid, &i, WSTOPPED), 0);
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
	pid_t pid = pausing();
	siginfo_t i;

	(void)state;
	assert_int_equal(alive(pid), TUX_ALIVE_RUNS);
	stop(pid);
	assert_int_equal(alive(pid), TUX_ALIVE_STOPPED);
	kill(pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)pid, &i, WEXITED | WNOWAIT), 0);
	assert_int_equal(alive(pid), TUX_ALIVE_GONE);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(alive(pid), TUX_ALIVE_GONE);
}

/* A stopped process has the number of the one that is meant, which may run where the
 * number is another one; and one that is not found may be of another PID namespace. */
static void look__who_has_its_number(void **state)
{
	struct tux_alive_who who;
	pid_t pid = pausing();

	(void)state;
	stop(pid);
	tux_alive_self(&who);
	who.pid = pid;
	who.start = 1;
	assert_int_equal(tux_alive_look(&who), TUX_ALIVE_RUNS);
	who.start = 0;
	assert_int_equal(tux_alive_look(&who), TUX_ALIVE_RUNS);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(tux_alive_look(&who), TUX_ALIVE_GONE);
	who.space++;
	assert_int_equal(tux_alive_look(&who), TUX_ALIVE_RUNS);
	who.space = 0;
	assert_int_equal(tux_alive_look(&who), TUX_ALIVE_GONE);
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
	if (!pid && !pthread_create(&t, NULL, outlives, NULL))
		pthread_exit(NULL);
	assert_true(pid > 0);
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	while (!strstr(line, ") Z ")) {
		FILE *f = fopen(path, "r");

		assert_non_null(f);
		assert_non_null(fgets(line, sizeof(line), f));
		fclose(f);
		usleep(1000);
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
