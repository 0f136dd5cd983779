/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls that block: the routine goes over to its donor's thread, and comes back.
 */
#include "run/blocking.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jobs.h"
#include "run/sched_in.h"

enum { CALLS = 200, LIMIT_S = 60, NAP_MS = 50, STACK = 64 * 1024 };

static struct tux_sched *s;
static _Atomic unsigned wakes;

static void wake(void *arg)
{
	(void)arg;
	atomic_fetch_add(&wakes, 1);
}

static char said[200];

static void hear(const char *line, void *arg)
{
	(void)arg;
	snprintf(said, sizeof(said), "%s", line);
}

static void open_sched(bool preempt)
{
	struct tux_sched_opts o = {
		.slice = TUX_USEC(JOBS_SLICE_US), .preempt = preempt,
		.say = hear, .wake = wake, .stack_len = STACK,
	};

	alarm(LIMIT_S);
	jobs_open_as(&o);
	s = jobs_sched;
}

static void close_sched(void)
{
	tux_sched_free(s);
	alarm(0);
}

/* Twice: in routines with storage of their own, if they have some here, and
 * without. */
static void both(void (*fn)(struct job *))
{
	unsigned i;

	for (i = 0; i < 2; i++) {
		open_sched(i);
		jobs_add(fn);
		jobs_run(NULL);
		close_sched();
	}
}

static long tid(void)
{
	return syscall(SYS_gettid);
}

/* ---- where it runs ---- */

struct seen {
	long tid;
	bool inside, on_stack;
	int err;
	char *frame;
};

static void look(void *arg)
{
	struct seen *see = arg;
	char here;

	see->tid = tid();
	see->inside = tux_sched_inside();
	see->err = errno;
	see->on_stack = labs(&here - see->frame) < STACK;
	errno = EXDEV;
}

static void call_and_look(struct job *j)
{
	struct seen see = { .frame = (char *)&see };
	struct tux_routine *self = tux_sched_self();

	(void)j;
	errno = ENOTTY;
	tux_sched_blocking(look, &see);
	assert_int_equal(errno, EXDEV);
	assert_int_equal(see.err, ENOTTY);
	assert_true(see.tid != tid());
	assert_false(see.inside);
	assert_true(see.on_stack);
	assert_ptr_equal(tux_sched_self(), self);
}

static void call__in_another_thread_on_the_same_stack(void **state)
{
	(void)state;
	both(call_and_look);
}

static void call__outside_is_direct(void **state)
{
	struct seen see = { .frame = (char *)&see };

	(void)state;
	tux_sched_blocking(look, &see);
	assert_int_equal(see.tid, tid());
	assert_int_equal(errno, EXDEV);
}

static __thread int own;

static void add_one(void *arg)
{
	*(long *)arg = tid();
	own++;
}

static void count_on(struct job *j)
{
	long there = 0;
	unsigned i;

	(void)j;
	own = 0;
	for (i = 0; i < CALLS; i++) {
		own++;
		tux_sched_blocking(add_one, &there);
	}
	assert_int_equal(own, 2 * CALLS);
	assert_true(there != tid());
}

static void call__with_the_routines_storage(void **state)
{
	(void)state;
	open_sched(true);
	if (!s->tls) {
		close_sched();
		skip();
	}
	jobs_add(count_on);
	jobs_run(NULL);
	close_sched();
}

/* ---- others run meanwhile ---- */

static int ends[2];

static void read_one(void *arg)
{
	*(ssize_t *)arg = read(ends[0], &(char){ 0 }, 1);
}

static void wait_for_byte(struct job *j)
{
	ssize_t n = 0;

	(void)j;
	tux_sched_blocking(read_one, &n);
	assert_int_equal(n, 1);
}

static void write_one(struct job *j)
{
	(void)j;
	assert_int_equal(write(ends[1], "x", 1), 1);
}

static void others__run_meanwhile(void **state)
{
	unsigned i;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	for (i = 0; i < 2; i++) {
		open_sched(i);
		jobs_add(wait_for_byte);
		jobs_add(write_one);
		jobs_run(NULL);
		assert_int_equal(tux_sched_stats(s)->blocking, 1);
		close_sched();
	}
}

/* The network thread is woken when the call is over, not before. */
static void others__are_woken(void **state)
{
	unsigned before;

	(void)state;
	open_sched(false);
	jobs_add(wait_for_byte);
	while (!tux_sched_stats(s)->blocking)
		tux_sched_run(s);
	assert_int_equal(tux_sched_run(s), 0);
	before = atomic_load(&wakes);
	usleep(1000 * NAP_MS);
	assert_int_equal(atomic_load(&wakes), before);
	assert_int_equal(tux_sched_run(s), 0);
	assert_int_equal(write(ends[1], "x", 1), 1);
	while (atomic_load(&wakes) == before)
		usleep(1000);
	assert_int_equal(tux_sched_run(s), 0);
	assert_true(jobs_done());
	close_sched();
}

/* tux_sched_wake() does not bring back a routine that is away: only the end of its
 * call does. */
static struct tux_routine *away;

static void note_self(struct job *j)
{
	away = tux_sched_self();
	wait_for_byte(j);
}

static void others__cannot_bring_it_back(void **state)
{
	(void)state;
	open_sched(false);
	jobs_add(note_self);
	while (!tux_sched_stats(s)->blocking)
		tux_sched_run(s);
	tux_sched_wake(away);
	assert_int_equal(tux_sched_run(s), 0);
	assert_false(jobs_done());
	assert_int_equal(write(ends[1], "x", 1), 1);
	jobs_run(NULL);
	close_sched();
}

static long network;

static void compute(void *arg)
{
	void *p = malloc(6000);

	*(unsigned *)arg += p != NULL && tid() != network;
	free(p);
}

static void call_often(struct job *j)
{
	unsigned i, n = 0;

	(void)j;
	for (i = 0; i < CALLS; i++) {
		tux_sched_blocking(compute, &n);
		jobs_spin(TUX_USEC(i));
	}
	assert_int_equal(n, CALLS);
}

static void many__at_once(void **state)
{
	unsigned i, k;

	(void)state;
	network = tid();
	for (k = 0; k < 2; k++) {
		open_sched(k);
		for (i = 0; i < JOBS_MOST; i++)
			jobs_add(call_often);
		jobs_run(NULL);
		assert_int_equal(tux_sched_stats(s)->blocking,
				 JOBS_MOST * CALLS);
		close_sched();
	}
}

/* ---- signals ---- */

static void change_mask(void *arg)
{
	sigset_t set;

	*(bool *)arg = jobs_blocked(SIGUSR1) || jobs_blocked(SIGUSR2);
	sigfillset(&set);
	assert_int_equal(pthread_sigmask(SIG_SETMASK, &set, NULL), 0);
}

static void call_twice(struct job *j)
{
	bool blocked = true;

	(void)j;
	tux_sched_blocking(change_mask, &blocked);
	assert_false(blocked);
	assert_false(jobs_blocked(SIGUSR1));
	blocked = true;
	tux_sched_blocking(change_mask, &blocked);
	assert_false(blocked);
}

/* What a call changes is undone; what the routine has changed is there. */
static void mask__is_the_network_threads(void **state)
{
	(void)state;
	both(call_twice);
}

static void see_mask(void *arg)
{
	*(bool *)arg = jobs_blocked(SIGUSR1) && !jobs_blocked(SIGUSR2);
}

static void block_and_call(struct job *j)
{
	bool same = false;
	sigset_t set;

	(void)j;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	assert_int_equal(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
	tux_sched_blocking(see_mask, &same);
	assert_true(same);
	assert_true(jobs_blocked(SIGUSR1));
}

static void mask__is_the_routines(void **state)
{
	(void)state;
	open_sched(true);
	if (!TUX_HOOKED || !s->tls) {
		close_sched();
		skip();
	}
	jobs_add(block_and_call);
	jobs_run(NULL);
	close_sched();
	assert_false(jobs_blocked(SIGUSR1));
}

/* ---- ends ---- */

static _Atomic bool waits, is_back;

static void wait_and_say(void *arg)
{
	atomic_store(&waits, true);
	read_one(arg);
	atomic_store(&is_back, true);
}

static void say_when_back(struct job *j)
{
	ssize_t n;

	(void)j;
	tux_sched_blocking(wait_and_say, &n);
}

static void *write_late(void *arg)
{
	usleep(1000 * NAP_MS);
	return (void *)write(ends[1], arg, 1);
}

static void free__waits_for_calls(void **state)
{
	pthread_t writer;

	(void)state;
	open_sched(false);
	jobs_add(say_when_back);
	while (!atomic_load(&waits))
		tux_sched_run(s);
	assert_int_equal(tux_sched_away(s), 1);
	assert_int_equal(pthread_create(&writer, NULL, write_late, (void *)"x"),
			 0);
	close_sched();
	assert_true(atomic_load(&is_back));
	pthread_join(writer, NULL);
}

/* A call that is asked for after tux_sched_end_blocking() does not begin. */
static void end__begins_no_call(void **state)
{
	struct job *j;

	(void)state;
	open_sched(false);
	tux_sched_end_blocking(s);
	j = jobs_add(wait_for_byte);
	assert_int_equal(tux_sched_run(s), 0);
	assert_int_equal(tux_sched_away(s), 0);
	assert_int_equal(tux_sched_run(s), 0);
	assert_false(j->done);
	close_sched();
}

/* ---- what a call may do to its process ---- */

static void set_user(void *arg)
{
	assert_int_equal(setuid(getuid()), 0);
	read_one(arg);
}

static void set_user_away(struct job *j)
{
	ssize_t n = 0;

	(void)j;
	tux_sched_blocking(set_user, &n);
	assert_int_equal(n, 1);
}

static void set_user_inside(struct job *j)
{
	assert_int_equal(setuid(getuid()), 0);
	write_one(j);
}

/* libc has each thread do it, that of the call too. */
static void setuid__in_a_call_and_meanwhile(void **state)
{
	unsigned i;

	(void)state;
	for (i = 0; i < 2; i++) {
		open_sched(i);
		jobs_add(set_user_away);
		jobs_add(set_user_inside);
		jobs_run(NULL);
		close_sched();
	}
}

static void fork_and_return(void *arg)
{
	*(pid_t *)arg = fork();
}

static void fork_away(struct job *j)
{
	pid_t pid = -1;
	int status;

	(void)j;
	tux_sched_blocking(fork_and_return, &pid);
	if (!pid)
		_exit(tux_sched_inside() ? 1 : 7);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
}

/* In the child there is no network thread to go back to. */
static void fork__in_a_call(void **state)
{
	(void)state;
	both(fork_away);
}

static void register_place(void *arg)
{
	static char place[32] __attribute__((aligned(32)));

	*(long *)arg = syscall(SYS_rseq, place, sizeof(place), 0, 0x53053053);
}

static void register_away(struct job *j)
{
	long got = 0;

	(void)j;
	tux_sched_blocking(register_place, &got);
	assert_int_equal(got, -1);
}

/* The kernel would go on writing to it while the network thread has the storage. */
static void rseq__of_an_allocators_own(void **state)
{
	(void)state;
	if (TUX_FIBERS)
		skip();
	both(register_away);
}

/* ---- threads that end, stacks that are used up ---- */

static void leave_thread(void *arg)
{
	(void)arg;
	pthread_exit(NULL);
}

static void exit_away(struct job *j)
{
	(void)j;
	tux_sched_blocking(leave_thread, NULL);
}

/* The routine stands still, as after pthread_exit() in a callback; others go on. */
static void exit__stands_still(void **state)
{
	struct job *j;

	(void)state;
	open_sched(true);
	if (!TUX_HOOKED) {
		close_sched();
		skip();
	}
	jobs_add(exit_away);
	j = jobs_add(call_often);
	while (!atomic_load(&j->done) || !tux_sched_stats(s)->blocks)
		tux_sched_run(s);
	assert_string_equal(said, "pthread_exit in a callback: it stands still");
	close_sched();
}

static __attribute__((noinline)) unsigned go_deep(unsigned n)
{
	volatile char frame[4096];

	frame[0] = (char)n;
	return n ? go_deep(n - 1) + (unsigned)frame[0] : 0;
}

static void use_up_stack(void *arg)
{
	*(unsigned *)arg = go_deep(STACK);
}

static void say_and_exit(const char *line, void *arg)
{
	(void)arg;
	_exit(strstr(line, "has used up its stack of") ? 7 : 1);
}

static void overflow_away(struct job *j)
{
	unsigned n;

	(void)j;
	s->o.say = say_and_exit;
	tux_sched_blocking(use_up_stack, &n);
}

static void stack__used_up_is_told(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	if (TUX_FIBERS)
		skip();
	pid = fork();
	if (!pid) {
		open_sched(true);
		jobs_add(overflow_away);
		jobs_run(NULL);
		_exit(2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
}

/* ---- the end of the donor ---- */

static pthread_key_t key;
static int inside;

static void at_end(void *arg)
{
	(void)arg;
	inside = tux_sched_inside() || tux_sched_may_leave();
}

static void set_key(struct job *j)
{
	pthread_setspecific(key, j);
}

/* Destructors of what a routine has stored run there, where nobody waits for a
 * routine any more. */
static void end__is_a_threads(void **state)
{
	(void)state;
	inside = -1;
	assert_int_equal(pthread_key_create(&key, at_end), 0);
	open_sched(true);
	jobs_add(set_key);
	jobs_run(NULL);
	close_sched();
	pthread_key_delete(key);
	assert_true(inside <= 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(call__in_another_thread_on_the_same_stack),
		cmocka_unit_test(call__outside_is_direct),
		cmocka_unit_test(call__with_the_routines_storage),
		cmocka_unit_test(others__run_meanwhile),
		cmocka_unit_test(others__are_woken),
		cmocka_unit_test(others__cannot_bring_it_back),
		cmocka_unit_test(many__at_once),
		cmocka_unit_test(mask__is_the_network_threads),
		cmocka_unit_test(mask__is_the_routines),
		cmocka_unit_test(free__waits_for_calls),
		cmocka_unit_test(end__begins_no_call),
		cmocka_unit_test(setuid__in_a_call_and_meanwhile),
		cmocka_unit_test(fork__in_a_call),
		cmocka_unit_test(rseq__of_an_allocators_own),
		cmocka_unit_test(exit__stands_still),
		cmocka_unit_test(stack__used_up_is_told),
		cmocka_unit_test(end__is_a_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
