/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * preempt - what a short slice gives, and what it costs
 *
 * A hundred requests: 99 for one record, about a microsecond each, and one scan
 * of 5,000.  They come at Poisson instants, generated in the loop where packets
 * would be taken in, and are served in routines.  For each slice: how many are
 * served in a second if there are always more; and at one rate for all, how long
 * they take from the instant they were due.
 *
 * The loop has one processor, the scheduler's thread another.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arrivals.h"
#include "gaps.h"
#include "histogram.h"
#include "option.h"
#include "records.h"
#include "run/sched.h"
#include "sys/clock.h"

enum {
	SCAN = 5000,			/* records */
	SCAN_EVERY = 100,		/* requests, in the mean */
	REQUESTS = 1 << 16,		/* at a time, at most */
	BACKLOG = 64,			/* of them, to keep it busy */
	ROUTINES = 1024,
	SLICES_MOST = 16, RUNS_MOST = 15,
};

static const unsigned slices[] = { 5, 10, 20, 50, 65, 100, 200, 500, 1000 };

enum { SLICES = sizeof(slices) / sizeof(slices[0]) };

enum kind { GET, SCANNED, KINDS };

struct bench;

struct request {
	struct tux_task task;
	struct tux_strand strand;
	struct bench *b;
	struct request *next;		/* free ones */
	tux_time at;			/* due */
	uint64_t key;
	enum kind kind;
};

struct row {				/* of one run */
	double per_s, preemptions;	/* a second, with more to do always */
	double p50[KINDS], p99[KINDS];	/* microseconds */
	uint64_t refused;		/* at the rate: no room for more */
};

static const tux_time GAPS_LOOK = TUX_MSEC(50);	/* before each run */

struct bench {
	unsigned runs;
	tux_time warmup, time;
	double rate;			/* 0: of what one slice can do */
	double load;			/* percent of that */
	uint64_t seed;
	FILE *json;
	const char *svg;
	struct records records;
	struct request *request, *free;
	struct tux_rng rng;
	/* one run */
	struct tux_sched *sched;
	bool counts;			/* the warm-up is over */
	uint64_t done[KINDS], refused, wrong;
	struct histogram latency[KINDS];
	struct gaps gaps;		/* of the processor, when it is idle */
	struct row row[SLICES_MOST][RUNS_MOST];
};

/* ---- requests ----------------------------------------------------------- */

static bool serve(const struct request *q)
{
	const struct records *t = &q->b->records;

	return q->kind == GET ? records_get(t, q->key) :
	       records_scan(t, q->key, SCAN) == SCAN;
}

/* What several routines write is written by one at a time. */
static void finish(struct request *q, bool good)
{
	struct bench *b = q->b;

	tux_sched_enter();
	if (b->counts)
		histogram_add(&b->latency[q->kind],
			      tux_clock_read() - q->at);
	b->done[q->kind]++;
	b->wrong += !good;
	q->next = b->free;
	b->free = q;
	tux_sched_leave();
}

static void run_request(struct tux_task *t)
{
	struct request *q = (struct request *)t;

	finish(q, serve(q));
}

static void ask(struct bench *b, tux_time at)
{
	struct request *q = b->free;
	uint64_t random = tux_rng_u64(&b->rng);

	if (!q) {
		b->refused += b->counts;
		return;
	}
	b->free = q->next;
	q->at = at;
	q->kind = random % SCAN_EVERY ? GET : SCANNED;
	q->key = records_key(&b->records, random / SCAN_EVERY);
	tux_sched_put(b->sched, &q->task);
}

/* ---- one run ------------------------------------------------------------ */

/* This thread, to the first of the processors; the scheduler's keeps away. */
static void pin(void)
{
	cpu_set_t all, one;
	unsigned i = 0;

	if (sched_getaffinity(0, sizeof(all), &all) || CPU_COUNT(&all) < 2)
		option_fail(77, "needs two processors");
	while (!CPU_ISSET(i, &all))
		i++;
	CPU_ZERO(&one);
	CPU_SET(i, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

static void begin(struct bench *b, unsigned slice_us)
{
	struct tux_sched_opts o = {
		.slice = TUX_USEC(slice_us), .preempt = true,
		.routines_max = ROUTINES,
	};
	struct tux_key seed = { b->seed, 0 };
	unsigned i;
	int err;

	err = tux_sched_new(&b->sched, &o);
	if (err)
		option_fail(1, "no scheduler: %s", strerror(-err));
	if (!tux_sched_preempts(b->sched))
		option_fail(77, "no preemption here");
	tux_rng_init(&b->rng, &seed);
	b->free = NULL;
	for (i = REQUESTS; i--; ) {
		struct request *q = &b->request[i];

		tux_strand_init(&q->strand);
		tux_task_init(&q->task, &q->strand, run_request);
		q->next = b->free;
		b->free = q;
	}
}

static void start_counting(struct bench *b)
{
	unsigned k;

	for (k = 0; k < KINDS; k++) {
		histogram_clear(&b->latency[k]);
		b->done[k] = 0;
	}
	b->refused = 0;
	b->counts = true;
}

/* There are always BACKLOG requests. */
static void keep_busy(struct bench *b, struct row *r)
{
	tux_time from = tux_clock_read() + b->warmup, now;
	uint64_t asked = 0, taken = 0, preempted = 0;

	b->done[GET] = b->done[SCANNED] = 0;
	b->counts = false;
	while ((now = tux_clock_read()) < from + b->time) {
		if (now >= from && !b->counts) {
			b->counts = true;
			taken = b->done[GET] + b->done[SCANNED];
			preempted = tux_sched_stats(b->sched)->preemptions;
		}
		for (; asked - b->done[GET] - b->done[SCANNED] < BACKLOG;
		     asked++)
			ask(b, now);
		tux_sched_run(b->sched);
	}
	r->per_s = (double)(b->done[GET] + b->done[SCANNED] - taken) * 1e9 /
		   (double)(now - from);
	preempted = tux_sched_stats(b->sched)->preemptions - preempted;
	r->preemptions = (double)preempted * 1e9 / (double)(now - from);
}

static void at_rate(struct bench *b, struct row *r)
{
	tux_time from = tux_clock_read() + b->warmup, now;
	struct arrivals a;
	unsigned k;

	arrivals_init(&a, b->rate, b->seed, tux_clock_read());
	b->counts = false;
	while ((now = tux_clock_read()) < from + b->time) {
		if (now >= from && !b->counts)
			start_counting(b);
		for (; a.next <= now; arrivals_step(&a))
			ask(b, a.next);
		tux_sched_run(b->sched);
	}
	r->refused = b->refused;
	for (k = 0; k < KINDS; k++) {
		struct histogram *h = &b->latency[k];

		r->p50[k] = (double)histogram_at(h, 500) / 1000;
		r->p99[k] = (double)histogram_at(h, 990) / 1000;
	}
}

static void run(struct bench *b, unsigned slice_us, struct row *r, bool rate)
{
	begin(b, slice_us);
	gaps_look(&b->gaps, GAPS_LOOK);
	if (rate)
		at_rate(b, r);
	else
		keep_busy(b, r);
	tux_sched_free(b->sched);
	if (b->wrong)
		option_fail(1, "%" PRIu64 " wrong answers", b->wrong);
}

/* ---- all of them -------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Of the field at @offset in the rows of slice @i. */
static double median(const struct bench *b, unsigned i, size_t offset)
{
	double v[RUNS_MOST];
	unsigned k;

	for (k = 0; k < b->runs; k++)
		memcpy(&v[k], (const char *)&b->row[i][k] + offset,
		       sizeof(v[k]));
	qsort(v, b->runs, sizeof(v[0]), compare);
	return v[b->runs / 2];
}

#define MEDIAN(b, i, field) median(b, i, offsetof(struct row, field))

/* The slices take turns, so that what drifts, drifts for all. */
static void measure(struct bench *b)
{
	unsigned i, k;

	for (k = 0; k < b->runs; k++)
		for (i = 0; i < SLICES; i++)
			run(b, slices[i], &b->row[i][k], false);
	if (!(b->rate > 0))
		b->rate = MEDIAN(b, 0, per_s) * b->load / 100;
	for (k = 0; k < b->runs; k++)
		for (i = 0; i < SLICES; i++)
			run(b, slices[i], &b->row[i][k], true);
}

static uint64_t refused(const struct bench *b, unsigned i)
{
	uint64_t n = 0;
	unsigned k;

	for (k = 0; k < b->runs; k++)
		n += b->row[i][k].refused;
	return n;
}

static void print(struct bench *b)
{
	unsigned i;

	printf("# %.0f/s at the rate; microseconds from the instant due\n",
	       b->rate);
	printf("# an empty loop on that processor: ");
	gaps_print(&b->gaps);
	printf("%8s %10s %9s %9s %9s %9s %9s %8s\n", "# slice", "most/s",
	       "preempt/s", "get p50", "get p99", "scan p50", "scan p99",
	       "refused");
	for (i = 0; i < SLICES; i++)
		printf("%8u %10.0f %9.0f %9.2f %9.2f %9.1f %9.1f %8" PRIu64
		       "\n", slices[i], MEDIAN(b, i, per_s),
		       MEDIAN(b, i, preemptions), MEDIAN(b, i, p50[GET]),
		       MEDIAN(b, i, p99[GET]), MEDIAN(b, i, p50[SCANNED]),
		       MEDIAN(b, i, p99[SCANNED]), refused(b, i));
}

static void write_json(struct bench *b)
{
	unsigned i;

	for (i = 0; i < SLICES; i++)
		fprintf(b->json, "%s\n{\"slice_us\": %u, \"rate\": %.0f, "
			"\"most_per_s\": %.0f, \"preemptions_per_s\": %.0f, "
			"\"get_p50_us\": %.2f, \"get_p99_us\": %.2f, "
			"\"scan_p50_us\": %.1f, \"scan_p99_us\": %.1f, "
			"\"refused\": %" PRIu64 "}", i ? "," : "[", slices[i],
			b->rate, MEDIAN(b, i, per_s), MEDIAN(b, i, preemptions),
			MEDIAN(b, i, p50[GET]), MEDIAN(b, i, p99[GET]),
			MEDIAN(b, i, p50[SCANNED]), MEDIAN(b, i, p99[SCANNED]),
			refused(b, i));
	fputs("\n]\n", b->json);
	fclose(b->json);
}

static void plot(struct bench *b)
{
	FILE *f = popen("gnuplot", "w");
	unsigned i;

	if (!f)
		option_fail(1, "gnuplot: %s", strerror(errno));
	fprintf(f, "set terminal svg size 960,360 background \"white\"\n"
		"set output \"%s\"\n$rows << end\n", b->svg);
	for (i = 0; i < SLICES; i++)
		fprintf(f, "%u %.0f %.2f %.1f\n", slices[i],
			MEDIAN(b, i, per_s), MEDIAN(b, i, p99[GET]),
			MEDIAN(b, i, p99[SCANNED]));
	fprintf(f, "end\nset multiplot layout 1,3 title \"99 %% get, 1 %% scan "
		"of %u records; latencies at %.0f/s\"\n"
		"set logscale x\nset xlabel \"slice, us\"\nset grid\n"
		"set yrange [0:*]\nunset key\n"
		"set title \"requests/s, at most\"\n"
		"plot $rows using 1:2 with linespoints lw 2\n"
		"set title \"get, p99, us\"\n"
		"plot $rows using 1:3 with linespoints lw 2\n"
		"set title \"scan, p99, us\"\n"
		"plot $rows using 1:4 with linespoints lw 2\n", SCAN, b->rate);
	if (pclose(f))
		option_fail(1, "gnuplot failed");
}

/* ---- the command line ---------------------------------------------------- */

static const char usage_text[] =
"usage: bench/preempt [--runs N] [--seconds S] [--warm-up S] [--load PERCENT]\n"
"                     [--rate R] [--seed N] [--json FILE] [--svg FILE]\n"
"Serves requests in slices from 5 us to 1 ms: 99 of 100 for one record, one for\n"
"5,000.  Needs two processors that nobody else uses.\n"
"  --runs N        of each slice, in turns (3); rows are medians\n"
"  --seconds S     of each (1)\n"
"  --warm-up S     before that (0.2)\n"
"  --load PERCENT  of what the shortest slice can do, for the latencies (80)\n"
"  --rate R        instead: requests a second\n"
"  --seed N        of instants and keys (1)\n"
"  --json FILE     the rows, as JSON too\n"
"  --svg FILE      plotted by gnuplot\n";

static void usage(FILE *to, int code)
{
	fputs(usage_text, to);
	exit(code);
}

static void take(struct bench *b, int k)
{
	switch (k) {
	case 'n':
		b->runs = (unsigned)option_number("runs", optarg, 1, RUNS_MOST);
		break;
	case 't': b->time = option_seconds("seconds", optarg); break;
	case 'w': b->warmup = option_seconds("warm-up", optarg); break;
	case 'l': b->load = option_rate("load", optarg); break;
	case 'r': b->rate = option_rate("rate", optarg); break;
	case 's': b->seed = option_number("seed", optarg, 0, UINT64_MAX); break;
	case 'j':
		b->json = fopen(optarg, "w");
		if (!b->json)
			option_fail(2, "--json %s: %s", optarg,
				    strerror(errno));
		break;
	case 'p': b->svg = optarg; break;
	case 'h': usage(stdout, 0); break;
	default: usage(stderr, 2);
	}
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "runs", 1, 0, 'n' }, { "seconds", 1, 0, 't' },
		{ "warm-up", 1, 0, 'w' }, { "load", 1, 0, 'l' },
		{ "rate", 1, 0, 'r' }, { "seed", 1, 0, 's' },
		{ "json", 1, 0, 'j' }, { "svg", 1, 0, 'p' },
		{ "help", 0, 0, 'h' }, { 0 },
	};
	static struct bench b = {
		.runs = 3, .time = TUX_SEC(1), .warmup = TUX_MSEC(200),
		.load = 80, .seed = 1,
	};
	unsigned i;
	int k;

	while ((k = getopt_long(argc, argv, "", options, NULL)) != -1)
		take(&b, k);
	if (optind != argc)
		usage(stderr, 2);
	b.request = calloc(REQUESTS, sizeof(*b.request));
	if (!b.request || records_init(&b.records))
		option_fail(1, "no memory");
	for (i = 0; i < REQUESTS; i++)
		b.request[i].b = &b;
	pin();
	measure(&b);
	print(&b);
	if (b.json)
		write_json(&b);
	if (b.svg)
		plot(&b);
	records_fini(&b.records);
	free(b.request);
	return 0;
}
