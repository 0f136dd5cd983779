/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/hook.h"

#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "../test.h"
#include "run/preempt.h"
#include "run/sched.h"
#include "run/switch.h"
#include "sys/clock.h"

struct job {
	struct tux_task task;
	struct tux_strand strand;
	void (*run)(struct job *);
	struct job *other;
	pthread_t self;
	int done;
};

static char heard[200];

static void hear(const char *line, void *arg)
{
	(void)arg;
	snprintf(heard, sizeof(heard), "%s", line);
}

static void run_job(struct tux_task *t)
{
	struct job *j = TUX_CONTAINER(t, struct job, task);

	j->run(j);
	j->done++;
}

/* All of @n in routines, one after another, until they are done. */
static void run(struct job *j, unsigned n)
{
	struct tux_sched_opts o = { .preempt = true, .say = hear };
	struct tux_sched *s;
	unsigned i;

	heard[0] = 0;
	o.slice = TUX_SEC(1);
	assert_int_equal(tux_sched_new(&s, &o), 0);
	for (i = 0; i < n; i++) {
		tux_strand_init(&j[i].strand);
		tux_task_init(&j[i].task, &j[i].strand, run_job);
		tux_sched_put(s, &j[i].task);
	}
	while (tux_sched_run(s) || tux_sched_deadline(s) != TUX_NEVER)
		;
	tux_sched_free(s);
}

static void run_one(void (*fn)(struct job *))
{
	struct job j = { .run = fn };

	run(&j, 1);
	assert_int_equal(j.done, 1);
}

/* ---- who the process is ---- */

static void set_ids(struct job *j)
{
	gid_t group[64];
	int n = getgroups(64, group);

	(void)j;
	assert_int_equal(setuid(getuid()), 0);
	assert_int_equal(setgid(getgid()), 0);
	assert_int_equal(seteuid(geteuid()), 0);
	assert_int_equal(setegid(getegid()), 0);
	assert_int_equal(setreuid((uid_t)-1, (uid_t)-1), 0);
	assert_int_equal(setregid((gid_t)-1, (gid_t)-1), 0);
	assert_int_equal(setresuid((uid_t)-1, (uid_t)-1, (uid_t)-1), 0);
	assert_int_equal(setresgid((gid_t)-1, (gid_t)-1, (gid_t)-1), 0);
	if (!geteuid()) {
		assert_int_equal(initgroups("root", 0), 0);
		assert_int_equal(setgroups((size_t)n, group), 0);
	}
	errno = 0;
	assert_int_equal(setgroups(1u << 30, group), -1);
	assert_true(errno == EINVAL || errno == EPERM);
}

static void setuid__returns(void **state)
{
	(void)state;
	run_one(set_ids);
}

/* ---- the mask ---- */

static bool blocked(int sig)
{
	sigset_t now;

	assert_int_equal(sigprocmask(SIG_BLOCK, NULL, &now), 0);
	return sigismember(&now, sig) == 1;
}

static void block_and_yield(struct job *j)
{
	sigset_t set;

	assert_false(blocked(SIGUSR1));
	if (j->other)
		return;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	assert_int_equal(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
	tux_sched_yield();
	assert_true(blocked(SIGUSR1));
}

static void mask__is_the_routines(void **state)
{
	struct job j[2] = { { .run = block_and_yield },
			    { .run = block_and_yield, .other = &j[0] } };

	(void)state;
	run(j, 2);
	assert_int_equal(j[0].done + j[1].done, 2);
	assert_false(blocked(SIGUSR1));
}

/* The thread's own, changed between slices, is that of all routines. */
static void mask__of_the_thread(void **state)
{
	sigset_t set, old;

	(void)state;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	assert_int_equal(sigprocmask(SIG_BLOCK, &set, &old), 0);
	run_one(block_and_yield);
	assert_true(blocked(SIGUSR2));
	assert_int_equal(sigprocmask(SIG_SETMASK, &old, NULL), 0);
}

/* ---- the signal that is ours ---- */

static void ours__is_left_alone(void **state)
{
	struct sigaction a = { .sa_handler = SIG_IGN }, now;
	int sig = tux_preempt_init();
	sigset_t all, old;

	(void)state;
	if (sig < 0)
		skip();
	assert_int_equal(sigaction(sig, &a, NULL), -1);
	assert_int_equal(errno, EINVAL);
	assert_ptr_equal(signal(sig, SIG_IGN), SIG_ERR);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(sigaction(sig, NULL, &now), 0);
	assert_ptr_not_equal(now.sa_handler, SIG_IGN);
	sigfillset(&all);
	assert_int_equal(sigprocmask(SIG_SETMASK, &all, &old), 0);
	assert_true(blocked(SIGUSR1));
	assert_false(blocked(sig));
	assert_int_equal(sigprocmask(SIG_SETMASK, &old, NULL), 0);
}

/* ---- sleeping ---- */

static void sleep_each_way(struct job *j)
{
	struct timespec t = { .tv_nsec = 2000000 };
	tux_time from = tux_clock_read();

	(void)j;
	assert_int_equal(nanosleep(&t, NULL), 0);
	assert_int_equal(usleep(2000), 0);
	assert_int_equal(clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL), 0);
	assert_true(tux_clock_read() - from >= TUX_MSEC(6));
	clock_gettime(CLOCK_REALTIME, &t);
	assert_int_equal(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &t,
					 NULL), 0);
	assert_int_equal(sleep(0), 0);
	assert_int_equal(sched_yield(), 0);
	t.tv_nsec = 2000000000;
	assert_int_equal(nanosleep(&t, NULL), -1);
	assert_int_equal(errno, EINVAL);
}

static void look_beside(struct job *j)
{
	assert_int_equal(j->other->done, 0);
}

static void sleep__only_the_routine(void **state)
{
	struct job j[2] = { { .run = sleep_each_way },
			    { .run = look_beside, .other = &j[0] } };

	(void)state;
	run(j, N_OF(j));
	assert_int_equal(j[0].done + j[1].done, 2);
}

/* ---- routines as threads ---- */

static void kill_other(struct job *j)
{
	j->self = pthread_self();
	if (!j->other) {
		tux_sched_yield();
		return;
	}
	assert_int_equal(pthread_kill(j->other->self, 0), 0);
	assert_int_equal(pthread_kill(j->other->self, SIGUSR1), ENOTSUP);
	assert_true(strstr(heard, "pthread_kill"));
	assert_int_equal(pthread_cancel(j->other->self), ENOTSUP);
	assert_true(strstr(heard, "pthread_cancel"));
	assert_int_equal(pthread_cancel(pthread_self()), ENOTSUP);
}

static void thread__refused(void **state)
{
	struct job j[2] = { { .run = kill_other },
			    { .run = kill_other, .other = &j[0] } };

	(void)state;
	if (!tux_switch_has_tls())
		skip();		/* to libc all routines are the one thread */
	run(j, 2);
	assert_int_equal(j[0].done + j[1].done, 2);
}

static int caught;

static void on_signal(int sig)
{
	caught = sig;
}

static void kill_own(struct job *j)
{
	(void)j;
	signal(SIGUSR1, on_signal);
	assert_int_equal(pthread_kill(pthread_self(), SIGUSR1), 0);
	assert_int_equal(caught, SIGUSR1);
	caught = 0;
	assert_int_equal(raise(SIGUSR1), 0);
	assert_int_equal(caught, SIGUSR1);
}

static void thread__kills_itself(void **state)
{
	(void)state;
	run_one(kill_own);
}

static void inherit(struct job *j)
{
	pthread_mutexattr_t a;

	(void)j;
	pthread_mutexattr_init(&a);
	assert_int_equal(pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_NONE),
			 0);
	assert_int_equal(pthread_mutexattr_setprotocol(&a,
						       PTHREAD_PRIO_INHERIT),
			 ENOTSUP);
	assert_true(strstr(heard, "PTHREAD_PRIO_INHERIT"));
}

static void thread__no_inheritance(void **state)
{
	(void)state;
	run_one(inherit);
}

/* ---- the processor ---- */

static void ask_where(struct job *j)
{
	cpu_set_t all, one;
	unsigned cpu;
	int i;

	(void)j;
	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	for (i = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET(i, &all))
			continue;
		CPU_ZERO(&one);
		CPU_SET(i, &one);
		assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
		assert_int_equal(sched_getcpu(), i);
		assert_int_equal(syscall(SYS_getcpu, &cpu, NULL, NULL), 0);
		assert_int_equal(cpu, i);
	}
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
}

static void cpu__is_told_right(void **state)
{
	(void)state;
	run_one(ask_where);
}

/* ---- fork ---- */

static void *nothing(void *arg)
{
	return arg;
}

static void fork_here(struct job *j)
{
	pid_t pid = fork();
	int status;
	pthread_t t;

	(void)j;
	if (!pid) {
		bool well = !tux_sched_inside() && sched_getcpu() >= 0;

		tux_sched_yield();
		tux_sched_sleep(TUX_SEC(100));
		well = well && !pthread_create(&t, NULL, nothing, NULL) &&
		       !pthread_join(t, NULL) && !setuid(getuid());
		_exit(well ? 7 : 8);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
	assert_true(tux_sched_inside());
}

static void fork__child_has_no_routine(void **state)
{
	(void)state;
	run_one(fork_here);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(setuid__returns),
		cmocka_unit_test(mask__is_the_routines),
		cmocka_unit_test(mask__of_the_thread),
		cmocka_unit_test(ours__is_left_alone),
		cmocka_unit_test(sleep__only_the_routine),
		cmocka_unit_test(thread__refused),
		cmocka_unit_test(thread__kills_itself),
		cmocka_unit_test(thread__no_inheritance),
		cmocka_unit_test(cpu__is_told_right),
		cmocka_unit_test(fork__child_has_no_routine),
	};

	if (!TUX_HOOKED) {
		printf("no calls are replaced: a sanitizer replaces the same, "
		       "or --disable-preemption\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
