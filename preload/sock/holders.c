/* SPDX-License-Identifier: BSD-2-Clause */
#include "sock/holders.h"

#include <stdatomic.h>
#include <stddef.h>

#include "sys/area.h"

#define PLAIN (UINT32_C(1) << 31)	/* beside a count: holders_set_plain() */

/* A count, and above it how many counts have been here before: so a name from
 * another time is recognized.  A count of 0 is free. */
struct pool {
	_Atomic uint32_t next;		/* where to look for a free one */
	_Atomic uint64_t count[HOLDERS_MAX];
};

static struct pool *_Atomic holders_pool;

static uint64_t holders_value(uint32_t turn, uint32_t n)
{
	return (uint64_t)turn << 32 | n;
}

static uint32_t holders_turn(uint64_t v)
{
	return (uint32_t)(v >> 32);
}

static uint32_t holders_n(uint64_t v)
{
	return (uint32_t)v & ~PLAIN;
}

static _Atomic uint64_t *holders_place(uint64_t h)
{
	return &atomic_load(&holders_pool)->count[holders_n(h) - 1];
}

/* Two threads may come at once. */
static struct pool *pool_make(void)
{
	struct pool *none = NULL;
	void *p;

	if (tux_area_map(&p, sizeof(struct pool), TUX_AREA_SHARED) < 0)
		return NULL;
	if (atomic_compare_exchange_strong(&holders_pool, &none, p))
		return p;
	tux_area_unmap(p, sizeof(struct pool));
	return none;
}

uint64_t holders_new(void)
{
	struct pool *p = atomic_load(&holders_pool);

	if (!p)
		p = pool_make();
	for (int i = 0; p && i < HOLDERS_MAX; i++) {
		uint32_t at = atomic_fetch_add(&p->next, 1) % HOLDERS_MAX;
		uint64_t v = atomic_load(&p->count[at]);
		uint32_t turn = holders_turn(v) + 1;

		if (!holders_n(v) &&
		    atomic_compare_exchange_strong(&p->count[at], &v,
						   holders_value(turn, 1)))
			return holders_value(turn, at + 1);
	}
	return 0;
}

/* Adds @by, if @h is in its turn and counts at least @least.  The count then,
 * or -1. */
static int64_t holders_change(uint64_t h, uint32_t least, int by)
{
	_Atomic uint64_t *at;
	uint64_t v;

	if (!h)
		return -1;
	at = holders_place(h);
	v = atomic_load(at);
	do {
		if (holders_turn(v) != holders_turn(h) || holders_n(v) < least)
			return -1;
	} while (!atomic_compare_exchange_weak(at, &v, v + (uint64_t)by));
	return holders_n(v) + by;
}

void holders_add(uint64_t h)
{
	holders_change(h, 1, 1);
}

bool holders_leave(uint64_t h)
{
	return holders_change(h, 1, -1) > 0;
}

bool holders_return(uint64_t h)
{
	return holders_change(h, 0, 1) > 0;
}

bool holders_several(uint64_t h)
{
	uint64_t v = h ? atomic_load(holders_place(h)) : 0;

	return holders_turn(v) == holders_turn(h) && holders_n(v) > 1;
}

void holders_set_plain(uint64_t h)
{
	_Atomic uint64_t *at = h ? holders_place(h) : NULL;
	uint64_t v = h ? atomic_load(at) : 0;

	while (at && holders_turn(v) == holders_turn(h) &&
	       !atomic_compare_exchange_weak(at, &v, v | PLAIN))
		;
}

bool holders_are_plain(uint64_t h)
{
	uint64_t v = h ? atomic_load(holders_place(h)) : 0;

	return h && holders_turn(v) == holders_turn(h) && (v & PLAIN);
}

bool holders_end(uint64_t h)
{
	_Atomic uint64_t *at = h ? holders_place(h) : NULL;
	uint64_t v = h ? atomic_load(at) : 0;

	return h && holders_turn(v) == holders_turn(h) && holders_n(v) == 1 &&
	       atomic_compare_exchange_strong(
			at, &v, holders_value(holders_turn(h) + 1, 0));
}
