/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * parts - what each part of the stack costs by itself, and all of them together
 *
 * No system call is measured, and nothing sleeps.  A part is run in batches of
 * some 50 us; its row is the median of them.
 */
#include "parts.h"

#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "option.h"

enum {
	BATCHES = 401,
	BATCH_US = 50,
};

struct parts {
	char **names;			/* what is wanted; all if none */
	int name_n;
	unsigned count, rows;
	FILE *json;
};

/* ---- measuring ---- */

static unsigned run(const struct part *p, unsigned n, tux_time *took)
{
	struct watch w = { 0 };

	watch_go(&w);
	n = p->run(&w, n);
	watch_stop(&w);
	*took = w.took;
	return n;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Nanoseconds, the median of all batches. */
static double measure(const struct part *p)
{
	static double ns[BATCHES];
	unsigned i, n = 1, did;
	tux_time took = 0;

	while (took < TUX_USEC(BATCH_US)) {
		n *= 2;
		run(p, n, &took);
	}
	for (i = 0; i < BATCHES; i++) {
		did = run(p, n, &took);
		ns[i] = (double)took / did;
	}
	qsort(ns, BATCHES, sizeof(ns[0]), compare);
	return ns[BATCHES / 2];
}

/* ---- rows ---- */

static bool wanted(const struct parts *ps, const char *name)
{
	int i;

	for (i = 0; i < ps->name_n; i++)
		if (!strncmp(name, ps->names[i], strlen(ps->names[i])))
			return true;
	return !ps->name_n;
}

static void row(struct parts *ps, const struct part *p)
{
	double ns = measure(p);

	printf("%-20s %10.1f\n", p->name, ns);
	if (ps->json)
		fprintf(ps->json, "%s\n{\"part\": \"%s\", \"ns\": %.1f}",
			ps->rows ? "," : "[", p->name, ns);
	ps->rows++;
}

static void rows(struct parts *ps, const struct part *p)
{
	tux_time took;

	for (; p->name; p++) {
		if (!wanted(ps, p->name))
			continue;
		if (ps->count)
			run(p, ps->count, &took);
		else
			row(ps, p);
	}
}

/* ---- the command line ---- */

static const char usage_text[] =
"usage: bench/parts [PART]... [--count N] [--json FILE]\n"
"Nanoseconds that parts take, all or those that begin with a name given.  The\n"
"bulk ones are for a full packet, ask ones for a question and its answer of 64\n"
"bytes each: of one connection, of 32, and of one with 32 under way at once; the\n"
"message ones for the same in messages.  loss, rtt and cc run once for an\n"
"acknowledgment.\n"
"  --count N    does each N times instead, for who counts instructions\n"
"  --json FILE  the rows, as JSON too\n";

static void usage(FILE *to, int code)
{
	fputs(usage_text, to);
	exit(code);
}

static void take(struct parts *ps, int k)
{
	switch (k) {
	case 'n':
		ps->count = (unsigned)option_number("count", optarg, 1,
						    1 << 30);
		break;
	case 'j':
		ps->json = fopen(optarg, "w");
		if (!ps->json)
			option_fail(2, "--json %s: %s", optarg,
				    strerror(errno));
		break;
	case 'h': usage(stdout, 0); break;
	default: usage(stderr, 2);
	}
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "count", 1, 0, 'n' }, { "json", 1, 0, 'j' },
		{ "help", 0, 0, 'h' }, { 0 },
	};
	struct parts ps = { 0 };
	int k;

	while ((k = getopt_long(argc, argv, "", options, NULL)) != -1)
		take(&ps, k);
	ps.names = argv + optind;
	ps.name_n = argc - optind;
	if (!ps.count)
		printf("%-20s %10s\n", "# part", "ns");
	rows(&ps, parts_alone);
	rows(&ps, parts_whole);
	if (ps.json) {
		fputs(ps.rows ? "\n]\n" : "[]\n", ps.json);
		fclose(ps.json);
	}
	return 0;
}
