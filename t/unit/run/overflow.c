/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Faults that are not ours, and the alternate stack.
 */
#include "run/overflow.h"

#include <setjmp.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jobs.h"

enum { FAULTS = 3, WELL = 7 };

static sigjmp_buf place;
static volatile unsigned faults;
static bool preempted;

static void recover(int sig)
{
	(void)sig;
	faults++;
	siglongjmp(place, 1);
}

static void fault_some(struct job *j)
{
	volatile int *nothing = NULL;
	volatile unsigned i;

	for (i = 0; i < FAULTS; i++)
		if (!sigsetjmp(place, 1))
			*nothing = 1;
	preempted = !j || jobs_give_way();
}

/* Whoever recovers by siglongjmp(), again and again. */
static int child(bool inside)
{
	if (!jobs_open())
		return WELL;
	if (inside) {
		jobs_add(fault_some);
		jobs_run(NULL);
	} else {
		fault_some(NULL);
	}
	return faults == FAULTS && preempted ? WELL : 1;
}

static void recover_in(bool inside)
{
	struct sigaction a = { .sa_handler = recover }, old;
	int status;
	pid_t pid;

	assert_int_equal(sigaction(SIGSEGV, &a, &old), 0);
	pid = fork();
	if (!pid)
		_exit(child(inside));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(sigaction(SIGSEGV, &old, NULL), 0);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), WELL);
}

static void fault__recovered_in_a_routine(void **state)
{
	(void)state;
	if (!TUX_HOOKED)
		skip();
	recover_in(true);
}

static void fault__recovered_outside(void **state)
{
	(void)state;
	if (!TUX_HOOKED)
		skip();
	recover_in(false);
}

/* ---- the alternate stack ---- */

static volatile sig_atomic_t heard;

static void on_signal(int sig)
{
	(void)sig;
	heard++;
}

static void spin(struct job *j)
{
	(void)j;
	jobs_give_way();
}

/* A routine that was preempted while another stack was in place does not put
 * that one back. */
static void stack__of_who_has_ended(void **state)
{
	struct sigaction a = { .sa_handler = on_signal,
			       .sa_flags = SA_ONSTACK };
	struct tux_sched *first;

	(void)state;
	if (!jobs_open())
		skip();
	jobs_add(spin);
	jobs_run(NULL);
	first = jobs_sched;
	assert_true(jobs_open());
	jobs_add(spin);
	while (!tux_sched_stats(jobs_sched)->preemptions)
		tux_sched_run(jobs_sched);
	tux_sched_free(first);
	jobs_run(NULL);
	assert_int_equal(sigaction(SIGUSR1, &a, NULL), 0);
	raise(SIGUSR1);
	assert_int_equal(heard, 1);
	jobs_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fault__recovered_in_a_routine),
		cmocka_unit_test(fault__recovered_outside),
		cmocka_unit_test(stack__of_who_has_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
