/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file that all write lines to, and streams in memory for each.
 *
 * Each line says whose it is, its number, and a sum over both; read back, lines
 * are whole, and those of each writer in order.
 */
#include "torture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	WRITERS = 64,
	FULL = 1 << 20,
};

static FILE *shared;
static uint64_t written[WRITERS], seen[WRITERS];

static uint64_t sum_of(unsigned id, uint64_t n)
{
	return (n + id) * UINT64_C(0x9e3779b97f4a7c15);
}

static const char *start(void)
{
	shared = tmpfile();
	return shared ? NULL : "no temporary file";
}

/* All that is in the file, under its lock; then it begins anew. */
static void read_back(void)
{
	char line[256];
	uint64_t n, sum;
	unsigned id;

	rewind(shared);
	while (fgets(line, sizeof(line), shared)) {
		if (sscanf(line, "%u %" SCNu64 " %" SCNx64 "\n", &id, &n,
			   &sum) != 3 || id >= WRITERS) {
			must(false && "a torn line");
			continue;
		}
		must(sum == sum_of(id, n) && n == seen[id] + 1);
		seen[id] = n;
	}
	must(!ferror(shared));
	rewind(shared);
	must(!ftruncate(fileno(shared), 0));
}

static void write_line(struct hand *h)
{
	uint64_t n = ++written[h->id];

	if (n % 3) {
		fprintf(shared, "%u %" PRIu64 " %" PRIx64 "\n", h->id, n,
			sum_of(h->id, n));
		return;
	}
	/* In pieces, and with the lock held for long. */
	flockfile(shared);
	fprintf(shared, "%u ", h->id);
	torture_linger(h, 500);
	fprintf(shared, "%" PRIu64, n);
	putc_unlocked(' ', shared);
	fprintf(shared, "%" PRIx64 "\n", sum_of(h->id, n));
	if (ftell(shared) > FULL)
		read_back();
	funlockfile(shared);
}

static void own_stream(struct hand *h)
{
	uint64_t n = hand_random(h), got = 0;
	char *text = NULL, word[32];
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	must(f);
	fprintf(f, "%" PRIu64 " %s", n, "word");
	fclose(f);
	must(text && strlen(text) == len);
	torture_linger(h, 200);
	f = fmemopen(text, len, "r");
	must(f && fscanf(f, "%" SCNu64 " %31s", &got, word) == 2);
	must(got == n && !strcmp(word, "word"));
	fclose(f);
	free(text);
}

static void step(struct hand *h)
{
	write_line(h);
	if (hand_below(h, 4) == 0)
		own_stream(h);
	torture_linger(h, 500);
}

static void finish(void)
{
	unsigned i;

	read_back();
	for (i = 0; i < WRITERS; i++)
		must(seen[i] == written[i]);
	fclose(shared);
}

const struct work work_stdio = {
	.name = "stdio", .hands = 3, .thread = true,
	.open = start, .step = step, .close = finish,
};
