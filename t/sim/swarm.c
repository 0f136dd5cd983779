/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * swarm - random networks, programs and faults, one world from each seed
 *
 * What must hold is in world_run.c.  Whatever can come about is counted, and in
 * a run of 2,000 seeds each kind, state and move must have.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "seen.h"
#include "shrink.h"
#include "world.h"

enum {
	ENOUGH = 2000,		/* seeds, for each kind to come about */
	TWICE = 8,		/* every so many seeds are run twice */
	TRIES = 4000,		/* worlds that the shrinker may look at */
	PATIENCE = 60,		/* seconds for one of them */
};

static const char usage[] =
"usage: swarm [--seeds N] [--from SEED] [--size N] [--counts]\n"
"       swarm [--seeds N] [--from SEED] [--size N] --digest\n"
"       swarm [--size N] --trace SEED | --wire SEED | --show SEED |\n"
"                        --shrink SEED\n"
"       swarm --world FILE\n"
"\n"
"  --seeds    how many worlds (300), the first of which is --from (1)\n"
"  --size     so many times as much is said in each (1)\n"
"  --counts   print how often each kind, state and move came about\n"
"  --digest   print for each seed a hash of what leaves the hosts, and when\n"
"  --trace    run one, and print what happens\n"
"  --wire     run one, and print what leaves the hosts, and when\n"
"  --show     print one, in words that --world reads\n"
"  --shrink   make one that fails smaller, and print it\n"
"  --world    run the one in a file (- is standard input), as --trace does\n";

struct total {
	uint64_t seeds, packets, chunks, failed;
};

static uint64_t now_running;		/* the seed */

/* ---- when all ends ---- */

static void say_seed(void)
{
	char text[80];
	int n = snprintf(text, sizeof(text), "swarm: died in seed %llu\n",
			 (unsigned long long)now_running);

	if (write(STDERR_FILENO, text, (size_t)n) < 0)
		_exit(1);
}

static void die(int sig)
{
	say_seed();
	signal(sig, SIG_DFL);
	raise(sig);
}

/* Sanitizers end a program in their own way. */
extern void __sanitizer_set_death_callback(void (*fn)(void))
	__attribute__((weak));

static void watch_death(void)
{
	signal(SIGABRT, die);
	signal(SIGSEGV, die);
	signal(SIGFPE, die);
	if (__sanitizer_set_death_callback)
		__sanitizer_set_death_callback(say_seed);
}

/* ---- one seed ---- */

/* The same seed gives the same bytes, whatever the family of addresses. */
static bool again(struct sim_world *w, const struct sim_ran *first)
{
	struct sim_seen seen = { 0 };
	struct sim_ran ran;

	w->item[0].v[SIM_NET_V6] ^= 1;
	sim_world_run(w, SIM_TELL_DIGEST, &seen, &ran);
	if (ran.held && ran.digest != first->digest)
		fprintf(stderr, "two runs differ\n");
	return ran.held && ran.digest == first->digest;
}

static void seed(uint64_t n, unsigned size, struct sim_seen *seen,
		 struct total *t)
{
	bool twice = n % TWICE == 0;
	struct sim_world w = { 0 };
	struct sim_ran ran;

	now_running = n;
	sim_world_draw(&w, n, size);
	sim_world_run(&w, twice ? SIM_TELL_DIGEST : SIM_TELL_NOTHING, seen,
		      &ran);
	if (ran.held && twice)
		ran.held = again(&w, &ran);
	sim_world_fini(&w);
	t->seeds++;
	t->packets += ran.packets;
	t->chunks += ran.chunks;
	if (ran.held)
		return;
	t->failed++;
	printf("swarm: seed %llu failed; swarm --size %u --trace %llu shows "
	       "it\n", (unsigned long long)n, size, (unsigned long long)n);
	fflush(stdout);
}

static int run_seeds(uint64_t from, uint64_t seeds, unsigned size, bool counts)
{
	struct sim_seen *seen = calloc(1, sizeof(*seen));
	struct total t = { 0 };
	unsigned missing = 0;
	uint64_t i;

	watch_death();
	for (i = 0; i < seeds; i++)
		seed(from + i, size, seen, &t);
	if (counts)
		sim_seen_print(seen, stdout);
	if (seeds >= ENOUGH)
		missing = sim_seen_missing(seen, stdout);
	free(seen);
	printf("swarm: %llu seeds, %llu packets, %llu messages, %llu "
	       "violations\n", (unsigned long long)t.seeds,
	       (unsigned long long)t.packets, (unsigned long long)t.chunks,
	       (unsigned long long)t.failed);
	return t.failed || missing;
}

/* Digests compare trees, some of which know no delay of duplicating. */
static int digest_seeds(uint64_t from, uint64_t seeds, unsigned size)
{
	bool all = true;
	uint64_t n;

	watch_death();
	for (n = from; n - from < seeds; n++) {
		struct sim_world w = { 0 };
		struct sim_ran ran;

		now_running = n;
		sim_world_draw(&w, n, size);
		w.item[0].v[SIM_NET_OWN] = 0;
		sim_world_run(&w, SIM_TELL_DIGEST, NULL, &ran);
		sim_world_fini(&w);
		printf("%llu %016llx\n", (unsigned long long)n,
		       (unsigned long long)ran.digest);
		all &= ran.held;
	}
	return !all;
}

/* ---- one world ---- */

static int trace(const struct sim_world *w)
{
	struct sim_seen seen = { 0 };
	struct sim_ran ran;

	sim_world_run(w, SIM_TELL_TRACE, &seen, &ran);
	return !ran.held;
}

static int wire(const struct sim_world *w)
{
	struct sim_ran ran;

	sim_world_run(w, SIM_TELL_WIRE, NULL, &ran);
	return !ran.held;
}

/* In a process of its own, for it may do anything. */
static bool fails(void *arg, const struct sim_world *w)
{
	struct sim_seen seen = { 0 };
	struct sim_ran ran;
	int status;
	pid_t pid;

	(void)arg;
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		alarm(PATIENCE);
		if (!freopen("/dev/null", "w", stderr))
			_exit(2);
		sim_world_run(w, SIM_TELL_NOTHING, &seen, &ran);
		_exit(!ran.held);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && status != 0;
}

static int shrink(struct sim_world *w)
{
	unsigned before = w->n, n;

	if (!fails(NULL, w)) {
		printf("# it holds\n");
		return 1;
	}
	n = sim_shrink(w, fails, NULL, TRIES);
	printf("# %u items of %u, after %u worlds\n", w->n, before, n);
	sim_world_write(w, stdout);
	return 0;
}

static int one_world(const char *how, uint64_t seed, unsigned size)
{
	struct sim_world w = { 0 };
	int rc = 0;

	sim_world_draw(&w, seed, size);
	if (strcmp(how, "--trace") == 0)
		rc = trace(&w);
	else if (strcmp(how, "--wire") == 0)
		rc = wire(&w);
	else if (strcmp(how, "--shrink") == 0)
		rc = shrink(&w);
	else
		sim_world_write(&w, stdout);
	sim_world_fini(&w);
	return rc;
}

static int file_world(const char *name)
{
	FILE *f = strcmp(name, "-") ? fopen(name, "r") : stdin;
	struct sim_world w = { 0 };
	unsigned line;
	int rc = 2;

	if (!f) {
		perror(name);
		return rc;
	}
	line = sim_world_read(&w, f);
	if (line)
		fprintf(stderr, "%s:%u: no such world\n", name, line);
	else
		rc = trace(&w);
	sim_world_fini(&w);
	fclose(f);
	return rc;
}

/* ---- what is asked ---- */

static int wrong(void)
{
	fputs(usage, stderr);
	return 2;
}

static bool is_one(const char *s)
{
	return strcmp(s, "--trace") == 0 || strcmp(s, "--wire") == 0 ||
	       strcmp(s, "--show") == 0 || strcmp(s, "--shrink") == 0;
}

int main(int argc, char **argv)
{
	uint64_t seeds = 300, from = 1, n;
	unsigned size = 1;
	bool counts = false, digests = false;
	int a;

	for (a = 1; a < argc; a++) {
		if (strcmp(argv[a], "--counts") == 0) {
			counts = true;
			continue;
		}
		if (strcmp(argv[a], "--digest") == 0) {
			digests = true;
			continue;
		}
		if (a + 1 == argc)
			return wrong();
		n = strtoull(argv[a + 1], NULL, 0);
		if (strcmp(argv[a], "--seeds") == 0)
			seeds = n;
		else if (strcmp(argv[a], "--from") == 0)
			from = n;
		else if (strcmp(argv[a], "--size") == 0 && n)
			size = (unsigned)n;
		else if (is_one(argv[a]))
			return one_world(argv[a], n, size);
		else if (strcmp(argv[a], "--world") == 0)
			return file_world(argv[a + 1]);
		else
			return wrong();
		a++;
	}
	if (digests)
		return digest_seeds(from, seeds, size);
	return run_seeds(from, seeds, size, counts);
}
