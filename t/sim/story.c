/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * story - the main function of all stories
 *
 * Arguments: -v prints all traces; a name runs that story only.
 */
#include <stdio.h>
#include <string.h>

#include "sim.h"

static bool run(const struct sim_story *t, bool loud, uint64_t *digest)
{
	struct sim *s = sim_new(1);

	s->loud = loud;
	t->run(s);
	return sim_free(s, digest);
}

static bool holds(const struct sim_story *t, bool loud)
{
	uint64_t one = 0, two = 0;

	if (!run(t, loud, &one) || !run(t, false, &two))
		return false;
	if (one != two)
		fprintf(stderr, "two runs differ\n");
	return one == two;
}

int main(int argc, char **argv)
{
	bool loud = argc > 1 && strcmp(argv[1], "-v") == 0;
	const char *only = argc > 1 + loud ? argv[1 + loud] : NULL;
	const struct sim_story *t;
	unsigned passed = 0, failed = 0;

	for (t = sim_stories; t->name; t++) {
		bool ok;

		if (only && strcmp(only, t->name) != 0)
			continue;
		ok = holds(t, loud);
		printf("%s %u - %s\n", ok ? "ok" : "not ok",
		       passed + failed + 1, t->name);
		fflush(stdout);
		if (ok)
			passed++;
		else
			failed++;
	}
	printf("%u passed, %u failed, 0 skipped\n", passed, failed);
	return failed ? 1 : 0;
}
