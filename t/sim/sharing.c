/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sharing - connections between the same two hosts share one window; what that
 * brings over a slow link, a short one and one that loses
 */
#include "conn/conn.h"
#include "sim.h"

enum { FLOWS = 8, MANY = 200 };

static struct sim_conn *k[MANY];

/* Two hosts, and @n flows between them, all with much to say. */
static void flows(struct sim *s, unsigned n)
{
	struct sim_host *from = sim_add_host(s), *to = sim_add_host(s);
	unsigned i;

	s->mute = true;
	for (i = 0; i < n; i++)
		k[i] = sim_connect(from, to);
	sim_ms(s, 50);
	for (i = 0; i < n; i++)
		sim_write(&k[i]->end[0], 1 << 30);
}

/* Jain's index of what each has brought over since @before, in thousandths. */
static uint64_t jain(unsigned n, const uint64_t *before)
{
	uint64_t sum = 0, squares = 0;
	unsigned i;

	for (i = 0; i < n; i++) {
		uint64_t x = (k[i]->end[1].got - before[i]) / 1000;

		sum += x;
		squares += x * x;
	}
	return squares ? 1000 * sum * sum / (n * squares) : 0;
}

static uint64_t got(unsigned n, uint64_t *each)
{
	uint64_t sum = 0;
	unsigned i;

	for (i = 0; i < n; i++)
		sum += each[i] = k[i]->end[1].got;
	return sum;
}

static void slow_link(struct sim *s)
{
	struct sim_link *l = sim_link(&s->host[0], &s->host[1]);

	l->delay = TUX_MSEC(5);
	l->neck = sim_add_neck(s, 10000000, TUX_MSEC(20));
}

/* Eight connections between two hosts, one after the other: equal shares, and
 * the bottleneck is used, and hardly anything is lost. */
static void one_pair(struct sim *s)
{
	uint64_t before[FLOWS], after[FLOWS], sum;

	flows(s, FLOWS);
	slow_link(s);
	sim_ms(s, 2000);
	sum = got(FLOWS, before);
	sim_ms(s, 5000);
	sum = got(FLOWS, after) - sum;
	SIM_CHECK(s, sum > 5 * 10000000 / 100 * 85);
	SIM_CHECK(s, jain(FLOWS, before) > 950);
	SIM_CHECK(s, sim_link(&s->host[0], &s->host[1])->lost_n * 50 <
		     sim_link(&s->host[0], &s->host[1])->sent_n);
}

/* Reno's way: one straight line after another, and the link is used. */
static void newreno(struct sim *s)
{
	uint64_t before[FLOWS], after[FLOWS], sum;

	s->cc = &tux_cc_newreno;
	flows(s, 2);
	SIM_CHECK(s, k[0]->end[0].c->pair->cc.ops == &tux_cc_newreno);
	slow_link(s);
	sim_ms(s, 1000);
	sum = got(2, before);
	sim_ms(s, 3000);
	sum = got(2, after) - sum;
	SIM_CHECK(s, sum > 3 * 10000000 / 100 * 85);
	SIM_CHECK(s, jain(2, before) > 900);
}

/* One sends all the time, one only now and then: that one has its turn. */
static void nobody_starves(struct sim *s)
{
	tux_time began;

	flows(s, 1);
	slow_link(s);
	k[1] = sim_connect(&s->host[0], &s->host[1]);
	sim_ms(s, 2000);
	began = s->now;
	sim_write(&k[1]->end[0], 10000);
	while (k[1]->end[1].got < 10000 && s->now < began + TUX_SEC(5))
		sim_ms(s, 1);
	SIM_CHECK(s, s->now - began < TUX_MSEC(150));
}

/* Many connections, each with one question: all leave at once, as over TCP,
 * though one window for all of them begins with ten packets. */
static void all_ask_at_once(struct sim *s)
{
	unsigned i;

	flows(s, 0);
	for (i = 0; i < MANY; i++)
		k[i] = sim_connect(&s->host[0], &s->host[1]);
	sim_ms(s, 100);
	sim_link(&s->host[0], &s->host[1])->delay = TUX_MSEC(10);
	sim_link(&s->host[1], &s->host[0])->delay = TUX_MSEC(10);
	for (i = 0; i < MANY; i++)
		sim_write(&k[i]->end[0], 1000);
	sim_ms(s, 15);
	for (i = 0; i < MANY; i++)
		SIM_CHECK(s, k[i]->end[1].got == 1000);
}

/* A round trip of 40 us and no loss: the window never is what bounds it. */
static void short_path(struct sim *s)
{
	tux_time began;

	flows(s, 0);
	sim_link(&s->host[0], &s->host[1])->delay = TUX_USEC(20);
	sim_link(&s->host[1], &s->host[0])->delay = TUX_USEC(20);
	k[0] = sim_connect(&s->host[0], &s->host[1]);
	k[0]->ring = 262144;
	sim_ms(s, 50);
	began = s->now;
	sim_write(&k[0]->end[0], 10000000);
	while (k[0]->end[1].got < 10000000 && s->now < began + TUX_SEC(5))
		sim_run(s, s->now + TUX_USEC(10));
	SIM_CHECK(s, s->now - began < TUX_USEC(40 * (10000000 / 262144 + 10)));
}

/* A round trip of 10 us at 40 Gb/s, and whatever comes is queued: the link is
 * what bounds it, not the window. */
static void shortest_path(struct sim *s)
{
	struct sim_link *l;
	tux_time began;

	flows(s, 0);
	l = sim_link(&s->host[0], &s->host[1]);
	l->neck = sim_add_neck(s, 5000000000, TUX_SEC(10));
	l->delay = sim_link(&s->host[1], &s->host[0])->delay = TUX_USEC(5);
	k[0] = sim_connect(&s->host[0], &s->host[1]);
	k[0]->ring = 1 << 20;
	sim_ms(s, 50);
	began = s->now;
	sim_write(&k[0]->end[0], 10000000);
	while (k[0]->end[1].got < 10000000 && s->now < began + TUX_SEC(5))
		sim_run(s, s->now + TUX_USEC(10));
	SIM_CHECK(s, s->now - began < TUX_USEC(10000000 / 5000 * 100 / 85));
	SIM_CHECK(s, !l->lost_n);
}

/* Goodput where a thousandth, a hundredth and a tenth of all is lost. */
static uint64_t bytes_at(struct sim *s, uint32_t loss)
{
	flows(s, 1);
	sim_link(&s->host[0], &s->host[1])->loss = loss;
	sim_ms(s, 3000);
	SIM_CHECK(s, !tux_conn_stats(k[0]->end[0].c)->backs);
	return k[0]->end[1].got;
}

static void loss_01(struct sim *s)
{
	SIM_CHECK(s, bytes_at(s, 1000) > 30000000);
}

static void loss_1(struct sim *s)
{
	SIM_CHECK(s, bytes_at(s, 10000) > 15000000);
}

static void loss_10(struct sim *s)
{
	SIM_CHECK(s, bytes_at(s, 100000) > 2400000);
}

/* One in line, whom the full window held back, and then only the pace: nobody
 * else sends, and yet it goes when the pace lets it. */
static void then_the_pace(struct sim *s)
{
	struct sim_host *x = sim_add_host(s), *y = sim_add_host(s);
	struct tux_pair *p;

	k[0] = sim_connect(x, y);
	k[1] = sim_connect(x, y);
	sim_ms(s, 50);
	sim_link(x, y)->delay = sim_link(y, x)->delay = TUX_MSEC(4);
	sim_write(&k[0]->end[0], 100);
	sim_ms(s, 500);
	p = k[0]->end[0].c->pair;
	p->cc.w.cwnd = p->cc.w.ssthresh = 1400;
	sim_write(&k[0]->end[0], 1420);
	sim_run(s, s->now + TUX_USEC(100));
	sim_write(&k[1]->end[0], 1000);
	sim_run(s, s->now + TUX_USEC(100));
	p->pace.next = s->now + TUX_MSEC(15);
	sim_ms(s, 40);
	SIM_CHECK(s, k[1]->end[1].got == 1000);
	sim_finish_all(s, TUX_SEC(10));
}

const struct sim_story sim_stories[] = {
	{ "one_pair", one_pair },
	{ "newreno", newreno },
	{ "nobody_starves", nobody_starves },
	{ "all_ask_at_once", all_ask_at_once },
	{ "then_the_pace", then_the_pace },
	{ "short_path", short_path },
	{ "shortest_path", shortest_path },
	{ "loss_01", loss_01 },
	{ "loss_1", loss_1 },
	{ "loss_10", loss_10 },
	{ NULL, NULL },
};
