/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The engine: take the earliest event, set the clock to it, run it.
 */
#include "sim.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void step(struct sim *s)
{
	struct sim_event e = sim_pop(s);

	s->now = e.at;
	e.fn(s, e.arg, e.n, e.m);
}

void sim_run(struct sim *s, tux_time until)
{
	while (!s->failed && s->heap_len && s->heap[0].at <= until)
		step(s);
	if (s->now < until)
		s->now = until;
}

static bool end_done(const struct sim_end *e)
{
	return e->host->dead || (e->closed && !e->c);
}

static bool all_done(const struct sim *s)
{
	unsigned i;

	for (i = 0; i < 2 * s->conn_n; i++) {
		if (!end_done(&s->conn[i / 2]->end[i % 2]))
			return false;
	}
	return true;
}

static void say_stuck(const struct sim_end *e)
{
	fprintf(stderr, "%c%u: sent %llu of %llu, got %llu of %llu%s%s%s%s, "
		"errors %d %d", e->host->name, e->conn->i,
		(unsigned long long)e->sent, (unsigned long long)e->goal,
		(unsigned long long)e->got, (unsigned long long)e->peer->sent,
		e->shut ? ", shut" : "", e->eof ? ", eof" : "",
		e->closed ? ", closed" : "", e->c ? "" : ", no conn",
		e->rerr, e->werr);
	if (e->dx)
		fprintf(stderr, ", tx state %u, rx state %u", e->dx->tx.state,
			e->dx->rx.state);
	fprintf(stderr, "\n");
}

void sim_run_out(struct sim *s, tux_time until)
{
	unsigned i;

	while (!s->failed && !all_done(s) && s->heap_len &&
	       s->heap[0].at <= until)
		step(s);
	if (s->failed || all_done(s))
		return;
	for (i = 0; i < 2 * s->conn_n; i++) {
		const struct sim_end *e = &s->conn[i / 2]->end[i % 2];

		if (!end_done(e))
			say_stuck(e);
	}
	sim_fail(s, "stuck");
}

/* ---- failing ---- */

enum { TAIL = 4000 };	/* how much of the trace a failure shows */

void sim_fail(struct sim *s, const char *fmt, ...)
{
	size_t from = s->full.len > TAIL ? s->full.len - TAIL : 0;
	va_list ap;

	if (s->failed)
		return;
	s->failed = true;
	if (s->full.len)
		fprintf(stderr, "...%s", s->full.p + from);
	fprintf(stderr, "failed at %.3f ms: ", (double)s->now / 1e6);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\n");
}

/* ---- memory that cores ask for, counted ---- */

struct block {
	struct sim *owner;
	size_t len;
	_Alignas(16) uint8_t p[];
};

static void *mem_alloc(void *arg, size_t len)
{
	struct sim *s = arg;
	struct block *b;

	if (++s->alloc_n == s->alloc_fail_at || sim_chance(s, s->alloc_loss))
		return NULL;
	b = calloc(1, sizeof(*b) + len);
	b->owner = s;
	b->len = len;
	s->blocks++;
	return b->p;
}

static void mem_free(void *arg, void *p)
{
	struct sim *s = arg;
	struct block *b;

	if (!p)
		return;
	b = TUX_CONTAINER(p, struct block, p);
	if (b->owner != s)
		sim_fail(s, "memory is freed that nobody has");
	memset(b, 0xdd, sizeof(*b) + b->len);	/* nobody may look again */
	s->blocks--;
	free(b);
}

/* ---- birth and end ---- */

struct sim *sim_new(uint64_t seed, bool v6)
{
	struct sim *s = calloc(1, sizeof(*s));

	s->rng = seed;
	s->v6 = v6;
	tux_list_init(&s->wire);
	s->mem = (struct tux_mem){ mem_alloc, mem_free, s };
	return s;
}

static void free_conn(struct sim_conn *k)
{
	unsigned i;

	sim_tcp_fini(k);
	for (i = 0; i < 2; i++) {
		free(k->end[i].dx);
		free(k->end[i].box);
		free(k->end[i].msg);
	}
	free(k);
}

bool sim_free(struct sim *s, uint64_t *digest)
{
	unsigned i;
	bool held;

	for (i = 0; i < s->host_n; i++)
		sim_host_fini(&s->host[i]);
	if (s->blocks)
		sim_fail(s, "%llu blocks of memory leaked",
			 (unsigned long long)s->blocks);
	for (i = 0; i < s->conn_n; i++)
		free_conn(s->conn[i]);
	for (i = 0; i < s->host_n; i++)
		free(s->link[i]);
	sim_net_fini(s);
	held = !s->failed;
	if (digest)
		*digest = s->digest;
	free(s->heap);
	free(s->golden.p);
	free(s->full.p);
	free(s);
	return held;
}

struct sim *sim_inner(struct sim *s, uint64_t n)
{
	struct sim *o = sim_new(s->rng + n, s->v6);

	o->loud = s->loud;
	return o;
}

void sim_inner_free(struct sim *s, struct sim *inner, uint64_t n)
{
	uint64_t digest;

	if (!sim_free(inner, &digest))
		sim_fail(s, "the tale with number %llu",
			 (unsigned long long)n);
	s->digest = (s->digest + digest) * 3;
}

struct sim_host *sim_add_host(struct sim *s)
{
	struct sim_host *h = &s->host[s->host_n];
	unsigned i;

	h->s = s;
	h->i = s->host_n++;
	h->place = h->i;
	h->name = (char)('a' + h->i % 26);
	tux_list_init(&h->ends);
	sim_host_init(h);
	s->link[h->i] = calloc(SIM_HOSTS, sizeof(*s->link[0]));
	for (i = 0; i < s->host_n; i++)
		s->link[i][h->i].delay = s->link[h->i][i].delay = TUX_MSEC(1);
	return h;
}

void sim_same_host(struct sim_host *h, const struct sim_host *other)
{
	h->place = other->place;
	h->addr.ip[15] = other->addr.ip[15];
}

void sim_one_port(struct sim_host *h, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++) {
		sim_host_fini(&h[i]);
		h[i].place = h->place;
		h[i].number = i + 1;
		sim_host_init(&h[i]);
	}
}

struct sim_link *sim_link(struct sim_host *from, struct sim_host *to)
{
	return &from->s->link[from->i][to->i];
}

static void init_end(struct sim_conn *k, unsigned i, struct sim_host *h)
{
	struct sim_end *e = &k->end[i];

	e->conn = k;
	e->host = h;
	e->side = i;
	e->peer = &k->end[1 - i];
	e->plan.wmax = e->plan.rmax = 16384;
	tux_list_push(&h->ends, &e->node);
}

static void claim(struct sim *s, void *arg, uint64_t n, uint64_t m)
{
	struct sim_end *e = arg;

	(void)s, (void)n, (void)m;
	if (e->host->dead || e->closed)
		return;
	if (!e->plan.plain)
		sim_host_claim(e);
	e->begun = true;
	sim_app_wake(e);
}

static void begin(struct sim *s, void *arg, uint64_t n, uint64_t m)
{
	struct sim_conn *k = arg;
	unsigned i;

	(void)n, (void)m;
	sim_tcp_init(k);
	for (i = 0; i < 2; i++)
		sim_at(s, s->now + k->end[i].plan.claim, claim, &k->end[i],
		       0, 0);
}

struct sim_conn *sim_connect(struct sim_host *a, struct sim_host *b)
{
	struct sim *s = a->s;
	struct sim_conn *k = calloc(1, sizeof(*k));

	k->s = s;
	k->i = s->conn_n;
	k->tuple = (struct tux_tuple){ a->addr, b->addr };
	k->tuple.active.port = (uint16_t)(40000 + k->i);
	k->tuple.passive.port = SIM_PORT;
	k->key = (struct tux_key){ sim_rand(s), sim_rand(s) };
	k->ring = 65536;
	k->mtu = 1472;
	k->tcp = (struct sim_tcp){ .delay = TUX_MSEC(1), .sndbuf = 65536,
				   .rcvbuf = 65536, .mss = 1448 };
	init_end(k, 0, a);
	init_end(k, 1, b);
	s->conn[s->conn_n++] = k;
	sim_at(s, s->now, begin, k, 0, 0);
	return k;
}

void sim_finish_all(struct sim *s, tux_time within)
{
	unsigned i;

	for (i = 0; i < 2 * s->conn_n; i++) {
		struct sim_end *e = &s->conn[i / 2]->end[i % 2];

		if (!e->plan.finish)	/* nothing else wakes an application */
			sim_finish(e);
	}
	sim_run_out(s, s->now + within);
	sim_check_all(s);
}

void sim_pair(struct sim *s, struct sim_end **a, struct sim_end **b)
{
	struct sim_host *ha = sim_add_host(s), *hb = sim_add_host(s);
	struct sim_conn *k = sim_connect(ha, hb);

	*a = &k->end[0];
	*b = &k->end[1];
}

void sim_messages(struct sim *s, struct sim_end **a, struct sim_end **b)
{
	sim_pair(s, a, b);
	(*a)->conn->small = 128 << 10;
	(*a)->conn->bulk = 256 << 10;
}

void sim_switched(struct sim *s, struct sim_end **a, struct sim_end **b)
{
	unsigned both = TUX_RX_ON_RING | TUX_TX_ON_RING;

	sim_pair(s, a, b);
	sim_ms(s, 50);
	SIM_CHECK(s, ((*a)->was_tx && (*a)->was_rx && (*b)->was_tx &&
		      (*b)->was_rx));
	SIM_CHECK(s, (tux_duplex_poll((*a)->dx) & both) == both);
	sim_trace_clear(s);
}
