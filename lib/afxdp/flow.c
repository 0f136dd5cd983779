/* SPDX-License-Identifier: BSD-2-Clause */
#include "afxdp/flow.h"

#include <errno.h>

#include "base/mix.h"
#include "sys/area.h"
#include "sys/clock.h"

int tux_flows_init(struct tux_flows *t, const struct tux_mem *mem)
{
	int err;

	memset(t, 0, sizeof(*t));
	err = tux_clock_seed(&t->secret);
	if (err)
		return err;
	tux_map_init(&t->map, t->secret.k0, mem);
	return tux_area_map((void **)&t->at, TUX_FLOWS * sizeof(*t->at),
			    TUX_AREA_OWN);
}

void tux_flows_fini(struct tux_flows *t)
{
	if (t->at)
		tux_map_fini(&t->map);
	tux_area_unmap(t->at, TUX_FLOWS * sizeof(*t->at));
	t->at = NULL;
}

static uint64_t hash(const struct tux_key *k, const struct tux_addr *a)
{
	uint64_t w[2];

	memcpy(w, a->ip, sizeof(w));
	return tux_mix(w[0] ^ k->k0, w[1] ^ k->k1) + a->port;
}

static uint64_t flow_key_of(const struct tux_flows *t,
			    const struct tux_addr *local,
			    const struct tux_addr *peer)
{
	return tux_mix(hash(&t->secret, local) ^ t->secret.k1,
		       hash(&t->secret, peer) ^ t->secret.k0);
}

static bool is(const struct tux_flow *f, const struct tux_addr *local,
	       const struct tux_addr *peer)
{
	return tux_addr_same(&f->peer, peer) && tux_addr_same(&f->local, local);
}

struct tux_flow *tux_flows_find(struct tux_flows *t,
				const struct tux_addr *local,
				const struct tux_addr *peer)
{
	struct tux_flow *f = tux_map_get(&t->map, flow_key_of(t, local, peer));

	return f && is(f, local, peer) ? f : NULL;
}

static struct tux_flow *take_free(struct tux_flows *t)
{
	struct tux_flow *f;

	if (t->free) {
		f = &t->at[t->free - 1];
		t->free = f->next_free;
		return f;
	}
	return t->top < TUX_FLOWS ? &t->at[t->top++] : NULL;
}

static void put_free(struct tux_flows *t, struct tux_flow *f)
{
	f->used = false;
	f->next_free = t->free;
	t->free = (uint32_t)(f - t->at) + 1;
}

struct tux_flow *tux_flows_add(struct tux_flows *t,
			       const struct tux_addr *local,
			       const struct tux_addr *peer)
{
	struct tux_flow *f = take_free(t);

	if (!f)
		return NULL;
	*f = (struct tux_flow){
		.local = *local, .peer = *peer, .hop = -1, .refs = 1,
		.key = flow_key_of(t, local, peer), .used = true,
	};
	if (tux_map_put(&t->map, f->key, f)) {
		put_free(t, f);
		return NULL;
	}
	t->n++;
	t->live_n++;
	return f;
}

void tux_flows_hold(struct tux_flows *t, struct tux_flow *f)
{
	t->live_n += !f->refs++;
}

void tux_flows_release(struct tux_flows *t, struct tux_flow *f, tux_time now)
{
	f->gone_at = now;
	t->live_n -= !--f->refs;
}

void tux_flows_del(struct tux_flows *t, struct tux_flow *f)
{
	tux_map_del(&t->map, f->key);
	put_free(t, f);
	t->n--;
}
