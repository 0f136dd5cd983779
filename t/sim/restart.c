/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * restart - a process dies and another takes its place, on the same address
 * and ports, while packets of the old connection are still under way
 *
 * The connection's index is in every byte of it, so nothing can mix unseen.
 */
#include "conn/conn.h"
#include "conn/hello.h"
#include "conn/settle.h"
#include "sim.h"

static struct sim_end *a, *b;

/* A new connection on the ports of the old one. */
static struct sim_conn *again(void)
{
	struct sim_conn *k = sim_connect(a->host, b->host);

	k->tuple = a->conn->tuple;
	return k;
}

/* Two hosts, 20 ms apart, but for TCP. */
static void begin(struct sim *s)
{
	sim_pair(s, &a, &b);
	s->link[0][1].delay = s->link[1][0].delay = TUX_MSEC(20);
}

static void check_new(struct sim *s, struct sim_conn *k)
{
	struct sim_end *x = &k->end[0], *y = &k->end[1];

	sim_ms(s, 500);
	sim_write(x, 200000);
	sim_write(y, 200000);
	sim_finish(x);
	sim_finish(y);
	sim_run_out(s, s->now + TUX_SEC(20));
	SIM_CHECK(s, x->got == y->sent && x->eof && !x->rerr && !x->werr);
	SIM_CHECK(s, y->got == x->sent && y->eof && !y->rerr && !y->werr);
	SIM_CHECK(s, x->was_tx && x->was_rx && y->was_tx && y->was_rx);
	SIM_CHECK(s, x->stats.tux_tx > 100000 && y->stats.tux_tx > 100000);
}

/* The old connection was on Tux, with a window of bytes under way from either
 * end when @side dies. */
static void after_switch(struct sim *s, unsigned side)
{
	struct sim_end *x;
	struct sim_conn *k;

	begin(s);
	sim_ms(s, 500);
	SIM_CHECK(s, a->was_tx && b->was_tx);
	sim_write(a, 300000);
	sim_write(b, 300000);
	sim_ms(s, 45);
	x = side ? b : a;
	sim_kill(x->host);
	sim_restart(x->host);
	k = again();
	sim_write(&k->end[0], 10000);
	sim_write(&k->end[1], 10000);
	sim_ms(s, 10);
	SIM_CHECK(s, x->peer->rerr || x->peer->werr);
	sim_ms(s, 20);
	SIM_CHECK(s, tux_core_stats(x->host->core)->strangers > 0);
	check_new(s, k);
}

static void client(struct sim *s)
{
	after_switch(s, 0);
}

static void server(struct sim *s)
{
	after_switch(s, 1);
}

/* The same where both ends may speak first. */
static void client_announced(struct sim *s)
{
	s->announced = true;
	after_switch(s, 0);
}

static void server_announced(struct sim *s)
{
	s->announced = true;
	after_switch(s, 1);
}

/* The old one was only opening: its HELLOs name the new one's addresses, but
 * were not made with its key. */
static void hellos(struct sim *s, unsigned side)
{
	struct sim_end *x;
	struct sim_conn *k;

	s->announced = true;
	begin(s);
	sim_ms(s, 10);
	x = side ? b : a;
	sim_kill(x->host);
	sim_restart(x->host);
	sim_finish(x->peer);
	k = again();
	sim_write(&k->end[0], 10000);
	sim_write(&k->end[1], 10000);
	sim_ms(s, 15);
	SIM_CHECK(s, tux_core_stats(x->host->core)->bad_mac > 0);
	check_new(s, k);
}

static void client_hellos(struct sim *s)
{
	hellos(s, 0);
}

static void server_hellos(struct sim *s)
{
	hellos(s, 1);
}

static const struct tux_hello hello = {
	.flags = TUX_HELLO_WANT, .version = TUX_WIRE_VERSION, .port = SIM_PORT,
	.id = 5, .nonce = 1, .token = 9, .pkt_max = 1400, .window = 65536,
};

/* @h comes to a, as if b had sent it. */
static void hear(struct sim *s, const struct tux_hello *h)
{
	tux_hello_recv(a->c, &b->host->addr, h, s->now);
	tux_conn_settle(a->c, s->now);
	sim_host_effects(a->host);
}

/* The echo of a nonce that was another connection's proves nothing of this one's
 * path. */
static void old_echo(struct sim *s)
{
	struct tux_hello h = hello;

	sim_pair(s, &a, &b);
	a->conn->foul = true;		/* the rest is TCP's */
	sim_part(s, 0, 1, true);
	sim_run(s, s->now + TUX_USEC(2500));
	h.echo = a->c->nonce ^ 1;
	hear(s, &h);
	SIM_CHECK(s, a->c->life == TUX_LIFE_OPENING);
	h.echo ^= 1;
	hear(s, &h);
	SIM_CHECK(s, a->c->life == TUX_LIFE_PROVED);
	sim_finish(a);
	sim_finish(b);
	sim_run_out(s, s->now + TUX_SEC(200));
}

/* There is no memory for what the new process says; then the old one, which it
 * was not, speaks again. */
static void no_memory(struct sim *s)
{
	struct tux_hello h = hello;

	sim_pair(s, &a, &b);
	a->conn->foul = true;		/* the rest is TCP's */
	sim_part(s, 0, 1, true);
	sim_run(s, s->now + TUX_USEC(2500));
	hear(s, &h);
	SIM_CHECK(s, a->c->pair);
	h.nonce = 2;
	h.token = 10;
	s->alloc_fail_at = s->alloc_n + 1;
	hear(s, &h);
	SIM_CHECK(s, !a->c->pair);
	h.nonce = 1;
	h.token = 9;
	h.echo = a->c->nonce;
	hear(s, &h);
	SIM_CHECK(s, a->c->pair && a->c->life == TUX_LIFE_PROVED);
	sim_write(a, 1000);
	sim_ms(s, 50);
	SIM_CHECK(s, b->got == 1000);
	sim_finish(a);
	sim_finish(b);
	sim_run_out(s, s->now + TUX_SEC(200));
}

const struct sim_story sim_stories[] = {
	{ "client", client },
	{ "server", server },
	{ "client_announced", client_announced },
	{ "server_announced", server_announced },
	{ "client_hellos", client_hellos },
	{ "server_hellos", server_hellos },
	{ "old_echo", old_echo },
	{ "no_memory", no_memory },
	{ NULL, NULL },
};
