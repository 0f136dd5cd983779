/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn/message_life.h"

#include <errno.h>

#include "conn/conn_in.h"
#include "conn/message_fate.h"
#include "conn/message_room.h"

struct tux_messages *tux_messages_new(const struct tux_mem *mem,
				      struct tux_msgbox *box)
{
	struct tux_messages *g = tux_mem_alloc(mem, sizeof(*g));
	unsigned i;

	if (!g)
		return NULL;
	g->box = box;
	atomic_store(&box->err, 0);
	for (i = 0; i < TUX_LANES; i++) {
		tux_list_init(&g->tx[i].work);
		g->tx[i].note = box->tx[i].taken;
	}
	return g;
}

void tux_messages_free(const struct tux_mem *mem, struct tux_messages *g)
{
	unsigned i;

	for (i = 0; g && i < TUX_LANES; i++)
		g->box->tx[i].taken = g->tx[i].note;
	tux_mem_free(mem, g);
}

bool tux_messages_idle(const struct tux_conn *c)
{
	const struct tux_messages *g = c->msg;
	unsigned i;

	for (i = 0; g && i < TUX_LANES; i++) {
		if (g->tx[i].first != g->tx[i].next ||
		    tux_message_unbegun(g, i))
			return false;
	}
	return true;
}

/* The notes that have not begun fail with @err, and so will new ones. */
static void refuse_notes(struct tux_conn *c, int err)
{
	struct tux_messages *g = c->msg;
	unsigned i;

	for (i = 0; i < TUX_LANES; i++)
		g->box->tx[i].taken = g->tx[i].note;
	tux_msgbox_refuse(g->box, err);
	for (i = 0; i < TUX_LANES; i++)
		g->tx[i].note = g->box->tx[i].taken;
	tux_conn_mark(c, TUX_DIRTY_READY);
}

void tux_messages_end(struct tux_conn *c, int err)
{
	if (!c->msg || c->msg->ended)
		return;
	c->msg->ended = true;
	refuse_notes(c, err);
}

void tux_messages_fail(struct tux_conn *c, int err)
{
	struct tux_messages *g = c->msg;
	unsigned i;

	if (!g)
		return;
	tux_messages_end(c, err);
	for (i = 0; i < TUX_MSG_N; i++) {
		struct tux_msg_out *m = &g->slot[i].out;

		if (m->live)
			tux_message_settle(c, i >= TUX_MSG_SMALL_N, m,
					   TUX_NOTE_FAILED, err);
	}
}

void tux_messages_silent(struct tux_conn *c)
{
	if (c->msg && !c->msg->ended)
		refuse_notes(c, EPROTONOSUPPORT);
}

void tux_messages_proved(struct tux_conn *c)
{
	struct tux_messages *g = c->msg;

	if (!g || g->ended)
		return;
	if (!c->peer_messages) {
		tux_messages_end(c, EPROTONOSUPPORT);
		return;
	}
	atomic_store(&g->box->err, 0);
	tux_conn_do(c, TUX_DO_ROOM);
	tux_conn_mark(c, TUX_DIRTY_ROOM | TUX_DIRTY_READY);
}

bool tux_messages_want_room(const struct tux_conn *c)
{
	const struct tux_messages *g = c->msg;

	return g && !tux_messages_idle(c) &&
	       g->tx[TUX_LANE_SMALL].first == g->tx[TUX_LANE_SMALL].next &&
	       g->tx[TUX_LANE_BULK].first == g->tx[TUX_LANE_BULK].next;
}

bool tux_messages_hopeless(const struct tux_conn *c)
{
	return tux_path_back(c->tx.path) && c->rx.path == TUX_PATH_PLAIN &&
	       atomic_load(&c->dx->tx.shut) && tux_messages_want_room(c);
}

/* The application has closed: releases messages that it will not read. */
static void sink_messages(struct tux_messages *g)
{
	unsigned i;

	for (i = 0; i < TUX_MSG_N; i++) {
		const struct tux_msg_in *m = &g->slot[i].in;
		bool ordered = m->flags & TUX_MESSAGE_ORDER;

		/* An ordered message that waits for its turn is released when
		 * it is delivered. */
		if (m->state == TUX_MSG_WHOLE &&
		    (!ordered || tux_seq_expand(g->order, m->order) < g->order))
			atomic_store(&g->box->slot[i].released, 1);
	}
}

void tux_messages_rung(struct tux_conn *c)
{
	struct tux_messages *g = c->msg;

	if (!g)
		return;
	/* Notes may have come while, or since, others were refused. */
	if (g->ended || atomic_load(&g->box->err))
		refuse_notes(c, (int)atomic_load(&g->box->err));
	if (c->closed)
		sink_messages(g);
	tux_message_cancels(c);
	tux_message_released(c);
	tux_conn_kick(c);
	tux_conn_mark(c, TUX_DIRTY_ROOM);
}
