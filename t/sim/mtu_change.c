/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mtu_change - the interface takes shorter packets from now on, or longer ones
 */
#include "sim.h"

static struct sim_end *a, *b;

/* As the operator does it, at both ends. */
static void set(struct sim *s, uint32_t mtu)
{
	s->link[0][1].mtu = s->link[1][0].mtu = mtu;
	tux_conn_set_mtu(a->c, mtu, s->now);
	tux_conn_set_mtu(b->c, mtu, s->now);
}

static void finish(struct sim *s)
{
	sim_finish_all(s, TUX_SEC(20));
	SIM_CHECK(s, !a->stats.backs && !b->stats.backs);
}

/* What is under way is too long now.  It is lost, and sent again in pieces. */
static void shrinks(struct sim *s)
{
	sim_switched(s, &a, &b);
	sim_write(a, 2500);
	s->link[0][1].mtu = 700;
	sim_run(s, s->now + TUX_USEC(500));
	set(s, 700);
	sim_ms(s, 100);
	SIM_CHECK(s, b->got == 2500);
	SIM_CHECK(s, s->link[0][1].lost_n >= 2);
	finish(s);
}

/* In the middle of a long transfer. */
static void in_the_middle(struct sim *s)
{
	sim_switched(s, &a, &b);
	sim_write(a, 3000000);
	sim_write(b, 3000000);
	sim_ms(s, 20);
	SIM_CHECK(s, b->got && b->got < 3000000);
	set(s, 600);
	sim_ms(s, 20000);
	SIM_CHECK(s, a->got == 3000000 && b->got == 3000000);
	finish(s);
}

/* What follows is as long as may be again. */
static void grows(struct sim *s)
{
	uint64_t before;

	sim_switched(s, &a, &b);
	set(s, 600);
	before = s->link[0][1].sent_n;
	sim_write(a, 100000);
	sim_ms(s, 1000);
	SIM_CHECK(s, b->got == 100000);
	SIM_CHECK(s, s->link[0][1].sent_n - before > 100000 / 600);
	set(s, 1472);
	before = s->link[0][1].sent_n;
	sim_write(a, 100000);
	sim_ms(s, 1000);
	SIM_CHECK(s, b->got == 200000);
	SIM_CHECK(s, s->link[0][1].sent_n - before < 100000 / 1200);
	finish(s);
}

const struct sim_story sim_stories[] = {
	{ "shrinks", shrinks },
	{ "in_the_middle", in_the_middle },
	{ "grows", grows },
	{ NULL, NULL },
};
