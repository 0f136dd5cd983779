/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn/message_rx.h"

#include <errno.h>

#include "conn/conn_in.h"

enum {
	TELL = 8,			/* an eighth of a lane has become free since
					 * the last ROOM: the next packet carries
					 * ROOM */
	DUE = 4,			/* a quarter has: ROOM is sent by itself */
	GONE = UINT16_MAX,		/* in tux_messages.wait: cancelled */
};

static struct tux_msg_in *in_of(struct tux_messages *g, unsigned lane,
				uint64_t id)
{
	return &g->in[tux_lane_slot(lane, id)];
}

static uint8_t *bytes_of(struct tux_messages *g, unsigned lane, uint64_t pos)
{
	const struct tux_msgbox_rx *r = &g->box->rx[lane];

	return (uint8_t *)g->box + r->mem + (pos & (r->cap - 1));
}

static uint64_t end_of(const struct tux_msg_in *m)
{
	return m->pos + tux_lane_size(m->total);
}

/* ---- checks ---- */

/* Does [@start, @end), of message @id, begin at or after the end of the last known
 * message with a lower id, and end at or before the first known one with a higher
 * id? */
static bool in_between(struct tux_messages *g, unsigned lane, uint64_t id,
		       uint64_t start, uint64_t end)
{
	const struct tux_msg_lane_rx *l = &g->rx[lane];
	uint64_t i;

	for (i = id; i > l->first; i--) {
		const struct tux_msg_in *m = in_of(g, lane, i - 1);

		if (m->state != TUX_MSG_NONE) {
			if (start < end_of(m))
				return false;
			break;
		}
	}
	for (i = id + 1; i < l->top; i++) {
		const struct tux_msg_in *m = in_of(g, lane, i);

		if (m->state != TUX_MSG_NONE)
			return end <= m->pos;
	}
	return start >= l->tail;
}

/* May message @id be at @pos, with @total bytes? */
static bool fits(struct tux_messages *g, unsigned lane, uint64_t id,
		 uint64_t pos, uint32_t total)
{
	uint32_t cap = g->box->rx[lane].cap;
	uint64_t end = pos + tux_lane_size(total);

	if (total > cap / 2 || pos < g->rx[lane].tail ||
	    end > g->rx[lane].tail + cap ||
	    tux_lane_place(pos, total, cap) != pos)
		return false;
	return in_between(g, lane, id, pos, end);
}

/* Is the message unordered, or is its order number within the window, and not taken
 * by another message? */
static bool order_ok(struct tux_messages *g, const struct tux_message_hdr *h)
{
	uint64_t n = tux_seq_expand(g->order, h->order);

	if (!(h->flags & TUX_MESSAGE_ORDER))
		return true;
	return n >= g->order && n < g->order + TUX_MSG_IN &&
	       !g->wait[n % TUX_MSG_IN];
}

/* Does the header agree with what earlier fragments said of the message? */
static bool same(const struct tux_msg_in *m, const struct tux_message_hdr *h,
		 uint64_t pos)
{
	return m->pos == pos && m->total == h->total && m->order == h->order &&
	       m->flags == (h->flags & TUX_MESSAGE_ORDER);
}

/* The message that the fragment belongs to; begins it if it is new.  NULL: no
 * honest peer sends that. */
static struct tux_msg_in *find(struct tux_messages *g,
			       const struct tux_message_hdr *h, unsigned lane,
			       uint64_t id)
{
	struct tux_msg_in *m = in_of(g, lane, id);
	uint64_t pos = tux_seq_expand(g->rx[lane].tail, h->pos);

	if (m->state != TUX_MSG_NONE)
		return m->state == TUX_MSG_GONE || same(m, h, pos) ? m : NULL;
	if (!fits(g, lane, id, pos, h->total) || !order_ok(g, h))
		return NULL;
	m->state = TUX_MSG_PART;
	m->flags = h->flags & TUX_MESSAGE_ORDER;
	m->pos = pos;
	m->total = h->total;
	m->order = h->order;
	tux_frag_init(&m->got);
	if (id >= g->rx[lane].top)
		g->rx[lane].top = id + 1;
	return m;
}

/* ---- delivery ---- */

/* Delivers the complete message in @slot to the application. */
static void deliver(struct tux_conn *c, unsigned slot)
{
	struct tux_messages *g = c->msg;
	struct tux_msgbox *b = g->box;
	const struct tux_msg_in *m = &g->in[slot];
	unsigned lane = slot >= TUX_MSG_SMALL_N;
	const struct tux_msg_lane_rx *l = &g->rx[lane];
	uint64_t id = l->first + (slot - tux_lane_slot(lane, l->first)) %
		      tux_lane_n(lane);
	uint32_t head = atomic_load(&b->in_head);

	tux_conn_trace(c, TUX_TRACE_MSG_DELIVER, lane, id, m->total);
	c->stats.msg_rx += m->total;
	c->stats.msgs_rx++;
	if (c->closed) {		/* the application does not read it */
		atomic_store(&b->released[slot], 1);
		return;
	}
	b->in[head % TUX_MSG_IN] = (struct tux_arrival){
		.id = (uint32_t)id, .len = m->total, .lane = (uint8_t)lane,
		.at = (uint32_t)(m->pos & (b->rx[lane].cap - 1)),
		.flags = m->flags & TUX_MESSAGE_ORDER ? TUX_MSG_ORDERED : 0,
	};
	atomic_store(&b->in_head, head + 1);
	tux_conn_mark(c, TUX_DIRTY_READY);
}

/* Delivers the ordered messages that have their turn; skips cancelled ones. */
static void deliver_ordered(struct tux_conn *c)
{
	struct tux_messages *g = c->msg;
	uint16_t *w;

	while (*(w = &g->wait[g->order % TUX_MSG_IN])) {
		unsigned slot = *w - 1u;

		g->order++;
		if (*w != GONE)
			deliver(c, slot);
		*w = 0;
	}
}

void tux_message_no_more(struct tux_conn *c)
{
	uint64_t end = c->msg->order + TUX_MSG_IN;

	while (c->msg->order < end) {
		deliver_ordered(c);
		c->msg->order++;
	}
}

/* If END has come, and all messages that it counts, delivers those that
 * wait. */
static void messages_look_end(struct tux_conn *c)
{
	if (!tux_messages_all_here(c->msg))
		return;
	tux_message_no_more(c);
	tux_conn_mark(c, TUX_DIRTY_CAME | TUX_DIRTY_READY);
}

/* The message is complete (WHOLE) or cancelled (GONE), as @state says. */
static void message_finish(struct tux_conn *c, struct tux_msg_in *m, uint8_t state)
{
	struct tux_messages *g = c->msg;
	unsigned slot = (unsigned)(m - g->in);
	uint64_t n = tux_seq_expand(g->order, m->order);

	m->state = state;
	if (state == TUX_MSG_GONE)
		atomic_store(&g->box->released[slot], 1);
	if (m->flags & TUX_MESSAGE_ORDER) {
		g->wait[n % TUX_MSG_IN] = state == TUX_MSG_GONE ? GONE :
					  (uint16_t)(slot + 1);
		deliver_ordered(c);
	} else if (state == TUX_MSG_WHOLE) {
		deliver(c, slot);
	}
	if (c->closed || state == TUX_MSG_GONE)
		tux_message_released(c);
	if (g->fin)			/* END was quicker than this message */
		messages_look_end(c);
}

static int put(struct tux_conn *c, struct tux_msg_in *m,
	       const struct tux_message_hdr *h, const uint8_t *p, uint32_t max)
{
	unsigned lane = tux_message_lane(h);
	int new;

	if (m->state != TUX_MSG_PART)
		return 0;		/* complete or cancelled already */
	if (h->flags & TUX_MESSAGE_CANCEL) {
		message_finish(c, m, TUX_MSG_GONE);
		return 0;
	}
	new = tux_frag_add(&m->got, h->off, h->off + h->len, max);
	if (new < 0)
		return -ENOBUFS;
	if (new)
		memcpy(bytes_of(c->msg, lane, m->pos + h->off), p, h->len);
	if (tux_frag_whole(&m->got, m->total))
		message_finish(c, m, TUX_MSG_WHOLE);
	return 0;
}

int tux_message_put(struct tux_conn *c, const struct tux_message_hdr *h,
		    const uint8_t *p, bool frame)
{
	struct tux_messages *g = c->msg;
	unsigned lane = tux_message_lane(h);
	struct tux_msg_lane_rx *l;
	struct tux_msg_in *m;
	uint64_t id;

	if (!g)
		return -EBADMSG;
	l = &g->rx[lane];
	id = tux_seq_expand(l->first, h->id);
	tux_conn_trace(c, TUX_TRACE_MSG_RECV, lane, id, h->off);
	if (id < l->first)
		return 0;		/* a duplicate: its room is free again */
	if (id >= l->first + tux_lane_n(lane))
		return -EBADMSG;
	m = find(g, h, lane, id);
	/* m->got has room for TUX_FRAG_MAX ranges.  A fragment in a packet may
	 * use all but one, and is dropped if it needs more: it comes again.
	 * A fragment in a frame comes only once, so the last range is kept for
	 * frames.  One is enough: TCP keeps the order, so only the first such
	 * fragment of a message can begin a new range. */
	return m ? put(c, m, h, p, TUX_FRAG_MAX - !frame) : -EBADMSG;
}

int tux_message_fin(struct tux_conn *c, const uint8_t *p, size_t len)
{
	struct tux_messages *g = c->msg;
	unsigned i;

	if (!g || len != TUX_END_LEN)
		return -EBADMSG;
	g->fin = true;
	for (i = 0; i < TUX_LANES; i++)
		g->rx[i].end = tux_seq_expand(g->rx[i].top,
					      tux_get32(p + 4 * i));
	messages_look_end(c);
	return 0;
}

bool tux_messages_all_here(const struct tux_messages *g)
{
	unsigned lane;
	uint64_t id;

	for (lane = 0; g->fin && lane < TUX_LANES; lane++) {
		const struct tux_msg_lane_rx *l = &g->rx[lane];

		if (l->end > l->top)
			return false;
		for (id = l->first; id < l->end; id++) {
			if (g->in[tux_lane_slot(lane, id)].state <
			    TUX_MSG_WHOLE)
				return false;
		}
	}
	return true;
}

/* ---- room ---- */

/* Frees the messages that the application has released, oldest first, up to the
 * first that it has not. */
static void free_lane(struct tux_messages *g, unsigned lane)
{
	struct tux_msg_lane_rx *l = &g->rx[lane];

	while (l->first < l->top) {
		unsigned slot = tux_lane_slot(lane, l->first);
		struct tux_msg_in *m = &g->in[slot];

		if (m->state < TUX_MSG_WHOLE ||
		    !atomic_load(&g->box->released[slot]))
			return;
		l->tail = end_of(m);
		if (m->state == TUX_MSG_WHOLE)
			l->freed += tux_msgbox_takes(g->box->rx[lane].cap,
						     lane, m->total);
		m->state = TUX_MSG_NONE;
		atomic_store(&g->box->released[slot], 0);
		l->first++;
	}
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
