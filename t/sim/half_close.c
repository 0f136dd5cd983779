/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * half_close - one direction ends, the other goes on for long
 */
#include "closing.h"

static struct sim_end *a, *b;

static void more(struct sim *s, void *arg, uint64_t n, uint64_t left)
{
	struct sim_end *e = arg;

	sim_write(e, n);
	if (left)
		sim_at(s, s->now + TUX_MSEC(200), more, e, n, left - 1);
	else
		sim_finish(e);
}

/* @x has said all; @y goes on for twenty seconds. */
static void half(struct sim *s, struct sim_end *x, struct sim_end *y)
{
	sim_write(x, 3000);
	sim_finish(x);
	sim_ms(s, 1000);
	SIM_CHECK(s, y->eof && y->got == x->sent);
	more(s, y, 20000, 100);
	sim_run_out(s, s->now + TUX_SEC(30));
	sim_check_all(s);
}

static void plain(struct sim *s)
{
	bring(s, PLAIN, &a, &b);
	half(s, a, b);
}

/* The end is announced before the switch: that direction stays on TCP. */
static void opening(struct sim *s)
{
	bring(s, OPENING, &a, &b);
	half(s, a, b);
}

static void announced(struct sim *s)
{
	bring(s, ANNOUNCED, &a, &b);
	half(s, a, b);
}

static void switched(struct sim *s)
{
	s->only = SIM_T(RECV_FIN) | SIM_T(CLOSE) | SIM_T(GONE) | SIM_T(TCP_END);
	bring(s, SWITCHED, &a, &b);
	sim_trace_clear(s);
	half(s, a, b);
	SIM_TRACE(s,
		"[  51.000] b > recv 4 fin at 3000\n"
		"[  53.250] b > tcp end 0\n"
		"[21050.000] b > close\n"
		"[21051.375] a > recv 1515 fin at 2020000\n"
		"[21051.375] a > close\n"
		"[21052.375] b > gone\n"
		"[21053.375] a > tcp end 0\n"
		"[21053.375] a > gone\n");
}

static void passive(struct sim *s)
{
	bring(s, SWITCHED, &a, &b);
	half(s, b, a);
}

static void back(struct sim *s)
{
	bring(s, BACK, &a, &b);
	half(s, a, b);
}

/* The path dies after one direction has ended, and comes back. */
static void back_later(struct sim *s)
{
	bring(s, SWITCHED, &a, &b);
	sim_finish(a);
	sim_ms(s, 100);
	sim_part(s, 0, 1, true);
	sim_write(b, 100000);
	sim_ms(s, 2000);
	SIM_CHECK(s, a->got == 100000);
	sim_part(s, 0, 1, false);
	sim_ms(s, 5000);
	sim_write(b, 100000);
	sim_finish_all(s, TUX_SEC(20));
}

const struct sim_story sim_stories[] = {
	{ "plain", plain },
	{ "opening", opening },
	{ "announced", announced },
	{ "switched", switched },
	{ "passive", passive },
	{ "back", back },
	{ "back_later", back_later },
	{ NULL, NULL },
};
