/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upgrade - a connection moves from TCP to Tux
 */
#include "conn/conn.h"
#include "conn/settle.h"
#include "conn/upgrade.h"
#include "sim.h"

/* Who has written and waits is announced where it stands; its next byte goes
 * over Tux. */
static void quiet(struct sim *s)
{
	struct sim_end *a, *b;

	s->only = SIM_OPENING | SIM_SWITCH | SIM_STREAM | SIM_T(CLOSE) |
		  SIM_T(GONE);
	sim_pair(s, &a, &b);
	sim_write(a, 100);
	sim_ms(s, 20);
	sim_write(a, 100);
	sim_write(b, 50);
	sim_finish_all(s, TUX_SEC(10));
	SIM_TRACE(s,
		"[   0.000] a > send hello 59\n"
		"[   1.000] b > recv hello 59\n"
		"[   1.000] b > send hello 57\n"
		"[   2.000] a > recv hello 57\n"
		"[   2.000] a > path proved\n"
		"[   2.000] a > send hello 58\n"
		"[   2.000] a > send prepare 1 at 100\n"
		"[   3.000] b > recv hello 58\n"
		"[   3.000] b > path proved\n"
		"[   3.000] b > armed 1 at 100\n"
		"[   3.000] b > send prepare 1 at 0\n"
		"[   3.000] b > send prepared 1\n"
		"[   4.000] a > recv prepared 1\n"
		"[   4.000] a > armed 1 at 0\n"
		"[   4.000] a > commit 1 at 100\n"
		"[   4.000] a > send prepared 1\n"
		"[   5.000] b > recv prepared 1\n"
		"[   5.000] b > commit 1 at 0\n"
		"[   5.000] b > receive switched at 100\n"
		"[   6.000] a > receive switched at 0\n"
		"[  20.000] a > send 2 stream 100 +100\n"
		"[  20.000] a > send 2 fin at 200\n"
		"[  20.000] b > send 1 stream 0 +50\n"
		"[  20.000] b > send 1 fin at 50\n"
		"[  21.000] b > recv 2 stream 100 +100\n"
		"[  21.000] b > recv 2 fin at 200\n"
		"[  21.000] a > recv 1 stream 0 +50\n"
		"[  21.000] a > recv 1 fin at 50\n"
		"[  21.000] b > close\n"
		"[  21.000] a > close\n"
		"[  23.250] b > gone\n"
		"[  23.250] a > gone\n");
}

/* A database's client and server, one request after the other: the first ones
 * go over TCP, at TCP's latency. */
static void requests(struct sim *s)
{
	struct sim_end *a, *b;

	s->only = SIM_T(PROVED) | SIM_SWITCH;
	sim_pair(s, &a, &b);
	a->plan.role = SIM_CLIENT;
	b->plan.role = SIM_SERVER;
	a->plan.req = b->plan.req = 40;
	a->plan.resp = b->plan.resp = 1000;
	a->plan.rounds = 100;
	sim_run_out(s, TUX_SEC(10));
	sim_check_all(s);
	SIM_CHECK(s, s->now < TUX_MSEC(100 * 2 + 10));
	SIM_TRACE(s,
		"[   2.000] a > path proved\n"
		"[   2.000] a > send prepare 1 at 40\n"
		"[   2.000] a > generation 1 void\n"
		"[   2.050] a > send prepare 2 at 336\n"
		"[   3.000] b > path proved\n"
		"[   3.000] b > armed 1 at 40\n"
		"[   3.000] b > send prepare 1 at 1000\n"
		"[   3.000] b > send prepared 1\n"
		"[   3.000] b > generation 1 void\n"
		"[   3.050] b > armed 2 at 336\n"
		"[   3.050] b > send prepare 2 at 4000\n"
		"[   3.050] b > send prepared 2\n"
		"[   4.000] a > recv prepared 1\n"
		"[   4.000] a > armed 1 at 1000\n"
		"[   4.000] a > send prepared 1\n"
		"[   4.050] a > recv prepared 2\n"
		"[   4.050] a > armed 2 at 4000\n"
		"[   4.050] a > send prepared 2\n"
		"[   5.000] b > recv prepared 1\n"
		"[   5.050] b > recv prepared 2\n"
		"[   7.000] b > commit 2 at 4000\n"
		"[   8.000] a > receive switched at 4000\n"
		"[  16.000] a > commit 2 at 336\n"
		"[  17.000] b > receive switched at 336\n");
}

/* The server speaks first; the client reads for a long time. */
static void server_first(struct sim *s)
{
	struct sim_end *a, *b;

	s->only = SIM_SWITCH;
	sim_pair(s, &a, &b);
	sim_write(b, 500000);
	sim_finish_all(s, TUX_SEC(10));
	SIM_TRACE(s,
		"[   3.000] b > send prepare 1 at 131072\n"
		"[   4.000] a > armed 1 at 131072\n"
		"[   4.000] a > send prepared 1\n"
		"[   4.000] b > generation 1 void\n"
		"[   4.050] b > send prepare 2 at 327680\n"
		"[   5.000] b > recv prepared 1\n"
		"[   5.050] a > armed 2 at 327680\n"
		"[   5.050] a > send prepared 2\n"
		"[   6.050] b > recv prepared 2\n"
		"[  10.000] b > commit 2 at 327680\n"
		"[  11.000] a > receive switched at 327680\n");
}

/* Nothing is ever written: there is still an end to be told. */
static void empty(struct sim *s)
{
	struct sim_end *a, *b;

	s->only = SIM_DONE | SIM_T(RECV_FIN) | SIM_T(CLOSE) | SIM_T(GONE);
	sim_switched(s, &a, &b);
	sim_finish(a);
	sim_ms(s, 10);
	sim_finish_all(s, TUX_SEC(10));
	SIM_TRACE(s,
		"[  51.000] b > recv 2 fin at 0\n"
		"[  60.000] b > close\n"
		"[  61.000] a > recv 1 fin at 0\n"
		"[  61.000] a > close\n"
		"[  62.250] b > gone\n"
		"[  63.250] a > gone\n");
}

static void settle(struct sim_end *e, tux_time now)
{
	tux_conn_settle(e->c, now);
	sim_host_effects(e->host);
}

/* An announcement waits for a latch; an older one, late, does not take its
 * place. */
static void older_behind(struct sim *s)
{
	struct sim_end *a, *b;
	struct tux_duplex_rx *r;
	tux_time at;

	sim_pair(s, &a, &b);
	sim_ms(s, 1);
	SIM_CHECK(s, tux_latch_try(&a->dx->tx.latch));
	sim_run(s, TUX_USEC(3200));
	SIM_CHECK(s, b->c->life == TUX_LIFE_PROVED);
	sim_link(a->host, b->host)->down = true;	/* a's own are lost */
	tux_latch_drop(&a->dx->tx.latch);
	r = &b->c->dx->rx;
	SIM_CHECK(s, tux_latch_try(&r->latch));
	tux_upgrade_prepare(b->c, 7, 5000, 0);
	settle(b, s->now);
	tux_upgrade_prepare(b->c, 6, 4000, 0);
	settle(b, s->now);
	SIM_CHECK(s, !r->gen);
	tux_latch_drop(&r->latch);
	at = b->c->retry_at;
	tux_upgrade_expire(b->c, at);
	settle(b, at);
	SIM_CHECK(s, r->gen == 7 && r->at == 5000);
	b->conn->foul = true;		/* nobody announced that */
	sim_finish(a);
	sim_finish(b);
	sim_run_out(s, s->now + TUX_SEC(200));
}

const struct sim_story sim_stories[] = {
	{ "quiet", quiet },
	{ "requests", requests },
	{ "server_first", server_first },
	{ "empty", empty },
	{ "older_behind", older_behind },
	{ NULL, NULL },
};
