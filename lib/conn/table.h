/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * table - finds the connection of a packet
 *
 * A packet names its connection by the id that this end chose for it; a packet
 * of the opening exchange, by the addresses and ports of the TCP connection.
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
	struct tux_map by_tuple;	/* keys are tuple_hash() */
	struct tux_key key;		/* of that hash */
};

void tux_table_init(struct tux_table *t, const struct tux_key *key,
		    const struct tux_mem *mem);
void tux_table_fini(struct tux_table *t);

/* Adds @c under @id, and under @tuple as its @active or passive end; both ends
 * of a TCP connection may be in one process.  Returns 0, -EEXIST if one of the
 * two is there already, or -ENOMEM. */
int tux_table_add(struct tux_table *t, uint32_t id,
		  const struct tux_tuple *tuple, bool active,
		  struct tux_conn *c);
void tux_table_del(struct tux_table *t, uint32_t id,
		   const struct tux_tuple *tuple, bool active);

/* The connection with @id; NULL if there is none. */
struct tux_conn *tux_table_by_id(const struct tux_table *t, uint32_t id);

/* The connection under the hash of @tuple; NULL if there is none.  The caller
 * must compare the tuple. */
struct tux_conn *tux_table_by_tuple(const struct tux_table *t,
				    const struct tux_tuple *tuple, bool active);

#endif
