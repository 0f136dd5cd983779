/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * duplication - datagrams arrive twice
 */
#include "sim.h"

static struct sim_end *a, *b;

/* Each of them, the opening too, and the second one late. */
static void all(struct sim *s)
{
	sim_pair(s, &a, &b);
	s->link[0][1].twice = s->link[1][0].twice = 1000000;
	s->link[0][1].jitter = s->link[1][0].jitter = TUX_MSEC(3);
	a->plan.role = SIM_CLIENT;
	b->plan.role = SIM_SERVER;
	a->plan.req = b->plan.req = 300;
	a->plan.resp = b->plan.resp = 7000;
	a->plan.rounds = 300;
	sim_run_out(s, TUX_SEC(60));
	sim_check_all(s);
	SIM_CHECK(s, a->was_tx && b->was_tx);
	SIM_CHECK(s, a->stats.duplicates > 300);
}

/* One packet of data: it is delivered once, and acknowledged again at once, for
 * its sender may have missed that. */
static void one(struct sim *s)
{
	s->only = SIM_STREAM | SIM_T(DUPLICATE) | SIM_T(SEND_ACK);
	sim_switched(s, &a, &b);
	s->link[0][1].twice = 1000000;
	sim_write(a, 100);
	sim_run(s, s->now);
	s->link[0][1].twice = 0;
	sim_ms(s, 10);
	SIM_TRACE(s,
		"[  50.000] a > send 2 stream 0 +100\n"
		"[  51.000] b > recv 2 stream 0 +100\n"
		"[  51.000] b > duplicate 2\n"
		"[  51.000] b > send ack 3 got 100\n");
	sim_finish_all(s, TUX_SEC(5));
}

/* A new connection under the same addresses and ports, while packets of the old
 * one still wander about. */
static void old_ones(struct sim *s)
{
	struct sim_conn *k;
	unsigned i;

	sim_pair(s, &a, &b);
	s->link[0][1].twice = s->link[1][0].twice = 1000000;
	s->link[0][1].late = s->link[1][0].late = TUX_MSEC(300);
	for (i = 0; i < 5; i++) {
		sim_ms(s, 5);
		sim_write(a, 50000);
		sim_write(b, 50000);
		sim_ms(s, 40);
		SIM_CHECK(s, a->was_tx && b->was_tx);
		sim_finish(a);
		sim_finish(b);
		sim_run_out(s, s->now + TUX_SEC(60));
		k = sim_connect(a->host, b->host);
		k->tuple = a->conn->tuple;
		k->key = a->conn->key;
		a = &k->end[0];
		b = &k->end[1];
	}
	sim_finish_all(s, TUX_SEC(60));
}

const struct sim_story sim_stories[] = {
	{ "all", all },
	{ "one", one },
	{ "old_ones", old_ones },
	{ NULL, NULL },
};
