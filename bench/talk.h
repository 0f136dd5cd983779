/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * talk - what is asked and what must be answered: a protocol as a table
 *
 * Which value belongs to a key follows from the key, so every byte of an answer
 * can be checked, whoever wrote it.
 */
#ifndef BENCH_TALK_H
#define BENCH_TALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "zipf.h"

enum {
	TALK_WORDS = 128,		/* what a question has beside a value */
	TALK_SHIFTS = 64,		/* different values */
	TALK_DIGITS = 12,		/* of a key */
};

struct talk {
	const struct talk_ops *ops;
	uint32_t size;			/* of a value, or of an echo */
	uint32_t keys;			/* 0: the questions are numbered */
	uint32_t records;		/* that a numbered question may be about */
	uint64_t seed;			/* of what numbered questions ask */
	struct zipf zipf;		/* which of them; all zero: any, evenly */
	uint8_t *bytes;			/* size + TALK_SHIFTS of them */
	size_t room;			/* of the longest question or answer */
	char tail[32];			/* ops->before, the size, ops->after */
};

struct talk_ops {
	const char *name;

	/* What has to be done once for each key before; NULL: nothing. */
	const struct talk_ops *fill;

	/* Words around the size of a value; NULL: no keys, no values. */
	const char *before, *after;

	size_t room;			/* of the longest question or answer; 0:
					 * it depends on the size */

	/* Answers come in any order, by any transport.  A question and an answer
	 * begin with their length, 32 bits, and are messages, too. */
	bool any_order;

	/* Is the latency of this question counted apart, too?  NULL: of none. */
	bool (*is_long)(const struct talk *t, uint64_t key);

	/* Writes the question about @key to @p, where there is room; returns
	 * its length. */
	size_t (*ask)(const struct talk *t, uint64_t key, uint8_t *p);

	/* The length of the answer about @key that @p begins with; 0: @len
	 * bytes are not all of it; -1: this is no such answer. */
	ssize_t (*check)(const struct talk *t, uint64_t key, const uint8_t *p,
			 size_t len);
};

extern const struct talk_ops talk_echo;
extern const struct talk_ops talk_redis_get, talk_redis_set;
extern const struct talk_ops talk_memcached_get, talk_memcached_set;
extern const struct talk_ops talk_ycsb_c, talk_ycsb_f, talk_tpcc;

/* NULL: there is none of that name. */
const struct talk_ops *talk_find(const char *name);

/* The names, one by one; NULL after the last. */
const char *talk_name(unsigned i);

/* -ENOMEM. */
int talk_init(struct talk *t, const struct talk_ops *ops, uint32_t size,
	      uint32_t keys);
void talk_fini(struct talk *t);

/* The value of @key: t->size bytes. */
static inline const uint8_t *talk_value(const struct talk *t, uint64_t key)
{
	return t->bytes + key % TALK_SHIFTS;
}

/* Does @p begin with @words, then the value of @key, then @end?  Returns as
 * check() does, and says -1 as soon as a byte is wrong. */
ssize_t talk_check_value(const struct talk *t, uint64_t key, const char *words,
			 const char *end, const uint8_t *p, size_t len);

/* Does it begin with @words? */
ssize_t talk_check_words(const char *words, const uint8_t *p, size_t len);

/* Writes @words, the value of @key, and @end; returns the length. */
size_t talk_put_value(const struct talk *t, uint64_t key, const char *words,
		      const char *end, uint8_t *p);

/* Writes @words, the twelve digits that name @key, and @end, as a string;
 * returns the length. */
size_t talk_put_key(const struct talk *t, uint64_t key, const char *words,
		    const char *end, char *p);

#endif
