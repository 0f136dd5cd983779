/* SPDX-License-Identifier: BSD-2-Clause */
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../test.h"
#include "run/sched.h"
#include "run/switch.h"
#include "sys/clock.h"
#include "tick/critical.h"

enum { HOGS = 3, FEW = 5, SKIPPED = 20, RUN_MS = 200, LIMIT_MS = 60000,
       LOOKS = 10, LONG = 100 };

#define SLICE TUX_USEC(100)

struct job {
	struct tux_task task;
	struct tux_strand strand;
	struct tux_sched *s;
	_Atomic uint64_t turns;
	_Atomic uint64_t preempted;	/* as it sees it itself */
};

static _Atomic bool stop;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void open_job(struct job *j, void (*run)(struct tux_task *))
{
	*j = (struct job){ .preempted = 0 };
	tux_strand_init(&j->strand);
	tux_task_init(&j->task, &j->strand, run);
}

static struct job *job_of(struct tux_task *t)
{
	return TUX_CONTAINER(t, struct job, task);
}

static void say(const char *line, void *arg)
{
	(void)arg;
	printf("# %s\n", line);
}

/* NULL if routines are not preempted here. */
static struct tux_sched *open_sched(tux_time slice)
{
	struct tux_sched_opts o = { .slice = slice, .preempt = true, .say = say };
	struct tux_sched *s;

	atomic_store(&stop, false);
	assert_int_equal(tux_sched_new(&s, &o), 0);
	if (tux_sched_preempts(s))
		return s;
	tux_sched_free(s);
	return NULL;
}

static bool all_preempted(const struct job *j, unsigned n, uint64_t often)
{
	while (n && j[n - 1].preempted >= often)
		n--;
	return !n;
}

/* Slices for RUN_MS, and until all jobs were preempted @often times; then until
 * all have ended. */
static void run_until_preempted(struct tux_sched *s, const struct job *j,
				unsigned n, uint64_t often)
{
	tux_time began = tux_clock_read(), took;

	do {
		tux_sched_run(s);
		took = tux_clock_read() - began;
	} while (took < TUX_MSEC(RUN_MS) ||
		 (took < TUX_MSEC(LIMIT_MS) && !all_preempted(j, n, often)));
	atomic_store(&stop, true);
	while (tux_sched_run(s))
		;
	assert_true(all_preempted(j, n, often));
}

static void run_for_a_while(struct tux_sched *s, const struct job *j,
			    unsigned n)
{
	run_until_preempted(s, j, n, 1);
}

static void hog(struct tux_task *t)
{
	while (!atomic_load(&stop)) {
		job_of(t)->turns++;
		job_of(t)->preempted = tux_sched_preempted();
	}
}

static void tick__those_who_never_leave_take_turns(void **state)
{
	struct tux_sched *s = open_sched(0);
	uint64_t most = 0, least = UINT64_MAX;
	struct job j[HOGS];
	unsigned i;

	(void)state;
	if (!s)
		skip();
	for (i = 0; i < HOGS; i++) {
		open_job(&j[i], hog);
		tux_sched_put(s, &j[i].task);
	}
	run_for_a_while(s, j, HOGS);
	for (i = 0; i < HOGS; i++) {
		most = j[i].preempted > most ? j[i].preempted : most;
		least = j[i].preempted < least ? j[i].preempted : least;
	}
	assert_true(most - least <= 2);
	assert_true(tux_sched_stats(s)->preemptions >= HOGS);
	tux_sched_free(s);
}

/* The storage of each is its own in the midst of anything. */
static void shift(struct tux_task *t)
{
	while (!atomic_load(&stop)) {
		void *p[16];
		unsigned i;

		for (i = 0; i < 16; i++)
			p[i] = malloc(16 << (i % 8));
		for (i = 0; i < 16; i++)
			free(p[i]);
		job_of(t)->preempted = tux_sched_preempted();
	}
}

static void tick__amidst_malloc(void **state)
{
	struct tux_sched *s = open_sched(TUX_USEC(20));
	struct job j[HOGS];
	unsigned i;

	(void)state;
	if (!s)
		skip();
	for (i = 0; i < HOGS; i++) {
		open_job(&j[i], shift);
		tux_sched_put(s, &j[i].task);
	}
	run_for_a_while(s, j, HOGS);
	tux_sched_free(s);
}

/* Until another tick has come, and was of no use. */
static void spin(const struct tux_sched *s)
{
	tux_time until = tux_clock_read() + TUX_MSEC(LIMIT_MS);
	uint64_t skipped = tux_sched_stats(s)->skipped;

	while (tux_sched_stats(s)->skipped == skipped &&
	       tux_clock_read() < until)
		;
}

struct guarded {
	struct job job;
	uint64_t inside, after;		/* how often it was preempted */
};

/* A tick that came before the guard may have preempted it, or been skipped. */
static void entered(struct tux_task *t)
{
	struct guarded *g = TUX_CONTAINER(job_of(t), struct guarded, job);
	uint64_t before;

	tux_sched_enter();
	tux_sched_enter();
	before = tux_sched_preempted();
	spin(g->job.s);
	tux_sched_leave();
	g->inside = tux_sched_preempted() - before;
	tux_sched_leave();
	g->after = tux_sched_preempted() - before;
}

static void tick__waits_until_the_guard_is_left(void **state)
{
	struct tux_sched *s = open_sched(0);
	struct guarded g = { .inside = 0 };

	(void)state;
	if (!s)
		skip();
	open_job(&g.job, entered);
	g.job.s = s;
	tux_sched_put(s, &g.job.task);
	while (tux_sched_run(s))
		;
	assert_int_equal(g.inside, 0);
	assert_true(g.after >= 1);
	tux_sched_free(s);
}

struct region {
	struct guarded g;
	uint64_t ticks;			/* that came inside */
};

/* Computes where it cannot be preempted, for LONG slices and until a tick has come. */
static void compute_guarded(struct tux_task *t)
{
	struct guarded *g = TUX_CONTAINER(job_of(t), struct guarded, job);
	struct region *r = TUX_CONTAINER(g, struct region, g);
	const struct tux_sched_stats *st = tux_sched_stats(g->job.s);
	tux_time until = tux_clock_read() + LONG * SLICE;
	uint64_t before, ticks;

	tux_sched_enter();
	before = tux_sched_preempted();
	ticks = st->skipped;
	while (tux_clock_read() < until || st->skipped == ticks)
		;
	r->ticks = st->skipped - ticks;
	g->inside = tux_sched_preempted() - before;
	tux_sched_leave();
	g->after = tux_sched_preempted() - before;
}

/* The first tick is for the end of the region; the others come after one slice, two,
 * four and so on, and not four times a slice. */
static void tick__rarely_in_a_long_region(void **state)
{
	struct tux_sched *s = open_sched(SLICE);
	struct region r = { .ticks = 0 };

	(void)state;
	if (!s)
		skip();
	open_job(&r.g.job, compute_guarded);
	r.g.job.s = s;
	tux_sched_put(s, &r.g.job.task);
	while (tux_sched_run(s))
		;
	assert_int_equal(r.g.inside, 0);
	assert_true(r.g.after >= 1);
	assert_in_range(r.ticks, 1, 10);
	tux_sched_free(s);
}

static void hold_lock(struct tux_task *t)
{
	uint64_t before;

	/* The second time it comes before the other, who has just been put. */
	pthread_mutex_lock(&lock);
	before = tux_sched_preempted();
	while (tux_sched_preempted() < before + 3)
		job_of(t)->turns++;
	pthread_mutex_unlock(&lock);
}

static void want_lock(struct tux_task *t)
{
	uint64_t before = tux_sched_preempted();

	pthread_mutex_lock(&lock);
	job_of(t)->preempted = tux_sched_preempted() - before;
	pthread_mutex_unlock(&lock);
}

static void want_lock_guarded(struct tux_task *t)
{
	tux_sched_enter();
	want_lock(t);
	tux_sched_leave();
}

/* Who waits in the kernel for a lock that one has who was preempted goes, too. */
static void tick__amidst_a_wait_for_a_lock(void **state)
{
	static void (*const wanting[])(struct tux_task *) = {
		want_lock, want_lock_guarded,
	};
	struct tux_sched *s = open_sched(0);
	struct job a, b;
	unsigned i;

	(void)state;
	if (!s)
		skip();
	for (i = 0; i < N_OF(wanting); i++) {
		open_job(&a, hold_lock);
		open_job(&b, wanting[i]);
		tux_sched_put(s, &a.task);
		do
			assert_int_equal(tux_sched_run(s), 1);
		while (!a.turns);	/* it has the lock */
		tux_sched_put(s, &b.task);
		while (tux_sched_run(s))
			;
		assert_true(b.preempted > 0);
		assert_int_equal(tux_sched_stats(s)->escapes > 0, i);
	}
	tux_sched_free(s);
}

static void *drive(void *arg)
{
	struct tux_sched *s = arg;
	struct job j;

	atomic_store(&stop, false);
	open_job(&j, hog);
	tux_sched_put(s, &j.task);
	run_for_a_while(s, &j, 1);
	return NULL;
}

/* One after another; libc gives the second the storage of the first, who is no
 * more. */
static void tick__another_thread_runs_the_slices(void **state)
{
	struct tux_sched *s = open_sched(0);
	pthread_t t;
	unsigned i;

	(void)state;
	if (!s)
		skip();
	for (i = 0; i < 3; i++) {
		assert_int_equal(pthread_create(&t, NULL, drive, s), 0);
		pthread_join(t, NULL);
	}
	tux_sched_free(s);
}

static void clear(struct tux_task *t)
{
	static char room[1 << 24];

	while (!atomic_load(&stop)) {
		memset(room, (int)job_of(t)->turns++, sizeof(room));
		job_of(t)->preempted = tux_sched_preempted();
	}
}

/* In libc, but not for a moment. */
static void tick__amidst_a_long_memset(void **state)
{
	struct tux_sched *s = open_sched(TUX_USEC(20));
	struct job j;

	(void)state;
	if (!s)
		skip();
	open_job(&j, clear);
	tux_sched_put(s, &j.task);
	run_for_a_while(s, &j, 1);
	tux_sched_free(s);
}

static int fds[2];

static void read_one(struct tux_task *t)
{
	char c;

	job_of(t)->turns = read(fds[0], &c, 1) == 1;
}

static void *write_late(void *arg)
{
	usleep(5000);
	assert_int_equal(write(fds[1], "", 1), 1);
	return arg;
}

/* A system call that blocks does not stop the others, and goes on. */
static void tick__amidst_a_system_call(void **state)
{
	struct tux_sched *s = open_sched(0);
	struct job j;
	pthread_t t;

	(void)state;
	if (!s)
		skip();
	assert_int_equal(pipe(fds), 0);
	open_job(&j, read_one);
	tux_sched_put(s, &j.task);
	assert_int_equal(tux_sched_run(s), 1);
	pthread_create(&t, NULL, write_late, NULL);
	while (tux_sched_run(s))
		;
	assert_int_equal(j.turns, 1);
	pthread_join(t, NULL);
	close(fds[0]);
	close(fds[1]);
	tux_sched_free(s);
}

static void read_on(struct tux_task *t)
{
	static char buf[1 << 20];

	while (!atomic_load(&stop)) {
		assert_int_equal(pread(fds[0], buf, sizeof(buf), 0),
				 sizeof(buf));
		job_of(t)->preempted = tux_sched_preempted();
	}
}

/* He is found in the kernel always, and never waits there. */
static void tick__who_reads_files(void **state)
{
	struct tux_sched *s = open_sched(0);
	struct job j;

	(void)state;
	if (!s)
		skip();
	fds[0] = memfd_create("file", 0);
	assert_int_equal(ftruncate(fds[0], 1 << 20), 0);
	open_job(&j, read_on);
	tux_sched_put(s, &j.task);
	run_until_preempted(s, &j, 1, FEW);
	close(fds[0]);
	tux_sched_free(s);
}

static void call_on(struct tux_task *t)
{
	while (!atomic_load(&stop)) {
		syscall(SYS_getppid);
		job_of(t)->preempted = tux_sched_preempted();
	}
}

/* He is hardly ever found outside of libc, where ticks are put off. */
static void tick__who_calls_the_kernel_by_number(void **state)
{
	struct tux_sched *s = open_sched(0);
	const struct tux_sched_stats *st;
	struct job j;

	(void)state;
	if (!s)
		skip();
	open_job(&j, call_on);
	tux_sched_put(s, &j.task);
	run_for_a_while(s, &j, 1);
	st = tux_sched_stats(s);
	assert_true(st->skipped <= SKIPPED * st->preemptions);
	tux_sched_free(s);
}

static _Atomic uint64_t amidst;		/* preemptions where none may be */

static void block_for_a_while(struct tux_task *t)
{
	sigset_t set, old;
	uint64_t before;
	tux_time until;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	assert_int_equal(pthread_sigmask(SIG_BLOCK, &set, &old), 0);
	before = tux_sched_preempted();
	until = tux_clock_read() + TUX_MSEC(RUN_MS);
	while (tux_clock_read() < until)
		;
	amidst = tux_sched_preempted() - before;
	assert_int_equal(pthread_sigmask(SIG_SETMASK, &old, NULL), 0);
	hog(t);
}

/* Its mask would be the others', too. */
static void tick__not_with_a_signal_blocked(void **state)
{
	struct tux_sched *s = open_sched(0);
	struct job j;

	(void)state;
	if (!s)
		skip();
	open_job(&j, block_for_a_while);
	tux_sched_put(s, &j.task);
	run_for_a_while(s, &j, 1);
	assert_true(j.preempted > 0);
	assert_int_equal(amidst, 0);
	tux_sched_free(s);
}

static void handle(int sig)
{
	tux_time until = tux_clock_read() + TUX_MSEC(RUN_MS / 4);
	uint64_t before = tux_sched_preempted();

	(void)sig;
	while (tux_clock_read() < until)
		;
	atomic_fetch_add(&amidst, tux_sched_preempted() - before);
}

static void raise_one(struct tux_task *t)
{
	assert_int_equal(raise(SIGUSR2), 0);
	hog(t);
}

/* Nothing is blocked in it, but there is one alternate stack for all. */
static void tick__not_on_an_alternate_stack(void **state)
{
	struct tux_sched *s = open_sched(0);
	struct sigaction a = { .sa_handler = handle };
	static char stack[64 * 1024];
	stack_t ss = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct job j[2];

	(void)state;
	if (!s)
		skip();
	a.sa_flags = SA_ONSTACK | SA_NODEFER;
	assert_int_equal(sigaction(SIGUSR2, &a, NULL), 0);
	assert_int_equal(sigaltstack(&ss, NULL), 0);
	open_job(&j[0], raise_one);
	open_job(&j[1], raise_one);
	tux_sched_put(s, &j[0].task);
	tux_sched_put(s, &j[1].task);
	run_for_a_while(s, j, 2);
	assert_int_equal(atomic_load(&amidst), 0);
	ss.ss_flags = SS_DISABLE;
	assert_int_equal(sigaltstack(&ss, NULL), 0);
	tux_sched_free(s);
}

static void give_back(struct tux_task *t)
{
	job_of(t)->turns++;
}

static tux_time used_in_a_while(void)
{
	struct timespec a, b;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	usleep(200000);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
	return TUX_SEC(b.tv_sec - a.tv_sec) + (tux_time)b.tv_nsec -
	       (tux_time)a.tv_nsec;
}

/* Whoever is done in time gets no tick, and costs the watcher nothing. */
static void watcher__sleeps_when_nobody_runs(void **state)
{
	struct tux_sched *s = open_sched(0);
	tux_time used = TUX_NEVER;
	struct job j;
	unsigned i;

	(void)state;
	if (!s)
		skip();
	open_job(&j, give_back);
	tux_sched_put(s, &j.task);
	while (tux_sched_run(s))
		;
	usleep(50000);
	for (i = 0; i < LOOKS && used >= TUX_MSEC(2); i++)
		used = used_in_a_while();
	assert_true(used < TUX_MSEC(2));
	open_job(&j, hog);
	tux_sched_put(s, &j.task);
	run_for_a_while(s, &j, 1);
	tux_sched_free(s);
}

/* The watcher of this process, 0 if there is none. */
static pid_t watcher(void)
{
	DIR *d = opendir("/proc/self/task");
	struct dirent *e;
	pid_t found = 0;

	assert_non_null(d);
	while ((e = readdir(d)) && !found) {
		char name[320], word[16] = "";
		FILE *f;

		snprintf(name, sizeof(name), "/proc/self/task/%s/comm",
			 e->d_name);
		f = fopen(name, "r");
		if (f && fgets(word, sizeof(word), f) &&
		    !strcmp(word, "tux-watch\n"))
			found = (pid_t)atoi(e->d_name);
		if (f)
			fclose(f);
	}
	closedir(d);
	return found;
}

/* Waits a little: it moves when it looks around. */
static bool comes_to(unsigned cpu)
{
	tux_time until = tux_clock_read() + TUX_MSEC(LIMIT_MS);
	cpu_set_t its;
	bool there;

	do {
		CPU_ZERO(&its);
		assert_int_equal(sched_getaffinity(watcher(), sizeof(its),
						   &its), 0);
		there = CPU_ISSET(cpu, &its);
		usleep(1000);
	} while (there && tux_clock_read() < until);
	return there;
}

/* Also if that thread was tied before there was anything to watch. */
static void watcher__keeps_away_from_who_is_tied(void **state)
{
	cpu_set_t all, one;
	struct tux_sched *s;
	unsigned cpu = 0;
	struct job j;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	if (CPU_COUNT(&all) < 2)
		skip();
	while (!CPU_ISSET(cpu, &all))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	s = open_sched(0);
	if (s) {
		open_job(&j, give_back);
		tux_sched_put(s, &j.task);
		tux_sched_run(s);
		assert_false(comes_to(cpu));
		tux_sched_free(s);
	}
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
}

/* ---- what ends a process ---- */

/* A compiler must not make a loop of it: a call refers to its caller's page. */
static void recurse(unsigned n, volatile char *above)
{
	volatile char page[4096];

	page[0] = (char)(above[0] + 1);
	if (n)
		recurse(n - 1, page);
	above[0] = page[0];
}

static void overflow(struct tux_task *t)
{
	volatile char first = 0;

	(void)t;
	recurse(1000, &first);
}

static void complain(const char *line, void *arg)
{
	(void)!write(*(int *)arg, line, strlen(line));
}

/* What a child says that runs @fn in a routine; the signal that ends it. */
static int die_of(void (*fn)(struct tux_task *), char *said, size_t len)
{
	struct tux_sched_opts o = { .stack_len = 128 * 1024, .say = complain };
	struct tux_sched *s;
	int fd[2], status;
	struct job j;
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe(fd), 0);
	pid = fork();
	if (!pid) {
		o.arg = &fd[1];
		open_job(&j, fn);
		if (!tux_sched_new(&s, &o)) {
			tux_sched_put(s, &j.task);
			tux_sched_run(s);
		}
		_exit(0);
	}
	close(fd[1]);
	n = read(fd[0], said, len - 1);
	said[n > 0 ? n : 0] = 0;
	close(fd[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void overflow__is_reported(void **state)
{
	char said[256];

	(void)state;
	if (!tux_switch_has_tls())
		skip();
	assert_int_equal(die_of(overflow, said, sizeof(said)), SIGSEGV);
	assert_non_null(strstr(said, "routine 0 has used up its stack of"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(watcher__keeps_away_from_who_is_tied),
		cmocka_unit_test(tick__those_who_never_leave_take_turns),
		cmocka_unit_test(tick__amidst_malloc),
		cmocka_unit_test(tick__waits_until_the_guard_is_left),
		cmocka_unit_test(tick__rarely_in_a_long_region),
		cmocka_unit_test(tick__amidst_a_wait_for_a_lock),
		cmocka_unit_test(tick__another_thread_runs_the_slices),
		cmocka_unit_test(tick__amidst_a_long_memset),
		cmocka_unit_test(tick__amidst_a_system_call),
		cmocka_unit_test(tick__who_reads_files),
		cmocka_unit_test(tick__who_calls_the_kernel_by_number),
		cmocka_unit_test(tick__not_with_a_signal_blocked),
		cmocka_unit_test(tick__not_on_an_alternate_stack),
		cmocka_unit_test(watcher__sleeps_when_nobody_runs),
		cmocka_unit_test(overflow__is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
