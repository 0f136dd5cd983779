/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * world - what a seed makes
 */
#include "draw.h"
#include "fault.h"

enum {
	MOST = 400000,		/* bytes in one direction */
	LETTERS = 120,		/* messages of an end */
};
/* ---- the network ---- */

static void draw_link(struct sim_draw *d, unsigned from, unsigned to)
{
	uint64_t *v = sim_world_add(d->w, SIM_LINK)->v;

	v[SIM_LINK_FROM] = from;
	v[SIM_LINK_TO] = to;
	v[SIM_LINK_DELAY] = scale(d, TUX_USEC(10), TUX_MSEC(50));
	if (rarely(d, 2))
		v[SIM_LINK_JITTER] = below(d, 2 * v[SIM_LINK_DELAY]);
	v[SIM_LINK_FIFO] = rarely(d, 6);
	v[SIM_LINK_LOSS] = part(d, 2, 300000);
	v[SIM_LINK_TWICE] = part(d, 4, 200000);
	if (rarely(d, 4))
		v[SIM_LINK_LATE] = below(d, TUX_SEC(3));
	v[SIM_LINK_FLIP] = part(d, 4, 100000);
	if (rarely(d, 4)) {
		v[SIM_LINK_RATE] = scale(d, 200000, 1000000000);
		v[SIM_LINK_QUEUE] = scale(d, TUX_MSEC(1), TUX_MSEC(200));
		if (rarely(d, 2))
			v[SIM_LINK_MARK] = v[SIM_LINK_QUEUE] / 8;
		if (rarely(d, 4))
			v[SIM_LINK_PLACES] = 2 + below(d, 100);
	}
	v[SIM_LINK_CE] = part(d, 8, 1000000);
	if (rarely(d, 32))
		v[SIM_LINK_CE] = 1000000;
	v[SIM_LINK_BLEACH] = rarely(d, 8);
	v[SIM_LINK_INVENT] = rarely(d, 16);
}

/* What is said takes longer where much is lost, or the way is long. */
static void draw_net(struct sim_draw *d)
{
	unsigned i;

	d->hosts = 2 + (unsigned)below(d, 3);
	for (i = 0; i < d->hosts; i++) {
		uint64_t *v = sim_world_add(d->w, SIM_HOST)->v;

		v[SIM_HOST_WAKE] = below(d, TUX_USEC(50));
		if (i && rarely(d, 4))
			v[SIM_HOST_LOOP] = 1 + below(d, i);
	}
	for (i = 0; i < d->hosts * d->hosts; i++) {
		if (i / d->hosts != i % d->hosts)
			draw_link(d, i / d->hosts, i % d->hosts);
	}
}

/* ---- programs ---- */

static uint64_t *draw_plan(struct sim_draw *d, unsigned conn, unsigned side)
{
	uint64_t *v = sim_world_add(d->w, SIM_PLAN)->v;

	v[SIM_PLAN_CONN] = conn;
	v[SIM_PLAN_SIDE] = side;
	v[SIM_PLAN_VARY] = below(d, 4) != 0;
	v[SIM_PLAN_WMAX] = scale(d, 200, 65536);
	v[SIM_PLAN_RMAX] = scale(d, 200, 65536);
	if (rarely(d, 2))
		v[SIM_PLAN_THINK] = scale(d, TUX_USEC(1), TUX_MSEC(2));
	if (rarely(d, 2))
		v[SIM_PLAN_CLAIM] = below(d, TUX_MSEC(20));
	if (rarely(d, 4))
		v[SIM_PLAN_HOLD] = scale(d, 2000, 200000);
	if (rarely(d, 2))
		v[SIM_PLAN_MIMIC] = 1000000;
	v[SIM_PLAN_PLAIN] = rarely(d, 20);
	v[SIM_PLAN_NO_FD] = rarely(d, 50);
	/* Only a connection without messages can become plain again. */
	v[SIM_PLAN_AUTO] = rarely(d, 4);
	v[SIM_PLAN_DEAF] = v[SIM_PLAN_AUTO] || rarely(d, 16);
	if (rarely(d, 4))
		v[SIM_PLAN_KEEP] = 1 + below(d, SIM_KEEP - 1);
	return v;
}

static void draw_write(struct sim_draw *d, unsigned conn, unsigned side,
		       tux_time at, uint64_t len)
{
	uint64_t *v = sim_world_add(d->w, SIM_WRITE)->v;

	v[SIM_WRITE_CONN] = conn;
	v[SIM_WRITE_SIDE] = side;
	v[SIM_WRITE_AT] = at;
	v[SIM_WRITE_LEN] = len;
}

/* Writes @total bytes in some lots, soon, or now and then all the time. */
static void draw_bulk(struct sim_draw *d, unsigned conn, unsigned side,
		      uint64_t total, tux_time at)
{
	uint64_t i, n, lots = scale(d, 2, 40);

	if (rarely(d, 2)) {
		for (i = 0; i < lots; i++) {
			at += below(d, 2 * d->span / lots);
			draw_write(d, conn, side, at, total / lots + 1);
		}
		return;
	}
	while (total) {
		n = below(d, 3) ? 1 + below(d, total) : total;
		if (below(d, 4))
			at += scale(d, TUX_USEC(50), d->span / 2);
		total -= n;
		draw_write(d, conn, side, at, n);
	}
}

/* How long a program may think before each read and write, so that all @rounds fit into
 * the world's time. */
static tux_time most_thought(const struct sim_draw *d, const uint64_t *v,
			     uint64_t rounds)
{
	uint64_t least = v[SIM_PLAN_WMAX] < v[SIM_PLAN_RMAX] ?
			 v[SIM_PLAN_WMAX] : v[SIM_PLAN_RMAX];
	uint64_t calls = 2 + 2 * (v[SIM_PLAN_REQ] + v[SIM_PLAN_RESP]) / least;

	return 1 + d->span / (rounds * calls);
}

static void draw_talk(struct sim_draw *d, unsigned conn, unsigned side)
{
	uint64_t req = scale(d, 1, 20000), resp = scale(d, 1, 20000);
	uint64_t rounds = scale(d, 1, 300) * d->size;
	unsigned i;

	if (rounds > 1 + d->size * MOST / (req + resp))
		rounds = 1 + d->size * MOST / (req + resp);
	for (i = 0; i < 2; i++) {
		uint64_t *v = draw_plan(d, conn, side ^ i);

		v[SIM_PLAN_ROLE] = i ? SIM_SERVER : SIM_CLIENT;
		v[SIM_PLAN_REQ] = req;
		v[SIM_PLAN_RESP] = resp;
		v[SIM_PLAN_ROUNDS] = rounds;
		if (rarely(d, 2))
			v[SIM_PLAN_THINK] = scale(d, 1, d->span / rounds);
		/* Last, so that other draws of a seed stay as they are. */
		if (v[SIM_PLAN_THINK] > most_thought(d, v, rounds))
			v[SIM_PLAN_THINK] = most_thought(d, v, rounds);
	}
}

static void draw_work(struct sim_draw *d, unsigned conn, tux_time at)
{
	unsigned a = (unsigned)below(d, 2);
	uint64_t most = MOST * d->size;
	uint64_t total = scale(d, rarely(d, 2) ? 1 : 10000, most);

	switch (below(d, 3)) {
	case 0:
		draw_talk(d, conn, a);
		break;
	case 1:
		draw_plan(d, conn, a);
		draw_plan(d, conn, !a)[SIM_PLAN_ROLE] = SIM_ECHO;
		draw_bulk(d, conn, a, total, at);
		break;
	default:
		draw_plan(d, conn, a);
		draw_plan(d, conn, !a);
		draw_bulk(d, conn, a, total, at);
		if (below(d, 4))	/* else it only listens */
			draw_bulk(d, conn, !a, scale(d, 1, most), at);
		break;
	}
}

/* ---- messages ---- */

static uint64_t letter(struct sim_draw *d, uint64_t bulk)
{
	if (rarely(d, 20))
		return below(d, 4);
	return below(d, 8) ? 4 + scale(d, 1, 3000) :
	       scale(d, 10000, bulk / 2);
}

static void draw_mail(struct sim_draw *d, unsigned conn, unsigned side,
		      uint64_t bulk, tux_time at)
{
	uint64_t i, n = scale(d, 1, LETTERS * d->size), left = MOST * d->size;
	bool burst = rarely(d, 3);

	for (i = 0; i < n; i++) {
		uint64_t len = letter(d, bulk);
		uint64_t *v;

		if (len > left)
			break;
		left -= len;
		if (!burst && below(d, 3))
			at += scale(d, TUX_USEC(10), TUX_MSEC(1) + d->span / n);
		v = sim_world_add(d->w, SIM_MAIL)->v;
		v[SIM_MAIL_CONN] = conn;
		v[SIM_MAIL_SIDE] = side;
		v[SIM_MAIL_AT] = at;
		v[SIM_MAIL_LEN] = len;
		v[SIM_MAIL_ORDER] = below(d, 2);
		v[SIM_MAIL_BACK] = rarely(d, 8) ? 1 + below(d, 4) : 0;
	}
}

/* ---- connections ---- */

static uint64_t *draw_tcp(struct sim_draw *d, unsigned a, unsigned b)
{
	uint64_t *v = sim_world_add(d->w, SIM_CONN)->v;

	d->conns++;
	v[SIM_CONN_A] = a;
	v[SIM_CONN_B] = b;
	v[SIM_CONN_ALIAS] = rarely(d, 8) ? below(d, 3) : 0;
	v[SIM_CONN_DELAY] = scale(d, TUX_USEC(10), TUX_MSEC(50));
	v[SIM_CONN_SNDBUF] = scale(d, 2048, 131072);
	v[SIM_CONN_RCVBUF] = scale(d, 2048, 131072);
	v[SIM_CONN_MSS] = scale(d, 100, 9000);
	v[SIM_CONN_CUT] = below(d, 2);
	v[SIM_CONN_SHORT] = part(d, 4, 500000);
	v[SIM_CONN_RING] = UINT64_C(4096) << below(d, 6);
	v[SIM_CONN_MTU] = scale(d, 600, 9000);
	v[SIM_CONN_OLD] = below(d, 2);
	return v;
}

void sim_draw_conn(struct sim_draw *d, unsigned a, unsigned b, unsigned after,
		      tux_time at)
{
	unsigned i, conn = d->conns;
	uint64_t *v = draw_tcp(d, a, b), bulk = 0;

	v[SIM_CONN_AT] = at;
	v[SIM_CONN_AFTER] = after;
	if (rarely(d, 2)) {
		v[SIM_CONN_SMALL] = UINT64_C(65536) << below(d, 3);
		v[SIM_CONN_BULK] = bulk = UINT64_C(65536) << below(d, 4);
	}
	draw_work(d, conn, at);
	for (i = 0; bulk && i < 2; i++) {
		if (rarely(d, 3))
			draw_mail(d, conn, i, bulk, at);
	}
}

static void draw_path_fault(struct sim_draw *d, enum sim_fault what,
			    unsigned conn, tux_time at)
{
	uint64_t *v = sim_world_add(d->w, SIM_FAULT)->v;

	v[SIM_FAULT_WHAT] = what;
	v[SIM_FAULT_CONN] = conn;
	v[SIM_FAULT_AT] = at;
	v[SIM_FAULT_FOR] = TUX_SEC(10);
}

/* One end has many messages, the other only listens, so that its direction
 * never moves; and the way goes while messages wait for room. */
static void draw_one_sided(struct sim_draw *d, unsigned a, unsigned b)
{
	unsigned i, conn = d->conns;
	uint64_t *v = draw_tcp(d, a, b);
	tux_time at = scale(d, TUX_MSEC(1), TUX_MSEC(300));

	v[SIM_CONN_SMALL] = v[SIM_CONN_BULK] = 65536;
	draw_write(d, conn, 0, 0, 1 + below(d, 5000));
	for (i = 0; i < 150; i++) {
		v = sim_world_add(d->w, SIM_MAIL)->v;
		v[SIM_MAIL_CONN] = conn;
		v[SIM_MAIL_AT] = below(d, at);
		v[SIM_MAIL_LEN] = 4 + below(d, 3000);
		v[SIM_MAIL_ORDER] = below(d, 2);
	}
	draw_path_fault(d, SIM_PART, conn, at);
	draw_path_fault(d, SIM_STALL, conn, at);
}

static void draw_conns(struct sim_draw *d)
{
	unsigned i, n = (unsigned)scale(d, 1, 6);

	for (i = 0; i < n; i++) {
		unsigned a = (unsigned)below(d, d->hosts);
		unsigned b = (a + 1 + (unsigned)below(d, d->hosts - 1)) %
			     d->hosts;

		if (rarely(d, 24))
			draw_one_sided(d, a, b);
		else
			sim_draw_conn(d, a, b, 0, 0);
	}
}

void sim_world_draw(struct sim_world *w, uint64_t seed, unsigned size)
{
	struct sim_draw d = { .w = w, .rng = seed, .size = size };
	uint64_t *v = sim_world_add(w, SIM_NET)->v;
	uint64_t own = seed;		/* of its own: see --digest */
	unsigned i;

	if (sim_mix(&own) % 4 == 0)
		v[SIM_NET_OWN] = 1 + sim_mix(&own) % TUX_SEC(1);
	if (rarely(&d, 16))
		d.size *= 8;
	d.span = scale(&d, TUX_MSEC(20), TUX_SEC(10));
	v[SIM_NET_SEED] = sim_mix(&d.rng);
	v[SIM_NET_V6] = seed % 2;
	v[SIM_NET_PORTS] = rarely(&d, 4);
	v[SIM_NET_NEWRENO] = rarely(&d, 8);
	v[SIM_NET_BOUND] *= d.size;
	draw_net(&d);
	draw_conns(&d);
	for (i = below(&d, 4) ? (unsigned)scale(&d, 1, 16) : 0; i > 0; i--)
		sim_draw_fault(&d);
}
