/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bundle - what is ready together shares packets and datagrams
 */
#include "sim.h"

enum { CONNS = 16 };

/* Datagrams from host 0 to host 1 so far. */
static uint64_t sent(struct sim *s)
{
	return s->link[0][1].sent_n;
}

/* Small messages, stream bytes and an acknowledgment: one packet. */
static void one_packet(struct sim *s)
{
	struct sim_end *a, *b;
	uint64_t before;
	unsigned i;

	sim_messages(s, &a, &b);
	sim_ms(s, 50);
	sim_write(b, 100);
	sim_run(s, s->now + TUX_USEC(1100));	/* not yet acknowledged */
	before = sent(s);
	for (i = 0; i < 10; i++)
		sim_send(a, 50, i % 2);
	sim_write(a, 200);
	sim_ms(s, 2);
	SIM_CHECK(s, sent(s) - before == 1);
	SIM_CHECK(s, b->msg_got == 10 && b->got == 200);
	SIM_CHECK(s, tux_conn_stats(a->c)->pkts_tx > 0);
	sim_finish_all(s, TUX_SEC(10));
	sim_check_messages(s, true);
}

/* A message on each of the first @n: all ring before the loop takes its turn. */
static void send_all(struct sim *s, unsigned n)
{
	char text[50] = "";
	struct iovec v = { text, sizeof(text) };
	uint64_t ref;
	unsigned i;

	for (i = 0; i < n; i++) {
		struct sim_end *e = &s->conn[i]->end[0];

		s->conn[i]->foul = true;	/* what it sends, nobody noted */
		SIM_CHECK(s, !tux_msgbox_send(e->box, &v, 1, 0, false, &ref));
		tux_conn_rung(e->c, TUX_DOORBELL_MESSAGE, s->now);
	}
	sim_host_turn(&s->host[0]);
}

/* Sixteen connections between the same two loops, a message on each: two
 * datagrams instead of sixteen. */
static void one_datagram(struct sim *s)
{
	struct sim_host *x = sim_add_host(s), *y = sim_add_host(s);
	uint64_t before;
	unsigned i;

	for (i = 0; i < CONNS; i++) {
		sim_connect(x, y);
		s->conn[i]->small = 65536;
		s->conn[i]->bulk = 65536;
	}
	sim_ms(s, 100);
	before = sent(s);
	send_all(s, CONNS);
	sim_ms(s, 2);
	for (i = 0; i < CONNS; i++)
		SIM_CHECK(s, s->conn[i]->end[1].msg_got == 1);
	SIM_CHECK(s, sent(s) - before == 2);
	sim_finish_all(s, TUX_SEC(10));
}

/* Two connections from two addresses of a host: a packet is taken only from the
 * address that its connection has. */
static void two_addresses(struct sim *s)
{
	struct sim_host *x = sim_add_host(s), *y = sim_add_host(s);
	struct sim_conn *k[2];
	unsigned i, n;

	for (i = 0; i < 2; i++) {
		k[i] = sim_connect(x, y);
		k[i]->small = k[i]->bulk = 65536;
	}
	k[1]->tuple.active.ip[SIM_ALIAS] = 1;
	sim_ms(s, 50);
	for (n = 0; n < 20; n++) {
		send_all(s, 2);
		sim_ms(s, 10);
	}
	for (i = 0; i < 2; i++) {
		SIM_CHECK(s, k[i]->end[1].msg_got == 20);
		SIM_CHECK(s, !tux_conn_stats(k[i]->end[1].c)->dropped);
	}
	sim_finish_all(s, TUX_SEC(10));
}

const struct sim_story sim_stories[] = {
	{ "one_packet", one_packet },
	{ "one_datagram", one_datagram },
	{ "two_addresses", two_addresses },
	{ NULL, NULL },
};
