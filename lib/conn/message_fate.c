/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn/message_fate.h"

#include <errno.h>

#include "conn/conn_in.h"
#include "conn/message_tx.h"

/* @m has nothing more to send for the first time. */
static void all_sent(struct tux_msg_lane_tx *l, const struct tux_msg_out *m)
{
	if (m->fresh || m->next < m->total)
		l->open_n--;
}

static void settle_one(struct tux_messages *g, unsigned lane,
		       struct tux_msg_out *m, uint32_t state, int err)
{
	struct tux_note *n = tux_message_note(g, lane, m->note);

	all_sent(&g->tx[lane], m);
	m->live = false;
	tux_list_remove(&m->work);
	n->err = (uint32_t)err;
	atomic_store_explicit(&n->state, state, memory_order_release);
}

/* After settle_one(), of one or more. */
static void have_settled(struct tux_conn *c, unsigned lane)
{
	struct tux_msg_lane_tx *l = &c->msg->tx[lane];

	while (l->first < l->next &&
	       !tux_message_out(c->msg, lane, l->first)->live)
		l->first++;
	tux_conn_mark(c, TUX_DIRTY_READY);
}

void tux_message_settle(struct tux_conn *c, unsigned lane,
			struct tux_msg_out *m, uint32_t state, int err)
{
	settle_one(c->msg, lane, m, state, err);
	have_settled(c, lane);
}

/* Message @id, of which @f says something; NULL: it is settled, or was cancelled
 * since. */
static struct tux_msg_out *message_of(struct tux_messages *g,
				      const struct tux_msg_sent *f, uint32_t id)
{
	const struct tux_msg_lane_tx *l = &g->tx[f->lane];
	uint64_t full = tux_seq_expand(l->next, id);
	struct tux_msg_out *m = tux_message_out(g, f->lane, full);

	return full >= l->first && m->live && m->cancelled == f->cancel ? m :
									  NULL;
}

static void message_arrived(struct tux_conn *c, unsigned lane,
			    struct tux_msg_out *m)
{
	tux_conn_trace(c, TUX_TRACE_MSG_SENT, lane, m->id, 0);
	c->stats.msgs_tx++;
	settle_one(c->msg, lane, m, TUX_NOTE_SENT, 0);
}

static void cancellation_arrived(struct tux_conn *c, unsigned lane,
				 struct tux_msg_out *m)
{
	uint32_t err = tux_message_note(c->msg, lane, m->note)->err;

	tux_conn_trace(c, TUX_TRACE_MSG_FAILED, lane, m->id, err);
	tux_message_settle(c, lane, m, TUX_NOTE_FAILED, (int)err);
}

/* If there are too many gaps to note it, the fragment is sent again. */
static void fragment_arrived(struct tux_conn *c, const struct tux_msg_sent *f)
{
	struct tux_msg_out *m = message_of(c->msg, f, f->id);
	struct tux_msg_parts *p;

	if (!m)
		return;
	if (m->cancelled) {
		cancellation_arrived(c, f->lane, m);
		return;
	}
	p = tux_message_parts(c->msg, m);
	if (tux_frag_add(&p->acked, f->off, f->off + f->len,
			 TUX_FRAG_MAX) < 0) {
		tux_frag_cover(&p->lost, f->off, f->off + f->len);
		tux_message_requeue(c->msg, f->lane, m, true);
	} else if (tux_frag_whole(&p->acked, m->total)) {
		message_arrived(c, f->lane, m);
		have_settled(c, f->lane);
	}
}

/* What @s says has been acknowledged.  An empty message may be about to be sent
 * again: then it still is. */
static void sent_arrived(struct tux_conn *c, const struct tux_msg_sent *s)
{
	unsigned i, n = 0;

	if (!s->n)
		fragment_arrived(c, s);
	for (i = 0; i < s->n; i++) {
		struct tux_msg_out *m = message_of(c->msg, s, s->id + i);

		if (!m || m->fresh)
			continue;
		message_arrived(c, s->lane, m);
		n++;
	}
	if (n)
		have_settled(c, s->lane);
}

/* Bytes [@off, @end) of @m are lost: what is not acknowledged of them is sent
 * again. */
static void bytes_again(struct tux_conn *c, unsigned lane,
			struct tux_msg_out *m, uint32_t off, uint32_t end)
{
	struct tux_msg_parts *p = tux_message_parts(c->msg, m);
	uint32_t from, to;

	tux_conn_trace(c, TUX_TRACE_MSG_LOST, lane, m->id, off);
	m->cancel_due = m->cancelled;
	for (; tux_frag_gap(&p->acked, off, end, &from, &to); off = to)
		tux_frag_cover(&p->lost, from, to);
	/* An empty message has no bytes in `lost`: it begins anew. */
	if (!m->total && !m->cancelled && !m->fresh) {
		m->fresh = true;
		c->msg->tx[lane].open_n++;
	}
	tux_message_requeue(c->msg, lane, m, true);
}

static void sent_again(struct tux_conn *c, const struct tux_msg_sent *s)
{
	struct tux_msg_out *m;
	unsigned i;

	if (!s->n && (m = message_of(c->msg, s, s->id)))
		bytes_again(c, s->lane, m, s->off, s->off + s->len);
	for (i = 0; i < s->n; i++) {
		m = message_of(c->msg, s, s->id + i);
		if (m)
			bytes_again(c, s->lane, m, 0, m->total);
	}
}

/* Are the fragments of @s still in the ring?  A spurious loss may be found out
 * so late that newer fragments have replaced them.  (The ring begins anew only while
 * no packet is in flight or lost.) */
static bool known(const struct tux_conn *c, const struct tux_sent *s)
{
	return c->msg->sent_next - s->frag_at <= TUX_MSG_SENT;
}

void tux_message_acked(struct tux_conn *c, const struct tux_sent *s)
{
	uint32_t i;

	for (i = 0; known(c, s) && i < s->frag_n; i++)
		sent_arrived(c, tux_message_sent(c->msg, s->frag_at + i));
}

void tux_message_lost(struct tux_conn *c, const struct tux_sent *s)
{
	uint32_t i;

	for (i = 0; known(c, s) && i < s->frag_n; i++)
		sent_again(c, tux_message_sent(c->msg, s->frag_at + i));
	tux_conn_kick(c);
}

void tux_message_framed(struct tux_conn *c, const struct tux_msg_pick *k)
{
	const struct tux_msg_sent f = {
		.off = k->h.off, .len = k->h.len, .id = k->h.id,
		.n = tux_message_whole(k->h.flags), .lane = (uint8_t)k->lane,
		.cancel = k->h.flags & TUX_MESSAGE_CANCEL,
	};

	sent_arrived(c, &f);
}

/* ---- cancel, room ---- */

/* Cancels @m, unless its last byte has been sent: the peer may have delivered
 * it. */
static void cancel(struct tux_conn *c, unsigned lane, struct tux_msg_out *m)
{
	struct tux_msg_lane_tx *l = &c->msg->tx[lane];

	if (!m->live || m->cancelled || m->complete)
		return;
	tux_message_note(c->msg, lane, m->note)->err = ECANCELED;
	all_sent(l, m);
	m->cancelled = m->cancel_due = true;
	m->fresh = false;
	m->next = m->total;
	tux_message_requeue(c->msg, lane, m, true);
	tux_conn_kick(c);
}

void tux_message_cancels(struct tux_conn *c)
{
	struct tux_messages *g = c->msg;
	unsigned lane;
	uint64_t id;

	if (!atomic_load(&g->box->cancels) ||
	    !atomic_exchange(&g->box->cancels, 0))
		return;
	for (lane = 0; lane < TUX_LANES; lane++) {
		struct tux_msg_lane_tx *l = &g->tx[lane];

		for (id = l->first; id < l->next; id++) {
			struct tux_msg_out *m = tux_message_out(g, lane, id);
			struct tux_note *n = tux_message_note(g, lane, m->note);

			if (atomic_load(&n->state) == TUX_NOTE_CANCEL)
				cancel(c, lane, m);
		}
	}
}

int tux_message_room(struct tux_conn *c, const uint8_t *p, size_t len)
{
	struct tux_room r[TUX_LANES];
	struct tux_messages *g = c->msg;
	unsigned i;

	if (!g || tux_room_decode(r, p, len))
		return -EBADMSG;
	for (i = 0; i < TUX_LANES; i++) {
		struct tux_msg_lane_tx *l = &g->tx[i];
		struct tux_msgbox_tx *t = &g->box->tx[i];
		uint64_t ids = tux_seq_expand(l->ids, r[i].ids);
		uint64_t limit = tux_seq_expand(l->limit, r[i].limit);

		if (l->cap && l->cap != r[i].cap)
			return -EBADMSG;
		l->cap = r[i].cap;
		if (l->cap / 2 < atomic_load(&t->max))
			atomic_store(&t->max, l->cap / 2);
		if (ids > l->ids && ids - l->next <= TUX_MSG_IN)
			l->ids = ids;
		if (limit > l->limit && limit - l->pos <= 2ull * l->cap)
			l->limit = limit;
	}
	tux_conn_kick(c);
	tux_conn_mark(c, TUX_DIRTY_ROOM);
	return 0;
}
