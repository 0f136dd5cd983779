/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * table - from a packet to its connection
 *
 * By the id that we chose, or, in the opening exchange, by the TCP connection
 * that the packet names.
 */
#ifndef TUX_CONN_TABLE_H
#define TUX_CONN_TABLE_H

#include <stdint.h>

#include "base/map.h"
#include "base/sip.h"
#include "wire/addr.h"

struct tux_conn;

struct tux_table {
	struct tux_map by_id;
	struct tux_map by_tuple;	/* under a keyed hash of the tuple */
	struct tux_key key;
};

void tux_table_init(struct tux_table *t, const struct tux_key *key,
		    const struct tux_mem *mem);
void tux_table_fini(struct tux_table *t);

/* Adds @c under @id, and under @tuple as its @active or passive end: both ends
 * may be in one process.  0, -EEXIST (either is there), -ENOMEM. */
int tux_table_add(struct tux_table *t, uint32_t id,
		  const struct tux_tuple *tuple, bool active,
		  struct tux_conn *c);
void tux_table_del(struct tux_table *t, uint32_t id,
		   const struct tux_tuple *tuple, bool active);

struct tux_conn *tux_table_by_id(const struct tux_table *t, uint32_t id);

/* The connection under the hash of @tuple: the caller compares the tuple. */
struct tux_conn *tux_table_by_tuple(const struct tux_table *t,
				    const struct tux_tuple *tuple, bool active);

#endif
