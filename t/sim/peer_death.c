/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer_death - kill -9, at each stage of a connection
 *
 * The survivor reads what is complete, and is then told; never a quiet end in
 * the middle of what the dead one had written.  The kernel tells it, and it
 * takes no timer.
 */
#include "closing.h"

static void kill_at(struct sim *s, enum where w, unsigned side)
{
	struct sim_end *end[2], *x, *y;
	tux_time at;

	bring(s, w, &end[0], &end[1]);
	x = end[side];
	y = end[1 - side];
	sim_write(x, 30000);
	sim_write(y, 300000);
	sim_run(s, s->now + TUX_USEC(300));
	sim_kill(x->host);
	at = s->now;
	sim_finish(y);
	sim_run_out(s, s->now + TUX_SEC(2));
	SIM_CHECK(s, y->closed && (y->rerr || y->werr));
	SIM_CHECK(s, s->now - at < TUX_MSEC(100));
}

#define TALE(name, where) \
	static void name##_a(struct sim *s) { kill_at(s, where, 0); } \
	static void name##_b(struct sim *s) { kill_at(s, where, 1); }
TALE(plain, PLAIN)
TALE(opening, OPENING)
TALE(announced, ANNOUNCED)
TALE(armed, ARMED)
TALE(switched, SWITCHED)
TALE(back, BACK)

enum { CROWD = 38, STEP = 250 /* us */ };

/* @e asks or answers all the time, and every tenth packet of it is lost. */
static void converse(struct sim_end *e)
{
	e->plan.role = e->side ? SIM_SERVER : SIM_CLIENT;
	e->plan.req = e->plan.resp = 1000;
	e->plan.rounds = UINT32_MAX;
	sim_link(e->host, e->peer->host)->loss = 100000;
}

static void kill_one(struct sim *s, void *arg, uint64_t n, uint64_t m)
{
	(void)s, (void)n, (void)m;
	sim_kill(arg);
}

/* Many pairs.  One end of each is killed, each a little later than the one
 * before: at every step of the opening and of the switch, and behind it. */
static void lossy(struct sim *s, unsigned side)
{
	struct sim_end *a, *b;
	unsigned i;

	for (i = 0; i < CROWD; i++) {
		sim_pair(s, &a, &b);
		converse(a);
		converse(b);
		sim_at(s, TUX_USEC(STEP * (i + 1)), kill_one,
		       a->conn->end[side].host, 0, 0);
	}
	sim_run_out(s, TUX_USEC(STEP * CROWD) + TUX_MSEC(100));
	for (i = 0; i < CROWD; i++) {
		struct sim_end *e = &s->conn[i]->end[!side];

		SIM_CHECK(s, e->closed && (e->eof || e->rerr || e->werr));
	}
}

static void lossy_a(struct sim *s)
{
	lossy(s, 0);
}

static void lossy_b(struct sim *s)
{
	lossy(s, 1);
}

/* All that it wrote had arrived; it only never said that this was the end. */
static void idle(struct sim *s)
{
	struct sim_end *a, *b;

	s->only = SIM_T(PEER_DIED) | SIM_T(TCP_END) | SIM_T(CLOSE) |
		  SIM_T(GONE);
	s->net_lines = true;
	sim_switched(s, &a, &b);
	sim_write(b, 5000);
	sim_ms(s, 20);
	sim_kill(b->host);
	sim_run_out(s, s->now + TUX_SEC(1));
	SIM_CHECK(s, a->got == 5000 && a->rerr && !a->eof);
	SIM_TRACE(s,
		"[  70.000] net b killed\n"
		"[  71.000] a > tcp end 0\n"
		"[  71.000] a > peer died\n"
		"[  71.000] a > close\n"
		"[  71.000] a > gone\n");
}

/* It had finished, and everything had arrived: a clean end, like TCP's. */
static void finished(struct sim *s)
{
	struct sim_end *a, *b;

	sim_switched(s, &a, &b);
	sim_write(b, 5000);
	sim_finish(b);
	sim_ms(s, 20);
	sim_kill(b->host);
	sim_ms(s, 20);
	SIM_CHECK(s, a->got == 5000 && a->eof && !a->rerr);
	sim_finish(a);
	sim_run_out(s, s->now + TUX_SEC(2));
}

/* It had finished, but the bytes were lost with it: FIN alone is no end. */
static void fin_without_data(struct sim *s)
{
	struct sim_end *a, *b;

	sim_switched(s, &a, &b);
	s->link[1][0].down = true;
	b->plan.finish = true;
	sim_write(b, 5000);
	sim_ms(s, 10);
	sim_kill(b->host);
	sim_run_out(s, s->now + TUX_SEC(2));
	SIM_CHECK(s, a->got < 5000 && a->rerr && !a->eof);
}

/* Others at the same host, and at the survivor, are not disturbed. */
static void survivor(struct sim *s)
{
	struct sim_end *a, *b;
	struct sim_host *c;
	struct sim_conn *k;

	sim_pair(s, &a, &b);
	c = sim_add_host(s);
	k = sim_connect(c, b->host);
	sim_ms(s, 50);
	sim_write(a, 100000);
	sim_write(&k->end[0], 1000000);
	sim_write(&k->end[1], 1000000);
	sim_ms(s, 5);
	sim_kill(a->host);
	sim_finish(&k->end[0]);
	sim_finish(&k->end[1]);
	sim_run_out(s, s->now + TUX_SEC(10));
	SIM_CHECK(s, k->end[0].got == 1000000 && k->end[1].got == 1000000);
	SIM_CHECK(s, k->end[0].eof && k->end[1].eof);
	SIM_CHECK(s, b->rerr);
}

const struct sim_story sim_stories[] = {
	{ "plain_a", plain_a }, { "plain_b", plain_b },
	{ "opening_a", opening_a }, { "opening_b", opening_b },
	{ "announced_a", announced_a }, { "announced_b", announced_b },
	{ "armed_a", armed_a }, { "armed_b", armed_b },
	{ "switched_a", switched_a }, { "switched_b", switched_b },
	{ "back_a", back_a }, { "back_b", back_b },
	{ "lossy_a", lossy_a }, { "lossy_b", lossy_b },
	{ "idle", idle },
	{ "finished", finished },
	{ "fin_without_data", fin_without_data },
	{ "survivor", survivor },
	{ NULL, NULL },
};
