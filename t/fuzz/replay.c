/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * replay - the main() of a target that is no fuzzer: TARGET [FILE]...
 *
 * A FILE.hex has an input in each line, in hex, and maybe a remark behind it;
 * any other is one input as it is.
 * With none, what is kept for the target in t/fuzz/corpus.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

/* An input in memory of just its length, as libFuzzer has it. */
static void run(const uint8_t *p, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);

	if (!copy)
		abort();
	memcpy(copy, p, len);
	LLVMFuzzerTestOneInput(copy, len);
	free(copy);
}

static unsigned digit(char c)
{
	return (unsigned)(isdigit(c) ? c - '0' : (c | 32) - 'a' + 10) & 15;
}

/* In its own place: what is read lies never behind what is written. */
static size_t from_hex(char *line)
{
	uint8_t *out = (uint8_t *)line;
	size_t i;

	for (i = 0; isxdigit(line[2 * i]) && isxdigit(line[2 * i + 1]); i++)
		out[i] = (uint8_t)(digit(line[2 * i]) << 4 |
				   digit(line[2 * i + 1]));
	return i;
}

static long run_lines(FILE *f)
{
	char *line = NULL;
	size_t cap = 0;
	long n = 0;

	for (; getline(&line, &cap, f) > 0; n++)
		run((uint8_t *)line, from_hex(line));
	free(line);
	return n;
}

static long run_whole(FILE *f)
{
	uint8_t buf[65536];

	run(buf, fread(buf, 1, sizeof(buf), f));
	return 1;
}

/* How many inputs; -1: the file cannot be read. */
static long run_file(const char *path)
{
	const char *dot = strrchr(path, '.');
	FILE *f = fopen(path, "r");
	long n;

	if (!f) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return -1;
	}
	n = dot && !strcmp(dot, ".hex") ? run_lines(f) : run_whole(f);
	fclose(f);
	return n;
}

int main(int argc, char **argv)
{
	const char *name = strrchr(argv[0], '/'), *top = getenv("TUX_SRC");
	char kept[4096];
	long n = 0, all = 0;
	int i;

	name = name ? name + 1 : argv[0];
	snprintf(kept, sizeof(kept), "%s/t/fuzz/corpus/%s.hex",
		 top ? top : ".", name);
	if (argc < 2)
		n = all = run_file(kept);
	for (i = 1; i < argc && n >= 0; i++) {
		n = run_file(argv[i]);
		all += n;
	}
	printf("%s: %ld inputs\n", name, n < 0 ? 0 : all);
	return n < 0 || !all;
}
