/* SPDX-License-Identifier: BSD-2-Clause */
#include "afxdp/places.h"

static struct tux_local *places_find(struct tux_places *p,
				     const struct tux_addr *local)
{
	unsigned i;

	for (i = 0; i < p->n; i++)
		if (tux_addr_same_ip(&p->at[i].addr, local))
			return &p->at[i];
	return NULL;
}

struct tux_local *tux_places_hold(struct tux_places *p,
				  const struct tux_addr *local, uint16_t port)
{
	struct tux_local *l = places_find(p, local);

	if (!l && p->n == TUX_PLACES)
		return NULL;
	if (!l) {
		l = &p->at[p->n++];
		l->addr = *local;
		l->addr.port = port;
		l->flows = 0;
	}
	l->flows++;
	return l;
}

bool tux_places_release(struct tux_places *p, const struct tux_addr *local,
			struct tux_addr *was)
{
	struct tux_local *l = places_find(p, local);

	if (!l || --l->flows)
		return false;
	*was = l->addr;
	*l = p->at[--p->n];
	return true;
}
