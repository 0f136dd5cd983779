/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * parity - do calls come out under Tux as they do over kernel TCP?
 *
 *	parity --calls N [--from SEED] [--first] [--shrink] [--control]
 *	       [--trace] [WORDS...]
 *
 * Plays random scripts, one from each seed, in three worlds of two processes:
 * twice over kernel TCP, and under WORDS, which are those of tuxrun.  The
 * second kernel world shows that the tester itself makes no difference.  With
 * --control, and without WORDS, there are only these two.  With --first, scripts have
 * the kinds of calls that the first ones had: what differed then has its seed.
 *
 * A script that differs is played again, and counts if it differs three times
 * of three.  Once is enough for wrong bytes, and for a process that has ended.
 *
 * It covers the calls of parity_step.h, made by two threads of each process on
 * up to three connections: blocking and not, with signals to calls that block,
 * duplicated descriptors, children and programs that make no call, and descriptors
 * passed within a process.
 *
 * It does not cover calls of forked children, descriptors passed to
 * another process, closing while a call blocks, full buffers, out-of-band data
 * and waits for events without end; nor the steps that parity_model.c leaves
 * out because of differences that tux-preload(7) describes.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "parity_permit.h"
#include "parity_play.h"
#include "parity_player.h"
#include "parity_shrink.h"

enum { DIFFERENCES_MAX = 20, PLAYS = 3 };

static struct {
	uint64_t calls, from;
	bool shrink, control, trace, first;
} opt = { .calls = 20000, .from = 1 };

static struct parity_counts counts;
static struct parity_stage stage = { .counts = &counts };

static void usage(void)
{
	fputs("usage: parity --calls N [--from SEED] [--first] [--shrink] "
	      "[--control] [--trace] [WORDS...]\n", stderr);
	exit(2);
}

static void parse(int argc, char **argv)
{
	static const struct option o[] = {
		{ "calls", 1, 0, 'c' }, { "from", 1, 0, 'f' },
		{ "shrink", 0, 0, 's' }, { "control", 0, 0, 'k' },
		{ "trace", 0, 0, 't' }, { "first", 0, 0, '1' },
		{ "player", 1, 0, 'p' }, { 0 },
	};
	int k;

	while ((k = getopt_long(argc, argv, "+", o, NULL)) != -1) {
		if (k == 'p')
			parity_player_run(atoi(optarg));
		else if (k == 'c')
			opt.calls = client_number("calls", optarg, 1,
						  UINT64_MAX);
		else if (k == 'f')
			opt.from = client_number("from", optarg, 0, UINT64_MAX);
		else if (k == 's')
			opt.shrink = true;
		else if (k == 'k')
			opt.control = true;
		else if (k == 't')
			opt.trace = true;
		else if (k == '1')
			opt.first = true;
		else
			usage();
	}
	if (opt.control != (optind == argc))
		usage();
}

static void build_worlds(char **words)
{
	static const char *const name[PARITY_WORLDS] = {
		"kernel", "kernel again", "tux",
	};

	stage.n = opt.control ? 2 : 3;
	for (unsigned i = 0; i < stage.n; i++)
		stage.world[i].name = name[i];
	if (!opt.control)
		stage.world[2].words = words;
	stage.trace = opt.trace;
}

static void show(uint64_t seed, const struct parity_script *s)
{
	const struct parity_difference *d = &stage.diff;

	printf("seed %" PRIu64 ": %s differs, %s from kernel, at step %u:\n",
	       seed, d->words, stage.world[d->world].name, d->at);
	parity_record_print("kernel", &d->want);
	parity_record_print(stage.world[d->world].name, &d->got);
	for (unsigned i = 0; opt.shrink && i < s->n; i++)
		parity_step_print(&s->step[i]);
}

/* Of PLAYS plays, the first of which has differed, how many do? */
static unsigned play_again(const struct parity_script *s)
{
	struct parity_difference first = stage.diff;
	struct parity_counts ignored = { 0 };
	unsigned n = 1;

	stage.counts = &ignored;
	for (unsigned i = 1; i < PLAYS; i++)
		n += !parity_play(&stage, s);
	stage.counts = &counts;
	stage.diff = first;
	return n;
}

/* Does the difference count? */
static bool report(uint64_t seed, struct parity_script *s)
{
	unsigned n = stage.diff.certain ? PLAYS : play_again(s);
	struct parity_difference first = stage.diff;

	if (opt.shrink && n == PLAYS && !parity_shrink(&stage, s)) {
		printf("seed %" PRIu64 ": not again\n", seed);
		parity_script_draw(s, seed, !opt.first);
		stage.diff = first;
	}
	show(seed, s);
	if (!first.certain)
		printf("seed %" PRIu64 ": differed %u of %u times%s\n", seed, n,
		       PLAYS, n < PLAYS ? ", which does not count" : "");
	fflush(stdout);
	return n == PLAYS;
}

static void print_counts(void)
{
	for (unsigned i = 0; i < PARITY_KIND_N; i++)
		printf("%s %" PRIu64 "%s", parity_kind_name(i), counts.kind[i],
		       i + 1 < PARITY_KIND_N ? ", " : "\n");
	for (int i = 0; i < PARITY_ERRNOS; i++)
		if (counts.err[i])
			printf("%s %" PRIu64 " ", strerrorname_np(i),
			       counts.err[i]);
	printf("\n%" PRIu64 " blocked, %" PRIu64 " differences permitted, "
	       "%" PRIu64 " upgrades, %" PRIu64 " in vain, %" PRIu64
	       " calls on Tux\n", counts.blocked, counts.permitted,
	       counts.upgrades, counts.not_upgraded, counts.on_tux);
}

int main(int argc, char **argv)
{
	static struct parity_script script;
	unsigned differences = 0;
	uint64_t seed;

	parse(argc, argv);
	build_worlds(argv + optind);
	for (seed = opt.from; counts.calls < opt.calls; seed++) {
		parity_script_draw(&script, seed, !opt.first);
		if (parity_play(&stage, &script))
			continue;
		differences += report(seed, &script);
		if (differences == DIFFERENCES_MAX)
			break;
	}
	for (unsigned i = 0; i < stage.n; i++)
		parity_world_stop(&stage.world[i]);
	parity_permit_print();
	print_counts();
	printf("parity: %" PRIu64 " calls, %u differences\n", counts.calls,
	       differences);
	return differences != 0;
}
