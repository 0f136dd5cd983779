/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * torture - routines that do everything, preempted everywhere
 *
 *   torture [--seconds N] [--slice US] [--main] [--in-time]
 *           [--workload NAME]...
 *
 * All workloads (torture.h) at once, as tasks of one scheduler, between turns
 * of a loop; and plain threads beside it.  The loop has a thread of its own, or
 * with --main the first one.  With --in-time, a turn that is late is an error.
 * Stops at the first error.  Goes on after N seconds, for 60 at most, until
 * tasks were preempted often enough, and those of each workload once.  Ends
 * with how often they were, and
 *
 *   torture: S seconds, P preemptions, 0 errors
 */
#include "torture.h"

#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "run/sched.h"
#include "sys/clock.h"
#include "torture_turn.h"

enum {
	ROUNDS = 4096,		/* whose result is in a table */
	STEPS = 100,		/* of a task, at most */
	PRINTED = 20,		/* errors */
	STUCK_S = 10,
	ENDING_S = 240,		/* on a machine that is busy */
	OFTEN_S = 60,		/* until there were enough preemptions: */
	FEW_A_SECOND = 500,	/* so many at 100 us; below, */
	MANY_A_SECOND = 1000,
	ASLEEP = 40,		/* times what a thread's steps took, */
	LONGEST_MS = 20,	/* but no longer */
};

struct job {
	struct tux_task task;
	struct tux_strand strand;
	struct hand hand;
	uint64_t preempted;
	pthread_t thread;
};

static const struct work *const all[] = {
	&work_malloc, &work_text, &work_stdio, &work_file, &work_mutex, &work_rwlock,
	&work_queue, &work_errno, &work_keys, &work_cxx, &work_dlopen,
	&work_qsort, &work_raise, &work_altstack, &work_timer, &work_mask,
	&work_registers, &work_redzone, &work_rseq, &work_cpu, &work_fork,
	&work_setuid, &work_region, &work_serial, &work_sleep, &work_loop,
};

enum {
	WORKS = sizeof(all) / sizeof(*all),
	JOBS = 8,		/* of a workload, at most */
};

static struct job jobs[WORKS][JOBS];
static bool chosen[WORKS];
static struct tux_sched *sched;
static atomic_bool stop;
static atomic_uint errors, left;
static uint64_t preemptions;
static volatile uint64_t known[ROUNDS + 1];
static char dir[PATH_MAX];
static unsigned long seconds = 2, slice_us = 100;
static bool on_main, in_time;

/* ---- what workloads use ------------------------------------------------- */

/* May be called with any lock held: prints without stdio.  It is the end. */
void torture_error(const char *file, int line, const char *what)
{
	unsigned n = atomic_fetch_add(&errors, 1);
	char text[300];
	int len;

	atomic_store(&stop, true);
	if (n >= PRINTED)
		return;
	len = snprintf(text, sizeof(text), "# %s:%d: not so: %s\n", file, line,
		       what);
	if (write(STDOUT_FILENO, text, (size_t)len) < 0)
		abort();
}

unsigned torture_errors(void)
{
	return atomic_load(&errors);
}

const char *torture_beside(const char *name, char *path, size_t n)
{
	snprintf(path, n, "%s/%s", dir, name);
	return path;
}

static uint64_t next(uint64_t x)
{
	return x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
}

void torture_linger(struct hand *h, unsigned most)
{
	unsigned n = hand_below(h, most), i;
	uint64_t x = known[0];

	for (i = 0; i < n; i++)
		x = next(x);
	must(x == known[n]);
}

void torture_spin(struct hand *h, unsigned rounds)
{
	volatile uint64_t x = 1;
	unsigned i;

	for (i = 0; i < rounds && !atomic_load(&stop); i++)
		x = next(x);
	h->n += x & 1;
}

/* ---- hands ----------------------------------------------------------------- */

/* Since *before.  At each step: a task of long steps takes seconds to end. */
static void note_preempted(struct job *j, uint64_t *before)
{
	uint64_t now = tux_sched_preempted();

	j->preempted += now - *before;
	*before = now;
}

static void do_task(struct tux_task *t)
{
	struct job *j = (struct job *)((char *)t - offsetof(struct job, task));
	const struct work *w = j->hand.work;
	unsigned i, n = 1 + hand_below(&j->hand, STEPS);
	uint64_t before = tux_sched_preempted();

	for (i = 0; i < n && !atomic_load(&stop); i++) {
		w->step(&j->hand);
		j->hand.steps++;
		note_preempted(j, &before);
	}
	if (w->pause && i)
		w->pause(&j->hand);
	note_preempted(j, &before);
	if (!atomic_load(&stop)) {
		tux_sched_put(sched, t);
		return;
	}
	if (w->leave)
		w->leave(&j->hand);
	atomic_fetch_sub(&left, 1);
}

/* Nearly all of the time asleep: the processors are the routines'. */
static void *do_thread(void *arg)
{
	struct job *j = arg;
	struct timespec t = { 0 };
	tux_time from, pause;
	unsigned i;

	while (!atomic_load(&stop)) {
		from = tux_clock_read();
		for (i = 0; i < 5; i++)
			j->hand.work->step(&j->hand);
		j->hand.steps++;
		pause = ASLEEP * (tux_clock_read() - from);
		if (pause > TUX_MSEC(LONGEST_MS))
			pause = TUX_MSEC(LONGEST_MS);
		t.tv_nsec = (long)(pause + hand_below(&j->hand, 1000000));
		nanosleep(&t, NULL);
	}
	if (j->hand.work->leave)
		j->hand.work->leave(&j->hand);
	return NULL;
}

static void make_hands(unsigned k)
{
	const struct work *w = all[k];
	static unsigned id;
	unsigned i;

	for (i = 0; i < w->hands + w->thread; i++) {
		struct job *j = &jobs[k][i];

		j->hand = (struct hand){ .work = w, .id = id++ };
		j->hand.rng = UINT64_C(0x9e3779b97f4a7c15) * (j->hand.id + 1);
		tux_strand_init(&j->strand);
		tux_task_init(&j->task, w->serial ? &jobs[k][0].strand :
			      &j->strand, do_task);
	}
}

static void open_works(void)
{
	const char *why;
	unsigned k, n = 0;

	for (k = 0; k < WORKS; k++) {
		why = chosen[k] && all[k]->open ? all[k]->open() : NULL;
		if (why) {
			printf("# %s is left out: %s\n", all[k]->name, why);
			chosen[k] = false;
		}
		if (!chosen[k])
			continue;
		make_hands(k);
		n += all[k]->hands;
	}
	atomic_store(&left, n);
}

static void start_works(void)
{
	unsigned k, i;

	for (k = 0; k < WORKS; k++) {
		if (!chosen[k])
			continue;
		for (i = 0; i < all[k]->hands; i++)
			tux_sched_put(sched, &jobs[k][i].task);
		if (all[k]->thread)
			pthread_create(&jobs[k][i].thread, NULL, do_thread,
				       &jobs[k][i]);
	}
}

static void join_threads(void)
{
	unsigned k;

	for (k = 0; k < WORKS; k++)
		if (chosen[k] && all[k]->thread)
			pthread_join(jobs[k][all[k]->hands].thread, NULL);
}

static void close_works(void)
{
	unsigned k;

	for (k = 0; k < WORKS; k++)
		if (chosen[k] && all[k]->close)
			all[k]->close();
}

/* ---- who watches -------------------------------------------------------------- */

static void list_stuck(const uint64_t *before)
{
	char text[200];
	unsigned k, i;
	int len;

	for (k = 0; k < WORKS; k++)
		for (i = 0; chosen[k] && i < all[k]->hands; i++) {
			if (jobs[k][i].hand.steps != before[k * JOBS + i])
				continue;
			len = snprintf(text, sizeof(text), "# stuck: %s %u, "
				       "step %" PRIu64 "\n", all[k]->name, i,
				       jobs[k][i].hand.steps);
			if (write(STDOUT_FILENO, text, (size_t)len) < 0)
				return;
		}
}

static void note_steps(uint64_t *steps)
{
	unsigned k, i;

	for (k = 0; k < WORKS; k++)
		for (i = 0; i < JOBS; i++)
			steps[k * JOBS + i] = jobs[k][i].hand.steps;
}

/* No turn for ten seconds, or an end that never comes: somebody holds what
 * another waits for. */
static void *watch(void *arg)
{
	static uint64_t steps[WORKS * JOBS];
	uint64_t turn = 0;
	unsigned still = 0, ending = 0;
	struct timespec t;

	(void)arg;
	for (;;) {
		/* To the end: set*id interrupts all threads. */
		for (t.tv_sec = 1, t.tv_nsec = 0; nanosleep(&t, &t);)
			;
		still = turn == torture_turns() ? still + 1 : 0;
		ending += atomic_load(&stop);
		if (still >= STUCK_S || ending >= ENDING_S) {
			list_stuck(steps);
			torture_error(__FILE__, __LINE__, still >= STUCK_S ?
				      "turns go on" : "all come to an end");
			abort();
		}
		if (!still)
			turn = torture_turns();
		if (ending <= 1 && !still)
			note_steps(steps);
	}
	return NULL;
}

static void start_watch(void)
{
	sigset_t set, old;
	pthread_t t;

	sigfillset(&set);
	pthread_sigmask(SIG_SETMASK, &set, &old);
	pthread_create(&t, NULL, watch, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* ---- the loop ------------------------------------------------------------------ */

static uint64_t preempted(unsigned k)
{
	uint64_t n = 0;
	unsigned i;

	for (i = 0; i < all[k]->hands; i++)
		n += jobs[k][i].preempted;
	return n;
}

/* How often depends on what else the machine does. */
static bool often(void)
{
	unsigned long want = slice_us < 100 ? MANY_A_SECOND : FEW_A_SECOND;
	unsigned k;

	for (k = 0; k < WORKS; k++)
		if (chosen[k] && !preempted(k))
			return false;
	return slice_us > 100 ||
	       tux_sched_stats(sched)->preemptions >= want * seconds;
}

static void run(void)
{
	tux_time now = tux_clock_read(), end = now + TUX_SEC(seconds),
		 last = now + TUX_SEC(seconds > OFTEN_S ? seconds : OFTEN_S);

	while (atomic_load(&left)) {
		torture_turn();
		tux_sched_run(sched);
		now = tux_clock_read();
		if (now >= last || (now >= end && often()))
			atomic_store(&stop, true);
	}
	must(often() || torture_errors());
}

static void report_each(void)
{
	uint64_t steps;
	unsigned k, i;

	for (k = 0; k < WORKS; k++) {
		if (!chosen[k])
			continue;
		for (steps = i = 0; i < all[k]->hands; i++)
			steps += jobs[k][i].hand.steps;
		printf("%-10s %8" PRIu64 " preemptions, %9" PRIu64 " steps\n",
		       all[k]->name, preempted(k), steps);
	}
}

static void report(void)
{
	report_each();
	torture_turn_report();
	printf("torture: %lu seconds, %" PRIu64 " preemptions, %u errors\n",
	       seconds, preemptions, torture_errors());
}

static bool choose(const char *name)
{
	unsigned k;

	for (k = 0; k < WORKS; k++)
		if (!strcmp(all[k]->name, name))
			return chosen[k] = true;
	return false;
}

static bool options(int argc, char **argv)
{
	static const struct option known_options[] = {
		{ "seconds", required_argument, NULL, 's' },
		{ "slice", required_argument, NULL, 'l' },
		{ "main", no_argument, NULL, 'm' },
		{ "in-time", no_argument, NULL, 't' },
		{ "workload", required_argument, NULL, 'w' },
		{ NULL, 0, NULL, 0 },
	};
	bool some = false;
	int c;

	while ((c = getopt_long(argc, argv, "", known_options, NULL)) != -1) {
		if (c == 's')
			seconds = strtoul(optarg, NULL, 10);
		else if (c == 'l')
			slice_us = strtoul(optarg, NULL, 10);
		else if (c == 'm')
			on_main = true;
		else if (c == 't')
			in_time = true;
		else if (c != 'w' || !choose(optarg))
			return false;
		some |= c == 'w';
	}
	if (!some)
		memset(chosen, 1, sizeof(chosen));
	return optind == argc && seconds && slice_us;
}

static void prepare(void)
{
	ssize_t n = readlink("/proc/self/exe", dir, sizeof(dir) - 1);
	unsigned i;

	while (n > 0 && dir[n - 1] != '/')
		n--;
	dir[n > 0 ? n - 1 : 0] = 0;
	for (known[0] = 1, i = 0; i < ROUNDS; i++)
		known[i + 1] = next(known[i]);
}

static void *torture(void *arg)
{
	static int failed = 1, cannot = 77;
	struct tux_sched_opts o = { .slice = slice_us * 1000, .preempt = true };
	int err = tux_sched_new(&sched, &o);

	(void)arg;
	if (err) {
		printf("torture: no scheduler: %s\n", strerror(-err));
		return &failed;
	}
	if (!tux_sched_preempts(sched)) {
		printf("nothing is preempted here\n");
		return &cannot;
	}
	open_works();
	tux_sched_run(sched);		/* starts who watches us */
	start_watch();
	start_works();
	torture_turn_start(o.slice, in_time);
	run();
	join_threads();
	preemptions = tux_sched_stats(sched)->preemptions;
	tux_sched_free(sched);
	close_works();
	report();
	return torture_errors() ? &failed : NULL;
}

int main(int argc, char **argv)
{
	void *status = NULL;
	pthread_t t;

	if (!options(argc, argv)) {
		fprintf(stderr, "usage: torture [--seconds N] [--slice US] "
			"[--main] [--in-time] [--workload NAME]...\n");
		return 2;
	}
	prepare();
	setvbuf(stdout, NULL, _IONBF, 0);
	if (on_main)
		status = torture(NULL);
	else if (pthread_create(&t, NULL, torture, NULL) ||
		 pthread_join(t, &status))
		return 1;
	return status ? *(int *)status : 0;
}
