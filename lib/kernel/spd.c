/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/spd.h"

#include <netinet/in.h>

#include "sys/area.h"

/* ---- the table ---- */

int tux_spd_init(struct tux_spd *t)
{
	memset(t, 0, sizeof(*t));
	return tux_area_map((void **)&t->at, TUX_SPD_ENTRIES * sizeof(*t->at),
			    TUX_AREA_OWN);
}

void tux_spd_fini(struct tux_spd *t)
{
	tux_area_unmap(t->at, TUX_SPD_ENTRIES * sizeof(*t->at));
	memset(t, 0, sizeof(*t));
}

void tux_spd_clear(struct tux_spd *t)
{
	struct tux_spd_entry *at = t->at;

	memset(t, 0, sizeof(*t));
	t->at = at;
}

void tux_spd_add(struct tux_spd *t, const struct tux_spd_entry *p)
{
	if (t->n < TUX_SPD_ENTRIES)
		t->at[t->n++] = *p;
	else
		t->lost = true;
}

static void policy_drop(struct tux_spd *t, uint32_t i)
{
	t->at[i] = t->at[--t->n];
}

void tux_spd_del(struct tux_spd *t, uint32_t index)
{
	uint32_t i;

	for (i = 0; i < t->n; i++) {
		if (t->at[i].index == index) {
			policy_drop(t, i);
			return;
		}
	}
}

void tux_spd_flush(struct tux_spd *t, uint8_t type)
{
	uint32_t i = 0;

	while (i < t->n) {
		if (t->at[i].type == type && !t->at[i].socket)
			policy_drop(t, i);
		else
			i++;
	}
}

/* ---- the decision ---- */

/* Packets of one protocol in one direction. */
struct kind {
	enum tux_spd_dir dir;
	const struct tux_addr *from, *to;
	uint8_t proto;
	bool any_port;		/* of all ports, those of the addresses aside */
};

enum answer { NO, MAYBE, YES };

static enum answer less_of(enum answer a, enum answer b)
{
	return a < b ? a : b;
}

static bool same_bits(const uint8_t *a, const uint8_t *b, unsigned n)
{
	unsigned whole = n / 8, rest = n % 8;

	return !memcmp(a, b, whole) &&
	       (!rest || (a[whole] ^ b[whole]) >> (8 - rest) == 0);
}

static enum answer side_has(const struct tux_spd_side *s,
			    const struct tux_addr *a, bool any_port)
{
	if (!same_bits(s->ip, a->ip, s->len))
		return NO;
	if (any_port)
		return s->port_mask ? MAYBE : YES;
	return (s->port ^ a->port) & s->port_mask ? NO : YES;
}

/* Does @p select every packet of @k, some, or none? */
static enum answer selects(const struct tux_spd_entry *p, const struct kind *k)
{
	if (p->dir != k->dir || p->v4 != tux_addr_is_v4(k->from) ||
	    (p->proto && p->proto != k->proto))
		return NO;
	return less_of(less_of(side_has(&p->from, k->from, k->any_port),
			       side_has(&p->to, k->to, k->any_port)),
		       p->sure ? YES : MAYBE);
}

/* The order in which the kernel asks: lower ranks first. */
static uint64_t rank(const struct tux_spd_entry *p)
{
	return p->socket ? 0 : 1 + (uint64_t)p->priority;
}

/* The first policy of @type that may protect or block a packet of @k, unless
 * one before it surely lets all packets of @k pass; NULL: there is none.  Of
 * policies with one rank, the kernel asks the older one first, which this table
 * does not know: each of them may be the first.  Sets *@known if @k is left to
 * no default. */
static const struct tux_spd_entry *guard_of(const struct tux_spd *t,
					    const struct kind *k, uint8_t type,
					    bool *known)
{
	const struct tux_spd_entry *guard = NULL, *pass = NULL;
	uint32_t i;

	for (i = 0; i < t->n; i++) {
		const struct tux_spd_entry *p = &t->at[i], **first;
		enum answer a = p->type == type ? selects(p, k) : NO;

		first = p->pass ? &pass : &guard;
		if (a < (p->pass ? YES : MAYBE))
			continue;
		if (!*first || rank(p) < rank(*first))
			*first = p;
	}
	*known |= pass || guard;
	return guard && pass && rank(pass) < rank(guard) ? NULL : guard;
}

/* May packets of @k be protected or blocked? */
static bool guarded(const struct tux_spd *t, const struct kind *k)
{
	bool known = false;
	uint8_t type;

	for (type = 0; type < TUX_SPD_TYPES; type++)
		if (guard_of(t, k, type, &known))
			return true;
	return !known && t->blocks[k->dir];
}

/* Is @p all that the kernel applies to each packet of @k?  It is if no other
 * policy that may select such a packet is asked as early, or as well: the
 * kernel applies a policy of each type. */
static bool decides(const struct tux_spd *t, const struct tux_spd_entry *p,
		    const struct kind *k)
{
	uint32_t i;

	for (i = 0; i < t->n; i++) {
		const struct tux_spd_entry *q = &t->at[i];

		if (q == p || selects(q, k) == NO)
			continue;
		if (q->type != p->type || rank(q) <= rank(p))
			return false;
	}
	return selects(p, k) == YES;
}

/* Does the kernel do to each packet of @udp what it does to those of @tcp,
 * which are guarded? */
static bool alike(const struct tux_spd *t, const struct kind *tcp,
		  const struct kind *udp)
{
	const struct tux_spd_entry *p;
	bool known = false;
	uint8_t type;

	for (type = 0; type < TUX_SPD_TYPES; type++) {
		p = guard_of(t, tcp, type, &known);
		if (p)
			return decides(t, p, tcp) && decides(t, p, udp);
	}
	return false;
}

static bool guards_dir(const struct tux_spd *t, enum tux_spd_dir dir,
		       const struct tux_addr *from, const struct tux_addr *to,
		       bool bypass)
{
	struct kind tcp = { dir, from, to, IPPROTO_TCP, false };
	struct kind udp = { dir, from, to, IPPROTO_UDP, !bypass };

	if (bypass)
		return guarded(t, &tcp) || guarded(t, &udp);
	return guarded(t, &tcp) && !alike(t, &tcp, &udp);
}

bool tux_spd_guard(const struct tux_spd *t,
		   const struct tux_addr *local,
		   const struct tux_addr *peer, bool bypass)
{
	return t->lost ||
	       guards_dir(t, TUX_SPD_OUT, local, peer, bypass) ||
	       guards_dir(t, TUX_SPD_IN, peer, local, bypass);
}
