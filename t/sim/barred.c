/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * barred - IPsec forbids the packets of a connection: none leaves, none is
 * taken, and every byte goes over TCP
 */
#include "sim.h"

static struct sim_end *a, *b;

/* Datagrams from host 0 so far. */
static uint64_t sent(const struct sim *s)
{
	return s->link[0][1].sent_n;
}

static void trickle(struct sim *s, void *arg, uint64_t n, uint64_t left)
{
	sim_write(arg, n);
	if (left)
		sim_at(s, s->now + TUX_MSEC(7), trickle, arg, n, left - 1);
}

/* Both directions are busy when a is barred, and for as long as it is. */
static void in_flight(struct sim *s)
{
	uint64_t before, got;

	s->only = SIM_T(BACK) | SIM_T(AGAIN);
	sim_switched(s, &a, &b);
	trickle(s, a, 3000, 2000);
	trickle(s, b, 3000, 2000);
	sim_ms(s, 500);
	sim_bar(a, true);
	before = sent(s);
	got = a->got;
	sim_ms(s, 5000);
	SIM_CHECK(s, sent(s) == before);
	SIM_CHECK(s, !tux_conn_tx_on_tux(a->c) && !tux_conn_rx_on_tux(a->c));
	SIM_CHECK(s, a->got > got + 1000000 && b->got > 1000000);
	sim_bar(a, false);
	sim_ms(s, 5000);
	SIM_CHECK(s, tux_conn_tx_on_tux(a->c) && tux_conn_rx_on_tux(a->c));
	sim_run(s, TUX_SEC(20));
	sim_finish_all(s, TUX_SEC(100));
}

/* A policy at both hosts, which comes and goes a moment later at b: both ends
 * have asked for the path, and have had no answer, when it opens. */
static void at_both_ends(struct sim *s)
{
	static const unsigned ms[] = { 50, 1008, 1500, 5000 };
	unsigned i;

	s->only = SIM_T(BACK) | SIM_T(AGAIN);
	sim_switched(s, &a, &b);
	trickle(s, a, 300, 2500);
	trickle(s, b, 300, 2500);
	for (i = 0; i < sizeof(ms) / sizeof(ms[0]); i++) {
		sim_ms(s, 500);
		sim_bar(a, true);
		sim_ms(s, 3);
		sim_bar(b, true);
		sim_ms(s, ms[i]);
		SIM_CHECK(s, !tux_conn_tx_on_tux(a->c));
		SIM_CHECK(s, !tux_conn_tx_on_tux(b->c));
		sim_bar(a, false);
		sim_ms(s, 3);
		sim_bar(b, false);
		sim_ms(s, 2000);
		SIM_CHECK(s, tux_conn_tx_on_tux(a->c));
		SIM_CHECK(s, tux_conn_tx_on_tux(b->c));
	}
	sim_run(s, TUX_SEC(30));
	sim_finish_all(s, TUX_SEC(100));
}

/* Another connection of the same pair goes on: its datagrams carry nothing of
 * the one that is barred, so that one does not find its path again. */
static void beside_another(struct sim *s)
{
	struct sim_host *x = sim_add_host(s), *y = sim_add_host(s);
	struct sim_end *c, *d;
	struct sim_conn *k;

	s->only = SIM_T(BACK) | SIM_T(AGAIN);
	k = sim_connect(x, y);
	a = &k->end[0];
	b = &k->end[1];
	k = sim_connect(x, y);
	c = &k->end[0];
	d = &k->end[1];
	trickle(s, a, 300, 12000);
	trickle(s, b, 300, 12000);
	trickle(s, c, 300, 12000);
	trickle(s, d, 300, 12000);
	sim_ms(s, 500);
	SIM_CHECK(s, tux_conn_tx_on_tux(a->c) && tux_conn_tx_on_tux(c->c));
	sim_bar(a, true);
	sim_ms(s, 70000);
	SIM_CHECK(s, tux_conn_stats(a->c)->backs == 1);
	SIM_CHECK(s, !tux_conn_tx_on_tux(a->c) && !tux_conn_rx_on_tux(a->c));
	SIM_CHECK(s, tux_conn_tx_on_tux(c->c) && tux_conn_rx_on_tux(c->c));
	SIM_CHECK(s, !tux_conn_stats(c->c)->backs);
	sim_run(s, TUX_SEC(90));
	sim_finish_all(s, TUX_SEC(100));
}

/* Before the path is proved: not even HELLO leaves again. */
static void from_the_start(struct sim *s)
{
	uint64_t before;

	sim_pair(s, &a, &b);
	sim_run(s, s->now + TUX_USEC(500));
	sim_bar(a, true);
	before = sent(s);
	sim_write(a, 5000);
	sim_write(b, 5000);
	sim_ms(s, 10000);
	SIM_CHECK(s, sent(s) == before);
	SIM_CHECK(s, a->got == 5000 && b->got == 5000);
	sim_bar(a, false);
	sim_write(a, 5000);
	sim_write(b, 5000);
	sim_ms(s, 3000);
	SIM_CHECK(s, tux_conn_tx_on_tux(a->c));
	sim_finish_all(s, TUX_SEC(100));
}

/* A program closes, or breaks, a connection that is barred. */
static void closes(struct sim *s)
{
	sim_switched(s, &a, &b);
	sim_write(a, 5000);
	sim_ms(s, 1);
	sim_bar(a, true);
	sim_write(a, 5000);
	sim_finish_all(s, TUX_SEC(100));
	SIM_CHECK(s, a->got == 0 && b->got == 10000);
}

const struct sim_story sim_stories[] = {
	{ "in_flight", in_flight },
	{ "at_both_ends", at_both_ends },
	{ "beside_another", beside_another },
	{ "from_the_start", from_the_start },
	{ "closes", closes },
	{ NULL, NULL },
};
