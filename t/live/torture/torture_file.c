/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files without streams: calls that spend their time in the kernel.
 */
#include "torture.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	WORDS = 1 << 15,
	BLOCKS = 16,
};

static int fd;

static uint64_t word(unsigned block, unsigned i)
{
	return (uint64_t)block << 32 | i * 2654435761u;
}

static const char *start(void)
{
	char path[] = "/tmp/torture-XXXXXX";
	uint64_t *p = malloc(WORDS * sizeof(*p));
	unsigned b, i;

	fd = mkstemp(path);
	if (fd < 0 || !p)
		return "no temporary file";
	unlink(path);
	for (b = 0; b < BLOCKS; b++) {
		for (i = 0; i < WORDS; i++)
			p[i] = word(b, i);
		must(write(fd, p, WORDS * sizeof(*p)) ==
		     WORDS * sizeof(*p));
	}
	free(p);
	return NULL;
}

static void step(struct hand *h)
{
	unsigned b = hand_below(h, BLOCKS), i = hand_below(h, WORDS);
	const size_t len = WORDS * sizeof(uint64_t);

	if (!h->own)
		h->own = malloc(len);
	must(pread(fd, h->own, len, (off_t)(b * len)) == (ssize_t)len);
	must(((uint64_t *)h->own)[i] == word(b, i));
	must(((uint64_t *)h->own)[WORDS - 1] == word(b, WORDS - 1));
}

static void leave(struct hand *h)
{
	free(h->own);
}

static void finish(void)
{
	close(fd);
}

const struct work work_file = {
	.name = "file", .hands = 2, .thread = true,
	.open = start, .step = step, .leave = leave, .close = finish,
};
