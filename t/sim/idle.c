/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * idle - nothing is sent for hours, and then something
 */
#include "sim.h"

enum { MANY = 100 };

static struct sim_end *a, *b;

static void hours(struct sim *s, unsigned n)
{
	sim_run(s, s->now + n * TUX_SEC(3600));
}

/* A writes, and all of it must be there @ms later. */
static void say(struct sim *s, unsigned ms)
{
	uint64_t had = b->got;

	sim_write(a, 10000);
	sim_ms(s, ms);
	SIM_CHECK(s, b->got == had + 10000);
}

/* Each end asks every half a minute or more often, and the path is as good as
 * it was. */
static void alive(struct sim *s)
{
	uint64_t packets;

	sim_switched(s, &a, &b);
	say(s, 50);
	packets = s->packets;
	hours(s, 6);
	packets = s->packets - packets;
	/* A PING and its answer, from both ends. */
	SIM_CHECK(s, packets >= 6 * 3600 / 30 * 4);
	SIM_CHECK(s, packets <= 6 * 3600 / 20 * 4);
	say(s, 5);
	SIM_CHECK(s, tux_conn_tx_on_tux(a->c));
	sim_finish_all(s, TUX_SEC(200));
	SIM_CHECK(s, !a->stats.backs && !b->stats.backs && !a->stats.lost);
}

/* It died meanwhile.  The first byte goes over TCP and waits for nothing. */
static void dead(struct sim *s)
{
	uint64_t packets;

	sim_switched(s, &a, &b);
	hours(s, 1);
	sim_part(s, 0, 1, true);
	sim_ms(s, 40000);
	SIM_CHECK(s, !tux_conn_tx_on_tux(a->c));
	packets = s->packets;
	hours(s, 5);
	SIM_CHECK(s, s->packets - packets <= 5 * 60 * 2 * 4);
	say(s, 5);
	sim_part(s, 0, 1, false);
	sim_ms(s, 130000);
	SIM_CHECK(s, tux_conn_tx_on_tux(a->c) && tux_conn_tx_on_tux(b->c));
	say(s, 50);
	sim_finish_all(s, TUX_SEC(200));
}

/* Nobody has found out yet: it waits like any other byte on a path that dies. */
static void dies_just_before(struct sim *s)
{
	sim_switched(s, &a, &b);
	hours(s, 1);
	sim_part(s, 0, 1, true);
	say(s, 1010);
	sim_finish_all(s, TUX_SEC(200));
}

/* One of those between the same loops asks for all; and when nobody answers,
 * each goes over TCP as soon as it has something to say. */
static void many(struct sim *s)
{
	struct sim_conn *k[MANY];
	uint64_t packets;
	unsigned i;

	sim_switched(s, &a, &b);
	for (i = 0; i < MANY; i++)
		k[i] = sim_connect(a->host, b->host);
	sim_ms(s, 100);
	packets = s->packets;
	hours(s, 1);
	SIM_CHECK(s, s->packets - packets <= 3600 / 20 * 4);
	sim_part(s, 0, 1, true);
	sim_ms(s, 40000);
	for (i = 0; i < MANY; i++)
		sim_write(&k[i]->end[0], 1000);
	sim_ms(s, 5);
	for (i = 0; i < MANY; i++)
		SIM_CHECK(s, k[i]->end[1].got == 1000);
	sim_part(s, 0, 1, false);
	/* The longest hold, and a timeout: the path is tried again then. */
	sim_ms(s, 70000);
	for (i = 0; i < MANY; i++)
		SIM_CHECK(s, tux_conn_tx_on_tux(k[i]->end[0].c));
	sim_finish_all(s, TUX_SEC(200));
}

/* The one that asked is gone: another does. */
static void asker_leaves(struct sim *s)
{
	struct sim_conn *k;
	uint64_t packets;

	sim_switched(s, &a, &b);
	k = sim_connect(a->host, b->host);
	sim_ms(s, 50);
	hours(s, 1);
	sim_finish(&k->end[0]);
	sim_finish(&k->end[1]);
	sim_ms(s, 1000);
	SIM_CHECK(s, k->end[0].closed && k->end[1].closed);
	packets = s->packets;
	hours(s, 1);
	SIM_CHECK(s, s->packets - packets >= 3600 / 30 * 4);
	say(s, 5);
	sim_finish_all(s, TUX_SEC(200));
}

/* The peer's process did not run for an hour. */
static void frozen(struct sim *s)
{
	sim_switched(s, &a, &b);
	sim_stop(b->host, TUX_SEC(3600));
	sim_ms(s, 40000);
	sim_write(a, 10000);
	hours(s, 1);
	SIM_CHECK(s, b->got == 10000);
	sim_ms(s, 60000);
	SIM_CHECK(s, tux_conn_tx_on_tux(a->c));
	say(s, 50);
	sim_finish_all(s, TUX_SEC(200));
}

/* Messages find their way, too. */
static void message(struct sim *s)
{
	sim_messages(s, &a, &b);
	sim_ms(s, 100);
	hours(s, 2);
	sim_send(a, 30000, 0);
	sim_ms(s, 20);
	SIM_CHECK(s, b->msg_got == 1);
	sim_part(s, 0, 1, true);
	hours(s, 2);
	sim_send(a, 30000, TUX_MSG_ORDERED);
	sim_send(a, 3000, 0);
	sim_ms(s, 20);
	SIM_CHECK(s, b->msg_got == 3);
	sim_part(s, 0, 1, false);
	sim_finish_all(s, TUX_SEC(200));
}

/* What TCP has carried from @e. */
static uint64_t carried(const struct sim_end *e)
{
	return e->conn->tcp.pipe[e->side].wrote;
}

enum { FRAME = 16, TALK_S = 600 };

/* Something leaves every ten seconds: a SWITCH frame a minute on TCP, in that
 * direction only, so that firewalls do not forget the connection. */
static void shows(struct sim *s)
{
	uint64_t there, back;
	unsigned i;

	sim_messages(s, &a, &b);
	sim_ms(s, 100);
	there = carried(a);
	back = carried(b);
	hours(s, 3);
	SIM_CHECK(s, carried(a) == there && carried(b) == back);
	for (i = 0; i < TALK_S / 10; i++) {
		if (i % 2)
			sim_write(a, 100);
		else
			sim_send(a, 100, 0);
		sim_ms(s, 10000);
	}
	SIM_CHECK(s, carried(a) == there + TALK_S / 60 * FRAME);
	SIM_CHECK(s, carried(b) == back);
	SIM_CHECK(s, tux_conn_tx_on_tux(a->c) && tux_conn_rx_on_tux(b->c));
	hours(s, 3);
	SIM_CHECK(s, carried(a) == there + TALK_S / 60 * FRAME);
	sim_finish_all(s, TUX_SEC(200));
	SIM_CHECK(s, !a->stats.backs && !b->stats.backs);
}

/* On TCP for good there is nothing to keep. */
static void raw(struct sim *s)
{
	uint64_t packets;

	sim_switched(s, &a, &b);
	sim_raw(a);
	sim_ms(s, 60000);
	packets = s->packets;
	hours(s, 1);
	SIM_CHECK(s, s->packets == packets);
	sim_finish_all(s, TUX_SEC(200));
}

const struct sim_story sim_stories[] = {
	{ "alive", alive },
	{ "dead", dead },
	{ "dies_just_before", dies_just_before },
	{ "many", many },
	{ "asker_leaves", asker_leaves },
	{ "frozen", frozen },
	{ "message", message },
	{ "shows", shows },
	{ "raw", raw },
	{ NULL, NULL },
};
