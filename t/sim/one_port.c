/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * one_port - sixteen loops of a host have one port, as over AF_XDP: each datagram comes
 * to any of them, which passes on what is not its own
 */
#include "conn/conn.h"
#include "sim.h"

enum { LOOPS = 16, EACH = 4, BYTES = 20000, LOSS = 10000 };

/* @n loops of one host. */
static struct sim_host *loops(struct sim *s, unsigned n)
{
	struct sim_host *first = sim_add_host(s);
	unsigned i;

	for (i = 1; i < n; i++)
		sim_add_host(s);
	sim_one_port(first, n);
	return first;
}

/* Each link loses @loss of a million, and delivers as many twice. */
static void lose(struct sim *s, uint32_t loss)
{
	unsigned i, j;

	for (i = 0; i < s->host_n; i++)
		for (j = 0; j < s->host_n; j++)
			s->link[i][j].loss = s->link[i][j].twice = loss;
}

/* Connections from the @n loops at @from to all at @to: each moves, and brings over
 * what both ends write. */
static void talk(struct sim *s, struct sim_host *from, unsigned n,
		 struct sim_host *to)
{
	struct sim_conn *k[LOOPS * EACH];
	unsigned i;

	s->mute = true;
	for (i = 0; i < LOOPS * EACH; i++)
		k[i] = sim_connect(&from[i * 7 % n], &to[i % LOOPS]);
	sim_ms(s, 200);
	for (i = 0; i < LOOPS * EACH; i++) {
		sim_write(&k[i]->end[0], BYTES);
		sim_write(&k[i]->end[1], BYTES);
	}
	sim_ms(s, 1000);
	for (i = 0; i < LOOPS * EACH; i++) {
		struct sim_end *a = &k[i]->end[0], *b = &k[i]->end[1];

		SIM_CHECK(s, a->was_tx && a->was_rx && b->was_tx && b->was_rx);
		SIM_CHECK(s, a->got == BYTES && b->got == BYTES);
		SIM_CHECK(s, a->c->id % LOOPS == a->host->number - 1);
		SIM_CHECK(s, b->c->id % LOOPS == b->host->number - 1);
	}
	sim_finish_all(s, TUX_SEC(100));
}

static void one_to_many(struct sim *s)
{
	struct sim_host *from = loops(s, 1);

	talk(s, from, 1, loops(s, LOOPS));
}

static void many_to_many(struct sim *s)
{
	struct sim_host *from = loops(s, LOOPS);

	talk(s, from, LOOPS, loops(s, LOOPS));
}

/* Handshakes announce the port, and datagrams get lost. */
static void announced(struct sim *s)
{
	struct sim_host *from = loops(s, LOOPS), *to = loops(s, LOOPS);

	s->announced = true;
	lose(s, LOSS);
	talk(s, from, LOOPS, to);
}

const struct sim_story sim_stories[] = {
	{ "one_to_many", one_to_many },
	{ "many_to_many", many_to_many },
	{ "announced", announced },
	{ NULL, NULL },
};
