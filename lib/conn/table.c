/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * table - finds the connection of a packet
 */
#include "conn/table.h"

#include <errno.h>

#include "base/bytes.h"
#include "base/sip.h"

/* The key of a tuple in by_tuple.  The hash is keyed, so a stranger cannot
 * choose tuples that collide. */
static uint64_t tuple_hash(const struct tux_table *t,
			   const struct tux_tuple *tuple, bool active)
{
	uint8_t b[37];

	memcpy(b, tuple->active.ip, 16);
	memcpy(b + 16, tuple->passive.ip, 16);
	tux_put16(b + 32, tuple->active.port);
	tux_put16(b + 34, tuple->passive.port);
	b[36] = active;
	return tux_sip(&t->key, b, sizeof(b));
}

void tux_table_init(struct tux_table *t, const struct tux_key *key,
		    const struct tux_mem *mem)
{
	t->key = *key;
	tux_map_init(&t->by_id, key->k0, mem);
	tux_map_init(&t->by_tuple, key->k1, mem);
}

void tux_table_fini(struct tux_table *t)
{
	tux_map_fini(&t->by_id);
	tux_map_fini(&t->by_tuple);
}

int tux_table_add(struct tux_table *t, uint32_t id,
		  const struct tux_tuple *tuple, bool active,
		  struct tux_conn *c)
{
	int err = tux_map_put(&t->by_id, id, c);

	if (err)
		return err;
	err = tux_map_put(&t->by_tuple, tuple_hash(t, tuple, active), c);
	if (err)
		tux_map_del(&t->by_id, id);
	return err;
}

void tux_table_del(struct tux_table *t, uint32_t id,
		   const struct tux_tuple *tuple, bool active)
{
	tux_map_del(&t->by_id, id);
	tux_map_del(&t->by_tuple, tuple_hash(t, tuple, active));
}

struct tux_conn *tux_table_by_id(const struct tux_table *t, uint32_t id)
{
	return tux_map_get(&t->by_id, id);
}

struct tux_conn *tux_table_by_tuple(const struct tux_table *t,
				    const struct tux_tuple *tuple, bool active)
{
	return tux_map_get(&t->by_tuple, tuple_hash(t, tuple, active));
}
