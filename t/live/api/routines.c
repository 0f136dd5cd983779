/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Routines as a program meets them: callbacks that never return, very many that
 * block, and what is seen of one that crashes.
 */
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../unit/test.h"
#include "run/sched.h"
#include "run/switch.h"
#include "sys/clock.h"

enum {
	OTHERS = 50,
	ANSWERS = 200,
	LIMIT_MS = 60000,
	BLOCKED = 10000,
	ROUTINES = 500,
	FRAMES = 64,
};

struct job {
	struct tux_task task;
	struct tux_strand strand;
	struct tux_sched *s;
	struct tux_routine *self;
	_Atomic unsigned ran;
	tux_time put_at, latest;	/* from put to run */
};

static _Atomic bool stop;

static struct job *job_of(struct tux_task *t)
{
	return TUX_CONTAINER(t, struct job, task);
}

static void open_job(struct job *j, struct tux_sched *s,
		     void (*run)(struct tux_task *))
{
	*j = (struct job){ .s = s };
	tux_strand_init(&j->strand);
	tux_task_init(&j->task, &j->strand, run);
}

static void put_job(struct job *j)
{
	j->put_at = tux_clock_read();
	tux_sched_put(j->s, &j->task);
}

/* ---- one that never returns ---- */

static void hang(struct tux_task *t)
{
	while (!atomic_load(&stop))
		job_of(t)->put_at++;
}

static void answer(struct tux_task *t)
{
	struct job *j = job_of(t);
	tux_time took = tux_clock_read() - j->put_at;

	j->ran++;
	j->latest = took > j->latest ? took : j->latest;
}

/* The others run all the time; what the network thread does between two slices
 * is done after each. */
static void hang__does_not_stop_the_others(void **state)
{
	struct tux_sched_opts o = { .preempt = true };
	tux_time until = tux_clock_read() + TUX_MSEC(LIMIT_MS);
	static struct job hog, j[OTHERS];
	struct tux_sched *s;
	unsigned i, turns = 0;

	(void)state;
	assert_int_equal(tux_sched_new(&s, &o), 0);
	if (!tux_sched_preempts(s)) {
		tux_sched_free(s);
		skip();
	}
	open_job(&hog, s, hang);
	put_job(&hog);
	for (i = 0; i < OTHERS; i++)
		open_job(&j[i], s, answer);
	for (; j[0].ran < ANSWERS && tux_clock_read() < until; turns++) {
		for (i = 0; i < OTHERS; i++)
			put_job(&j[i]);
		tux_sched_run(s);
	}
	atomic_store(&stop, true);
	while (tux_sched_run(s))
		;
	for (i = 0; i < OTHERS; i++)
		assert_true(j[i].ran >= ANSWERS - 1);
	/* Nobody needed a routine but the hog and the group. */
	assert_true(tux_sched_stats(s)->routines_ever <= 3);
	printf("# %u slices, %llu preemptions, the longest wait %.1f ms\n",
	       turns, (unsigned long long)tux_sched_stats(s)->preemptions,
	       (double)j[0].latest / 1e6);
	tux_sched_free(s);
}

/* ---- those that sleep as libc does ---- */

static char order[8];

static void note(char c)
{
	order[strlen(order)] = c;
}

static void nap(struct tux_task *t)
{
	note('a');
	usleep(20000);
	note('b');
	job_of(t)->ran++;
}

static void go_by(struct tux_task *t)
{
	note('c');
	job_of(t)->ran++;
}

static bool both_sleep(bool preempt)
{
	struct tux_sched_opts o = { .preempt = preempt };
	struct tux_sched *s;
	struct job a, b;
	bool preempts;

	memset(order, 0, sizeof(order));
	assert_int_equal(tux_sched_new(&s, &o), 0);
	preempts = tux_sched_preempts(s);
	open_job(&a, s, nap);
	open_job(&b, s, go_by);
	put_job(&a);
	put_job(&b);
	while (!a.ran || !b.ran)
		tux_sched_run(s);
	tux_sched_free(s);
	return preempts;
}

/* Where callbacks are not to be preempted, a call of libc in the middle of one
 * does not let the others run, either. */
static void sleep__stops_the_others_if_none_is_preempted(void **state)
{
	(void)state;
	both_sleep(false);
	assert_string_equal(order, "abc");
	if (both_sleep(true))
		assert_string_equal(order, "acb");
}

/* ---- many that block ---- */

static void block(struct tux_task *t)
{
	struct job *j = job_of(t);

	j->self = tux_sched_self();
	while (!atomic_load(&j->ran))
		tux_sched_block();
	j->self = NULL;
	j->latest = 1;
}


/* Wakes whoever got a routine; each gives its routine to the next. */
static unsigned wake_some(struct job *j)
{
	unsigned i, n = 0;

	for (i = 0; i < BLOCKED; i++)
		if (j[i].self && !atomic_exchange(&j[i].ran, 1)) {
			tux_sched_wake(j[i].self);
			n++;
		}
	return n;
}

static void block__more_than_there_are_routines(void **state)
{
	struct tux_sched_opts o = { .routines_max = ROUTINES,
				    .stack_len = 64 * 1024 };
	static struct job j[BLOCKED];
	unsigned i, woken, most = 0;
	struct tux_sched *s;

	(void)state;
	assert_int_equal(tux_sched_new(&s, &o), 0);
	for (i = 0; i < BLOCKED; i++) {
		open_job(&j[i], s, block);
		put_job(&j[i]);
	}
	do {
		while (tux_sched_run(s))
			;
		woken = wake_some(j);
		most = woken > most ? woken : most;
	} while (woken);
	for (i = 0; i < BLOCKED; i++)
		assert_int_equal(j[i].latest, 1);
	assert_int_equal(most, ROUTINES);
	assert_int_equal(tux_sched_stats(s)->routines_ever, ROUTINES);
	assert_int_equal(tux_sched_stats(s)->routines, 0);
	tux_sched_free(s);
}

/* ---- one that crashes ---- */

static volatile int *nowhere;
static volatile int seen;

static __attribute__((noinline)) void crash_here(void)
{
	*nowhere = 1;
	seen++;
}

static void crash(struct tux_task *t)
{
	(void)t;
	crash_here();
	seen++;
}

static void crash_in_routine(void)
{
	struct tux_sched_opts o = { .preempt = true };
	struct tux_sched *s;
	struct job j;

	if (tux_sched_new(&s, &o))
		_exit(1);
	open_job(&j, s, crash);
	tux_sched_put(s, &j.task);
	tux_sched_run(s);
	_exit(2);
}

static int says[2];

static void on_fault(int sig)
{
	void *frame[FRAMES];
	int n = backtrace(frame, FRAMES);

	(void)sig;
	(void)!write(says[1], frame, (size_t)n * sizeof(frame[0]));
	_exit(0);
}

static bool is_within(const void *p, const void *fn, size_t len)
{
	return (uintptr_t)p - (uintptr_t)fn < len;
}

/* From the handler to the beginning of the routine, and no further. */
static void crash__is_seen_by_backtrace(void **state)
{
	void *frame[FRAMES];
	bool found = false, caller = false;
	ssize_t n, i;
	pid_t pid;

	(void)state;
	if (!tux_switch_has_tls())
		skip();
	assert_int_equal(pipe(says), 0);
	/* Loads the unwinder. */
	backtrace(frame, FRAMES);
	pid = fork();
	if (!pid) {
		signal(SIGSEGV, on_fault);
		crash_in_routine();
	}
	close(says[1]);
	n = read(says[0], frame, sizeof(frame)) / (ssize_t)sizeof(frame[0]);
	close(says[0]);
	waitpid(pid, NULL, 0);
	assert_true(n > 4 && n < 15);
	for (i = 0; i < n; i++) {
		found |= is_within(frame[i], (void *)crash_here, 100);
		caller |= is_within(frame[i], (void *)crash, 100);
	}
	assert_true(found && caller);
}

static void crash__ends_the_process_as_ever(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	if (!tux_switch_has_tls())
		skip();
	pid = fork();
	if (!pid) {
		signal(SIGSEGV, SIG_DFL);
		crash_in_routine();
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGSEGV);
}

static void crash__is_seen_by_gdb(void **state)
{
	char line[512], cmd[256];
	bool found = false, caller = false, end = false, corrupt = false;
	FILE *gdb;

	(void)state;
	if (!tux_switch_has_tls() || system("command -v gdb >/dev/null"))
		skip();
	snprintf(cmd, sizeof(cmd),
		 "gdb -nx -batch -ex run -ex bt --args /proc/%d/exe --crash 2>&1",
		 (int)getpid());
	gdb = popen(cmd, "r");
	assert_non_null(gdb);
	while (fgets(line, sizeof(line), gdb)) {
		found |= strstr(line, "crash_here") != NULL;
		caller |= strstr(line, " crash (") != NULL;
		end |= strstr(line, "tux_switch_entry") != NULL;
		corrupt |= strstr(line, "corrupt") || strstr(line, "??");
	}
	pclose(gdb);
	assert_true(found && caller && end);
	assert_false(corrupt);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hang__does_not_stop_the_others),
		cmocka_unit_test(sleep__stops_the_others_if_none_is_preempted),
		cmocka_unit_test(block__more_than_there_are_routines),
		cmocka_unit_test(crash__is_seen_by_backtrace),
		cmocka_unit_test(crash__ends_the_process_as_ever),
		cmocka_unit_test(crash__is_seen_by_gdb),
	};

	if (argc > 1 && !strcmp(argv[1], "--crash"))
		crash_in_routine();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
