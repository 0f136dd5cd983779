/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn/message_begin.h"

#include <errno.h>
#include <string.h>

#include "conn/conn_in.h"

/* ---- notes ---- */

/* How many notes of the lane wait, as far as there are entries for more
 * messages? */
static uint64_t begin_most(const struct tux_messages *g, unsigned lane)
{
	const struct tux_msg_lane_tx *l = &g->tx[lane];
	uint64_t notes = atomic_load(&g->box->tx[lane].next) - l->note;
	uint64_t entries = l->first + tux_lane_n(lane) - l->next;

	if (g->ended || !l->cap)
		return 0;
	return notes < entries ? notes : entries;
}

/* Reads the note into *@m.  The application may change the note at any time, so
 * each field is read once, and checked afterwards.  False: the note is not
 * valid. */
static inline bool read_note(struct tux_messages *g, unsigned lane,
			     const struct tux_note *n, struct tux_msg_out *m)
{
	const struct tux_msgbox_tx *t = &g->box->tx[lane];
	bool ordered = n->flags & TUX_MSG_ORDERED;

	m->total = n->len;
	m->order = ordered ? n->order - g->box->refused : 0;
	m->at = (uint32_t)n->at & (t->cap - 1);
	m->flags = (uint8_t)((ordered ? TUX_MESSAGE_ORDER : 0) |
			     (lane ? TUX_MESSAGE_BULK : 0));
	m->next = 0;
	m->fresh = true;
	m->complete = m->cancelled = m->cancel_due = m->parted = false;
	return m->total <= t->cap && m->at <= t->cap - m->total &&
	       m->total <= g->tx[lane].cap / 2;
}

static void fail_note(struct tux_conn *c, struct tux_note *n, int err)
{
	n->err = (uint32_t)err;
	atomic_store(&n->state, TUX_NOTE_FAILED);
	tux_conn_mark(c, TUX_DIRTY_READY);
}

/* Computes the position in the peer's lane of the next message, of @len bytes, into
 * *@pos.  False: the peer has no room there yet. */
static inline bool place(const struct tux_msg_lane_tx *l, uint32_t len,
			 uint64_t *pos)
{
	*pos = tux_lane_place(l->pos, len, l->cap);
	return l->next < l->ids && *pos + tux_lane_size(len) <= l->limit;
}

bool tux_message_may_begin(struct tux_messages *g, unsigned lane)
{
	const struct tux_msg_lane_tx *l = &g->tx[lane];
	uint64_t pos;

	return begin_most(g, lane) &&
	       place(l, tux_message_note(g, lane, l->note)->len, &pos);
}

/* ---- messages ---- */

static inline void begin(struct tux_msg_lane_tx *l, struct tux_msg_out *m)
{
	m->live = true;
	m->note = l->note++;
	m->id = l->next++;
	l->pos = m->pos + tux_lane_size(m->total);
	tux_list_init(&m->work);
}

/* The entry for the next message.  An empty lane uses the first one again. */
static inline struct tux_msg_out *next_entry(struct tux_messages *g,
					     unsigned lane)
{
	struct tux_msg_lane_tx *l = &g->tx[lane];

	if (l->first == l->next)
		l->zero = l->next;
	return tux_message_out(g, lane, l->next);
}

struct tux_msg_out *tux_message_begin_next(struct tux_conn *c, unsigned lane)
{
	struct tux_messages *g = c->msg;
	struct tux_msg_lane_tx *l = &g->tx[lane];
	struct tux_msg_out *m = next_entry(g, lane);

	for (; begin_most(g, lane); l->note++) {
		struct tux_note *n = tux_message_note(g, lane, l->note);
		uint32_t state = atomic_load(&n->state);
		int err = 0;

		if (state != TUX_NOTE_READY && state != TUX_NOTE_CANCEL)
			return NULL;
		if (!read_note(g, lane, n, m))
			err = EMSGSIZE;
		else if (state == TUX_NOTE_CANCEL)
			err = ECANCELED;
		if (err && !(m->flags & TUX_MESSAGE_ORDER)) {
			fail_note(c, n, err);
			continue;
		}
		if (err) {
			n->err = (uint32_t)err;
			m->cancelled = m->cancel_due = true;
			m->total = 0;
		}
		if (!place(l, m->total, &m->pos))
			return NULL;
		begin(l, m);
		return m;
	}
	return NULL;
}

/* ---- whole ones ---- */

uint32_t tux_message_begin_len(struct tux_messages *g)
{
	const struct tux_note *n;
	unsigned ends = TUX_MESSAGE_FIRST | TUX_MESSAGE_LAST;

	if (!tux_message_may_begin(g, TUX_LANE_SMALL))
		return 0;
	n = tux_message_note(g, TUX_LANE_SMALL, g->tx[TUX_LANE_SMALL].note);
	if (atomic_load(&n->state) != TUX_NOTE_READY)
		return 0;
	if (n->flags & TUX_MSG_ORDERED)
		ends |= TUX_MESSAGE_ORDER;
	return tux_message_hdr_len(ends) + n->len;
}

/* Adds the next small message, if all of it fits.  Its length with the header; 0: it
 * does not, or it must not be sent. */
static inline uint32_t add_whole(struct tux_conn *c, struct tux_msg_lane_tx *l,
				 struct tux_writer *w)
{
	const unsigned ends = TUX_MESSAGE_FIRST | TUX_MESSAGE_LAST;
	struct tux_messages *g = c->msg;
	struct tux_note *n = tux_message_note(g, TUX_LANE_SMALL, l->note);
	struct tux_msg_out *m = next_entry(g, TUX_LANE_SMALL);
	struct tux_message_hdr h;
	uint32_t hdr;
	uint8_t *p;

	if (atomic_load(&n->state) != TUX_NOTE_READY ||
	    !read_note(g, TUX_LANE_SMALL, n, m) ||
	    !place(l, m->total, &m->pos))
		return 0;
	h = (struct tux_message_hdr){
		.flags = (uint8_t)(m->flags | ends), .id = (uint32_t)l->next,
		.pos = (uint32_t)m->pos, .order = m->order,
	};
	hdr = tux_message_hdr_len(h.flags);
	p = tux_writer_add(w, TUX_REC_MESSAGE, h.flags, hdr + m->total);
	if (!p)
		return 0;
	begin(l, m);
	m->fresh = false;
	m->complete = true;
	m->next = m->total;
	tux_message_encode(&h, p);
	memcpy(p + hdr, tux_message_bytes(g, TUX_LANE_SMALL, m), m->total);
	c->stats.msg_tx += m->total;
	tux_conn_trace(c, TUX_TRACE_MSG_SEND, TUX_LANE_SMALL, m->id, 0);
	return hdr + m->total;
}

uint32_t tux_message_begin_whole(struct tux_conn *c, struct tux_writer *w,
				 uint16_t *frag_n)
{
	struct tux_messages *g = c->msg;
	struct tux_msg_lane_tx *l = &g->tx[TUX_LANE_SMALL];
	uint64_t most = begin_most(g, TUX_LANE_SMALL), first = l->next;
	uint32_t n = 0, len = 1;

	for (; most && len; most--) {
		len = add_whole(c, l, w);
		n += len;
	}
	if (!n)
		return 0;
	*tux_message_sent(g, g->sent_next++) = (struct tux_msg_sent){
		.id = (uint32_t)first, .n = (uint16_t)(l->next - first),
		.lane = TUX_LANE_SMALL,
	};
	++*frag_n;
	return n;
}
