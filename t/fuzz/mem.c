/* SPDX-License-Identifier: BSD-2-Clause */
#include "mem.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

#ifndef __has_feature
#define __has_feature(x) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(p, len) ((void)(p), (void)(len))
#define ASAN_UNPOISON_MEMORY_REGION(p, len) ((void)(p), (void)(len))
#endif

enum { BETWEEN = 64 };

void *fuzz_mem_get(struct fuzz_mem *m, size_t len, size_t kept)
{
	size_t room = (len + BETWEEN - 1) / BETWEEN * BETWEEN;
	struct fuzz_piece *k = &m->piece[m->n];

	FUZZ_CHECK(m->n < FUZZ_PIECES && m->used + room + BETWEEN <= m->cap);
	k->p = m->base + m->used;
	k->len = len;
	k->kept = kept;
	k->freed = false;
	ASAN_UNPOISON_MEMORY_REGION(k->p, len);
	memset(k->p, 0, len);
	m->used += room + BETWEEN;
	m->n++;
	m->live++;
	return k->p;
}

static void *get(void *arg, size_t len)
{
	struct fuzz_mem *m = arg;

	m->asked++;
	return fuzz_mem_get(m, len, len);
}

static void put(void *arg, void *p)
{
	struct fuzz_mem *m = arg;
	struct fuzz_piece *k = m->piece;

	if (!p)
		return;
	while (k < m->piece + m->n && k->p != p)
		k++;
	FUZZ_CHECK(k < m->piece + m->n && !k->freed);
	k->freed = true;
	m->live--;
	ASAN_POISON_MEMORY_REGION(k->p, k->len);
}

void fuzz_mem_init(struct fuzz_mem *m, size_t cap)
{
	memset(m, 0, sizeof(*m));
	m->mem = (struct tux_mem){ get, put, m };
	m->base = aligned_alloc(BETWEEN, cap);
	m->cap = cap;
	FUZZ_CHECK(m->base);
	ASAN_POISON_MEMORY_REGION(m->base, cap);
}

void fuzz_mem_save(struct fuzz_mem *m)
{
	unsigned i;

	m->saved_n = m->n;
	m->asked = 0;
	for (i = 0; i < m->n; i++) {
		struct fuzz_piece *k = &m->piece[i];

		if (k->freed)
			continue;
		k->saved = malloc(k->kept);
		FUZZ_CHECK(k->saved);
		memcpy(k->saved, k->p, k->kept);
	}
}

/* What came later is gone. */
static void forget(struct fuzz_mem *m)
{
	while (m->n > m->saved_n) {
		struct fuzz_piece *k = &m->piece[--m->n];

		ASAN_POISON_MEMORY_REGION(k->p, k->len);
		m->used = (size_t)(k->p - m->base);
	}
}

void fuzz_mem_restore(struct fuzz_mem *m)
{
	unsigned i;

	forget(m);
	m->live = m->asked = 0;
	for (i = 0; i < m->n; i++) {
		struct fuzz_piece *k = &m->piece[i];

		if (!k->saved)
			continue;
		if (k->freed)
			ASAN_UNPOISON_MEMORY_REGION(k->p, k->len);
		k->freed = false;
		m->live++;
		memcpy(k->p, k->saved, k->kept);
	}
}

void fuzz_mem_restore_piece(struct fuzz_mem *m, unsigned i)
{
	memcpy(m->piece[i].p, m->piece[i].saved, m->piece[i].kept);
}
