/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages of a lane take turns: the first message in the lane's `work` sends a
 * fragment and goes to the end of the list.
 */
#include "conn/message_tx.h"

#include "conn/conn_in.h"
#include "conn/message_begin.h"

enum {
	OPEN_MAX = 4,			/* messages of a lane that are sent for the
					 * first time at once */
	WORTH = 128,			/* shortest fragment that is cut to fit */
	LEAD = 65536,			/* the most bytes by which small messages
					 * get ahead of bulk ones */
};

/* ---- helpers ---- */

static bool has_work(struct tux_messages *g, const struct tux_msg_out *m)
{
	if (m->cancelled)
		return m->cancel_due;
	return m->fresh || m->next < m->total || tux_message_again(g, m);
}

void tux_message_requeue(struct tux_messages *g, unsigned lane,
			 struct tux_msg_out *m, bool first)
{
	struct tux_list *l = &g->tx[lane].work;

	tux_list_remove(&m->work);
	if (m->live && has_work(g, m))
		tux_list_push(first ? l->next : l, &m->work);
}

/* ---- begin ---- */

/* Begins what may begin in the lane.  False: no message has anything to
 * send. */
static bool begin_in(struct tux_conn *c, unsigned lane)
{
	struct tux_msg_lane_tx *l = &c->msg->tx[lane];
	struct tux_msg_out *m;

	while (l->open_n < OPEN_MAX && (m = tux_message_begin_next(c, lane))) {
		l->open_n++;
		tux_message_requeue(c->msg, lane, m, false);
	}
	return !tux_list_empty(&l->work);
}

/* The lane that sends first. */
static unsigned first_lane(const struct tux_messages *g)
{
	return g->lead > LEAD ? TUX_LANE_BULK : TUX_LANE_SMALL;
}

void tux_message_begin(struct tux_conn *c)
{
	unsigned lane = first_lane(c->msg);

	if (!begin_in(c, lane))
		begin_in(c, !lane);
}

/* ---- pick and take ---- */

/* The bytes of @m that go next, into @h: lost ones first, and at most what fits
 * into @room bytes with the header.  A fragment that is a whole message has a
 * shorter header.  False: @room is too small to cut a fragment for it. */
static bool extent(struct tux_messages *g, const struct tux_msg_out *m,
		   size_t room, struct tux_message_hdr *h)
{
	const struct tux_frag *lost = tux_message_again(g, m);
	uint32_t end = m->total, hdr;

	h->off = m->next;
	if (lost) {
		h->off = lost->r[0].start;
		end = lost->r[0].end;
	}
	h->len = end - h->off;
	h->flags = m->flags | tux_message_ends(h);
	if (room >= tux_message_hdr_len(h->flags) + h->len)
		return true;
	h->flags = m->flags;
	hdr = tux_message_hdr_len(h->flags);
	if (room < hdr + WORTH)
		return false;
	h->len = (uint32_t)room - hdr;
	h->flags |= tux_message_ends(h);
	return true;
}

/* tux_message_pick() in one lane. */
static bool pick_in(const struct tux_conn *c, unsigned lane, size_t room,
		    struct tux_msg_pick *k)
{
	struct tux_messages *g = c->msg;
	struct tux_msg_out *m;

	if (room < TUX_MESSAGE_HDR_MIN || tux_list_empty(&g->tx[lane].work))
		return false;
	m = TUX_CONTAINER(g->tx[lane].work.next, struct tux_msg_out, work);
	k->m = m;
	k->lane = lane;
	k->h = (struct tux_message_hdr){
		.flags = m->flags, .id = (uint32_t)m->id,
		.pos = (uint32_t)m->pos, .order = m->order, .total = m->total,
	};
	if (m->cancelled) {
		k->h.flags |= TUX_MESSAGE_CANCEL;
		return room >= tux_message_hdr_len(k->h.flags);
	}
	return extent(g, m, room, &k->h);
}

bool tux_message_pick(const struct tux_conn *c, size_t room,
		      struct tux_msg_pick *k)
{
	unsigned lane = first_lane(c->msg);

	return pick_in(c, lane, room, k) || pick_in(c, !lane, room, k);
}

/* @len bytes of @lane are sent.  Small messages go before bulk ones that wait,
 * until they have sent LEAD bytes more. */
static void count_lead(struct tux_messages *g, unsigned lane, uint32_t len)
{
	if (lane == TUX_LANE_BULK)
		g->lead = g->lead > (int32_t)len ? g->lead - (int32_t)len : 0;
	else if (tux_list_empty(&g->tx[TUX_LANE_BULK].work) &&
		 !tux_message_may_begin(g, TUX_LANE_BULK))
		g->lead = 0;
	else if (g->lead <= LEAD)
		g->lead += (int32_t)len;
}

static void note_sent(struct tux_messages *g, const struct tux_msg_pick *k)
{
	*tux_message_sent(g, g->sent_next++) = (struct tux_msg_sent){
		.off = k->h.off, .len = k->h.len, .id = k->h.id,
		.n = tux_message_whole(k->h.flags), .lane = (uint8_t)k->lane,
		.cancel = k->m->cancelled,
	};
}

void tux_message_take(struct tux_conn *c, const struct tux_msg_pick *k,
		      uint16_t *frag_n)
{
	struct tux_messages *g = c->msg;
	struct tux_msg_out *m = k->m;
	struct tux_frag *lost = tux_message_again(g, m);
	uint32_t end = k->h.off + k->h.len;
	bool open = m->fresh || m->next < m->total;

	if (m->cancelled)
		m->cancel_due = false;
	else if (lost)
		tux_frag_sub(lost, k->h.off, end);
	else
		m->next = end;
	m->fresh = false;
	m->complete |= m->next == m->total;
	if (open && (m->cancelled || m->next == m->total))
		g->tx[k->lane].open_n--;
	tux_message_requeue(g, k->lane, m, false);
	count_lead(g, k->lane, k->h.len);
	c->stats.msg_tx += k->h.len;
	tux_conn_trace(c, m->cancelled ? TUX_TRACE_MSG_CANCEL :
		       TUX_TRACE_MSG_SEND, k->lane, m->id, k->h.off);
	if (frag_n) {
		note_sent(g, k);
		++*frag_n;
	}
}

void tux_message_copy(const struct tux_conn *c, const struct tux_msg_pick *k,
		      uint32_t off, void *dst, size_t len)
{
	if (len)
		memcpy(dst, tux_message_bytes(c->msg, k->lane, k->m) + off,
		       len);
}

bool tux_message_could_go(struct tux_conn *c)
{
	return tux_message_waits(c) ||
	       tux_message_may_begin(c->msg, TUX_LANE_SMALL) ||
	       tux_message_may_begin(c->msg, TUX_LANE_BULK);
}

bool tux_message_waits(const struct tux_conn *c)
{
	return !tux_list_empty(&c->msg->tx[TUX_LANE_SMALL].work) ||
	       !tux_list_empty(&c->msg->tx[TUX_LANE_BULK].work);
}

bool tux_message_any(const struct tux_conn *c)
{
	return tux_message_waits(c) ||
	       tux_message_unbegun(c->msg, TUX_LANE_SMALL) ||
	       tux_message_unbegun(c->msg, TUX_LANE_BULK);
}

void tux_message_tell_end(const struct tux_conn *c, uint8_t *p)
{
	tux_put32(p, (uint32_t)c->msg->tx[TUX_LANE_SMALL].next);
	tux_put32(p + 4, (uint32_t)c->msg->tx[TUX_LANE_BULK].next);
}

/* How many entries of the ring of what was sent do packets in flight leave? */
static uint32_t ring_left(struct tux_conn *c)
{
	const struct tux_sent *s = tux_sentq_oldest(&c->sentq);
	uint32_t used = s ? c->msg->sent_next - s->frag_at : 0;

	return used < TUX_MSG_SENT ? TUX_MSG_SENT - used : 0;
}

/* Do small messages go next, and have those that have begun nothing to send? */
static bool add_may_begin(const struct tux_messages *g)
{
	return first_lane(g) == TUX_LANE_SMALL &&
	       tux_list_empty(&g->tx[TUX_LANE_SMALL].work) &&
	       tux_list_empty(&g->tx[TUX_LANE_BULK].work);
}

size_t tux_message_next_len(struct tux_conn *c, size_t room)
{
	uint32_t whole = add_may_begin(c->msg) ?
			 tux_message_begin_len(c->msg) : 0;
	struct tux_msg_pick k;

	if (whole && whole <= room)
		return whole;
	tux_message_begin(c);
	if (!tux_message_pick(c, room, &k))
		return 0;
	return tux_message_hdr_len(k.h.flags) + k.h.len;
}

/* Adds the fragment that goes next.  Its length with the header; 0: none fits. */
static uint32_t add_fragment(struct tux_conn *c, struct tux_writer *w,
			     uint16_t *frag_n)
{
	struct tux_msg_pick k;
	uint32_t hdr;
	uint8_t *p;

	/* What begins here goes the long way.  Where it would not be cut to fit,
	 * it waits for the next packet. */
	if (add_may_begin(c->msg) &&
	    tux_writer_room(w) < tux_message_hdr_len(0) + WORTH)
		return 0;
	tux_message_begin(c);
	if (!tux_message_pick(c, tux_writer_room(w), &k))
		return 0;
	hdr = tux_message_hdr_len(k.h.flags);
	p = tux_writer_add(w, TUX_REC_MESSAGE, k.h.flags, hdr + k.h.len);
	tux_message_encode(&k.h, p);
	tux_message_copy(c, &k, k.h.off, p + hdr, k.h.len);
	tux_message_take(c, &k, frag_n);
	return hdr + k.h.len;
}

uint32_t tux_message_add(struct tux_conn *c, struct tux_writer *w,
			 uint16_t *frag_n)
{
	struct tux_messages *g = c->msg;
	uint32_t end, n = 0, len = 1;

	/* No packet's entry is asked for any more. */
	if (tux_sentq_empty(&c->sentq) && !c->sentq.lost_n)
		g->sent_next = 0;
	end = g->sent_next + ring_left(c);
	while (len && tux_message_any(c) && g->sent_next != end &&
	       *frag_n < UINT16_MAX) {
		len = add_may_begin(g) ?
		      tux_message_begin_whole(c, w, frag_n) : 0;
		if (len)
			count_lead(g, TUX_LANE_SMALL, len);
		else
			len = add_fragment(c, w, frag_n);
		n += len;
	}
	return n;
}
