/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls of the library that call back: sorting, searching, trees.
 */
#include "torture.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

enum {
	MANY = 300,
};

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

struct calls {
	struct hand *h;
	unsigned n;
};

static int compare_slowly(const void *a, const void *b, void *arg)
{
	struct calls *c = arg;

	if (++c->n % 64 == 0)
		torture_linger(c->h, 100);
	return compare(a, b);
}

static void sort(struct hand *h)
{
	struct calls c = { .h = h };
	uint64_t v[MANY], sum = 0, *found;
	unsigned i;

	for (i = 0; i < MANY; i++)
		sum += v[i] = hand_random(h);
	if (hand_below(h, 2))
		qsort_r(v, MANY, sizeof(*v), compare_slowly, &c);
	else
		qsort(v, MANY, sizeof(*v), compare);
	for (i = 0; i < MANY; i++) {
		sum -= v[i];
		must(!i || v[i - 1] <= v[i]);
	}
	must(!sum);
	i = hand_below(h, MANY);
	found = bsearch(&v[i], v, MANY, sizeof(*v), compare);
	must(found && *found == v[i]);
}

static void grow_tree(struct hand *h)
{
	uint64_t v[MANY / 4];
	void *root = NULL;
	unsigned i;

	for (i = 0; i < MANY / 4; i++) {
		v[i] = hand_random(h);
		must(tsearch(&v[i], &root, compare));
	}
	torture_linger(h, 500);
	for (i = 0; i < MANY / 4; i++) {
		must(tfind(&v[i], &root, compare));
		must(tdelete(&v[i], &root, compare));
	}
	must(!root);
}

static void step(struct hand *h)
{
	if (hand_below(h, 4))
		sort(h);
	else
		grow_tree(h);
}

const struct work work_qsort = {
	.name = "qsort", .hands = 3, .thread = true, .step = step,
};
