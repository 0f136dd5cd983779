/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * net - links between hosts, for datagrams
 *
 * What happens to a datagram is decided when it is sent: dropped on purpose,
 * by a full bottleneck, by its length or by chance; or it arrives, once or
 * twice, late, damaged or not.
 */
#include <stdlib.h>
#include <string.h>

#include "digest.h"
#include "sim.h"
#include "wire/pkt.h"

struct dgram {
	struct tux_list node;	/* in sim->wire */
	struct sim_host *to;
	struct tux_addr from;
	size_t len;
	uint8_t ecn;
	uint8_t p[];
};

/* ---- what is in it ---- */

static unsigned hello_kind(const struct tux_record *r)
{
	struct tux_hello h;

	if (tux_hello_decode(&h, r))
		return 0;
	if (!h.echo)
		return SIM_ASK;
	return h.flags & TUX_HELLO_WANT ? SIM_ANSWER : SIM_CONFIRM;
}

static unsigned record_kind(const struct tux_record *r)
{
	switch (r->type) {
	case TUX_REC_STREAM:
		return (r->data_len ? SIM_DATA : 0) |
		       (r->flags & TUX_STREAM_FIN ? SIM_FIN : 0);
	case TUX_REC_HELLO:
		return hello_kind(r);
	case TUX_REC_PREPARE:
		return SIM_PREPARE;
	case TUX_REC_PREPARED:
		return SIM_PREPARED;
	case TUX_REC_RESET:
		return SIM_RESET;
	case TUX_REC_PING:
		return SIM_PING;
	default:
		return 0;
	}
}

static unsigned packet_kinds(struct sim_link *l, const struct tux_pkt *h,
			     const uint8_t *p)
{
	struct tux_reader reader;
	struct tux_record rec;
	unsigned kinds = 0;
	bool opens = h->got == l->got && h->got + h->window > l->limit;

	tux_reader_init(&reader, h, p);
	while (tux_reader_next(&reader, &rec) == 1) {
		kinds |= record_kind(&rec);
		l->record_n[rec.type % SIM_RECORDS]++;
	}
	if (!kinds && !(h->flags & TUX_PKT_ELICIT))
		kinds = SIM_ACK | (opens ? SIM_WINDOW : 0);
	l->got = h->got;
	l->limit = h->got + h->window;
	return kinds;
}

unsigned sim_kinds(struct sim_link *l, const uint8_t *p, size_t len)
{
	struct tux_pkt h;
	unsigned kinds = 0;

	while (len && !tux_pkt_decode(&h, p, len)) {
		kinds |= packet_kinds(l, &h, p);
		p += h.len;
		len -= h.len;
	}
	return kinds;
}

const char *sim_kinds_text(unsigned kinds, char *buf, size_t cap)
{
	static const char *const name[] = {
		"ask", "answer", "confirm", "prepare", "prepared", "data",
		"fin", "reset", "ping", "ack", "window",
	};
	unsigned i;

	buf[0] = '\0';
	for (i = 0; i < sizeof(name) / sizeof(name[0]); i++) {
		if (!(kinds & 1u << i))
			continue;
		if (buf[0])
			strncat(buf, "+", cap - strlen(buf) - 1);
		strncat(buf, name[i], cap - strlen(buf) - 1);
	}
	return buf;
}

/* ---- what becomes of it ---- */

void sim_drop(struct sim_link *l, unsigned kinds, unsigned skip, unsigned n)
{
	unsigned i;

	for (i = 0; i < SIM_DROPS; i++) {
		if (l->drop[i].n)
			continue;
		l->drop[i] = (struct sim_drop){ kinds, skip, n };
		return;
	}
}

static bool dropped_on_purpose(struct sim_link *l, unsigned kinds)
{
	unsigned i;

	for (i = 0; i < SIM_DROPS; i++) {
		struct sim_drop *d = &l->drop[i];

		if (!d->n || !(d->kinds & kinds))
			continue;
		if (d->skip) {
			d->skip--;
			continue;
		}
		d->n--;
		return true;
	}
	return false;
}

static bool vanishes(struct sim *s, struct sim_link *l, unsigned kinds,
		     size_t len)
{
	unsigned fate = SIM_FATES;

	if (l->down)
		fate = SIM_FATE_DOWN;
	else if (l->mtu && len > l->mtu)
		fate = SIM_FATE_LONG;
	else if (l->hole && kinds & SIM_ECT)
		fate = SIM_FATE_HOLE;
	else if (dropped_on_purpose(l, kinds))
		fate = SIM_FATE_CHOSEN;
	else if (sim_chance(s, l->loss))
		fate = SIM_FATE_LOST;
	if (fate == SIM_FATES)
		return false;
	s->fate_n[fate]++;
	return true;
}

/* ---- bottlenecks ---- */

struct sim_neck *sim_add_neck(struct sim *s, uint64_t rate, tux_time queue)
{
	struct sim_neck *k = calloc(1, sizeof(*k));

	k->rate = rate;
	k->queue = queue;
	k->next = s->necks;
	s->necks = k;
	return k;
}

static bool is_full(const struct sim *s, const struct sim_neck *k)
{
	if (k->free_at > s->now + k->queue)
		return true;
	return k->places && k->sent_n >= k->places &&
	       k->leave[(k->sent_n - k->places) % SIM_PLACES] > s->now;
}

/* How long @k holds @len bytes; TUX_NEVER: it is full. */
static tux_time squeeze(struct sim *s, struct sim_neck *k, size_t len)
{
	if (is_full(s, k)) {
		k->lost_n++;
		s->fate_n[SIM_FATE_FULL]++;
		return TUX_NEVER;
	}
	if (k->free_at < s->now)
		k->free_at = s->now;
	k->free_at += len * TUX_SEC(1) / k->rate;
	k->leave[k->sent_n++ % SIM_PLACES] = k->free_at;
	return k->free_at - s->now;
}

/* How long @len bytes wait to cross @l; TUX_NEVER: they do not. */
static tux_time admit(struct sim *s, struct sim_link *l, unsigned kinds,
		      size_t len)
{
	tux_time wait = 0;

	l->sent_n++;
	if (vanishes(s, l, kinds, len))
		wait = TUX_NEVER;
	else if (l->neck)
		wait = squeeze(s, l->neck, len);
	l->lost_n += wait == TUX_NEVER;
	return wait;
}

/* When what has waited for @wait arrives. */
static tux_time travel(struct sim *s, struct sim_link *l, tux_time wait)
{
	tux_time at = s->now + wait + l->delay + sim_below(s, l->jitter + 1);

	if (l->fifo && at < l->last_at)
		at = l->last_at;
	s->fate_n[SIM_FATE_OVERTOOK] += at < l->last_at;
	l->last_at = at;
	return at;
}

tux_time sim_net_cross(struct sim *s, struct sim_link *l, size_t len)
{
	tux_time wait = admit(s, l, 0, len);

	return wait == TUX_NEVER ? wait : travel(s, l, wait);
}

/* ---- datagrams ---- */

static void damage(struct sim *s, struct sim_link *l, struct dgram *d)
{
	unsigned n = 1 + (unsigned)sim_below(s, 3);

	s->fate_n[SIM_FATE_DAMAGED]++;
	for (l->flip_n++; n; n--)
		d->p[sim_below(s, d->len)] ^= (uint8_t)(1 << sim_below(s, 8));
}

/* Loop @h knows nothing of a packet of @d, which came to the port of several. */
static void pass_on(struct sim *s, struct sim_host *h, const struct dgram *d)
{
	uint32_t owners = tux_core_owners(d->p, d->len);
	unsigned i;

	for (i = 0; i < s->host_n; i++) {
		struct sim_host *g = &s->host[i];

		if (g != h && g->number && g->place == h->place &&
		    owners >> (g->number - 1) & 1)
			sim_host_input(g, &d->from, d->p, d->len, d->ecn);
	}
}

static void arrive(struct sim *s, void *arg, uint64_t n, uint64_t m)
{
	struct dgram *d = arg;

	(void)n, (void)m;
	if (d->to->stopped > s->now) {	/* the kernel keeps it */
		sim_at(s, d->to->stopped, arrive, d, 0, 0);
		return;
	}
	tux_list_remove(&d->node);
	sim_host_input(d->to, &d->from, d->p, d->len, d->ecn);
	if (d->to->number && !d->to->dead && tux_core_strange(d->to->core))
		pass_on(s, d->to, d);
	free(d);
}

/* What the routers on @l make of @ecn, after a wait at the bottleneck. */
static uint8_t marked(struct sim *s, struct sim_link *l, uint8_t ecn,
		      tux_time wait)
{
	if (!ecn) {
		s->fate_n[SIM_FATE_INVENTED] += l->invent;
		return l->invent ? TUX_ECN_ECT0 : TUX_ECN_NONE;
	}
	l->ect_n++;
	if (l->bleach) {
		s->fate_n[SIM_FATE_BLEACHED]++;
		return TUX_ECN_NONE;
	}
	if (l->neck && l->neck->mark && wait > l->neck->mark)
		ecn = TUX_ECN_CE;
	if (sim_chance(s, l->ce))
		ecn = TUX_ECN_CE;
	l->ce_n += ecn == TUX_ECN_CE;
	s->fate_n[SIM_FATE_MARKED] += ecn == TUX_ECN_CE;
	return ecn;
}

static void put(struct sim *s, struct sim_link *l, struct sim_host *to,
		const struct tux_addr *from, const uint8_t *p, size_t len,
		uint8_t ecn, tux_time wait)
{
	struct dgram *d = malloc(sizeof(*d) + len);

	d->to = to;
	d->from = *from;
	d->len = len;
	d->ecn = marked(s, l, ecn, wait);
	memcpy(d->p, p, len);
	if (l->tap)
		l->tap(s, d->p, len);
	if (s->spy)
		s->spy(s, to, from, d->p, len);
	if (sim_chance(s, l->flip))
		damage(s, l, d);
	tux_list_push(&s->wire, &d->node);
	sim_at(s, travel(s, l, wait), arrive, d, 0, 0);
}

/* A host has more than one address: SIM_ALIAS tells them apart. */
static bool lives_at(const struct sim_host *h, const struct tux_addr *a)
{
	struct tux_addr own = h->addr;

	own.ip[SIM_ALIAS] = a->ip[SIM_ALIAS];
	return tux_addr_same_ip(&own, a);
}

static struct sim_host *host_at(struct sim *s, const struct tux_addr *a)
{
	unsigned i;

	for (i = 0; i < s->host_n; i++) {
		uint16_t port = s->host[i].addr.port;

		if (!lives_at(&s->host[i], a))
			continue;
		if (a->port == port || a->port == SIM_PORT)
			return &s->host[i];
	}
	return NULL;
}

/* Of the loops that have the port of @h, the one that a datagram comes to. */
static struct sim_host *any_loop(struct sim *s, struct sim_host *h)
{
	unsigned i, n = 0;

	for (i = 0; i < s->host_n; i++)
		n += s->host[i].number && s->host[i].place == h->place;
	return &h[sim_below(s, n)];
}

void sim_net_send(struct sim_host *h, const struct tux_addr *to,
		  const struct tux_addr *from, const uint8_t *p, size_t len,
		  uint8_t ecn)
{
	struct sim *s = h->s;
	struct sim_host *dst = host_at(s, to);
	struct tux_addr src = *from;
	struct sim_link *l;
	unsigned kinds;
	char text[80];
	tux_time wait;

	s->packets++;
	src.port = h->addr.port;
	sim_digest_datagram(h, to, &src, p, len, ecn);
	if (!h->number && host_at(s, &src) != h)
		sim_fail(s, "%c sends from a foreign address", h->name);
	if (!dst)
		return;			/* no such port: ICMP tells nobody */
	if (dst->number)
		dst = any_loop(s, dst);
	l = sim_link(h, dst);
	kinds = sim_kinds(l, p, len);
	wait = admit(s, l, kinds | (ecn ? SIM_ECT : 0), len);
	if (wait == TUX_NEVER) {
		sim_note(s, "lost %s from %c",
			 sim_kinds_text(kinds, text, sizeof(text)),
			 h->name);
		return;
	}
	put(s, l, dst, &src, p, len, ecn, wait);
	if (!sim_chance(s, l->twice))
		return;
	s->fate_n[SIM_FATE_TWICE]++;
	put(s, l, dst, &src, p, len, ecn, wait + sim_below(s, l->late + 1));
}

void sim_part(struct sim *s, unsigned a, unsigned b, bool down)
{
	s->link[a][b].down = s->link[b][a].down = down;
	sim_note(s, down ? "path down" : "path up");
}

void sim_net_fini(struct sim *s)
{
	struct tux_list *n, *m;
	struct sim_neck *k;

	while ((k = s->necks) != NULL) {
		s->necks = k->next;
		free(k);
	}
	TUX_LIST_EACH_SAFE(n, m, &s->wire)
		free(TUX_CONTAINER(n, struct dgram, node));
}
