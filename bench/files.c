/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * files - what calls on files cost in callbacks, and what they cost the others
 *
 * First, microseconds of one call on a page that the page cache has: the C
 * library's, which stops the network thread; libtux's; and the C library's by
 * tux_block().
 *
 * Then, microseconds that a client waits for an answer which needs no file,
 * asked one after the other: alone; beside callbacks that read pages without
 * the page cache (O_DIRECT) by tux_pread(); and beside the same by pread().
 * That is of interest with a slow disk.  Server and client have a processor
 * each.
 */
#include <fcntl.h>
#include <getopt.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tux.h>

#include "histogram.h"
#include "option.h"
#include "sys/clock.h"

enum {
	PAGE = 4096, PAGES = 4096,
	CALLS = 2000, RUNS = 9,
	READERS = 8,			/* callbacks that read */
	WARM_MS = 200,
};

struct bench {
	const char *file;
	tux_time for_ns;		/* each part of the second half */
	int fd, direct;
	struct tux *server, *client;
	struct tux_service *s;
	pthread_t thread;

	/* the readers */
	_Atomic unsigned readers;
	_Atomic bool read_on;
	_Atomic uint64_t reads;
	bool plain;			/* by pread() */

	/* the client */
	struct tux_connection *c;
	tux_time asked_at, from;	/* before that, answers do not count */
	bool ends;
	struct histogram h;
};

static char *page_new(void)
{
	char *p = aligned_alloc(PAGE, PAGE);

	if (!p)
		option_fail(1, "no memory");
	memset(p, 1, PAGE);
	return p;
}

static void must(int err, const char *what)
{
	if (err < 0)
		option_fail(1, "%s: %s", what, strerror(-err));
}

/* ---- what a call costs ---- */

struct page {
	int fd;
	char *p;
	ssize_t n;
};

static void block_pread(void *arg)
{
	struct page *x = arg;

	x->n = pread(x->fd, x->p, PAGE, 0);
}

static void block_pwrite(void *arg)
{
	struct page *x = arg;

	x->n = pwrite(x->fd, x->p, PAGE, 0);
}

static void by_pread(struct page *x)
{
	block_pread(x);
}

static void by_tux_pread(struct page *x)
{
	x->n = tux_pread(x->fd, x->p, PAGE, 0);
}

static void by_block_pread(struct page *x)
{
	tux_block(block_pread, x);
}

static void by_pwrite(struct page *x)
{
	block_pwrite(x);
}

static void by_tux_pwrite(struct page *x)
{
	x->n = tux_pwrite(x->fd, x->p, PAGE, 0);
}

static void by_block_pwrite(struct page *x)
{
	tux_block(block_pwrite, x);
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The median of the runs. */
static double cost_of(struct page *x, void (*call)(struct page *x))
{
	double us[RUNS];
	unsigned i, j;

	for (i = 0; i < RUNS; i++) {
		tux_time from = tux_clock_read();

		for (j = 0; j < CALLS; j++) {
			call(x);
			if (x->n != PAGE)
				option_fail(1, "a call gave %zd bytes", x->n);
		}
		us[i] = (double)(tux_clock_read() - from) / CALLS / 1000;
	}
	qsort(us, RUNS, sizeof(*us), compare);
	return us[RUNS / 2];
}

static void print_costs(void *arg)
{
	static const struct {
		const char *name;
		void (*call)(struct page *x);
	} row[] = {
		{ "pread()", by_pread },
		{ "tux_pread()", by_tux_pread },
		{ "tux_block(pread)", by_block_pread },
		{ "pwrite()", by_pwrite },
		{ "tux_pwrite()", by_tux_pwrite },
		{ "tux_block(pwrite)", by_block_pwrite },
	};
	struct bench *b = arg;
	struct page x = { .fd = b->fd, .p = page_new() };
	unsigned i;

	puts("4096 bytes that the page cache has, microseconds a call");
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		printf("  %-20s %6.2f\n", row[i].name,
		       cost_of(&x, row[i].call));
	free(x.p);
	fsync(b->fd);			/* O_DIRECT would wait for that */
	tux_stop(b->server);
}

/* ---- what it costs the others ---- */

static void read_pages(void *arg)
{
	struct bench *b = arg;
	char *p = page_new();
	unsigned i = atomic_fetch_add(&b->readers, 1) * 509;

	while (atomic_load(&b->read_on)) {
		off_t at = (off_t)(i++ % PAGES) * PAGE;
		ssize_t n = b->plain ? pread(b->direct, p, PAGE, at) :
				       tux_pread(b->direct, p, PAGE, at);

		if (n != PAGE)
			option_fail(1, "%s: a read gave %zd bytes", b->file, n);
		atomic_fetch_add(&b->reads, 1);
		tux_yield();
	}
	free(p);
	atomic_fetch_sub(&b->readers, 1);
}

static void on_question(struct tux_connection *c, struct tux_message *m,
			unsigned n, void *arg)
{
	(void)arg;
	for (; n; n--, m++)
		if (tux_send_wait(c, m->p, m->len, 0, TUX_FOREVER))
			return;
}

static void ask(struct bench *b)
{
	b->asked_at = tux_clock_read();
	if (tux_send(b->c, "?", 1, 0))
		option_fail(1, "the client could not ask");
}

static void on_answer(struct tux_connection *c, struct tux_message *m,
		      unsigned n, void *arg)
{
	tux_time now = tux_clock_read();
	struct bench *b = arg;

	(void)c;
	(void)m;
	(void)n;
	if (b->asked_at >= b->from)
		histogram_add(&b->h, now - b->asked_at);
	if (now >= b->from + b->for_ns) {
		tux_stop(b->client);
		return;
	}
	ask(b);
}

static void on_open(struct tux_connection *c, void *arg)
{
	struct bench *b = arg;

	b->c = c;
	tux_stop(b->client);
}

static void on_gone(struct tux_connection *c, int err, void *arg)
{
	struct bench *b = arg;

	(void)c;
	if (!b->ends)
		option_fail(1, "the connection: %s", strerror(err));
}

static void measure(struct bench *b, const char *name, unsigned readers,
		    bool plain)
{
	unsigned i;

	b->plain = plain;
	atomic_store(&b->reads, 0);
	atomic_store(&b->read_on, true);
	for (i = 0; i < readers; i++)
		must(tux_go(b->server, read_pages, b), "a reader");
	histogram_clear(&b->h);
	b->from = tux_clock_read() + TUX_MSEC(WARM_MS);
	ask(b);
	must(tux_run(b->client), "the client");
	atomic_store(&b->read_on, false);
	while (atomic_load(&b->readers))
		usleep(1000);
	printf("  %-20s %10.1f %10.1f %10llu\n", name,
	       (double)histogram_at(&b->h, 500) / 1000,
	       (double)histogram_at(&b->h, 990) / 1000,
	       (unsigned long long)atomic_load(&b->reads));
	fflush(stdout);
}

/* To the processor of number @n among those that there are for the program. */
static void tie_to(int n)
{
	static cpu_set_t all;
	cpu_set_t set;
	int cpu;

	if (!CPU_COUNT(&all) && sched_getaffinity(0, sizeof(all), &all))
		option_fail(1, "sched_getaffinity: %m");
	if (CPU_COUNT(&all) <= n)
		option_fail(1, "server and client need a processor each");
	for (cpu = 0; n || !CPU_ISSET(cpu, &all); cpu++)
		n -= !!CPU_ISSET(cpu, &all);
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		option_fail(1, "sched_setaffinity: %m");
}

static void *run_server(void *arg)
{
	struct bench *b = arg;

	tie_to(1);
	return (void *)(intptr_t)tux_run(b->server);
}

/* ---- the program ---- */

static void usage(void)
{
	fputs("usage: bench/files [--seconds S] FILE\n"
	      "  FILE   is made, with 16 MiB, and removed: its disk counts\n",
	      stderr);
	exit(2);
}

/* The file is on disk, or O_DIRECT would wait for that. */
static void make_file(struct bench *b)
{
	char *p = page_new();
	int i;

	b->fd = open(b->file, O_RDWR | O_CREAT | O_EXCL, 0600);
	if (b->fd < 0)
		option_fail(1, "%s: %m", b->file);
	for (i = 0; i < PAGES; i++)
		if (pwrite(b->fd, p, PAGE, (off_t)i * PAGE) != PAGE)
			option_fail(1, "%s: %m", b->file);
	fsync(b->fd);
	b->direct = open(b->file, O_RDONLY | O_DIRECT);
	unlink(b->file);
	free(p);
}

static void open_stacks(struct bench *b)
{
	struct tux_opts o = {
		.size = sizeof(o), .ifname = "lo", .backend = TUX_BACKEND_UDP,
		.path = TUX_USE_TUX, .spin = 1,
	};
	struct tux_service *s;

	must(tux_open(&b->server, &o), "the server");
	must(tux_open(&b->client, &o), "the client");
	must(tux_service_new(b->server, &b->s), "the server");
	must(tux_service_new(b->client, &s), "the client");
	tux_on_message(b->s, on_question, b);
	tux_on_open(s, on_open, b);
	tux_on_message(s, on_answer, b);
	tux_on_gone(s, on_gone, b);
	must(tux_listen(b->s, "127.0.0.1", 0), "the server");
	must(tux_connect(s, "127.0.0.1", (uint16_t)tux_port(b->s), NULL, NULL),
	     "the client");
}

static void print_waits(struct bench *b)
{
	if (b->direct < 0)
		option_fail(1, "%s: the file system has no O_DIRECT", b->file);
	must(-pthread_create(&b->thread, NULL, run_server, b), "a thread");
	must(tux_run(b->client), "the client");
	puts("microseconds for an answer    p50        p99      reads beside");
	measure(b, "alone", 0, false);
	measure(b, "beside tux_pread()", READERS, false);
	measure(b, "beside pread()", READERS, true);
	b->ends = true;
	tux_stop(b->server);
	pthread_join(b->thread, NULL);
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "seconds", required_argument, NULL, 's' }, { 0 },
	};
	static struct bench b = { .for_ns = TUX_SEC(5) };
	int c;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (c != 's')
			usage();
		b.for_ns = option_seconds("--seconds", optarg);
	}
	if (optind != argc - 1)
		usage();
	b.file = argv[optind];
	make_file(&b);
	open_stacks(&b);
	must(tux_go(b.server, print_costs, &b), "a callback");
	must(tux_run(b.server), "the server");
	tie_to(0);
	print_waits(&b);
	tux_close(b.client);
	tux_close(b.server);
	return 0;
}
