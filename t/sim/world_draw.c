/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * world - what a seed makes
 */
#include "fault.h"
#include "preset.h"
#include "sim.h"
#include "world.h"

enum {
	MOST = 400000,		/* bytes in one direction */
	LETTERS = 120,		/* messages of an end */
};
struct draw {
	struct sim_world *w;
	uint64_t rng;
	uint64_t size;		/* how much is said, as a multiple */
	tux_time span;		/* most of it happens in so long */
	unsigned hosts, conns;
};

static uint64_t below(struct draw *d, uint64_t n)
{
	return n ? sim_mix(&d->rng) % n : 0;
}

/* One of @n times. */
static bool rarely(struct draw *d, unsigned n)
{
	return !below(d, n);
}

/* From @low to @high; small numbers as often as large ones. */
static uint64_t scale(struct draw *d, uint64_t low, uint64_t high)
{
	uint64_t most = low;

	while (most < high && below(d, 64 - (unsigned)
				       __builtin_clzll(high / low)))
		most *= 2;
	if (most > high)
		most = high;
	return low + below(d, most - low + 1);
}

/* Of a million, one of @n times. */
static uint64_t part(struct draw *d, unsigned n, uint64_t most)
{
	return rarely(d, n) ? scale(d, 1000, most) : 0;
}

/* ---- the network ---- */

static void draw_link(struct draw *d, unsigned from, unsigned to)
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
static void draw_net(struct draw *d)
{
	unsigned i;

	d->hosts = 2 + (unsigned)below(d, 3);
	for (i = 0; i < d->hosts; i++)
		sim_world_add(d->w, SIM_HOST)->v[SIM_HOST_WAKE] =
			below(d, TUX_USEC(50));
	for (i = 0; i < d->hosts * d->hosts; i++) {
		if (i / d->hosts != i % d->hosts)
			draw_link(d, i / d->hosts, i % d->hosts);
	}
}

/* ---- programs ---- */

static uint64_t *draw_plan(struct draw *d, unsigned conn, unsigned side)
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
	v[SIM_PLAN_DEAF] = rarely(d, 16);
	if (rarely(d, 4))
		v[SIM_PLAN_KEEP] = 1 + below(d, SIM_KEEP - 1);
	return v;
}

static void draw_write(struct draw *d, unsigned conn, unsigned side,
		       tux_time at, uint64_t len)
{
	uint64_t *v = sim_world_add(d->w, SIM_WRITE)->v;

	v[SIM_WRITE_CONN] = conn;
	v[SIM_WRITE_SIDE] = side;
	v[SIM_WRITE_AT] = at;
	v[SIM_WRITE_LEN] = len;
}

/* Writes @total bytes in some lots, soon, or now and then all the time. */
static void draw_bulk(struct draw *d, unsigned conn, unsigned side,
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

static void draw_talk(struct draw *d, unsigned conn, unsigned side)
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
	}
}

static void draw_work(struct draw *d, unsigned conn, tux_time at)
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

static uint64_t letter(struct draw *d, uint64_t bulk)
{
	if (rarely(d, 20))
		return below(d, 4);
	return below(d, 8) ? 4 + scale(d, 1, 3000) :
	       scale(d, 10000, bulk / 2);
}

static void draw_mail(struct draw *d, unsigned conn, unsigned side,
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

static uint64_t *draw_tcp(struct draw *d, unsigned a, unsigned b)
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

static void draw_conn(struct draw *d, unsigned a, unsigned b, unsigned after,
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

static void draw_path_fault(struct draw *d, enum sim_fault what, unsigned conn,
			    tux_time at)
{
	uint64_t *v = sim_world_add(d->w, SIM_FAULT)->v;

	v[SIM_FAULT_WHAT] = what;
	v[SIM_FAULT_CONN] = conn;
	v[SIM_FAULT_AT] = at;
	v[SIM_FAULT_FOR] = TUX_SEC(10);
}

/* One end has many messages, the other only listens, so that its direction never
 * moves; and the way goes while messages wait for room. */
static void draw_one_sided(struct draw *d, unsigned a, unsigned b)
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

static void draw_conns(struct draw *d)
{
	unsigned i, n = (unsigned)scale(d, 1, 6);

	for (i = 0; i < n; i++) {
		unsigned a = (unsigned)below(d, d->hosts);
		unsigned b = (a + 1 + (unsigned)below(d, d->hosts - 1)) %
			     d->hosts;

		if (rarely(d, 24))
			draw_one_sided(d, a, b);
		else
			draw_conn(d, a, b, 0, 0);
	}
}

/* ---- what goes wrong ---- */

static const struct sim_item *conn_of(const struct draw *d, unsigned conn)
{
	unsigned i, n = 0;

	for (i = 0; i < d->w->n; i++) {
		if (d->w->item[i].kind == SIM_CONN && n++ == conn)
			break;
	}
	return &d->w->item[i];
}

/* Is item @i something that the connection's programs write? */
static bool is_word(const struct sim_world *w, uint64_t i, unsigned conn)
{
	return (w->item[i].kind == SIM_WRITE || w->item[i].kind == SIM_MAIL) &&
	       w->item[i].v[SIM_WRITE_CONN] == conn;
}

/* How much or how often, for each kind that has such a number. */
static uint64_t times(struct draw *d, enum sim_fault what)
{
	switch (what) {
	case SIM_SPIKE:
		return scale(d, TUX_MSEC(1), TUX_MSEC(500));
	case SIM_NARROW:
	case SIM_OWN_MTU:
		return 600 + below(d, 900);
	case SIM_LOSE:
		return below(d, 12);
	case SIM_FLAP:
		return 1 + scale(d, 1, 40);
	case SIM_NO_MEMORY:
		return scale(d, 10000, 1000000);
	case SIM_NO_MEMORY_OPEN:
		return 1 + below(d, 6);
	case SIM_FOUL_PACKET:
	case SIM_FOUL_HELLO:
		return scale(d, 1, 1000);
	case SIM_GARBAGE:
	case SIM_GUESS:
	case SIM_HELLO:
	case SIM_REPLAY:
	case SIM_CUT:
		return scale(d, 1, 200);
	case SIM_FOUL_FRAME:
		return scale(d, 1, 50);
	default:
		return 1;
	}
}

/* Another process follows, and the same ports are used again. */
static void follow(struct draw *d, unsigned conn, tux_time at)
{
	const struct sim_item old = *conn_of(d, conn);

	draw_conn(d, (unsigned)old.v[SIM_CONN_A], (unsigned)old.v[SIM_CONN_B],
		  conn + 1, at);
}

/* At any time, while the connection opens, or when it has something to say. */
static tux_time when(struct draw *d, unsigned conn)
{
	uint64_t n = 0, i;

	if (rarely(d, 6))
		return conn_of(d, conn)->v[SIM_CONN_AT] +
		       scale(d, TUX_USEC(10), TUX_MSEC(50));
	for (i = 0; i < d->w->n; i++)
		n += is_word(d->w, i, conn);
	if (!n || rarely(d, 3))
		return below(d, scale(d, TUX_MSEC(1), d->span));
	n = below(d, n);
	for (i = 0; !is_word(d->w, i, conn) || n-- > 0; i++)
		;
	return d->w->item[i].v[SIM_WRITE_AT] +
	       below(d, scale(d, TUX_USEC(10), TUX_MSEC(50)));
}

/* What makes directions change their paths is drawn more often. */
static enum sim_fault what_next(struct draw *d)
{
	static const enum sim_fault path[] = {
		SIM_PART, SIM_ONE_WAY, SIM_STALL, SIM_FLAP, SIM_RAW,
	};

	if (rarely(d, 3))
		return path[below(d, sizeof(path) / sizeof(path[0]))];
	return (enum sim_fault)below(d, SIM_FAULTS);
}

static void draw_fault(struct draw *d)
{
	enum sim_fault what = what_next(d);
	unsigned conn = (unsigned)below(d, d->conns);
	tux_time at = when(d, conn);
	tux_time len = scale(d, TUX_MSEC(1), 2 * d->span);
	uint64_t *v = sim_world_add(d->w, SIM_FAULT)->v;

	if (what == SIM_NO_MEMORY_OPEN || what == SIM_FOUL_HELLO)
		at = conn_of(d, conn)->v[SIM_CONN_AT];
	if (what == SIM_VERSION && rarely(d, 2))
		at = 0;
	v[SIM_FAULT_WHAT] = what;
	v[SIM_FAULT_CONN] = conn;
	v[SIM_FAULT_SIDE] = below(d, 2);
	v[SIM_FAULT_AT] = at;
	v[SIM_FAULT_FOR] = len;
	v[SIM_FAULT_TIMES] = times(d, what);
	if (what == SIM_RESTART && d->conns < 12)
		follow(d, conn, at + len + below(d, TUX_MSEC(100)));
}

void sim_world_draw(struct sim_world *w, uint64_t seed, unsigned size)
{
	struct draw d = { .w = w, .rng = seed, .size = size };
	uint64_t *v = sim_world_add(w, SIM_NET)->v;
	unsigned i;

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
		draw_fault(&d);
}
