/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * world - what comes of it
 *
 * Whatever happens, each byte that is read is the right one, an end or an error
 * comes only when it is due, nothing is stuck and nothing leaks; and where
 * nobody dies, aborts or leaves early, every byte and every message arrives.
 */
#include <assert.h>
#include <stdlib.h>

#include "fault.h"
#include "life.h"
#include "preset.h"
#include "transport/cc.h"

/* ---- the network ---- */

static void set_host(struct sim *s, const uint64_t *v)
{
	struct sim_host *h = sim_add_host(s);
	uint64_t before = v[SIM_HOST_LOOP];

	h->wake = v[SIM_HOST_WAKE];
	if (before && before <= h->i)
		sim_same_host(h, h - before);
}

static void set_link(struct sim *s, const uint64_t *v)
{
	struct sim_link *l = &s->link[v[SIM_LINK_FROM]][v[SIM_LINK_TO]];

	l->delay = v[SIM_LINK_DELAY];
	l->jitter = v[SIM_LINK_JITTER];
	l->fifo = v[SIM_LINK_FIFO];
	l->loss = (uint32_t)v[SIM_LINK_LOSS];
	l->twice = (uint32_t)v[SIM_LINK_TWICE];
	l->late = v[SIM_LINK_LATE];
	l->flip = (uint32_t)v[SIM_LINK_FLIP];
	l->ce = (uint32_t)v[SIM_LINK_CE];
	l->bleach = v[SIM_LINK_BLEACH];
	l->invent = v[SIM_LINK_INVENT];
	if (!v[SIM_LINK_RATE])
		return;
	l->neck = sim_add_neck(s, v[SIM_LINK_RATE], v[SIM_LINK_QUEUE]);
	l->neck->places = (unsigned)v[SIM_LINK_PLACES];
	l->neck->mark = v[SIM_LINK_MARK];
}

/* ---- programs ---- */

static void set_plan(struct sim_life *life, const struct sim_item *it)
{
	const uint64_t *v = it->v;
	struct sim_end *e = sim_life_end(life, it, SIM_PLAN_CONN,
					 SIM_PLAN_SIDE);
	struct sim_plan *p;

	if (!e)
		return;
	p = &e->plan;
	p->role = (enum sim_role)(v[SIM_PLAN_ROLE] % 4);
	p->req = (uint32_t)v[SIM_PLAN_REQ] + !v[SIM_PLAN_REQ];
	p->resp = (uint32_t)v[SIM_PLAN_RESP] + !v[SIM_PLAN_RESP];
	p->rounds = (uint32_t)v[SIM_PLAN_ROUNDS];
	p->wmax = (uint32_t)v[SIM_PLAN_WMAX] + !v[SIM_PLAN_WMAX];
	p->rmax = (uint32_t)v[SIM_PLAN_RMAX] + !v[SIM_PLAN_RMAX];
	p->vary = v[SIM_PLAN_VARY];
	p->claim = v[SIM_PLAN_CLAIM];
	p->think = v[SIM_PLAN_THINK];
	p->no_fd = v[SIM_PLAN_NO_FD];
	p->plain = v[SIM_PLAN_PLAIN];
	p->deaf = v[SIM_PLAN_DEAF];
	p->choose = v[SIM_PLAN_AUTO];
	p->keep = (unsigned)(v[SIM_PLAN_KEEP] % SIM_KEEP);
	p->hold = (uint32_t)v[SIM_PLAN_HOLD];
	p->mimic = (uint32_t)v[SIM_PLAN_MIMIC];
}

static void do_write(struct sim *s, void *arg, uint64_t n, uint64_t m)
{
	struct sim_life *life = arg;
	const struct sim_item *it = &life->w->item[n];
	struct sim_end *e = sim_life_end(life, it, SIM_WRITE_CONN,
					 SIM_WRITE_SIDE);

	(void)s, (void)m;
	if (!e)
		return;
	sim_write(e, it->v[SIM_WRITE_LEN]);
}

static void do_finish(struct sim *s, void *arg, uint64_t n, uint64_t side)
{
	struct sim_life *life = arg;

	(void)s;
	if (life->conn[n])
		sim_finish(&life->conn[n]->end[side]);
}

static_assert((int)SIM_MAIL_CONN == SIM_WRITE_CONN &&
	      (int)SIM_MAIL_SIDE == SIM_WRITE_SIDE &&
	      (int)SIM_MAIL_AT == SIM_WRITE_AT, "last_word() reads both alike");

/* Behind its last write or message an end shuts down; with none, as it
 * begins. */
static tux_time last_word(const struct sim_world *w, unsigned conn,
			   unsigned side, tux_time begun)
{
	tux_time last = begun;
	unsigned i;

	for (i = 0; i < w->n; i++) {
		const struct sim_item *it = &w->item[i];
		const uint64_t *v = it->v;

		if ((it->kind == SIM_WRITE || it->kind == SIM_MAIL) &&
		    v[SIM_WRITE_CONN] == conn && v[SIM_WRITE_SIDE] == side &&
		    v[SIM_WRITE_AT] > last)
			last = v[SIM_WRITE_AT];
	}
	return last;
}

static void do_mail(struct sim *s, void *arg, uint64_t n, uint64_t m)
{
	struct sim_life *life = arg;
	const struct sim_item *it = &life->w->item[n];
	struct sim_end *e = sim_life_end(life, it, SIM_MAIL_CONN,
					 SIM_MAIL_SIDE);
	uint64_t back = it->v[SIM_MAIL_BACK];
	unsigned i;

	(void)s, (void)m;
	if (!e || e->closed || e->shut || e->host->dead)
		return;
	i = sim_send(e, (uint32_t)it->v[SIM_MAIL_LEN],
		     it->v[SIM_MAIL_ORDER] ? TUX_MSG_ORDERED : 0);
	/* One of a byte, or of none, is not to be told from others. */
	if (back && back - 1 <= i && e->msg[i - (back - 1)].len > 1)
		sim_cancel(e, i - (unsigned)(back - 1));
}

/* ---- connections ---- */

static void set_conn(struct sim_life *life, struct sim_conn *k,
		     const uint64_t *v)
{
	struct sim_conn *after = v[SIM_CONN_AFTER] ?
				 life->conn[v[SIM_CONN_AFTER] - 1] : NULL;

	if (after)
		k->tuple = after->tuple;
	k->tuple.active.ip[SIM_ALIAS] = (uint8_t)v[SIM_CONN_ALIAS];
	k->tuple.passive.ip[SIM_ALIAS] = (uint8_t)v[SIM_CONN_ALIAS];
	k->tcp.delay = v[SIM_CONN_DELAY];
	k->tcp.sndbuf = (uint32_t)v[SIM_CONN_SNDBUF];
	k->tcp.rcvbuf = (uint32_t)v[SIM_CONN_RCVBUF];
	k->tcp.mss = (uint32_t)v[SIM_CONN_MSS];
	k->tcp.cut = v[SIM_CONN_CUT];
	k->tcp.scant = (uint32_t)v[SIM_CONN_SHORT];
	k->ring = (uint32_t)v[SIM_CONN_RING];
	k->mtu = (uint32_t)v[SIM_CONN_MTU];
	k->small = (uint32_t)v[SIM_CONN_SMALL];
	k->bulk = (uint32_t)v[SIM_CONN_BULK];
	if (!k->small || !k->bulk)
		k->small = k->bulk = 0;
	/* Who has to wait for the ports may have said something before there
	 * is a connection to preset. */
	if (v[SIM_CONN_OLD] && !after)
		k->end[0].plan.preset = k->end[1].plan.preset = sim_near_all;
}

/* Somebody speaks first, and both know how long requests are. */
static void settle_roles(struct sim_end *e)
{
	struct sim_plan *p = &e->plan, *q = &e->peer->plan;
	bool talk = p->role == SIM_CLIENT && q->role == SIM_SERVER;

	if (talk) {
		q->req = p->req;
		q->resp = p->resp;
	} else if (p->role == SIM_CLIENT ||
		   (p->role != SIM_BULK && q->role != SIM_BULK && !e->side &&
		    q->role != SIM_CLIENT)) {
		p->role = SIM_BULK;
	}
}

static void do_connect(struct sim *s, void *arg, uint64_t n, uint64_t number)
{
	struct sim_life *life = arg;
	const uint64_t *v = life->w->item[n].v;
	struct sim_host *a = &s->host[v[SIM_CONN_A]];
	struct sim_host *b = &s->host[v[SIM_CONN_B]];
	unsigned i;

	if (a->dead || b->dead || a == b)
		return;			/* refused */
	life->conn[number] = sim_connect(a, b);
	set_conn(life, life->conn[number], v);
	for (i = 0; i < life->w->n; i++) {
		const struct sim_item *it = &life->w->item[i];

		if (it->kind == SIM_PLAN && it->v[SIM_PLAN_CONN] == number)
			set_plan(life, it);
		else if (it->kind == SIM_FAULT &&
			 it->v[SIM_FAULT_CONN] == number &&
			 sim_fault_is_foul(it->v[SIM_FAULT_WHAT]))
			life->conn[number]->foul_side =
				it->v[SIM_FAULT_SIDE] & 1;
	}
	settle_roles(&life->conn[number]->end[0]);
	settle_roles(&life->conn[number]->end[1]);
}

static void plan_conn(struct sim_life *life, unsigned i, unsigned conn)
{
	tux_time at = life->w->item[i].v[SIM_CONN_AT];
	unsigned side;

	sim_at(life->s, at, do_connect, life, i, conn);
	for (side = 0; side < 2; side++)
		sim_at(life->s, last_word(life->w, conn, side, at), do_finish,
		       life, conn, side);
}

/* ---- all of it ---- */

/* When the last connection is there. */
static tux_time build(struct sim_life *life)
{
	struct sim *s = life->s;
	tux_time last = 0;
	unsigned i, conns = 0;

	for (i = 0; i < life->w->n; i++) {
		const struct sim_item *it = &life->w->item[i];
		const uint64_t *v = it->v;

		switch (it->kind) {
		case SIM_HOST:
			set_host(s, v);
			break;
		case SIM_LINK:
			set_link(s, v);
			break;
		case SIM_CONN:
			plan_conn(life, i, conns++);
			if (last < v[SIM_CONN_AT])
				last = v[SIM_CONN_AT];
			break;
		case SIM_WRITE:
			sim_at(s, v[SIM_WRITE_AT], do_write, life, i, 0);
			break;
		case SIM_MAIL:
			sim_at(s, v[SIM_MAIL_AT], do_mail, life, i, 0);
			break;
		case SIM_FAULT:
			sim_fault_plan(life, i);
			break;
		default:
			break;
		}
	}
	return last;
}

/* Where nobody did, all must have arrived. */
static bool left_early(const struct sim_end *e)
{
	return e->host->dead || e->aborted ||
	       (e->closed && !(e->shut && e->eof) && !e->rerr && !e->werr);
}

/* In a switched direction each message comes, or its sender is told. */
static void check_mail(struct sim_end *e)
{
	const struct sim_end *peer = e->peer;

	sim_check_mail(e, e->was_tx && !left_early(e) && !left_early(peer) &&
		       !e->rawed && !peer->rawed);
}

static void check_end(struct sim *s, struct sim_end *e)
{
	if (left_early(e) || left_early(e->peer))
		return;
	if (!e->eof || e->got != e->peer->sent || e->sent != e->goal)
		sim_fail(s, "%c%u: got %llu of %llu, sent %llu of %llu, error "
			 "%d", e->host->name, e->conn->i,
			 (unsigned long long)e->got,
			 (unsigned long long)e->peer->sent,
			 (unsigned long long)e->sent,
			 (unsigned long long)e->goal,
			 e->rerr ? e->rerr : e->werr);
}

static void check_all(struct sim *s)
{
	unsigned i;

	for (i = 0; i < 2 * s->conn_n; i++) {
		struct sim_end *e = &s->conn[i / 2]->end[i % 2];

		if (e->conn->foul)
			continue;
		check_end(s, e);
		check_mail(e);
	}
	for (i = 0; i < s->host_n; i++) {
		if (s->host[i].core &&
		    tux_core_deadline(s->host[i].core) != TUX_NEVER)
			sim_fail(s, "%c waits for nothing", s->host[i].name);
	}
}

void sim_world_run(const struct sim_world *w, enum sim_tell tell,
		   struct sim_seen *seen, struct sim_ran *ran)
{
	const uint64_t *v = w->item[0].v;
	struct sim *s = sim_new(v[SIM_NET_SEED], v[SIM_NET_V6]);
	struct sim_life *life = calloc(1, sizeof(*life));
	tux_time last;

	life->s = s;
	life->w = w;
	s->loud = tell == SIM_TELL_TRACE;
	s->mute = !s->loud;
	s->wire_lines = tell == SIM_TELL_WIRE;
	s->no_digest = tell != SIM_TELL_DIGEST && !s->wire_lines;
	s->seen = seen;
	s->announced = v[SIM_NET_PORTS];
	s->own = s->wire_lines ? 0 : v[SIM_NET_OWN];
	s->cc = v[SIM_NET_NEWRENO] ? &tux_cc_newreno : NULL;
	last = build(life);
	sim_attack_watch(life);
	sim_run(s, last);
	sim_run_out(s, last + TUX_SEC(v[SIM_NET_BOUND]));
	if (!s->failed)
		check_all(s);
	if (seen)
		sim_seen_all(s);
	ran->packets = s->packets;
	ran->chunks = s->chunks;
	ran->held = sim_free(s, &ran->digest);
	sim_attack_fini(life);
	free(life);
}
