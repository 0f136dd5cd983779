/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn/pair.h"

#include <stddef.h>

#include "base/bytes.h"

/* ---- all of them ---- */

void tux_pairs_init(struct tux_pairs *ps, const struct tux_key *key,
		    const struct tux_cc_ops *cc, const struct tux_mem *mem)
{
	ps->mem = mem;
	ps->cc = cc;
	ps->key = *key;
	ps->n = 0;
	tux_map_init(&ps->map, key->k0, mem);
	tux_heap_init(&ps->paces, mem);
	tux_heap_init(&ps->idle, mem);
}

void tux_pairs_fini(struct tux_pairs *ps)
{
	tux_map_fini(&ps->map);
	tux_heap_fini(&ps->paces);
	tux_heap_fini(&ps->idle);
}

tux_time tux_pairs_deadline(const struct tux_pairs *ps)
{
	const struct tux_heap_node *n = tux_heap_min(&ps->paces);
	const struct tux_heap_node *m = tux_heap_min(&ps->idle);

	return tux_time_min(n ? n->at : TUX_NEVER, m ? m->at : TUX_NEVER);
}

/* ---- coming and going ---- */

/* The key of a pair in the map; never 0, which means "not in the map". */
static uint64_t key_of(const struct tux_pairs *ps, const uint8_t local[16],
		       const uint8_t peer[16], uint64_t token)
{
	uint8_t b[40];

	memcpy(b, local, 16);
	memcpy(b + 16, peer, 16);
	tux_put64(b + 32, token);
	return tux_sip(&ps->key, b, sizeof(b)) | 1;
}

static struct tux_pair *new_pair(struct tux_pairs *ps, uint64_t key,
				 uint32_t mss)
{
	struct tux_pair *p;

	if (tux_heap_reserve(&ps->paces, ps->n + 1) ||
	    tux_heap_reserve(&ps->idle, ps->n + 1))
		return NULL;
	p = tux_mem_alloc(ps->mem, sizeof(*p));
	if (!p)
		return NULL;
	if (key && tux_map_put(&ps->map, key, p)) {
		tux_mem_free(ps->mem, p);
		return NULL;
	}
	ps->n++;
	p->key = key;
	p->mss = mss;
	tux_list_init(&p->waitq);
	tux_list_init(&p->users);
	tux_rtt_init(&p->rtt, 0);
	tux_pmtu_init(&p->pmtu);
	tux_cc_init(&p->cc, ps->cc, mss);
	return p;
}

void tux_pair_fit(struct tux_pair *p)
{
	p->cc.mss = p->mss < p->pmtu.len ? p->mss : p->pmtu.len;
}

struct tux_pair *tux_pair_get(struct tux_pairs *ps, const uint8_t local[16],
			      const uint8_t peer[16], uint64_t token,
			      uint32_t mss)
{
	uint64_t key = token ? key_of(ps, local, peer, token) : 0;
	struct tux_pair *p = key ? tux_map_get(&ps->map, key) : NULL;

	if (!p)
		p = new_pair(ps, key, mss);
	if (!p)
		return NULL;
	p->conn_n++;
	if (p->mss < mss) {
		p->mss = mss;
		tux_pair_fit(p);
	}
	return p;
}

void tux_pair_put(struct tux_pairs *ps, struct tux_pair *p)
{
	if (--p->conn_n)
		return;
	tux_heap_set(&ps->paces, &p->timer, TUX_NEVER);
	tux_heap_set(&ps->idle, &p->idle, TUX_NEVER);
	if (p->key)
		tux_map_del(&ps->map, p->key);
	ps->n--;
	tux_mem_free(ps->mem, p);
}

/* ---- turns ---- */

void tux_pair_hold(struct tux_pairs *ps, struct tux_pair *p)
{
	if (p->in_flight < p->cc.w.cwnd)
		tux_heap_set(&ps->paces, &p->timer,
			     tux_pace_wake_at(&p->pace));
}

void tux_pair_wait(struct tux_pairs *ps, struct tux_pair *p,
		   struct tux_list *place)
{
	if (tux_list_empty(place))
		tux_list_push(&p->waitq, place);
	tux_pair_hold(ps, p);
}

struct tux_list *tux_pair_next(struct tux_pair *p, tux_time now)
{
	struct tux_list *first = p->waitq.next;

	if (tux_list_empty(&p->waitq) || !tux_pair_room(p, now))
		return NULL;
	tux_list_remove(first);
	return first;
}

struct tux_list *tux_pairs_due(struct tux_pairs *ps, tux_time now)
{
	struct tux_heap_node *n;
	struct tux_list *first;

	while ((n = tux_heap_min(&ps->paces)) != NULL && n->at <= now) {
		struct tux_pair *p = TUX_CONTAINER(n, struct tux_pair, timer);

		tux_heap_set(&ps->paces, n, TUX_NEVER);
		first = tux_pair_next(p, now);
		if (first)
			return first;
		/* Another connection has sent meanwhile, so the pace holds the
		 * line back until later. */
		if (!tux_list_empty(&p->waitq))
			tux_pair_hold(ps, p);
	}
	return NULL;
}

/* ---- idle ---- */

void tux_pair_use(struct tux_pairs *ps, struct tux_pair *p,
		  struct tux_list *place, tux_time now)
{
	tux_list_push(&p->users, place);
	if (!p->idle.place)
		tux_heap_set(&ps->idle, &p->idle, now);
}

/* When to look at @p again.  If not later than @now, one of its users should
 * ask the peer now. */
static tux_time idle_until(const struct tux_pair *p, tux_time in, tux_time now)
{
	if (tux_list_empty(&p->users))
		return TUX_NEVER;
	if (p->in_flight)		/* an answer is due anyway */
		return tux_time_add(now, in);
	return tux_time_add(p->ack_at, in);
}

struct tux_list *tux_pairs_idle(struct tux_pairs *ps, tux_time in,
				  tux_time now)
{
	struct tux_heap_node *n;

	while ((n = tux_heap_min(&ps->idle)) != NULL && n->at <= now) {
		struct tux_pair *p = TUX_CONTAINER(n, struct tux_pair, idle);
		struct tux_list *first = p->users.next;
		tux_time at = idle_until(p, in, now);

		tux_heap_set(&ps->idle, n,
			     at > now ? at : tux_time_add(now, in));
		if (at > now)
			continue;
		tux_list_remove(first);
		tux_list_push(&p->users, first);
		return first;
	}
	return NULL;
}

/* ---- what the network tells ---- */

static void set_pace(struct tux_pair *p)
{
	tux_pace_set(&p->pace, p->cc.w.cwnd, p->rtt.srtt,
		     p->cc.w.cwnd < p->cc.w.ssthresh, p->cc.mss);
}

static void count_rounds(struct tux_pair *p, tux_time now)
{
	if (tux_time_since(p->round_at, now) < p->rtt.srtt)
		return;
	p->round_at = now;
	p->used_before = p->used;
	p->used = p->in_flight;
}

void tux_pair_acked(struct tux_pair *p, const struct tux_cc_ack *a,
		    const struct tux_rtt *rtt, tux_time now)
{
	p->ack_at = now;
	p->down = false;
	p->rtt = *rtt;
	tux_cc_acked(&p->cc, a, now);
	count_rounds(p, now);
	set_pace(p);
}

void tux_pair_timeout(struct tux_pair *p, unsigned n, tux_time since,
		      tux_time rto, tux_time now)
{
	if (p->ack_at > since && tux_time_since(p->ack_at, now) < rto)
		tux_cc_lost(&p->cc, since, now);
	else
		tux_cc_timeout(&p->cc, n, now);
	set_pace(p);
}

void tux_pair_stalled(struct tux_pair *p, tux_time since)
{
	if (p->ack_at <= since)
		p->down = true;
}
