/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jobs - functions that run in preempted routines, each a task of its own
 */
#ifndef TUX_T_JOBS_H
#define TUX_T_JOBS_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

#include "../test.h"
#include "run/hook.h"
#include "run/sched.h"
#include "sys/clock.h"

enum { JOBS_MOST = 8, JOBS_SLICE_US = 200 };

struct job {
	struct tux_task task;
	struct tux_strand strand;
	void (*fn)(struct job *);
	_Atomic bool done;
};

static struct job jobs[JOBS_MOST];
static unsigned jobs_n;
static struct tux_sched *jobs_sched;

static inline void jobs_say(const char *line, void *arg)
{
	(void)arg;
	printf("# %s\n", line);
}

static void jobs_open_as(const struct tux_sched_opts *o)
{
	jobs_n = 0;
	assert_int_equal(tux_sched_new(&jobs_sched, o), 0);
}

/* False if routines are not preempted here. */
static inline bool jobs_open(void)
{
	struct tux_sched_opts o = {
		.slice = TUX_USEC(JOBS_SLICE_US), .preempt = true,
		.say = jobs_say,
	};

	jobs_open_as(&o);
	if (TUX_HOOKED && tux_sched_preempts(jobs_sched))
		return true;
	tux_sched_free(jobs_sched);
	return false;
}

static void jobs_run_one(struct tux_task *t)
{
	struct job *j = TUX_CONTAINER(t, struct job, task);

	j->fn(j);
	atomic_store(&j->done, true);
}

static struct job *jobs_add(void (*fn)(struct job *))
{
	struct job *j = &jobs[jobs_n++];

	j->fn = fn;
	j->done = false;
	tux_strand_init(&j->strand);
	tux_task_init(&j->task, &j->strand, jobs_run_one);
	tux_sched_put(jobs_sched, &j->task);
	return j;
}

static bool jobs_done(void)
{
	unsigned i = 0;

	while (i < jobs_n && jobs[i].done)
		i++;
	return i == jobs_n;
}

/* Slices until all are done, @between two of them. */
static inline void jobs_run(void (*between)(void))
{
	tux_time until = tux_clock_read() + TUX_SEC(60);

	while (!jobs_done()) {
		assert_true(tux_clock_read() < until);
		tux_sched_run(jobs_sched);
		if (between)
			between();
	}
}

static inline void jobs_close(void)
{
	tux_sched_free(jobs_sched);
}

/* Computes for @ns; how often it was preempted meanwhile. */
static inline uint64_t jobs_spin(tux_time ns)
{
	tux_time until = tux_clock_read() + ns;
	uint64_t before = tux_sched_preempted();

	while (tux_clock_read() < until)
		;
	return tux_sched_preempted() - before;
}

/* Computes until it has been preempted, or for a minute: then false. */
static inline bool jobs_give_way(void)
{
	tux_time until = tux_clock_read() + TUX_SEC(60);
	uint64_t before = tux_sched_preempted();

	while (tux_sched_preempted() == before && tux_clock_read() < until)
		;
	return tux_sched_preempted() != before;
}

static inline bool jobs_blocked(int sig)
{
	sigset_t now;

	assert_int_equal(sigprocmask(SIG_BLOCK, NULL, &now), 0);
	return sigismember(&now, sig) == 1;
}

#endif
