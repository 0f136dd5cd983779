/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fairness - two flows of different hosts through one bottleneck
 *
 * Each is one of ours or a model of the kernel's TCP; the second begins later,
 * and what counts is the last half.  Acknowledgments come back with some
 * jitter, in order, as over a path that others use, too.  Without it, a full
 * drop-tail queue loses for ever the packets of the one whose arrivals fall a
 * little behind the other's, whatever their windows (Floyd and Jacobson, 1991).
 *
 * fairness -v prints the shares, and the queue's length in hundredths of rate
 * times round trip.
 */
#include <stdio.h>
#include <stdlib.h>

#include "rival.h"

enum {
	FLOWS = 2,
	JITTER = 6,		/* packets that pass the bottleneck meanwhile */
	WIRE = 1472,
};

struct path {
	uint64_t rate;		/* bytes a second */
	tux_time rtt, len;	/* how long they share it */
};

static const struct path paths[] = {
	{ 25000000, TUX_MSEC(1), TUX_SEC(1) },
	{ 1250000, TUX_MSEC(20), TUX_SEC(30) },
	{ 312500, TUX_MSEC(100), TUX_SEC(120) },
};

enum { PATHS = sizeof(paths) / sizeof(paths[0]) };

struct flow {
	struct sim_conn *k;	/* one of both */
	struct sim_rival *rival;
	tux_time rtt;
	uint64_t before;
	uint64_t share;		/* thousandths of the bottleneck */
};

struct world {
	struct sim *s;
	const struct path *path;
	struct sim_neck *neck;
	struct flow flow[FLOWS];
};

static uint64_t got(const struct flow *f)
{
	return f->rival ? f->rival->got : f->k->end[1].got;
}

static void more(struct sim *s, void *arg, uint64_t n, uint64_t m)
{
	(void)s, (void)m;
	sim_write(arg, n);
}

static void join(struct world *w, struct flow *f, bool tux, tux_time at)
{
	struct sim_host *from = sim_add_host(w->s), *to = sim_add_host(w->s);
	struct sim_link *out = sim_link(from, to), *back = sim_link(to, from);

	out->neck = w->neck;
	out->delay = back->delay = f->rtt / 2;
	back->jitter = JITTER * WIRE * TUX_SEC(1) / w->path->rate;
	back->fifo = true;
	if (!tux) {
		f->rival = sim_rival_new(from, to, at);
		return;
	}
	f->k = sim_connect(from, to);
	f->k->ring = 1 << 20;
	f->k->end[0].plan.wmax = 2048;
	sim_at(w->s, at, more, &f->k->end[0], UINT64_C(1) << 40, 0);
}

static void measure(struct world *w)
{
	const struct path *p = w->path;
	unsigned i;

	sim_run(w->s, w->s->now + TUX_SEC(1) + p->len / 2);
	for (i = 0; i < FLOWS; i++)
		w->flow[i].before = got(&w->flow[i]);
	sim_run(w->s, w->s->now + p->len / 2);
	for (i = 0; i < FLOWS; i++) {
		struct flow *f = &w->flow[i];

		f->share = (got(f) - f->before) * 1000 /
			   (p->rate * (p->len / 2) / TUX_SEC(1));
	}
}

static void say(const struct world *w, unsigned halves)
{
	const struct flow *f;

	if (!w->s->loud)
		return;
	printf("# %6u kb/s, queue %3u %%:", (unsigned)(w->path->rate / 125),
	       50 * halves);
	for (f = w->flow; f < w->flow + FLOWS; f++)
		printf("  %s %3u ms %2u %%", f->rival ? "TCP" : "Tux",
		       (unsigned)(f->rtt / 1000000), (unsigned)(f->share / 10));
	printf(", lost %u of %u\n", (unsigned)w->neck->lost_n,
	       (unsigned)w->neck->sent_n);
}

/* What @a and @b, each one of ours if true, get of @p, where @halves half
 * products of rate and round trip can wait; the second round trip is @times
 * longer. */
static void share(struct sim *s, struct world *w, const struct path *p,
		  unsigned halves, bool a, bool b, unsigned times)
{
	unsigned i;

	*w = (struct world){ .s = sim_inner(s, halves), .path = p };
	w->s->mute = true;
	w->neck = sim_add_neck(w->s, p->rate, p->rtt / 2 * halves);
	w->flow[0].rtt = p->rtt;
	w->flow[1].rtt = p->rtt * times;
	join(w, &w->flow[0], a, TUX_SEC(1));
	join(w, &w->flow[1], b, TUX_SEC(1) + p->len / 10);
	measure(w);
	say(w, halves);
	for (i = 0; i < FLOWS; i++) {
		const struct sim_conn *k = w->flow[i].k;

		SIM_CHECK(s, !k || !tux_conn_stats(k->end[0].c)->backs);
		free(w->flow[i].rival);
	}
	sim_inner_free(s, w->s, halves);
}

/* Jain's index, in thousandths. */
static uint64_t jain(const struct world *w)
{
	uint64_t x = w->flow[0].share, y = w->flow[1].share;

	return 1000 * (x + y) * (x + y) / (2 * (x * x + y * y));
}

/* The model itself: two of them share as they should. */
static void rivals(struct sim *s)
{
	struct world w;
	unsigned i;

	for (i = 0; i < PATHS; i++) {
		share(s, &w, &paths[i], 2, false, false, 1);
		SIM_CHECK(s, jain(&w) > 950);
		SIM_CHECK(s, w.flow[0].share + w.flow[1].share > 900);
	}
}

/* ... and one alone fills the link, where a whole product can wait. */
static void rival_alone(struct sim *s)
{
	struct sim_host *x = sim_add_host(s), *y = sim_add_host(s);
	struct sim_rival *r = sim_rival_new(x, y, 0);
	uint64_t before;

	sim_link(x, y)->delay = sim_link(y, x)->delay = TUX_MSEC(10);
	sim_link(x, y)->neck = sim_add_neck(s, 5000000, TUX_MSEC(20));
	sim_ms(s, 10000);
	before = r->got;
	sim_ms(s, 20000);
	SIM_CHECK(s, r->got - before > 20 * 5000000 / 100 * 95);
	SIM_CHECK(s, r->lost_n && !r->timeouts);
	free(r);
}

/* Two of ours. */
static void ours(struct sim *s)
{
	struct world w;
	unsigned i, halves;

	for (i = 0; i < PATHS; i++) {
		for (halves = 1; halves <= 4; halves += 3) {
			share(s, &w, &paths[i], halves, true, true, 1);
			SIM_CHECK(s, jain(&w) > 900);
			SIM_CHECK(s, w.flow[0].share + w.flow[1].share > 850);
		}
	}
}

/* One of ours and one of the kernel's: neither has twice what the other has. */
static void ours_and_tcp(struct sim *s)
{
	struct world w;
	unsigned i, halves;

	for (i = 0; i < PATHS; i++) {
		for (halves = 1; halves <= 4; halves *= 2) {
			share(s, &w, &paths[i], halves, halves != 2,
			      halves == 2, 1);
			SIM_CHECK(s, w.flow[0].share < 2 * w.flow[1].share);
			SIM_CHECK(s, w.flow[1].share < 2 * w.flow[0].share);
		}
	}
}

/* With a round trip four times as long a flow gets less, of TCP's, too, but it
 * gets something. */
static void long_and_short(struct sim *s)
{
	struct world w;

	share(s, &w, &paths[1], 2, false, false, 4);
	share(s, &w, &paths[1], 2, true, true, 4);
	SIM_CHECK(s, w.flow[1].share > 50);
}

const struct sim_story sim_stories[] = {
	{ "rival_alone", rival_alone },
	{ "rivals", rivals },
	{ "ours", ours },
	{ "ours_and_tcp", ours_and_tcp },
	{ "long_and_short", long_and_short },
	{ NULL, NULL },
};
