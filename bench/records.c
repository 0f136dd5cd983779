/* SPDX-License-Identifier: BSD-2-Clause */
#include "records.h"

#include <errno.h>
#include <stdlib.h>

#include "base/sip.h"

static const struct tux_key hash_key = { 0x7265636f726473, 1 };

enum { KEY_STEP = 7919 };		/* between two keys */

static uint64_t hash(const struct record *r)
{
	return tux_sip13(&hash_key, r, sizeof(*r) - sizeof(r->hash));
}

int records_init(struct records *t)
{
	uint64_t i, w;

	t->at = malloc(RECORDS * sizeof(*t->at));
	if (!t->at)
		return -ENOMEM;
	for (i = 0; i < RECORDS; i++) {
		struct record *r = &t->at[i];

		r->key = (i + 1) * KEY_STEP;
		for (w = 0; w < RECORD_WORDS - 2; w++)
			r->value[w] = r->key ^ w;
		r->hash = hash(r);
	}
	return 0;
}

void records_fini(struct records *t)
{
	free(t->at);
	t->at = NULL;
}

uint64_t records_key(const struct records *t, uint64_t random)
{
	return t->at[random % RECORDS].key;
}

/* The first record whose key is not below @key. */
static unsigned find(const struct records *t, uint64_t key)
{
	unsigned low = 0, high = RECORDS;

	while (low < high) {
		unsigned mid = (low + high) / 2;

		if (t->at[mid].key < key)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static bool whole(const struct record *r)
{
	return r->hash == hash(r);
}

bool records_get(const struct records *t, uint64_t key)
{
	unsigned i = find(t, key);

	return i < RECORDS && t->at[i].key == key && whole(&t->at[i]);
}

unsigned records_scan(const struct records *t, uint64_t key, unsigned n)
{
	unsigned i = find(t, key), good = 0;

	for (; n; n--, i++)
		good += whole(&t->at[i % RECORDS]);
	return good;
}
