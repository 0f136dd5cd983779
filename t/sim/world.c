/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * world - the list of a world's items
 */
#include "world.h"

#include <stdlib.h>
#include <string.h>

#define X(number, name, plain) { name, plain },
const struct sim_form sim_forms[SIM_KINDS] = {
	[SIM_NET] = { "net", SIM_N_NET, { SIM_F_NET(X) } },
	[SIM_HOST] = { "host", SIM_N_HOST, { SIM_F_HOST(X) } },
	[SIM_LINK] = { "link", SIM_N_LINK, { SIM_F_LINK(X) } },
	[SIM_CONN] = { "conn", SIM_N_CONN, { SIM_F_CONN(X) } },
	[SIM_PLAN] = { "plan", SIM_N_PLAN, { SIM_F_PLAN(X) } },
	[SIM_WRITE] = { "write", SIM_N_WRITE, { SIM_F_WRITE(X) } },
	[SIM_MAIL] = { "mail", SIM_N_MAIL, { SIM_F_MAIL(X) } },
	[SIM_FAULT] = { "fault", SIM_N_FAULT, { SIM_F_FAULT(X) } },
};
#undef X

void sim_world_fini(struct sim_world *w)
{
	free(w->item);
	memset(w, 0, sizeof(*w));
}

struct sim_item *sim_world_add(struct sim_world *w, enum sim_item_kind kind)
{
	struct sim_item *it;
	unsigned i;

	if (w->n == w->cap) {
		w->cap = w->cap ? 2 * w->cap : 64;
		w->item = realloc(w->item, w->cap * sizeof(*w->item));
	}
	it = &w->item[w->n++];
	it->kind = kind;
	for (i = 0; i < SIM_NUMBERS; i++)
		it->v[i] = sim_forms[kind].number[i].plain;
	return it;
}

void sim_world_copy(struct sim_world *to, const struct sim_world *from)
{
	to->n = to->cap = from->n;
	to->item = malloc(from->n * sizeof(*to->item));
	memcpy(to->item, from->item, from->n * sizeof(*to->item));
}

unsigned sim_world_count(const struct sim_world *w, enum sim_item_kind kind)
{
	unsigned i, n = 0;

	for (i = 0; i < w->n; i++)
		n += w->item[i].kind == kind;
	return n;
}

/* ---- names ---- */

/* Which numbers of an item name a host or a connection?  As bits. */
static unsigned names(enum sim_item_kind kind, enum sim_item_kind what)
{
	if (what == SIM_HOST && kind == SIM_LINK)
		return 1u << SIM_LINK_FROM | 1u << SIM_LINK_TO;
	if (what == SIM_HOST && kind == SIM_CONN)
		return 1u << SIM_CONN_A | 1u << SIM_CONN_B;
	if (what != SIM_CONN)
		return 0;
	switch (kind) {
	case SIM_PLAN:
		return 1u << SIM_PLAN_CONN;
	case SIM_WRITE:
		return 1u << SIM_WRITE_CONN;
	case SIM_MAIL:
		return 1u << SIM_MAIL_CONN;
	case SIM_FAULT:
		return 1u << SIM_FAULT_CONN;
	default:
		return 0;
	}
}

bool sim_world_is_name(enum sim_item_kind kind, unsigned number)
{
	if ((kind == SIM_CONN && number == SIM_CONN_AFTER) ||
	    (kind == SIM_FAULT && number == SIM_FAULT_WHAT))
		return true;
	return (names(kind, SIM_HOST) | names(kind, SIM_CONN)) >> number & 1;
}

static bool needs(const struct sim_item *it, enum sim_item_kind what,
		  uint64_t which)
{
	unsigned i, bits = names(it->kind, what);

	for (i = 0; i < SIM_NUMBERS; i++) {
		if (bits >> i & 1 && it->v[i] == which)
			return true;
	}
	return false;
}

/* There is one of @what less: those behind it move up. */
static void rename_above(struct sim_world *w, enum sim_item_kind what,
			 uint64_t which)
{
	unsigned i, k;

	for (i = 0; i < w->n; i++) {
		struct sim_item *it = &w->item[i];
		unsigned bits = names(it->kind, what);
		uint64_t *after = &it->v[SIM_CONN_AFTER];

		for (k = 0; k < SIM_NUMBERS; k++)
			it->v[k] -= (bits >> k & 1) && it->v[k] > which;
		if (what != SIM_CONN || it->kind != SIM_CONN)
			continue;
		if (*after == which + 1)
			*after = 0;
		*after -= *after > which + 1;
	}
}

/* ---- leaving out ---- */

static void cut(struct sim_world *w, unsigned at)
{
	w->n--;
	memmove(&w->item[at], &w->item[at + 1],
		(w->n - at) * sizeof(*w->item));
}

/* Item @at, and what needs it.  How many, of those up to @at. */
static unsigned drop(struct sim_world *w, unsigned at)
{
	enum sim_item_kind kind = w->item[at].kind;
	unsigned i, gone = 1;
	uint64_t which = 0;

	for (i = 0; i < at; i++)
		which += w->item[i].kind == kind;
	cut(w, at);
	if (kind != SIM_HOST && kind != SIM_CONN)
		return gone;
	for (i = w->n; i-- > 0; ) {
		if (!needs(&w->item[i], kind, which))
			continue;
		gone += i < at;
		cut(w, i);
	}
	rename_above(w, kind, which);
	return gone;
}

static bool is_needed(const struct sim_world *w, uint64_t host)
{
	unsigned i;

	for (i = 0; i < w->n; i++) {
		if (w->item[i].kind == SIM_CONN &&
		    needs(&w->item[i], SIM_HOST, host))
			return true;
	}
	return false;
}

/* The place of a host that no connection needs; w->n: there is none. */
static unsigned find_idle(const struct sim_world *w)
{
	uint64_t host = 0;
	unsigned i;

	for (i = 0; i < w->n; i++) {
		if (w->item[i].kind == SIM_HOST && !is_needed(w, host++))
			break;
	}
	return i;
}

void sim_world_drop(struct sim_world *w, unsigned at, unsigned n)
{
	unsigned i = at + n < w->n ? at + n : w->n;

	while (i > at && i > 0) {
		enum sim_item_kind kind = w->item[i - 1].kind;

		if (kind == SIM_NET || kind == SIM_HOST)
			i--;
		else
			i -= drop(w, i - 1);
	}
	while ((i = find_idle(w)) < w->n)
		drop(w, i);
}
