/* SPDX-License-Identifier: BSD-2-Clause */
#include "afxdp/umem.h"

#include <assert.h>
#include <string.h>

#include "sys/area.h"

#ifdef TUX_DEBUG
enum { DEBUG = 1 };
#else
enum { DEBUG = 0 };
#endif

enum { POISON = 0xdb };

/* The owners to which an owner may pass a frame, a bit each. */
static const uint8_t may[TUX_UMEM_OWNERS] = {
	[TUX_UMEM_FREE] = 0,		/* it is taken, by get */
	[TUX_UMEM_FILL] = 1 << TUX_UMEM_HELD,
	[TUX_UMEM_HELD] = 1 << TUX_UMEM_FREE,
	[TUX_UMEM_BUILT] = 1 << TUX_UMEM_SENT | 1 << TUX_UMEM_FREE,
	[TUX_UMEM_SENT] = 1 << TUX_UMEM_FREE,
};

static void check_step(const struct tux_umem *u, uint16_t f,
		       enum tux_umem_owner from, enum tux_umem_owner to)
{
	if (!DEBUG)
		return;
	assert(f < u->n && "there is such a frame");
	assert(u->owner[f] == from && "only its owner gives a frame away");
	assert(may[from] & 1 << to && "a frame goes one of two rounds");
}

static size_t table_len(uint32_t n)
{
	return n * (sizeof(uint16_t) + sizeof(uint8_t));
}

static void poison(struct tux_umem *u, uint16_t f)
{
	if (DEBUG)
		memset(tux_umem_at(u, f), POISON, TUX_UMEM_CHUNK);
}

/* All bytes are the same if the first is right and each is like the next. */
static void check_poison(const struct tux_umem *u, uint16_t f)
{
	const uint8_t *p = tux_umem_at(u, f);

	if (DEBUG)
		assert(p[0] == POISON &&
		       !memcmp(p, p + 1, TUX_UMEM_CHUNK - 1) &&
		       "nobody writes to a free frame");
}

static void umem_push(struct tux_umem *u, uint16_t f)
{
	poison(u, f);
	u->free[u->free_n++] = f;
}

int tux_umem_init(struct tux_umem *u, uint32_t n)
{
	int err;

	memset(u, 0, sizeof(*u));
	u->n = n;
	err = tux_area_map((void **)&u->mem, (size_t)n * TUX_UMEM_CHUNK,
			   TUX_AREA_OWN);
	if (err)
		return err;
	err = tux_area_map((void **)&u->free, table_len(n), TUX_AREA_OWN);
	if (err) {
		tux_umem_fini(u);
		return err;
	}
	u->owner = (uint8_t *)(u->free + n);
	while (n-- > 0)
		umem_push(u, (uint16_t)n);
	return 0;
}

void tux_umem_fini(struct tux_umem *u)
{
	tux_area_unmap(u->mem, (size_t)u->n * TUX_UMEM_CHUNK);
	tux_area_unmap(u->free, table_len(u->n));
	memset(u, 0, sizeof(*u));
}

uint16_t tux_umem_get(struct tux_umem *u, enum tux_umem_owner owner)
{
	uint16_t f;

	if (!u->free_n)
		return TUX_UMEM_NONE;
	f = u->free[--u->free_n];
	check_poison(u, f);
	if (DEBUG) {
		assert(u->owner[f] == TUX_UMEM_FREE &&
		       "what lies on the stack is free");
		assert((owner == TUX_UMEM_FILL || owner == TUX_UMEM_BUILT) &&
		       "both rounds begin with the one or the other");
	}
	u->owner[f] = (uint8_t)owner;
	return f;
}

void tux_umem_pass(struct tux_umem *u, uint16_t f, enum tux_umem_owner from,
		   enum tux_umem_owner to)
{
	check_step(u, f, from, to);
	u->owner[f] = (uint8_t)to;
	if (to == TUX_UMEM_FREE)
		umem_push(u, f);
}

uint32_t tux_umem_count(const struct tux_umem *u, enum tux_umem_owner owner)
{
	uint32_t i, n = 0;

	for (i = 0; i < u->n; i++)
		n += u->owner[i] == owner;
	return n;
}
