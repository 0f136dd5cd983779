/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test - what the unit tests share: cmocka, random numbers with a seed, memory
 * that runs out on demand, open files, and bytes written as hex
 */
#ifndef TUX_UNIT_TEST_H
#define TUX_UNIT_TEST_H

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))

/* SplitMix64: a test that fails names its seed, and fails again with it. */
static inline uint64_t test_random(uint64_t *seed)
{
	uint64_t z = *seed += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* A number in [0, @n). */
static inline uint32_t test_below(uint64_t *seed, uint32_t n)
{
	return (uint32_t)(test_random(seed) % n);
}

/* May a test take longer, and assert what a clock says?  See t/posix/lib.sh. */
static inline bool test_thorough(void)
{
	const char *s = getenv("TUX_TEST_THOROUGH");

	return s && *s;
}

/* How many files this process has open, and a few; the library's have high numbers. */
static inline unsigned test_files(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

struct test_mem {
	struct tux_mem mem;
	int left;		/* allocations that still succeed; -1: all */
	int fail_at;		/* this one does not; 0: see left */
	int asked;		/* allocations asked for */
	int live;		/* pieces not yet freed */
};

static inline void *test_mem_alloc(void *arg, size_t len)
{
	struct test_mem *m = arg;

	m->asked++;
	if (!m->left || m->asked == m->fail_at)
		return NULL;
	if (m->left > 0)
		m->left--;
	m->live++;
	return calloc(1, len);
}

static inline void test_mem_free(void *arg, void *p)
{
	struct test_mem *m = arg;

	if (p)
		m->live--;
	free(p);
}

static inline void test_mem_init(struct test_mem *m, int left)
{
	*m = (struct test_mem){ .left = left };
	m->mem = (struct tux_mem){ test_mem_alloc, test_mem_free, m };
}

static inline uint8_t test_hex_digit(char c)
{
	return (uint8_t)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* The bytes that @hex (lower case, blanks between them allowed) stands for
 * into @out; returns how many. */
static inline size_t test_hex(uint8_t *out, const char *hex)
{
	size_t n = 0;

	while (*hex) {
		if (*hex == ' ') {
			hex++;
			continue;
		}
		out[n++] = (uint8_t)(test_hex_digit(hex[0]) << 4 |
				     test_hex_digit(hex[1]));
		hex += 2;
	}
	return n;
}

#endif
