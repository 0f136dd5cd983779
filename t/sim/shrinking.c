/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shrinking - a world that fails is made as small as it can be, and is the same
 * when it is written down and read
 */
#include <stdlib.h>

#include "fault.h"
#include "shrink.h"
#include "sim.h"
#include "world.h"

enum { SEEDS = 40, TRIES = 20000 };

static bool same(const struct sim_world *a, const struct sim_world *b)
{
	unsigned i;

	for (i = 0; i < a->n && i < b->n; i++) {
		if (a->item[i].kind != b->item[i].kind ||
		    memcmp(a->item[i].v, b->item[i].v, sizeof(a->item[i].v)))
			return false;
	}
	return a->n == b->n;
}

static void as_text(struct sim *s)
{
	struct sim_world w, again;
	uint64_t seed;
	FILE *f;

	for (seed = 1; seed <= SEEDS; seed++) {
		memset(&w, 0, sizeof(w));
		memset(&again, 0, sizeof(again));
		f = tmpfile();
		sim_world_draw(&w, seed, 1);
		sim_world_write(&w, f);
		rewind(f);
		SIM_CHECK(s, !sim_world_read(&again, f) && same(&w, &again));
		fclose(f);
		sim_world_fini(&w);
		sim_world_fini(&again);
	}
}

/* The first line that makes no sense is named. */
static void no_text(struct sim *s)
{
	static const struct {
		const char *text;
		unsigned line;
	} bad[] = {
		{ "host\n", 1 },
		{ "net seed 3\nhost\nhots\n", 3 },
		{ "net\nhost wake\n", 2 },
		{ "net\nhost wake 7x\n", 2 },
		{ "net\nhost sleep 7\n", 2 },
		{ "net\nhost\nhost\nconn a 0 b 2\n", 5 },
		{ "net\nhost\nhost\nconn a 0 b 1\nfault what rain\n", 5 },
		{ "net\nhost\nhost\nconn a 0 b 1\n# rain\nfault what part\n",
		  0 },
	};
	struct sim_world w;
	unsigned i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		FILE *f = fmemopen((char *)(uintptr_t)bad[i].text,
				   strlen(bad[i].text), "r");

		memset(&w, 0, sizeof(w));
		SIM_CHECK(s, sim_world_read(&w, f) == bad[i].line);
		fclose(f);
		sim_world_fini(&w);
	}
}

static const struct sim_item *find(const struct sim_world *w,
				   enum sim_item_kind kind, unsigned number,
				   uint64_t least)
{
	unsigned i;

	for (i = 0; i < w->n; i++) {
		if (w->item[i].kind == kind && w->item[i].v[number] >= least)
			return &w->item[i];
	}
	return NULL;
}

/* Needs two items that know nothing of each other, and a number; and it is a
 * world. */
static bool fails(void *arg, const struct sim_world *w)
{
	(void)arg;
	return find(w, SIM_LINK, SIM_LINK_LOSS, 1000) &&
	       find(w, SIM_WRITE, SIM_WRITE_LEN, 100) &&
	       find(w, SIM_CONN, SIM_CONN_A, 0) &&
	       sim_world_count(w, SIM_HOST) >= 2;
}

static void smallest(struct sim *s)
{
	unsigned n = 0;
	uint64_t seed;

	for (seed = 1; seed <= SEEDS; seed++) {
		struct sim_world w = { 0 };
		const struct sim_item *it;

		sim_world_draw(&w, seed, 1);
		if (fails(NULL, &w)) {
			SIM_CHECK(s, sim_shrink(&w, fails, NULL, TRIES) <
				     TRIES);
			n++;
			/* net, hosts, link, write, and a conn or two that need
			 * the hosts of the link. */
			SIM_CHECK(s, fails(NULL, &w) && w.n <= 8);
			it = find(&w, SIM_LINK, SIM_LINK_LOSS, 0);
			SIM_CHECK(s, it && it->v[SIM_LINK_LOSS] < 2000);
			SIM_CHECK(s, it && it->v[SIM_LINK_DELAY] ==
				     TUX_MSEC(1));
			it = find(&w, SIM_WRITE, SIM_WRITE_LEN, 0);
			SIM_CHECK(s, it && it->v[SIM_WRITE_LEN] < 200);
		}
		sim_world_fini(&w);
	}
	SIM_CHECK(s, n > SEEDS / 4);
}

/* Whatever is left out, what is left is a world that can be lived through. */
static void any_part(struct sim *s)
{
	uint64_t seed;
	unsigned i;

	for (seed = 1; seed <= SEEDS; seed++) {
		struct sim_world w = { 0 };
		struct sim_ran ran;

		sim_world_draw(&w, s->rng + seed, 1);
		for (i = 0; i < 5; i++)
			sim_world_drop(&w, (unsigned)sim_below(s, w.n),
				       1 + (unsigned)sim_below(s, 4));
		sim_world_run(&w, SIM_TELL_NOTHING, NULL, &ran);
		SIM_CHECK(s, ran.held);
		sim_world_fini(&w);
	}
}

const struct sim_story sim_stories[] = {
	{ "as_text", as_text },
	{ "no_text", no_text },
	{ "smallest", smallest },
	{ "any_part", any_part },
	{ NULL, NULL },
};
