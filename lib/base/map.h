/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * map - open-addressing hash map from a 64-bit key to a pointer
 *
 * The caller gives a secret that is mixed into every key, so a peer that
 * chooses keys cannot choose their slots.  Deletion moves later entries back
 * ("backward shift"), so there are no tombstones.
 */
#ifndef TUX_BASE_MAP_H
#define TUX_BASE_MAP_H

#include <stdint.h>

#include "base/mem.h"

struct tux_map_slot {
	uint64_t key;
	void *val;		/* NULL: the slot is free */
};

struct tux_map {
	struct tux_map_slot *slot;
	uint32_t len, cap;	/* cap is a power of two, or 0 */
	uint64_t secret;
	const struct tux_mem *mem;
};

void tux_map_init(struct tux_map *m, uint64_t secret, const struct tux_mem *mem);
void tux_map_fini(struct tux_map *m);

/* The value under @key; NULL if there is none. */
void *tux_map_get(const struct tux_map *m, uint64_t key);

/* Adds @val (not NULL) under @key.  Returns 0, -EEXIST, or -ENOMEM. */
int tux_map_put(struct tux_map *m, uint64_t key, void *val);

/* Removes @key and returns its value; NULL if it was not there. */
void *tux_map_del(struct tux_map *m, uint64_t key);

#endif
