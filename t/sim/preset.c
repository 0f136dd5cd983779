/* SPDX-License-Identifier: BSD-2-Clause */
#include "preset.h"

#include "conn/conn.h"
#include "sim.h"

static const uint64_t WRAP = UINT64_C(1) << 32;

void sim_near_seq(struct sim_end *e)
{
	e->c->first = 2 * WRAP - 40 - e->side;
	tux_sentq_init(&e->c->sentq, e->c->first);
}

void sim_near_ids(struct sim_end *e)
{
	struct tux_messages *g = e->c->msg;
	unsigned i;

	for (i = 0; g && i < TUX_LANES; i++) {
		struct tux_msg_lane_tx *t = &g->tx[i];
		struct tux_msg_lane_rx *r = &g->rx[i];

		t->first = t->next = t->ids = WRAP - 30;
		r->first = r->top = r->told_ids = WRAP - 30;
	}
}

void sim_near_pos(struct sim_end *e)
{
	struct tux_messages *g = e->c->msg;
	unsigned i;

	for (i = 0; g && i < TUX_LANES; i++) {
		uint64_t pos = WRAP - e->box->rx[i].cap;

		g->tx[i].pos = g->tx[i].limit = pos;
		g->rx[i].tail = g->rx[i].told_tail = pos;
	}
}

void sim_near_order(struct sim_end *e)
{
	if (!e->c->msg)
		return;
	e->c->msg->order = WRAP - 30;
	e->box->order = (uint32_t)(WRAP - 30);
}

void sim_near_messages(struct sim_end *e)
{
	sim_near_ids(e);
	sim_near_pos(e);
	sim_near_order(e);
}

void sim_near_gen(struct sim_end *e)
{
	e->dx->tx.gen = e->dx->rx.gen = UINT32_MAX - 2;
}

void sim_near_all(struct sim_end *e)
{
	sim_near_seq(e);
	sim_near_messages(e);
	sim_near_gen(e);
}
