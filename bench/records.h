/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * records - a table in memory, to have something to ask
 *
 * A million records of 128 bytes, in the order of their keys.  To get one costs
 * a search of twenty steps, most of which miss the caches: about a microsecond.
 * Each record carries a hash of itself, which is checked whenever it is read.
 */
#ifndef BENCH_RECORDS_H
#define BENCH_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

enum { RECORDS = 1 << 20, RECORD_WORDS = 16 };

struct record {
	uint64_t key, value[RECORD_WORDS - 2], hash;
};

struct records {
	struct record *at;		/* RECORDS of them */
};

/* -ENOMEM. */
int records_init(struct records *t);
void records_fini(struct records *t);

/* Some key that is there, by a random number. */
uint64_t records_key(const struct records *t, uint64_t random);

/* Is @key there, and whole? */
bool records_get(const struct records *t, uint64_t key);

/* How many of the @n records from @key on are there, and whole; the first ones
 * follow the last. */
unsigned records_scan(const struct records *t, uint64_t key, unsigned n);

#endif
