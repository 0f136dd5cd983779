/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages of a lane take turns: the first message in the lane's `work` sends a
 * fragment and goes to the end of the list.
 */
#include "conn/message_tx.h"

#include <errno.h>

#include "conn/conn_in.h"

enum {
	OPEN_MAX = 4,			/* messages of a lane that are sent for the
					 * first time at once */
	WORTH = 128,			/* shortest fragment that is cut to fit */
	LEAD = 65536,			/* the most bytes by which small messages
					 * get ahead of bulk ones */
};

/* ---- helpers ---- */

static bool has_work(const struct tux_msg_out *m)
{
	if (m->cancelled)
		return m->cancel_due;
	return m->fresh || m->lost.n || m->next < m->total;
}

void tux_message_requeue(struct tux_messages *g, unsigned lane,
			 struct tux_msg_out *m, bool first)
{
	struct tux_list *l = &g->tx[lane].work;

	tux_list_remove(&m->work);
	if (m->live && has_work(m))
		tux_list_push(first ? l->next : l, &m->work);
}

/* ---- begin ---- */

/* Reads the note into *@m.  The application may change the note at any time, so
 * each field is read once, and checked afterwards.  Sets fields one by one:
 * most of *@m is the sets of fragments, which need no clearing.  False: the
 * note is not valid. */
static bool read_note(struct tux_messages *g, unsigned lane,
		      struct tux_note *n, struct tux_msg_out *m)
{
	const struct tux_msgbox_tx *t = &g->box->tx[lane];
	bool ordered = n->flags & TUX_MSG_ORDERED;

	m->total = n->len;
	m->order = ordered ? n->order : 0;
	m->at = n->at & (t->cap - 1);
	m->flags = (uint8_t)((ordered ? TUX_MESSAGE_ORDER : 0) |
			     (lane ? TUX_MESSAGE_BULK : 0));
	m->next = 0;
	m->fresh = true;
	m->cancelled = m->cancel_due = false;
	tux_frag_init(&m->acked);
	tux_frag_init(&m->lost);
	return m->at + m->total <= t->cap;
}

static void fail_note(struct tux_conn *c, struct tux_note *n, int err)
{
	n->err = (uint32_t)err;
	atomic_store(&n->state, TUX_NOTE_FAILED);
	tux_conn_mark(c, TUX_DIRTY_READY);
}

/* Computes the position of @m in the peer's lane.  False: the peer has no room
 * there yet. */
static bool place(struct tux_msg_lane_tx *l, struct tux_msg_out *m)
{
	m->pos = tux_lane_place(l->pos, m->total, l->cap);
	return l->next < l->ids &&
	       m->pos + tux_lane_size(m->total) <= l->limit;
}

static void begin(struct tux_messages *g, unsigned lane, struct tux_msg_out *m)
{
	struct tux_msg_lane_tx *l = &g->tx[lane];

	m->live = true;
	m->note = l->note++;
	l->next++;
	l->pos = m->pos + tux_lane_size(m->total);
	l->open_n++;
	tux_list_init(&m->work);
	tux_message_requeue(g, lane, m, false);
}

/* Begins the next message of the lane.  False: there is none, or no room.  A
 * cancelled message fails without beginning, unless it is ordered. */
static bool begin_next(struct tux_conn *c, unsigned lane)
{
	struct tux_messages *g = c->msg;
	struct tux_msg_lane_tx *l = &g->tx[lane];
	struct tux_note *n = tux_message_note(g, lane, l->note);
	struct tux_msg_out *m = tux_message_out(g, lane, l->next);
	uint32_t state = atomic_load(&n->state);

	if (!l->cap || l->next - l->first == tux_lane_n(lane) ||
	    !tux_message_unbegun(g, lane) ||
	    (state != TUX_NOTE_READY && state != TUX_NOTE_CANCEL))
		return false;
	if (!read_note(g, lane, n, m) || m->total > l->cap / 2) {
		m->cancelled = true;
		n->err = EMSGSIZE;
	} else if (state == TUX_NOTE_CANCEL) {
		m->cancelled = true;
		n->err = ECANCELED;
	}
	/* The peer must be told of an ordered one, since others wait for it. */
	if (m->cancelled && !(m->flags & TUX_MESSAGE_ORDER)) {
		l->note++;
		fail_note(c, n, (int)n->err);
		return true;
	}
	if (m->cancelled) {
		m->cancel_due = true;
		m->total = 0;
	}
	if (!place(l, m))
		return false;
	begin(g, lane, m);
	return true;
}

/* Begins what may begin in the lane.  False: no message has anything to
 * send. */
static bool begin_in(struct tux_conn *c, unsigned lane)
{
	struct tux_msg_lane_tx *l = &c->msg->tx[lane];

	while (l->open_n < OPEN_MAX && begin_next(c, lane))
		;
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
static bool extent(const struct tux_msg_out *m, size_t room,
		   struct tux_message_hdr *h)
{
	uint32_t end = m->total, hdr;

	h->off = m->next;
	if (m->lost.n) {
		h->off = m->lost.r[0].start;
		end = m->lost.r[0].end;
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
	k->id = g->tx[lane].first + ((uint64_t)(m - g->out) -
		tux_lane_slot(lane, g->tx[lane].first)) % tux_lane_n(lane);
	k->h = (struct tux_message_hdr){
		.flags = m->flags, .id = (uint32_t)k->id,
		.pos = (uint32_t)m->pos, .order = m->order, .total = m->total,
	};
	if (m->cancelled) {
		k->h.flags |= TUX_MESSAGE_CANCEL;
		return room >= tux_message_hdr_len(k->h.flags);
	}
	return extent(m, room, &k->h);
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
	else if (tux_list_empty(&g->tx[TUX_LANE_BULK].work))
		g->lead = 0;
	else if (g->lead <= LEAD)
		g->lead += (int32_t)len;
}

static void note_sent(struct tux_messages *g, const struct tux_msg_pick *k)
{
	g->sent[g->sent_next++ % TUX_MSG_SENT] = (struct tux_msg_sent){
		.off = k->h.off, .len = k->h.len, .id = k->h.id,
		.lane = (uint8_t)k->lane, .cancel = k->m->cancelled,
	};
}

void tux_message_take(struct tux_conn *c, const struct tux_msg_pick *k,
		      uint16_t *frag_n)
{
	struct tux_messages *g = c->msg;
	struct tux_msg_out *m = k->m;
	uint32_t end = k->h.off + k->h.len;
	bool open = m->fresh || m->next < m->total;

	if (m->cancelled) {
		m->cancel_due = false;
	} else if (m->lost.n) {
		tux_frag_sub(&m->lost, k->h.off, end);
	} else {
		m->next = end;
	}
	m->fresh = false;
	if (open && (m->cancelled || m->next == m->total))
		g->tx[k->lane].open_n--;
	tux_message_requeue(g, k->lane, m, false);
	count_lead(g, k->lane, k->h.len);
	c->stats.msg_tx += k->h.len;
	tux_conn_trace(c, m->cancelled ? TUX_TRACE_MSG_CANCEL :
		       TUX_TRACE_MSG_SEND, k->lane, k->id, k->h.off);
	if (frag_n) {
		note_sent(g, k);
		++*frag_n;
	}
}

void tux_message_copy(const struct tux_conn *c, const struct tux_msg_pick *k,
		      uint32_t off, void *dst, size_t len)
{
	const struct tux_msgbox *b = c->msg->box;

	if (len)
		memcpy(dst, (const uint8_t *)b + b->tx[k->lane].mem +
		       k->m->at + off, len);
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

/* Do packets in flight need all entries of the ring of fragments? */
static bool ring_full(struct tux_conn *c)
{
	struct tux_sent *s = tux_sentq_oldest(&c->sentq);

	return s && c->msg->sent_next - s->frag_at >= TUX_MSG_SENT;
}

uint32_t tux_message_add(struct tux_conn *c, struct tux_writer *w,
			 uint16_t *frag_n)
{
	struct tux_msg_pick k;
	uint32_t n = 0, hdr;
	uint8_t *p;

	while (!ring_full(c) && *frag_n < UINT16_MAX) {
		tux_message_begin(c);
		if (!tux_message_pick(c, tux_writer_room(w), &k))
			break;
		hdr = tux_message_hdr_len(k.h.flags);
		p = tux_writer_add(w, TUX_REC_MESSAGE, k.h.flags,
				   hdr + k.h.len);
		tux_message_encode(&k.h, p);
		tux_message_copy(c, &k, k.h.off, p + hdr, k.h.len);
		tux_message_take(c, &k, frag_n);
		n += hdr + k.h.len;
	}
	return n;
}
