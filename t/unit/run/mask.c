/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whatever a routine does to the mask of signals, or has a call do to it: the
 * others are preempted as before, with the mask that they had.
 */
#include <poll.h>
#include <setjmp.h>
#include <unistd.h>

#include "jobs.h"

enum { FRAME = 4096 };

static unsigned preempted;
static bool leaked;

static void spin(struct job *j)
{
	(void)j;
	preempted += jobs_give_way();
}

static void look(void)
{
	leaked |= jobs_blocked(SIGUSR1) || jobs_blocked(SIGUSR2);
}

static bool begin(void)
{
	preempted = 0;
	leaked = false;
	return jobs_open();
}

/* ---- calls that wait with another ---- */

static void wait_with_a_mask(struct job *j)
{
	struct timespec t = { .tv_nsec = 10000000 };
	sigset_t set;

	(void)j;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	ppoll(NULL, 0, &t, &set);
	t.tv_nsec = 10000000;
	pselect(0, NULL, NULL, NULL, &t, &set);
}

static void call__waits_with_a_mask(void **state)
{
	(void)state;
	if (!begin())
		skip();
	jobs_add(wait_with_a_mask);
	jobs_add(spin);
	jobs_add(spin);
	jobs_run(look);
	assert_false(leaked);
	assert_int_equal(preempted, 2);
	jobs_close();
}

/* Our signal is in no mask, and is nobody's to wait for. */
static void wait_with_all(struct job *j)
{
	struct timespec t = { .tv_nsec = 20000000 };
	siginfo_t info;
	sigset_t all;

	(void)j;
	sigfillset(&all);
	assert_int_equal(sigtimedwait(&all, &info, &t), -1);
	t = (struct timespec){ .tv_sec = 10 };	/* a tick ends it */
	assert_int_equal(ppoll(NULL, 0, &t, &all), -1);
	preempted += jobs_give_way();
}

static void call__waits_for_all_signals(void **state)
{
	(void)state;
	if (!begin())
		skip();
	jobs_add(wait_with_all);
	jobs_run(look);
	assert_int_equal(preempted, 1);
	jobs_close();
}

/* ---- what nobody is told of ---- */

static sigjmp_buf place;

static void jump(struct job *j)
{
	sigset_t set;

	(void)j;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (!sigsetjmp(place, 1)) {
		pthread_sigmask(SIG_UNBLOCK, &set, NULL);
		siglongjmp(place, 1);
	}
}

/* Or preempted: a tick that came in jump() has ended it. */
static void be_skipped(struct job *j)
{
	const struct tux_sched_stats *st = tux_sched_stats(jobs_sched);
	uint64_t before = st->skipped, whole = tux_sched_preempted();

	(void)j;
	while (*(volatile const uint64_t *)&st->skipped == before &&
	       tux_sched_preempted() == whole)
		;
}

/* The next that a tick finds with it ends that. */
static void jump__with_a_mask(void **state)
{
	(void)state;
	if (!begin())
		skip();
	jobs_add(jump);
	jobs_run(NULL);
	jobs_add(be_skipped);
	jobs_run(NULL);
	jobs_add(spin);
	jobs_run(look);
	assert_false(leaked);
	assert_int_equal(preempted, 1);
	jobs_close();
}

/* ---- handlers that sleep ---- */

static unsigned spoilt;

static void on_signal(int sig)
{
	volatile unsigned char frame[FRAME];
	unsigned id = (unsigned)((uintptr_t)tux_sched_self() >> 6), i;

	(void)sig;
	for (i = 0; i < FRAME; i++)
		frame[i] = (unsigned char)(id + i);
	usleep(1000);
	for (i = 0; i < FRAME; i++)
		spoilt += frame[i] != (unsigned char)(id + i);
}

static void raise_some(struct job *j)
{
	unsigned i;

	(void)j;
	for (i = 0; i < 10; i++)
		raise(SIGUSR2);
}

static void handle(int flags)
{
	struct sigaction a = { .sa_handler = on_signal, .sa_flags = flags };

	if (!begin())
		skip();
	spoilt = 0;
	assert_int_equal(sigaction(SIGUSR2, &a, NULL), 0);
	jobs_add(raise_some);
	jobs_add(raise_some);
	jobs_run(look);
	assert_false(leaked);
	assert_int_equal(spoilt, 0);
	jobs_close();
}

static void handler__sleeps(void **state)
{
	(void)state;
	handle(0);
}

static void handler__sleeps_on_the_alternate_stack(void **state)
{
	static char stack[65536];
	stack_t ss = { .ss_sp = stack, .ss_size = sizeof(stack) };

	(void)state;
	assert_int_equal(sigaltstack(&ss, NULL), 0);
	handle(SA_ONSTACK | SA_NODEFER);
	ss.ss_flags = SS_DISABLE;
	assert_int_equal(sigaltstack(&ss, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(call__waits_with_a_mask),
		cmocka_unit_test(call__waits_for_all_signals),
		cmocka_unit_test(jump__with_a_mask),
		cmocka_unit_test(handler__sleeps),
		cmocka_unit_test(handler__sleeps_on_the_alternate_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
