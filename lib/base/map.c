/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * map - open-addressing hash map from a 64-bit key to a pointer
 */
#include "base/map.h"

#include <errno.h>
#include <stddef.h>

#include "base/mix.h"

enum { MAP_FIRST_CAP = 16 };

/* 2^64 divided by the golden ratio: odd, and without a pattern in its bits. */
#define GOLDEN UINT64_C(0x9e3779b97f4a7c15)

/* The slot where a search for @key begins. */
static uint32_t map_home(const struct tux_map *m, uint64_t key)
{
	return (uint32_t)tux_mix(key ^ m->secret, m->secret ^ GOLDEN) &
	       (m->cap - 1);
}

/* The slot that holds @key, or the free slot where it would go. */
static uint32_t map_find(const struct tux_map *m, uint64_t key)
{
	uint32_t i = map_home(m, key);

	while (m->slot[i].val && m->slot[i].key != key)
		i = (i + 1) & (m->cap - 1);
	return i;
}

static int map_grow(struct tux_map *m)
{
	struct tux_map_slot *old = m->slot, *slot;
	uint32_t old_cap = m->cap, i;
	size_t cap = old_cap ? (size_t)old_cap * 2 : MAP_FIRST_CAP;

	if (cap > UINT32_MAX)
		return -ENOMEM;
	slot = tux_mem_alloc(m->mem, cap * sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	m->slot = slot;
	m->cap = (uint32_t)cap;
	for (i = 0; i < old_cap; i++)
		if (old[i].val)
			slot[map_find(m, old[i].key)] = old[i];
	tux_mem_free(m->mem, old);
	return 0;
}

void tux_map_init(struct tux_map *m, uint64_t secret, const struct tux_mem *mem)
{
	*m = (struct tux_map){ .secret = secret, .mem = mem };
}

void tux_map_fini(struct tux_map *m)
{
	tux_mem_free(m->mem, m->slot);
	m->slot = NULL;
	m->len = m->cap = 0;
}

void *tux_map_get(const struct tux_map *m, uint64_t key)
{
	return m->len ? m->slot[map_find(m, key)].val : NULL;
}

int tux_map_put(struct tux_map *m, uint64_t key, void *val)
{
	uint32_t i;

	if (tux_map_get(m, key))
		return -EEXIST;
	/* At most two thirds of the slots are used: so a search is short, and
	 * it ends, because it always meets a free slot. */
	if ((uint64_t)m->len * 3 >= (uint64_t)m->cap * 2) {
		int err = map_grow(m);

		if (err)
			return err;
	}
	i = map_find(m, key);
	m->slot[i] = (struct tux_map_slot){ key, val };
	m->len++;
	return 0;
}

void *tux_map_del(struct tux_map *m, uint64_t key)
{
	uint32_t mask = m->cap - 1, hole, i;
	void *val;

	if (!m->len)
		return NULL;
	hole = map_find(m, key);
	val = m->slot[hole].val;
	if (!val)
		return NULL;
	m->len--;
	/* Close the hole: move a later entry of the run into it, unless that
	 * entry's home lies behind the hole, where a search for it begins. */
	for (i = (hole + 1) & mask; m->slot[i].val; i = (i + 1) & mask) {
		uint32_t from = map_home(m, m->slot[i].key);

		if (((i - from) & mask) < ((i - hole) & mask))
			continue;
		m->slot[hole] = m->slot[i];
		hole = i;
	}
	m->slot[hole] = (struct tux_map_slot){ 0, NULL };
	return val;
}
