/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many connections as one engine.
 */
#include "conn/core.h"

#include <assert.h>
#include <errno.h>

#include "conn/conn_in.h"
#include "conn/conn_recv.h"
#include "conn/conn_send.h"
#include "conn/conn_timer.h"
#include "conn/hello.h"
#include "conn/refuse.h"
#include "conn/settle.h"

enum { REST_S = 20, REST_MORE_S = 10 };

int tux_core_new(struct tux_core **cp, const struct tux_core_opts *o)
{
	struct tux_core *core = tux_mem_alloc(o->mem, sizeof(*core));
	struct tux_key key;

	if (!core)
		return -ENOMEM;
	core->mem = o->mem;
	core->trace = o->trace;
	core->trace_arg = o->trace_arg;
	core->port = o->port;
	core->number = o->number;
	core->ack_delay = o->ack_delay;
	core->pkt_max = o->pkt_max ? o->pkt_max : TUX_PKT_MAX;
	tux_rng_init(&core->rng, &o->seed);
	core->token = tux_rng_u64(&core->rng);
	key.k0 = tux_rng_u64(&core->rng);
	key.k1 = tux_rng_u64(&core->rng);
	tux_table_init(&core->table, &key, core->mem);
	tux_heap_init(&core->timers, core->mem);
	tux_pairs_init(&core->pairs, &key, o->cc ? o->cc : &tux_cc_cubic,
		       core->mem);
	tux_list_init(&core->sendq);
	tux_list_init(&core->untimed);
	tux_list_init(&core->effectq);
	*cp = core;
	return 0;
}

void tux_core_free(struct tux_core *core)
{
	if (!core)
		return;
	tux_heap_fini(&core->timers);
	tux_pairs_fini(&core->pairs);
	tux_table_fini(&core->table);
	tux_mem_free(core->mem, core);
}

/* ---- in ---- */

static const struct tux_addr *remote(const struct tux_conn *c)
{
	return c->active ? &c->tuple.passive : &c->tuple.active;
}

static bool read_hello(struct tux_hello *hello, const struct tux_pkt *h,
		       const uint8_t *p)
{
	struct tux_record rec;
	struct tux_reader r;

	tux_reader_init(&r, h, p);
	return tux_reader_next(&r, &rec) > 0 && rec.type == TUX_REC_HELLO &&
	       !tux_hello_decode(hello, &rec);
}

/* The connection that it is for, as it says; NULL. */
static struct tux_conn *hello_conn(const struct tux_core *core,
				   const struct tux_hello *hello)
{
	struct tux_conn *c = tux_table_by_tuple(&core->table, &hello->tuple,
					!(hello->flags & TUX_HELLO_ACTIVE));

	return c && tux_tuple_same(&c->tuple, &hello->tuple) ? c : NULL;
}

/* An opening packet, with HELLO: finds its connection, and checks that it comes
 * from the other end of that connection.  That connection; NULL: not so. */
static struct tux_conn *open_input(struct tux_core *core,
				   const struct tux_addr *from,
				   const struct tux_pkt *h, const uint8_t *p,
				   tux_time now)
{
	struct tux_hello hello;
	struct tux_conn *c;

	if (!read_hello(&hello, h, p)) {
		core->stats.damaged++;
		return NULL;
	}
	c = hello_conn(core, &hello);
	if (!c) {
		core->stats.strangers++;
		core->strange = true;
		return NULL;
	}
	if (c->life == TUX_LIFE_GONE || !tux_addr_same_ip(from, remote(c)) ||
	    !tux_hello_mac_ok(p, h, &c->key)) {
		core->stats.bad_mac++;
		return NULL;
	}
	if (c->barred)
		return NULL;
	tux_hello_mask(&hello, &c->key);
	tux_hello_recv(c, from, &hello, now);
	tux_conn_settle(c, now);
	return c;
}

/* Sets *@cp to the connection of the packet, or NULL.  False: the packet is
 * damaged, so the rest of the datagram must be dropped. */
static bool packet_input(struct tux_core *core, const struct tux_addr *from,
			 const struct tux_pkt *h, const uint8_t *p,
			 struct tux_conn **cp, tux_time now)
{
	struct tux_conn *c;

	*cp = NULL;
	core->stats.packets_rx++;
	if (h->flags & TUX_PKT_OPEN) {
		*cp = open_input(core, from, h, p, now);
		return true;
	}
	c = h->id ? tux_table_by_id(&core->table, h->id) : NULL;
	if (!c || c->life == TUX_LIFE_GONE) {
		core->stats.strangers++;
		core->strange = true;
		return true;
	}
	if (!tux_pkt_sealed(h, p, &c->seal)) {
		core->stats.damaged++;
		return false;
	}
	if (c->barred)
		return true;
	tux_conn_recv(c, from, h, p, now);
	tux_conn_settle(c, now);
	tux_conn_settle_pair(c, now);
	*cp = tux_addr_same_ip(from, remote(c)) ? c : NULL;
	return true;
}

/* A packet of another version of the protocol: the connection gets the reason
 * VERSION.  The packet cannot be authenticated, so it changes nothing else. */
static void version_input(struct tux_core *core, const struct tux_addr *from,
			  const struct tux_pkt *h, tux_time now)
{
	struct tux_conn *c = h->id ? tux_table_by_id(&core->table, h->id) : NULL;

	core->stats.wrong_version++;
	core->strange |= !c;
	if (!c || !tux_addr_same_ip(from, remote(c)))
		return;
	tux_hello_version(c);
	tux_conn_settle(c, now);
}

void *tux_core_input(struct tux_core *core, const struct tux_addr *from,
		     const uint8_t *p, size_t len, uint8_t ecn, tux_time now)
{
	const uint8_t *start = p;
	void *user = NULL;
	struct tux_conn *c;
	struct tux_pkt h;
	int err;

	core->stats.datagrams_rx++;
	core->ecn_rx = ecn;
	core->strange = false;
	while (len) {
		err = tux_pkt_decode(&h, p, len);
		if (err == -EPROTONOSUPPORT)
			version_input(core, from, &h, now);
		if (err) {
			core->stats.damaged += err == -EBADMSG;
			break;
		}
		if (!packet_input(core, from, &h, p, &c, now))
			break;
		if (c && p == start)
			user = c->user;
		p += h.len;
		len -= h.len;
	}
	return user;
}

bool tux_core_strange(const struct tux_core *core)
{
	return core->strange;
}

/* The packet at @p, whose header is *@h; the same. */
static void *heard_first(const struct tux_core *core,
			 const struct tux_addr *from, const struct tux_pkt *h,
			 const uint8_t *p)
{
	const struct tux_conn *c;
	struct tux_hello hello;

	if (!(h->flags & TUX_PKT_OPEN) || !read_hello(&hello, h, p) || hello.why)
		return NULL;
	c = hello_conn(core, &hello);
	if (!c || c->active || !tux_conn_opens(c) || c->peer_nonce ||
	    !tux_addr_same_ip(from, remote(c)) ||
	    !tux_hello_mac_ok(p, h, &c->key))
		return NULL;
	return c->user;
}

void *tux_core_first_heard(const struct tux_core *core,
			   const struct tux_addr *from, const uint8_t **p,
			   size_t *len)
{
	void *user = NULL;
	struct tux_pkt h;

	while (!user && *len && !tux_pkt_decode(&h, *p, *len)) {
		user = heard_first(core, from, &h, *p);
		*p += h.len;
		*len -= h.len;
	}
	return user;
}

uint32_t tux_core_owners(const uint8_t *p, size_t len)
{
	const uint32_t all = (UINT32_C(1) << TUX_PORT_CORES) - 1;
	uint32_t owners = 0;
	struct tux_pkt h;
	int err = 0;

	for (; len && !err; p += h.len, len -= h.len) {
		err = tux_pkt_decode(&h, p, len);
		if (err && err != -EPROTONOSUPPORT)
			break;
		if (h.id)
			owners |= UINT32_C(1) << h.id % TUX_PORT_CORES;
		else if (!err && h.flags & TUX_PKT_OPEN)
			owners = all;
	}
	return owners;
}

/* ---- out ---- */

static struct tux_conn *first(const struct tux_core *core)
{
	if (tux_list_empty(&core->sendq))
		return NULL;
	return TUX_CONTAINER(core->sendq.next, struct tux_conn, sendq);
}

bool tux_core_lead(const struct tux_core *core, struct tux_out *o)
{
	const struct tux_conn *c = first(core);

	if (tux_refuse_lead(core, o))
		return true;
	if (!c)
		return false;
	o->to = c->peer;
	o->from = *tux_conn_local(c);
	o->from.port = c->tuple.active.port;
	o->user = c->user;
	return true;
}

/* Builds the next packet of @c, which then goes to the end of the queue if it
 * has more to send, and leaves the queue if not.  Sets *@stop if @c needs a new
 * datagram. */
static size_t one(struct tux_conn *c, uint8_t *buf, size_t before, size_t cap,
		  bool *stop, tux_time now)
{
	bool more;
	size_t len = tux_conn_send(c, buf, before, cap, &more, now);

	*stop = more && !len;
	if (*stop)
		return 0;
	tux_list_remove(&c->sendq);
	tux_conn_settle(c, now);
	tux_conn_settle_pair(c, now);
	if (more)
		tux_conn_kick(c);
	/* To the connection, the network has lost it. */
	return c->barred ? 0 : len;
}

/* May a datagram for the destination of @d carry packets of @c?  Either the
 * address is the same, or the peer's loop is: it finds connections by their
 * ids, whichever of its ports a packet arrives at.  Several loops may have one port: what
 * is for two of them would be passed on. */
static bool same_way(const struct tux_conn *c, const struct tux_conn *d)
{
	if (!tux_addr_same_ip(tux_conn_local(c), tux_conn_local(d)))
		return false;
	if (c->peer_token && d->peer_token && c->peer_token != d->peer_token)
		return false;
	if (tux_addr_same(&c->peer, &d->peer))
		return true;
	return c->peer_token && c->peer_token == d->peer_token &&
	       tux_addr_same_ip(&c->peer, &d->peer) &&
	       !(c->todo & TUX_DO_HELLO);
}

/* Builds a datagram that the first connection in the queue leads. */
static size_t core_pack(struct tux_core *core, uint8_t *buf, size_t cap,
			tux_time now)
{
	struct tux_conn *c, *lead = first(core);
	bool stop = false;
	size_t len = 0, n;

	for (c = lead; c && !stop && len < cap; c = first(core)) {
		if (c != lead && (!len || !same_way(c, lead)))
			break;
		n = one(c, buf + len, len, cap - len, &stop, now);
		core->stats.packets_tx += !!n;
		len += n;
		/* Only a probe may be longer, and a datagram with a probe has
		 * no other packets. */
		if (len && cap > tux_conn_room(lead))
			cap = tux_conn_room(lead);
	}
	assert((len || !stop) && "the buffer takes the longest packet");
	return len;
}

size_t tux_core_output(struct tux_core *core, uint8_t *buf, size_t cap,
		       struct tux_out *o, tux_time now)
{
	size_t len;

	core->ecn_tx = -1;
	if (core->refusal_n) {
		len = tux_refuse_output(core, buf, cap);
		core->stats.packets_tx++;
	} else {
		len = core_pack(core, buf, cap, now);
	}
	core->stats.datagrams_tx += !!len;
	o->ecn = core->ecn_tx > 0 ? TUX_ECN_ECT0 : TUX_ECN_NONE;
	return len;
}

/* ---- time ---- */

static struct tux_conn *untimed(struct tux_core *core)
{
	if (tux_list_empty(&core->untimed))
		return NULL;
	return TUX_CONTAINER(core->untimed.next, struct tux_conn, untimed);
}

/* The connection with the earliest deadline, if that is not later than @now,
 * else NULL.  Corrects timers that are earlier than the deadline of their
 * connection. */
static struct tux_conn *timer_due(struct tux_core *core, tux_time now)
{
	struct tux_heap_node *n;
	struct tux_conn *c;

	while ((c = untimed(core)) != NULL)
		tux_conn_set_timer(c);
	while ((n = tux_heap_min(&core->timers)) != NULL && n->at <= now) {
		tux_time at;

		c = TUX_CONTAINER(n, struct tux_conn, timer);
		at = tux_conn_deadline(c);
		if (at <= n->at)
			return c;
		tux_heap_set(&core->timers, n, at);
	}
	return NULL;
}

tux_time tux_core_deadline(struct tux_core *core)
{
	struct tux_conn *c = timer_due(core, TUX_NEVER);

	return tux_time_min(c ? c->timer.at : TUX_NEVER,
			    tux_pairs_deadline(&core->pairs));
}

/* How long a pair may be idle until one of its connections asks whether the
 * path still answers.  It is random, so that many pairs do not ask at the same
 * time. */
static tux_time patience(struct tux_core *core)
{
	return TUX_SEC(REST_S) + tux_rng_u64(&core->rng) % TUX_SEC(REST_MORE_S);
}

static void expire_conn(struct tux_conn *c, tux_time now)
{
	tux_conn_expire(c, now);
	tux_conn_settle(c, now);
	tux_conn_settle_pair(c, now);
	tux_conn_rearm(c, now);
}

bool tux_core_expire(struct tux_core *core, tux_time now)
{
	struct tux_list *l;
	struct tux_conn *c;
	bool any = false;

	/* This ends, since each connection gets a deadline later than @now. */
	for (; (c = timer_due(core, now)) != NULL; any = true)
		expire_conn(c, now);
	for (; (l = tux_pairs_due(&core->pairs, now)) != NULL; any = true)
		tux_conn_kick(TUX_CONTAINER(l, struct tux_conn, waitq));
	for (; tux_pairs_may_be_idle(&core->pairs, now) &&
	       (l = tux_pairs_idle(&core->pairs, patience(core), now)) != NULL;
	     any = true)
		tux_conn_do(TUX_CONTAINER(l, struct tux_conn, use),
			    TUX_DO_PING);
	return any;
}

/* ---- effects ---- */

struct tux_conn *tux_core_effects(struct tux_core *core, uint32_t *effects)
{
	struct tux_conn *c;

	if (tux_list_empty(&core->effectq))
		return NULL;
	c = TUX_CONTAINER(core->effectq.next, struct tux_conn, effectq);
	tux_list_remove(&c->effectq);
	*effects = c->effects;
	c->effects = 0;
	return c;
}

const struct tux_core_stats *tux_core_stats(const struct tux_core *core)
{
	return &core->stats;
}
