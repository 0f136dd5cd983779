/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn/message_rx.h"

#include <errno.h>

#include "conn/conn_in.h"
#include "conn/message_room.h"

enum { GONE = UINT16_MAX };		/* in tux_messages.wait: cancelled */

/* Where message @m begins in the bytes of its lane.  It may reach into the memory
 * behind them: the bytes at the beginning that it would have taken stay free. */
static uint32_t offset_of(const struct tux_messages *g, unsigned lane,
			  const struct tux_msg_in *m)
{
	return (uint32_t)(m->pos - g->rx[lane].base) &
	       (g->box->rx[lane].cap - 1);
}

static uint8_t *bytes_of(struct tux_messages *g, unsigned lane,
			 const struct tux_msg_in *m)
{
	return (uint8_t *)g->box + g->box->rx[lane].mem +
	       offset_of(g, lane, m);
}

/* The index of the entry @m. */
static unsigned slot_of(const struct tux_messages *g,
			const struct tux_msg_in *m)
{
	return (unsigned)(TUX_CONTAINER(m, const struct tux_msg_slot, in) -
			  g->slot);
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
		const struct tux_msg_in *m = tux_message_in(g, lane, i - 1);

		if (m->state != TUX_MSG_NONE) {
			if (start < tux_message_behind(m))
				return false;
			break;
		}
	}
	for (i = id + 1; i < l->top; i++) {
		const struct tux_msg_in *m = tux_message_in(g, lane, i);

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
	struct tux_msg_in *m = tux_message_in(g, lane, id);
	uint64_t pos = tux_seq_expand(g->rx[lane].tail, h->pos);

	if (m->state != TUX_MSG_NONE)
		return m->state == TUX_MSG_GONE || same(m, h, pos) ? m : NULL;
	if (!fits(g, lane, id, pos, h->total) || !order_ok(g, h))
		return NULL;
	atomic_store_explicit(&g->box->slot[slot_of(g, m)].released, 0,
			      memory_order_relaxed);
	m->state = TUX_MSG_PART;
	m->flags = h->flags & TUX_MESSAGE_ORDER;
	m->parted = false;
	m->pos = pos;
	m->total = h->total;
	m->order = h->order;
	if (id >= g->rx[lane].top)
		g->rx[lane].top = id + 1;
	return m;
}

/* ---- delivery ---- */

static uint64_t id_of(const struct tux_messages *g, unsigned lane,
		      unsigned slot)
{
	uint64_t first = g->rx[lane].first;

	return first + ((slot - tux_message_in_slot(g, lane, first)) &
			(tux_lane_n(lane) - 1));
}

/* Delivers the complete message in @slot to the application. */
static void deliver(struct tux_conn *c, unsigned slot)
{
	struct tux_messages *g = c->msg;
	struct tux_msgbox *b = g->box;
	const struct tux_msg_in *m = &g->slot[slot].in;
	unsigned lane = slot >= TUX_MSG_SMALL_N;
	uint32_t head = atomic_load(&b->in_head);

	tux_conn_trace(c, TUX_TRACE_MSG_DELIVER, lane, id_of(g, lane, slot),
		       m->total);
	c->stats.msg_rx += m->total;
	c->stats.msgs_rx++;
	if (c->closed) {		/* the application does not read it */
		atomic_store(&b->slot[slot].released, 1);
		return;
	}
	b->slot[slot].arrived = (struct tux_arrival){
		.len = m->total, .at = offset_of(g, lane, m),
		.flags = m->flags & TUX_MESSAGE_ORDER ? TUX_MSG_ORDERED : 0,
	};
	b->in[head % TUX_MSG_IN] = (uint16_t)slot;
	atomic_store_explicit(&b->in_head, head + 1, memory_order_release);
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
	unsigned slot = slot_of(g, m);
	uint64_t n = tux_seq_expand(g->order, m->order);

	m->state = state;
	if (state == TUX_MSG_GONE)
		atomic_store(&g->box->slot[slot].released, 1);
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

/* Copies the bytes to their place.  After the application has closed the connection,
 * it reads no more messages, but may still hold earlier ones: nothing is written. */
static void keep(struct tux_conn *c, const struct tux_msg_in *m,
		 const struct tux_message_hdr *h, const uint8_t *p)
{
	if (!c->closed)
		memcpy(bytes_of(c->msg, tux_message_lane(h), m) + h->off, p,
		       h->len);
}

/* The ranges of @m that have arrived: at first none. */
static struct tux_frag *got_of(struct tux_messages *g, struct tux_msg_in *m)
{
	struct tux_frag *f = &g->got[slot_of(g, m)];

	if (!m->parted) {
		m->parted = true;
		tux_frag_init(f);
	}
	return f;
}

static int put_part(struct tux_conn *c, struct tux_msg_in *m,
		    const struct tux_message_hdr *h, const uint8_t *p,
		    uint32_t max)
{
	struct tux_frag *got = got_of(c->msg, m);
	int new = tux_frag_add(got, h->off, h->off + h->len, max);

	if (new < 0)
		return -ENOBUFS;
	if (new)
		keep(c, m, h, p);
	if (tux_frag_whole(got, m->total))
		message_finish(c, m, TUX_MSG_WHOLE);
	return 0;
}

static int put(struct tux_conn *c, struct tux_msg_in *m,
	       const struct tux_message_hdr *h, const uint8_t *p, uint32_t max)
{
	if (m->state != TUX_MSG_PART)
		return 0;		/* complete or cancelled already */
	if (h->flags & TUX_MESSAGE_CANCEL) {
		message_finish(c, m, TUX_MSG_GONE);
	} else if (h->len < m->total) {
		return put_part(c, m, h, p, max);
	} else {
		keep(c, m, h, p);
		message_finish(c, m, TUX_MSG_WHOLE);
	}
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
	/* A message has room for TUX_FRAG_MAX ranges.  A fragment in a packet may
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
			uint32_t slot = tux_message_in_slot(g, lane, id);

			if (g->slot[slot].in.state < TUX_MSG_WHOLE)
				return false;
		}
	}
	return true;
}
