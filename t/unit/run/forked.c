/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes that routines make, and other things that they leave half done: to
 * the thread's own code between slices there is no such thing.
 */
#include "run/forked.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jobs.h"
#include "tick/watch.h"

enum { FORKS = 100, EXECS = 60, LINES = 3000, WELL = 7, LIMIT_S = 60 };

static void reap(pid_t pid, int code)
{
	int status;

	assert_true(pid > 0);
	while (waitpid(pid, &status, 0) < 0)
		;
	if (WIFSIGNALED(status))
		fail_msg("killed by signal %d", WTERMSIG(status));
	assert_int_equal(WEXITSTATUS(status), code);
}

/* ---- fork ---- */

/* No tick is on its way to the child that was on its way to the parent. */
static int ticks_sent(void)
{
	int n = 0;
	unsigned i;

	for (i = 0; i < TUX_WATCH_SLOTS; i++)
		n += atomic_load(&tux_watch_sent[i]);
	return n;
}

static void fork_some(struct job *j)
{
	unsigned i;

	(void)j;
	for (i = 0; i < FORKS; i++) {
		pid_t pid;

		jobs_spin(TUX_USEC(i));
		pid = fork();
		if (!pid)
			_exit(ticks_sent() ? 1 : WELL);
		reap(pid, WELL);
	}
}

static void allocate(void)
{
	void *volatile p = malloc(6000);

	free(p);
}

static void fork__leaves_no_lock_held(void **state)
{
	(void)state;
	if (!jobs_open())
		skip();
	alarm(LIMIT_S);
	jobs_add(fork_some);
	jobs_run(allocate);
	alarm(0);
	jobs_close();
}

/* ---- stdio ---- */

static FILE *file;

static void print_some(struct job *j)
{
	unsigned i;

	(void)j;
	for (i = 0; i < LINES; i++)
		fprintf(file, "line %u\n", i);
}

static void print_too(void)
{
	tux_sched_drain(jobs_sched);
	fputs("between\n", file);
}

static void drain__out_of_stdio(void **state)
{
	(void)state;
	if (!jobs_open())
		skip();
	file = fopen("/dev/null", "w");
	assert_non_null(file);
	setvbuf(file, NULL, _IOLBF, BUFSIZ);
	alarm(LIMIT_S);
	jobs_add(print_some);
	jobs_add(print_some);
	jobs_run(print_too);
	alarm(0);
	fclose(file);
	jobs_close();
}

static int ends[2];

static void wait_long(struct job *j)
{
	char c;

	(void)j;
	assert_int_equal(read(ends[0], &c, 1), 1);
}

static void drain__not_for_who_waits(void **state)
{
	const struct tux_sched_stats *st;
	uint64_t before;

	(void)state;
	if (!jobs_open())
		skip();
	assert_int_equal(pipe(ends), 0);
	st = tux_sched_stats(jobs_sched);
	jobs_add(wait_long);
	while (st->preemptions < 3)	/* the first may come before read() */
		tux_sched_run(jobs_sched);
	assert_true(tux_sched_in_critical(jobs_sched));
	before = st->slices;
	tux_sched_drain(jobs_sched);
	assert_in_range(st->slices - before, 1, 2);
	assert_true(tux_sched_in_critical(jobs_sched));
	assert_int_equal(write(ends[1], "x", 1), 1);
	jobs_run(NULL);
	assert_false(tux_sched_in_critical(jobs_sched));
	jobs_close();
}

/* ---- exec ---- */

static char *const command[] = { (char *)"true", NULL };

static void exec_now(struct job *j)
{
	(void)j;
	jobs_spin(TUX_USEC(JOBS_SLICE_US - 5 - (unsigned)getpid() % 60));
	execv("/bin/true", command);
}

static int exec_child(void)
{
	if (!jobs_open())
		return 0;
	jobs_add(exec_now);
	jobs_run(NULL);
	return 1;
}

static void exec__gets_no_tick(void **state)
{
	unsigned i;

	(void)state;
	for (i = 0; i < EXECS; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(exec_child());
		reap(pid, 0);
	}
}

/* The child has the parent's storage, but not its ticks. */
static void vfork_some(struct job *j)
{
	pid_t pid;

	(void)j;
	pid = vfork();
	if (!pid) {
		execv("/bin/true", command);
		_exit(1);
	}
	reap(pid, 0);
	pid = vfork();
	if (!pid) {
		execv("/", command);
		_exit(WELL);
	}
	reap(pid, WELL);
	assert_true(jobs_give_way());
}

static void exec__in_a_child_by_vfork(void **state)
{
	(void)state;
	if (!jobs_open())
		skip();
	jobs_add(vfork_some);
	jobs_run(NULL);
	jobs_close();
}

static void fail_to_exec(struct job *j)
{
	char *const none[] = { NULL };

	(void)j;
	assert_int_equal(execve("/", command, none), -1);
	assert_int_equal(errno, EACCES);
	assert_int_equal(execvp("", command), -1);
	assert_int_equal(execvpe("", command, none), -1);
	assert_int_equal(fexecve(-1, command, none), -1);
	assert_true(jobs_give_way());
}

static void exec__in_vain(void **state)
{
	(void)state;
	if (!jobs_open())
		skip();
	jobs_add(fail_to_exec);
	jobs_run(NULL);
	jobs_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fork__leaves_no_lock_held),
		cmocka_unit_test(drain__out_of_stdio),
		cmocka_unit_test(drain__not_for_who_waits),
		cmocka_unit_test(exec__gets_no_tick),
		cmocka_unit_test(exec__in_vain),
		cmocka_unit_test(exec__in_a_child_by_vfork),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
