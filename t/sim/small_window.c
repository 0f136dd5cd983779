/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * small_window - the peer has room for a packet, or for none
 */
#include "sim.h"

static struct sim_end *a, *b;

static void finish(struct sim *s)
{
	sim_finish_all(s, TUX_SEC(100));
	SIM_CHECK(s, !a->stats.backs && !b->stats.backs);
}

/* A ring of @ring bytes at either end. */
static void begin(struct sim *s, uint32_t ring)
{
	sim_pair(s, &a, &b);
	a->conn->ring = ring;
	sim_ms(s, 50);
	SIM_CHECK(s, a->was_tx && b->was_tx);
}

/* The window is less than two packets, and moves by a few bytes. */
static void one_packet(struct sim *s)
{
	begin(s, 2048);
	b->plan.rmax = 300;
	sim_write(a, 100000);
	sim_write(b, 100000);
	sim_ms(s, 2000);
	SIM_CHECK(s, a->got == 100000 && b->got == 100000);
	finish(s);
}

/* Closed for ten minutes: asked for less and less often, but at least once a
 * minute. */
static void closed(struct sim *s)
{
	uint64_t asked;

	begin(s, 4096);
	sim_pause(b, true);
	sim_write(a, 20000);
	sim_ms(s, 60000);
	asked = s->link[0][1].sent_n;
	sim_ms(s, 600000);
	asked = s->link[0][1].sent_n - asked;
	SIM_CHECK(s, asked >= 10 && asked <= 100);
	sim_pause(b, false);
	sim_ms(s, 100);
	SIM_CHECK(s, b->got == 20000);
	finish(s);
}

/* The word that there is room again is lost, and again: who asks is told. */
static void news_lost(struct sim *s)
{
	begin(s, 4096);
	sim_pause(b, true);
	sim_write(a, 20000);
	sim_ms(s, 300);
	sim_drop(&s->link[1][0], SIM_WINDOW, 0, 3);
	sim_pause(b, false);
	sim_ms(s, 2000);
	SIM_CHECK(s, b->got == 20000);
	finish(s);
}

/* Closed, and the path dies: the question stays without an answer, too. */
static void closed_and_dead(struct sim *s)
{
	begin(s, 4096);
	sim_pause(b, true);
	sim_write(a, 20000);
	sim_ms(s, 60000);
	sim_part(s, 0, 1, true);
	sim_ms(s, 70000);
	SIM_CHECK(s, !tux_conn_tx_on_tux(a->c));
	sim_pause(b, false);
	sim_ms(s, 100);
	SIM_CHECK(s, b->got == 20000);
	sim_part(s, 0, 1, false);
	sim_finish_all(s, TUX_SEC(200));
}

/* A narrower path and a window that it splits. */
static void narrow_path(struct sim *s)
{
	begin(s, 2048);
	s->link[0][1].mtu = s->link[1][0].mtu = 600;
	sim_write(a, 100000);
	sim_write(b, 100000);
	sim_ms(s, 5000);
	SIM_CHECK(s, a->got == 100000 && b->got == 100000);
	finish(s);
}

/* Messages wait for ROOM, of which some is lost. */
static void room_lost(struct sim *s)
{
	unsigned i;

	sim_messages(s, &a, &b);
	a->conn->small = a->conn->bulk = 65536;
	sim_ms(s, 50);
	s->link[1][0].loss = 300000;
	for (i = 0; i < 60; i++)
		sim_send(a, 15000, i % 2 ? TUX_MSG_ORDERED : 0);
	sim_ms(s, 20000);
	SIM_CHECK(s, b->msg_got == 60);
	s->link[1][0].loss = 0;
	finish(s);
}

const struct sim_story sim_stories[] = {
	{ "one_packet", one_packet },
	{ "closed", closed },
	{ "news_lost", news_lost },
	{ "closed_and_dead", closed_and_dead },
	{ "narrow_path", narrow_path },
	{ "room_lost", room_lost },
	{ NULL, NULL },
};
