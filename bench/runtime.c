/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * runtime - what routines cost: to change stacks, to begin callbacks, to be
 * preempted; and how late a slice ends
 *
 * A row is the median of runs of some 50 us, in nanoseconds and in ticks of the
 * processor's counter.
 */
#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/sched_in.h"
#include "sys/clock.h"
#include "sys/sys.h"

enum {
	RUNS = 401,
	RUN_US = 50,
	GROUP = 256,			/* callbacks */
	LATE = 1000,			/* slices that end late */
	STACK = 64 * 1024,
};

struct rig {
	struct tux_sched *s;
	struct tux_task task[GROUP];
	struct tux_strand strand[GROUP];
	struct tux_switch here, there;
	struct tux_donor donor;
	volatile bool stop;
	uint64_t n;
};

static struct rig rig;

struct row {
	const char *name;
	/* Does it @n times, or a few more; how many. */
	unsigned (*run)(unsigned n);
};

/* ---- the switch ---- */

static void come_back(void *arg)
{
	(void)arg;
	for (;;)
		tux_switch(&rig.there, &rig.here);
}

static unsigned there_and_back(unsigned n, uintptr_t tls)
{
	unsigned i;

	tux_switch_here(&rig.here);
	tux_switch_make(&rig.there, rig.donor.low, rig.donor.top, tls,
			come_back, NULL);
#ifdef TUX_SWITCH_ASM
	if (!tls)
		rig.here.tls = 0;
#endif
	for (i = 0; i < n; i++)
		tux_switch(&rig.here, &rig.there);
	return n;
}

static unsigned switch_pair(unsigned n)
{
	return there_and_back(n, rig.donor.tls);
}

static unsigned switch_pair_stack(unsigned n)
{
	return there_and_back(n, 0);
}

/* ---- callbacks ---- */

static void nothing(struct tux_task *t)
{
	(void)t;
	rig.n++;
}

static void yield(struct tux_task *t)
{
	(void)t;
	while (!rig.stop)
		tux_sched_yield();
}

static void set_task(unsigned i, void (*run)(struct tux_task *))
{
	tux_strand_init(&rig.strand[i]);
	tux_task_init(&rig.task[i], &rig.strand[i], run);
}

static unsigned slice_of_one(unsigned n)
{
	unsigned i;

	set_task(0, nothing);
	for (i = 0; i < n; i++) {
		tux_sched_put(rig.s, &rig.task[0]);
		tux_sched_run(rig.s);
	}
	return n;
}

static unsigned grouped(unsigned n)
{
	unsigned i, did;

	for (i = 0; i < GROUP; i++)
		set_task(i, nothing);
	for (did = 0; did < n; did += GROUP) {
		for (i = 0; i < GROUP; i++)
			tux_sched_put(rig.s, &rig.task[i]);
		while (tux_sched_run(rig.s))
			;
	}
	return did;
}

static void run_out(void)
{
	rig.stop = true;
	while (tux_sched_run(rig.s))
		;
	rig.stop = false;
}

static unsigned yielding(unsigned n)
{
	unsigned i;

	set_task(0, yield);
	tux_sched_put(rig.s, &rig.task[0]);
	for (i = 0; i < n; i++)
		tux_sched_run(rig.s);
	run_out();
	return n;
}

static unsigned enter_leave(unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++) {
		tux_sched_enter();
		tux_sched_leave();
	}
	return n;
}

/* ---- preemption ---- */

/* As if the slice were over, and the watcher had seen it. */
static void tick_oneself(void)
{
	atomic_store(&rig.s->watch.until, 0);
	TUX_SYS(SYS_tgkill, getpid(), rig.s->watch.tid, rig.s->sig, 0, 0, 0);
}

static void be_preempted(struct tux_task *t)
{
	(void)t;
	while (!rig.stop)
		tick_oneself();
}

static unsigned preempted(unsigned n)
{
	unsigned i;

	set_task(0, be_preempted);
	tux_sched_put(rig.s, &rig.task[0]);
	for (i = 0; i < n; i++)
		tux_sched_run(rig.s);
	run_out();
	return n;
}

static unsigned ticks_left;

static void skip_ticks(struct tux_task *t)
{
	(void)t;
	tux_sched_enter();
	while (ticks_left--)
		tick_oneself();
	tux_sched_leave();
}

static unsigned skipped(unsigned n)
{
	set_task(0, skip_ticks);
	ticks_left = n;
	tux_sched_put(rig.s, &rig.task[0]);
	run_out();
	return n;
}

static void do_nothing(int sig)
{
	(void)sig;
}

static unsigned signals(unsigned n)
{
	struct sigaction a = { .sa_handler = do_nothing };
	int tid = (int)TUX_SYS(SYS_gettid, 0, 0, 0, 0, 0, 0);
	unsigned i;

	sigaction(SIGUSR1, &a, NULL);
	for (i = 0; i < n; i++)
		TUX_SYS(SYS_tgkill, getpid(), tid, SIGUSR1, 0, 0, 0);
	return n;
}

static unsigned system_calls(unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++)
		TUX_SYS(SYS_getppid, 0, 0, 0, 0, 0, 0);
	return n;
}

static const struct row rows[] = {
	{ "switch there and back", switch_pair },
	{ "the same, one storage", switch_pair_stack },
	{ "enter and leave", enter_leave },
	{ "callback in a group", grouped },
	{ "callback, own slice", slice_of_one },
	{ "yield and go on", yielding },
	{ "preempted, go on", preempted },
	{ "tick not used", skipped },
	{ "signal to oneself", signals },
	{ "system call", system_calls },
	{ NULL, NULL },
};

/* ---- measuring ---- */

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void measure(const struct row *r, double *ns, double *ticks)
{
	static double took_ns[RUNS], took_ticks[RUNS];
	unsigned i, n = 1, did;
	tux_time ns0, took = 0;
	tux_tick t0;

	while (took < TUX_USEC(RUN_US)) {
		n *= 2;
		ns0 = tux_clock_read();
		r->run(n);
		took = tux_clock_read() - ns0;
	}
	for (i = 0; i < RUNS; i++) {
		ns0 = tux_clock_read();
		t0 = tux_tick_read();
		did = r->run(n);
		took_ticks[i] = (double)(tux_tick_read() - t0) / did;
		took_ns[i] = (double)(tux_clock_read() - ns0) / did;
	}
	qsort(took_ns, RUNS, sizeof(double), compare);
	qsort(took_ticks, RUNS, sizeof(double), compare);
	*ns = took_ns[RUNS / 2];
	*ticks = took_ticks[RUNS / 2];
}

static void table(void)
{
	const struct row *r;
	double ns, ticks;

	printf("# %-24s %8s %8s\n", "", "ns", "ticks");
	for (r = rows; r->name; r++) {
		if (r->run == preempted && !rig.s->preempt)
			break;
		measure(r, &ns, &ticks);
		printf("  %-24s %8.1f %8.1f\n", r->name, ns, ticks);
	}
}

/* ---- how late a slice ends ---- */

static volatile uint64_t sink;

static void never_leave(struct tux_task *t)
{
	(void)t;
	while (!rig.stop)
		sink++;
}

static void lateness(unsigned slice_us)
{
	struct tux_sched_opts o = { .slice = TUX_USEC(slice_us),
				    .preempt = true };
	static double late[LATE];
	unsigned i;

	if (tux_sched_new(&rig.s, &o))
		return;
	for (i = 0; i < 2; i++) {
		set_task(i, never_leave);
		tux_sched_put(rig.s, &rig.task[i]);
	}
	for (i = 0; i < LATE; i++) {
		tux_tick t0 = tux_tick_read();

		tux_sched_run(rig.s);
		late[i] = (double)tux_tick_ns(tux_tick_read() - t0) / 1000 -
			  slice_us;
	}
	run_out();
	tux_sched_free(rig.s);
	qsort(late, LATE, sizeof(double), compare);
	printf("  %-14u %8.1f %8.1f %8.1f\n", slice_us, late[LATE / 2],
	       late[LATE * 9 / 10], late[LATE * 99 / 100]);
}

static void late_slices(void)
{
	static const unsigned slice_us[] = { 5, 20, 50, 100, 1000 };
	unsigned i;

	printf("# slice, us      late by: p50      p90      p99\n");
	for (i = 0; i < sizeof(slice_us) / sizeof(slice_us[0]); i++)
		lateness(slice_us[i]);
}

/* ---- the command line ---- */

static const char usage_text[] =
"usage: bench/runtime [--cpu N]\n"
"What routines cost, and how late their slices end.\n"
"  --cpu N   runs on that processor only; the watcher then takes another\n";

static void pin(const char *arg)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((unsigned)atoi(arg), &set);
	if (sched_setaffinity(0, sizeof(set), &set)) {
		perror("bench/runtime: --cpu");
		exit(1);
	}
}

static void options(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "cpu", required_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) >= 0) {
		if (c == 'c') {
			pin(optarg);
			continue;
		}
		fputs(usage_text, c == 'h' ? stdout : stderr);
		exit(c != 'h');
	}
}

static void say(const char *line, void *arg)
{
	(void)arg;
	printf("# %s\n", line);
}

int main(int argc, char **argv)
{
	struct tux_sched_opts o = { .slice = TUX_SEC(1), .preempt = true,
				    .say = say };
	bool preempts;
	int err;

	setvbuf(stdout, NULL, _IOLBF, 0);
	err = tux_sched_new(&rig.s, &o);
	/* The watcher has the processors of then, and keeps away from ours. */
	options(argc, argv);
	if (!err)
		err = tux_donor_init(&rig.donor, STACK);
	if (err) {
		fprintf(stderr, "bench/runtime: %s\n", strerror(-err));
		return 1;
	}
	table();
	preempts = rig.s->preempt;
	tux_donor_fini(&rig.donor);
	tux_sched_free(rig.s);
	if (preempts)
		late_slices();
	return 0;
}
