/* SPDX-License-Identifier: BSD-2-Clause */
#include "parity_play.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "parity_permit.h"

enum {
	BLOCKS_MS = 4,		/* a call that should block is watched so long */
	RETURNS_MS = 20000,	/* another one is given so long to return */
	SHOWS_MS = 1000,	/* the wait for what the model expects */
	LOOKS = 5000,		/* until all worlds show the same */
	LOOK_US = 2000,
	ROUNDS = 300,		/* until a connection moves */
	FAST_ROUNDS = 8,
};

typedef struct parity_record records[PARITY_WORLDS];

/* ---- orders to all worlds ---------------------------------------------- */

static void differs(struct parity_stage *g, unsigned world, const char *what,
		    const struct parity_record *want,
		    const struct parity_record *got)
{
	struct parity_difference *d = &g->diff;

	if (d->found)
		return;
	d->found = true;
	d->world = world;
	snprintf(d->words, sizeof(d->words), "%s", what);
	if (want)
		d->want = *want;
	if (got)
		d->got = *got;
}

static void has_ended(struct parity_stage *g, unsigned world)
{
	differs(g, world, "a process has ended, or hangs", NULL, NULL);
	g->diff.certain = true;
}

static struct parity_order order(enum parity_op op,
				 const struct parity_step *s)
{
	struct parity_order o = { .op = (uint8_t)op, .ms = RETURNS_MS };

	if (s)
		o.step = *s;
	return o;
}

static bool all(struct parity_stage *g, unsigned proc,
		const struct parity_order *o, records r)
{
	unsigned i;

	for (i = 0; i < g->n; i++)
		if (!parity_world_tell(&g->world[i], proc, o))
			has_ended(g, i);
	for (i = 0; i < g->n && !g->diff.found; i++)
		if (!parity_world_hear(&g->world[i], proc, &r[i]))
			has_ended(g, i);
	return !g->diff.found;
}

static bool same(const struct parity_record *a, const struct parity_record *b)
{
	return a->state == b->state && a->ret == b->ret && a->err == b->err &&
	       a->hash == b->hash && !memcmp(a->out, b->out, sizeof(a->out));
}

/* Reads of as many bytes have brought others. */
static bool wrong_bytes(const struct parity_step *s,
			const struct parity_record *a,
			const struct parity_record *b)
{
	return s && parity_model_reads(s) && a->state == PARITY_DONE &&
	       b->state == PARITY_DONE && a->ret > 0 && a->ret == b->ret &&
	       a->hash != b->hash;
}

/* @s is NULL for an observation. */
static void compare(struct parity_stage *g, const struct parity_step *s,
		    const char *what, records r)
{
	for (unsigned i = 1; i < g->n; i++) {
		if (same(&r[0], &r[i]))
			continue;
		if (g->world[i].words && s && parity_permits(s, &r[0], &r[i]))
			g->counts->permitted++;
		else
			differs(g, i, what, &r[0], &r[i]);
		if (g->diff.found && g->diff.world == i)
			g->diff.certain |= wrong_bytes(s, &r[0], &r[i]);
	}
	if (g->trace)
		for (unsigned i = 0; i < g->n; i++)
			parity_record_print(g->world[i].name, &r[i]);
}

/* ---- coming to rest ---------------------------------------------------- */

static void judge_path(struct parity_stage *g, struct parity_end *e,
		       unsigned slot, const records r, bool wrote)
{
	uint64_t *before = NULL;
	unsigned i = g->n - 1;

	if (!g->world[i].words)
		return;
	before = &g->world[i].tcp_bytes[e->proc][slot];
	if (wrote && !parity_model_swallows(&g->model, e))
		e->on_tux = r[i].tcp_bytes == *before;
	*before = r[i].tcp_bytes;
}

/* When the call that waits for more bytes takes those that are there is open. */
static void hide_unread(struct parity_record *r)
{
	r->out[0] = 0;
	r->out[1] &= ~(uint32_t)POLLIN;
}

static bool agree(const struct parity_stage *g, const records r)
{
	for (unsigned i = 1; i < g->n; i++)
		if (!same(&r[0], &r[i]))
			return false;
	return true;
}

/* What all worlds show in the end: a machine that stands still shows some of it
 * late.  @swallows: a call takes what there is to read. */
static bool look(struct parity_stage *g, unsigned proc, struct parity_order *o,
		 bool swallows, records r)
{
	o->ms = SHOWS_MS;
	for (unsigned tries = 0; tries < LOOKS; tries++) {
		if (!all(g, proc, o, r))
			return false;
		for (unsigned i = 0; swallows && i < g->n; i++)
			hide_unread(&r[i]);
		if (agree(g, r))
			break;
		o->ms = 0;
		usleep(LOOK_US);
	}
	return true;
}

/* A call that blocks has taken what has come for it. */
static void swallow(struct parity_stage *g, struct parity_end *e)
{
	const struct parity_blocked *b = parity_model_swallows(&g->model, e);
	int slot = parity_model_slot(&g->model, e);
	struct parity_order o;
	records r;

	if (!b || slot < 0 || !e->pending || g->diff.found)
		return;
	o = order(PARITY_SWALLOW, &b->step);
	o.step.slot = (uint8_t)slot;
	o.bytes = e->pending;
	if (look(g, e->proc, &o, false, r))
		compare(g, NULL, "what a call that blocks has taken", r);
}

/* @wrote: bytes have been written to it. */
static void observe(struct parity_stage *g, struct parity_end *e, bool wrote)
{
	bool swallows = parity_model_swallows(&g->model, e);
	int slot = parity_model_slot(&g->model, e);
	struct parity_order o = order(PARITY_OBSERVE, NULL);
	char what[64];
	records r;

	if (slot < 0 || g->diff.found)
		return;
	o.step.slot = (uint8_t)slot;
	o.bytes = swallows ? 0 : e->pending;
	o.events = (e->fin ? POLLRDHUP : 0) | (e->reset ? POLLHUP : 0);
	if (!look(g, e->proc, &o, swallows, r))
		return;
	if (g->trace && (r[0].out[0] < o.bytes ||
			 (r[0].out[1] & o.events) != o.events))
		printf("    waited in vain for %u bytes, events %#x\n", o.bytes,
		       o.events);
	snprintf(what, sizeof(what), "what process %c sees of slot %d",
		 'A' + (int)e->proc, slot);
	if (g->trace)
		printf("   %s\n", what);
	compare(g, NULL, what, r);
	judge_path(g, e, (unsigned)slot, r, wrote);
	if (!swallows)
		e->pending = r[0].out[0];
}

/* A call that still blocks in one world, as it should, must not have returned
 * in another. */
static void look_at_blocked(struct parity_stage *g, struct parity_blocked *b)
{
	struct parity_order o = order(PARITY_AWAIT, &b->step);
	unsigned proc = b->step.proc;
	records r;

	if (!parity_model_releases(&g->model, proc, b->step.worker))
		o.ms = 0;
	if (!all(g, proc, &o, r))
		return;
	if (g->trace && o.ms)
		parity_step_print(&b->step);
	if (!o.ms && r[0].state == PARITY_BLOCKS) {
		compare(g, &b->step, "a call that blocks", r);
		return;
	}
	for (unsigned i = 0; i < g->n; i++) {
		if (r[i].state == PARITY_DONE)
			continue;
		o.ms = RETURNS_MS;
		if (!parity_world_tell(&g->world[i], proc, &o) ||
		    !parity_world_hear(&g->world[i], proc, &r[i]))
			has_ended(g, i);
	}
	compare(g, &b->step, "a call that has blocked", r);
	if (r[0].state == PARITY_DONE && !g->diff.found)
		parity_model_apply(&g->model, &b->step, &r[0]);
}

static void look_at_all_blocked(struct parity_stage *g)
{
	for (unsigned i = 0; i < PARITY_PROCS * PARITY_WORKERS; i++) {
		struct parity_blocked *b = &g->model.blocked
			[i / PARITY_WORKERS][i % PARITY_WORKERS];

		if (b->busy && !g->diff.found)
			look_at_blocked(g, b);
	}
}

static void rest(struct parity_stage *g, struct parity_end *e, bool wrote)
{
	struct parity_end *peer = e ? &g->model.end[e->peer] : NULL;

	look_at_all_blocked(g);
	if (!e)
		return;
	swallow(g, e);
	swallow(g, peer);
	observe(g, e, false);
	observe(g, peer, wrote);
}

/* ---- the upgrade ------------------------------------------------------- */

static bool send_one(struct parity_world *w, unsigned proc,
		     const struct parity_order *o, struct parity_record *r)
{
	return parity_world_tell(w, proc, o) && parity_world_hear(w, proc, r);
}

/* A few bytes from @from to @to, which have to arrive in one piece; did they
 * travel over Tux?  -1: they did not come so. */
static int exchange(struct parity_stage *g, struct parity_world *w,
		    const struct parity_end *from, const struct parity_end *to)
{
	struct parity_order o = order(PARITY_POKE, NULL);
	int here = parity_model_slot(&g->model, from);
	int there = parity_model_slot(&g->model, to);
	uint64_t *before = &w->tcp_bytes[to->proc][there];
	struct parity_record r;
	bool moved;

	o.step.slot = (uint8_t)here;
	if (!send_one(w, from->proc, &o, &r) || r.ret != PARITY_POKED)
		return -1;
	o.op = PARITY_OBSERVE;
	o.bytes = 1;
	o.step.slot = (uint8_t)there;
	if (!send_one(w, to->proc, &o, &r))
		return -1;
	moved = r.tcp_bytes == *before;
	*before = r.tcp_bytes;
	o.op = PARITY_GULP;
	return send_one(w, to->proc, &o, &r) && r.ret == PARITY_POKED ? moved :
									-1;
}

static bool upgrade_in(struct parity_stage *g, unsigned i, struct parity_end *e)
{
	struct parity_world *w = &g->world[i];
	struct parity_end *p = &g->model.end[e->peer];

	for (int round = 0; round < ROUNDS; round++) {
		int there = exchange(g, w, e, p), back;

		back = there < 0 ? -1 : exchange(g, w, p, e);
		if (back < 0) {
			differs(g, i, "a few bytes do not arrive, or in pieces", NULL, NULL);
			return false;
		}
		if (!w->words)
			return true;
		e->on_tux = back;
		p->on_tux = there;
		if (there && back)
			return true;
		if (round > FAST_ROUNDS)
			usleep(1000);
	}
	g->counts->not_upgraded++;
	return false;
}

static void upgrade(struct parity_stage *g, struct parity_end *e)
{
	for (unsigned i = 0; i < g->n && !g->diff.found; i++)
		if (upgrade_in(g, i, e) && g->world[i].words)
			g->counts->upgrades++;
	rest(g, e, false);
}

/* ---- steps ------------------------------------------------------------- */

static void count(struct parity_stage *g, const struct parity_step *s,
		  const struct parity_end *e, const struct parity_record *r)
{
	struct parity_counts *c = g->counts;

	c->calls++;
	c->kind[s->kind]++;
	c->blocked += r->state == PARITY_BLOCKS;
	if (r->err > 0 && r->err < PARITY_ERRNOS)
		c->err[r->err]++;
	if (e && e->on_tux && g->model.end[e->peer].on_tux)
		c->on_tux++;
}

/* The other process's listener in each world, else a port that is closed. */
static bool call_connect(struct parity_stage *g, struct parity_order *o,
			 records r)
{
	struct parity_order ask = order(PARITY_PORT, NULL);
	unsigned proc = o->step.proc, i;
	records port;

	if (!all(g, 1 - proc, &ask, port))
		return false;
	for (i = 0; i < g->n; i++) {
		o->port = port[i].ret > 0 ? (uint16_t)port[i].ret : 1;
		if (!parity_world_tell(&g->world[i], proc, o))
			has_ended(g, i);
	}
	for (i = 0; i < g->n && !g->diff.found; i++)
		if (!parity_world_hear(&g->world[i], proc, &r[i]))
			has_ended(g, i);
	return !g->diff.found;
}

static bool make_call(struct parity_stage *g, const struct parity_step *s,
		      records r)
{
	struct parity_order o = order(PARITY_CALL, s);

	if (s->kind == PARITY_signal)
		o.op = PARITY_KILL;
	else if (parity_model_blocks(&g->model, s))
		o.ms = BLOCKS_MS;
	if (s->kind == PARITY_connect)
		return call_connect(g, &o, r);
	return all(g, s->proc, &o, r);
}

static void step(struct parity_stage *g, const struct parity_step *s)
{
	struct parity_end *e = parity_model_end(&g->model, s->proc, s->slot);
	struct parity_end *other = parity_model_end(&g->model, s->proc,
						    s->other);
	bool wrote = parity_model_writes(s);
	records r;

	if (!parity_model_permits(&g->model, s))
		return;
	if (g->trace)
		parity_step_print(s);
	if (s->kind == PARITY_upgrade) {
		g->counts->kind[s->kind]++;
		upgrade(g, e);
		return;
	}
	if (!make_call(g, s, r))
		return;
	compare(g, s, "the call", r);
	if (g->diff.found)
		return;
	count(g, s, e, &r[0]);
	if (r[0].state == PARITY_BLOCKS)
		parity_model_block(&g->model, s);
	else
		parity_model_apply(&g->model, s, &r[0]);
	if (!e)
		e = parity_model_end(&g->model, s->proc, s->slot);
	rest(g, e, wrote && r[0].ret > 0);
	if (s->kind == PARITY_dup2 && other && other != e)
		rest(g, other, false);
}

static void everywhere(struct parity_stage *g, enum parity_op op)
{
	struct parity_order o = order(op, NULL);
	records r;

	for (unsigned p = 0; p < PARITY_PROCS && !g->diff.found; p++)
		if (all(g, p, &o, r))
			compare(g, NULL, op == PARITY_END ?
				"the end of calls that block" : "begin", r);
}

bool parity_play(struct parity_stage *g, const struct parity_script *s)
{
	unsigned i;

	memset(&g->diff, 0, sizeof(g->diff));
	parity_model_init(&g->model);
	for (i = 0; i < g->n; i++)
		parity_world_start(&g->world[i]);
	everywhere(g, PARITY_BEGIN);
	for (i = 0; i < s->n && !g->diff.found; i++) {
		g->diff.at = i;
		step(g, &s->step[i]);
	}
	everywhere(g, PARITY_END);
	if (g->diff.found)
		for (i = 0; i < g->n; i++)
			parity_world_stop(&g->world[i]);
	return !g->diff.found;
}
