/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn/message_room.h"

#include "conn/conn_in.h"

enum {
	TELL = 8,			/* an eighth of a lane has become free since
					 * the last ROOM: the next packet carries
					 * ROOM */
	DUE = 4,			/* a quarter has: ROOM is sent by itself */
};

/* Frees the messages that the application has released, oldest first, up to the
 * first that it has not.  If there is none, the lane is empty, and its first byte
 * and entry are used next. */
static void free_lane(struct tux_messages *g, unsigned lane)
{
	struct tux_msg_lane_rx *l = &g->rx[lane];

	while (l->first < l->top) {
		unsigned slot = tux_message_in_slot(g, lane, l->first);
		struct tux_msg_in *m = &g->slot[slot].in;

		if (m->state < TUX_MSG_WHOLE ||
		    !atomic_load(&g->box->slot[slot].released))
			return;
		l->tail = tux_message_behind(m);
		if (m->state == TUX_MSG_WHOLE)
			l->freed += tux_msgbox_takes(g->box->rx[lane].cap,
						     lane, m->total);
		m->state = TUX_MSG_NONE;
		l->first++;
	}
	l->base = l->tail;
	l->zero = l->first;
}

/* Has one @part-th of the lane, in bytes or ids, become free since ROOM? */
static bool freed(const struct tux_messages *g, unsigned lane, unsigned part)
{
	const struct tux_msg_lane_rx *l = &g->rx[lane];

	return l->tail - l->told_tail >= g->box->rx[lane].cap / part ||
	       l->first - l->told_ids >= tux_lane_n(lane) / part;
}

/* Should ROOM be sent by itself?  Yes if a quarter of the lane has become free
 * since the last ROOM.  In the bulk lane also if the lane is empty: the space left
 * at its end may be too short for the next message. */
static bool room_due(const struct tux_messages *g, unsigned lane)
{
	const struct tux_msg_lane_rx *l = &g->rx[lane];

	return freed(g, lane, DUE) ||
	       (lane == TUX_LANE_BULK && l->first == l->top &&
		l->tail != l->told_tail);
}

bool tux_message_room_news(const struct tux_conn *c)
{
	return freed(c->msg, TUX_LANE_SMALL, TELL) ||
	       freed(c->msg, TUX_LANE_BULK, TELL);
}

void tux_message_released(struct tux_conn *c)
{
	struct tux_messages *g = c->msg;
	unsigned lane;

	for (lane = 0; lane < TUX_LANES; lane++) {
		free_lane(g, lane);
		if (room_due(g, lane)) {
			tux_conn_do(c, TUX_DO_ROOM);
			tux_conn_mark(c, TUX_DIRTY_ROOM);
		}
	}
}

void tux_message_tell_room(struct tux_conn *c, uint8_t *p)
{
	struct tux_room room[TUX_LANES];
	unsigned i;

	for (i = 0; i < TUX_LANES; i++) {
		struct tux_msgbox_rx *b = &c->msg->box->rx[i];
		struct tux_msg_lane_rx *l = &c->msg->rx[i];

		free_lane(c->msg, i);
		/* The application rings when its releases reach this; 0: at
		 * each release.  It counts from l->freed, not from b->freed:
		 * released messages behind the oldest one are not free yet,
		 * so the release of the oldest one must ring. */
		atomic_store(&b->wake_at, i == TUX_LANE_BULK ? 0 :
			     l->freed + b->cap / TELL);
		l->told_ids = l->first;
		l->told_tail = l->tail;
		room[i].cap = b->cap;
		room[i].ids = (uint32_t)l->first + tux_lane_n(i);
		room[i].limit = (uint32_t)l->tail + b->cap;
	}
	tux_room_encode(room, p);
	tux_conn_trace(c, TUX_TRACE_ROOM, c->msg->rx[0].first,
		       c->msg->rx[1].first, 0);
}
