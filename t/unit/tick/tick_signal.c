/* SPDX-License-Identifier: BSD-2-Clause */
#include "tick/tick_signal.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "../run/jobs.h"
#include "run/sched_in.h"
#include "sys/sys.h"
#include "tick/watch.h"

enum {
	TICKS = 32,
	STACK_LEN = 1 << 20,
	UNTOUCHED = 0xa5,
	FRAME_MIN = 512,		/* what the kernel saves of SSE alone */
};

static uint8_t stack[STACK_LEN];	/* the alternate one */
static unsigned ticks;			/* of the next handler */
static uint64_t heard;

/* The kernel's own mask, of which the hooks do not know. */
static uint64_t mask(int how, uint64_t set)
{
	uint64_t old = 0;

	TUX_SYS(SYS_rt_sigprocmask, how, (long)&set, (long)&old, sizeof(set), 0,
		0);
	return old;
}

static uint64_t tick_bit(void)
{
	return UINT64_C(1) << (tux_tick_signal() - 1);
}

/* A number that no network thread has: the watcher's ticks go on beside. */
static void queue_tick(void)
{
	siginfo_t info = { .si_code = SI_QUEUE };
	long tid = TUX_SYS(SYS_gettid, 0, 0, 0, 0, 0, 0);

	info.si_signo = tux_tick_signal();
	info.si_pid = getpid();
	info.si_value.sival_int = TUX_WATCH_SLOTS;
	assert_int_equal(TUX_SYS(SYS_rt_tgsigqueueinfo, info.si_pid, tid,
				 info.si_signo, (long)&info, 0, 0), 0);
}

/* All at once, and none of them can preempt here.  The slice is over: a tick of the
 * watcher's that came before may have put its end off. */
static void take_ticks(int sig)
{
	uint64_t before;
	unsigned i;

	(void)sig;
	mask(SIG_BLOCK, tick_bit());
	while (!tux_watch_over(&jobs_sched->watch, tux_tick_read()))
		;
	for (i = 0; i < ticks; i++)
		queue_tick();
	before = tux_sched_stats(jobs_sched)->skipped;
	mask(SIG_UNBLOCK, tick_bit());
	heard = tux_sched_stats(jobs_sched)->skipped - before;
}

/* How much of the stack @n ticks take together with the handler that they
 * interrupt. */
static size_t stack_of(unsigned n)
{
	size_t i = 0;

	memset(stack, UNTOUCHED, sizeof(stack));
	ticks = n;
	assert_int_equal(raise(SIGUSR2), 0);
	assert_true(heard >= n);
	while (i < sizeof(stack) && stack[i] == UNTOUCHED)
		i++;
	return sizeof(stack) - i;
}

static size_t of_one, of_many;

static void compare(struct job *j)
{
	(void)j;
	tux_sched_enter();
	of_one = stack_of(1);
	of_many = stack_of(TICKS);
	tux_sched_leave();
}

static void take__many_take_the_stack_of_one(void **state)
{
	struct sigaction a = { .sa_handler = take_ticks };
	stack_t ss = { .ss_sp = stack, .ss_size = sizeof(stack) };

	(void)state;
	if (!jobs_open())
		skip();
	a.sa_flags = SA_ONSTACK | SA_NODEFER;
	assert_int_equal(sigaction(SIGUSR2, &a, NULL), 0);
	assert_int_equal(sigaltstack(&ss, NULL), 0);
	jobs_add(compare);
	jobs_run(NULL);
	assert_true(of_one > FRAME_MIN);
	assert_true(of_many < of_one + TICKS * FRAME_MIN);
	ss.ss_flags = SS_DISABLE;
	assert_int_equal(sigaltstack(&ss, NULL), 0);
	jobs_close();
}

static uint64_t own;			/* the thread's mask */

static void expect_own(void)
{
	assert_int_equal(mask(SIG_BLOCK, 0), own);
}

static void go_and_look(struct job *j)
{
	(void)j;
	expect_own();
	assert_true(jobs_give_way());
	expect_own();
}

static void take__the_next_inherits_no_mask(void **state)
{
	(void)state;
	if (!jobs_open())
		skip();
	jobs_add(go_and_look);
	jobs_add(go_and_look);
	tux_sched_run(jobs_sched);	/* lets ticks come */
	own = mask(SIG_BLOCK, 0);
	jobs_run(expect_own);
	jobs_close();
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ends[2];

/* Holds a lock, and waits where it is preempted all the same. */
static void wait_and_look(struct job *j)
{
	char c;

	(void)j;
	tux_sched_enter();
	pthread_mutex_lock(&lock);
	assert_int_equal(read(ends[0], &c, 1), 1);
	expect_own();
	pthread_mutex_unlock(&lock);
	tux_sched_leave();
}

static int more_ends[2];

static void wait_without_lock(struct job *j)
{
	char c;

	(void)j;
	tux_sched_enter();
	assert_int_equal(read(more_ends[0], &c, 1), 1);
	tux_sched_leave();
}

static void *write_late(void *arg)
{
	usleep(20000);
	assert_int_equal(write(ends[1], "", 1), 1);
	return arg;
}

/* The thread waits for the lock between its slices: the handler of a tick runs
 * the routine that has it. */
static void take__the_one_who_has_a_lock_inherits_no_mask(void **state)
{
	pthread_t t;

	(void)state;
	if (!jobs_open())
		skip();
	assert_int_equal(pipe(ends), 0);
	jobs_add(wait_and_look);
	tux_sched_run(jobs_sched);
	assert_false(jobs_done());
	own = mask(SIG_BLOCK, 0);
	assert_int_equal(pthread_create(&t, NULL, write_late, NULL), 0);
	tux_sched_drain(jobs_sched);
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	expect_own();
	jobs_run(NULL);
	pthread_join(t, NULL);
	close(ends[0]);
	close(ends[1]);
	jobs_close();
}

/* Another scheduler of the thread has a routine in a lock, too. */
static void drain__of_two_both_go_on(void **state)
{
	struct tux_sched *other;
	pthread_t t;

	(void)state;
	if (!jobs_open())
		skip();
	assert_int_equal(pipe(ends), 0);
	jobs_add(wait_and_look);
	tux_sched_run(jobs_sched);
	assert_false(jobs_done());
	own = mask(SIG_BLOCK, 0);
	other = jobs_sched;
	assert_true(jobs_open());
	jobs_n = 1;			/* behind the other's */
	assert_int_equal(pipe(more_ends), 0);
	jobs_add(wait_without_lock);
	tux_sched_run(jobs_sched);
	assert_false(jobs_done());
	tux_sched_link(jobs_sched, other);
	tux_sched_drain(jobs_sched);
	assert_int_equal(pthread_create(&t, NULL, write_late, NULL), 0);
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	pthread_join(t, NULL);
	tux_sched_back(jobs_sched);
	tux_sched_link(jobs_sched, NULL);
	while (!jobs[0].done)
		tux_sched_run(other);
	assert_int_equal(write(more_ends[1], "", 1), 1);
	jobs_run(NULL);
	jobs_close();
	tux_sched_free(other);
	close(ends[0]);
	close(ends[1]);
	close(more_ends[0]);
	close(more_ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(take__many_take_the_stack_of_one),
		cmocka_unit_test(take__the_next_inherits_no_mask),
		cmocka_unit_test(take__the_one_who_has_a_lock_inherits_no_mask),
		cmocka_unit_test(drain__of_two_both_go_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
