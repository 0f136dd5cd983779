/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * story - the main function of all stories
 *
 * Arguments: -v prints all traces; a name tells that story only.
 */
#include <stdio.h>
#include <string.h>

#include "sim.h"

static bool tell(const struct sim_story *t, bool v6, bool loud,
		 uint64_t *digest)
{
	struct sim *s = sim_new(1, v6);

	s->loud = loud;
	t->run(s);
	return sim_free(s, digest);
}

/* Over the other family it must be the very same story: so nothing depends on
 * the addresses, nor on anything else that differs between two runs. */
static bool holds(const struct sim_story *t, bool v6, bool loud,
		  uint64_t *digest)
{
	uint64_t first = *digest;

	if (!tell(t, v6, loud, digest))
		return false;
	if (v6 && *digest != first) {
		fprintf(stderr, "two runs differ\n");
		return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	bool loud = argc > 1 && strcmp(argv[1], "-v") == 0;
	const char *only = argc > 1 + loud ? argv[1 + loud] : NULL;
	unsigned v6, passed = 0, failed = 0;
	const struct sim_story *t;

	for (t = sim_stories; t->name; t++) {
		uint64_t digest = 0;

		if (only && strcmp(only, t->name) != 0)
			continue;
		for (v6 = 0; v6 < 2; v6++) {
			bool ok = holds(t, v6, loud, &digest);

			printf("%s %u - %s, IPv%u\n", ok ? "ok" : "not ok",
			       passed + failed + 1, t->name, v6 ? 6 : 4);
			fflush(stdout);
			passed += ok;
			failed += !ok;
		}
	}
	printf("%u passed, %u failed, 0 skipped\n", passed, failed);
	return failed ? 1 : 0;
}
