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

void tux_message_settle(struct tux_conn *c, unsigned lane,
			struct tux_msg_out *m, uint32_t state, int err)
{
	struct tux_messages *g = c->msg;
	struct tux_msg_lane_tx *l = &g->tx[lane];
	struct tux_note *n = tux_message_note(g, lane, m->note);

	all_sent(l, m);
	m->live = false;
	tux_list_remove(&m->work);
	while (l->first < l->next && !tux_message_out(g, lane, l->first)->live)
		l->first++;
	n->err = (uint32_t)err;
	atomic_store(&n->state, state);
	tux_conn_mark(c, TUX_DIRTY_READY);
}

/* The message that fragment @f belongs to; NULL: it is settled. */
static struct tux_msg_out *message_of(struct tux_messages *g,
				 const struct tux_msg_sent *f)
{
	const struct tux_msg_lane_tx *l = &g->tx[f->lane];
	uint64_t id = tux_seq_expand(l->next, f->id);
	struct tux_msg_out *m = tux_message_out(g, f->lane, f->id);

	return id >= l->first && m->live ? m : NULL;
}

/* Fragment @f is acknowledged. */
static void fragment_arrived(struct tux_conn *c, const struct tux_msg_sent *f)
{
	struct tux_msg_out *m = message_of(c->msg, f);
	uint32_t err;

	if (!m || m->cancelled != f->cancel)
		return;
	if (m->cancelled) {
		err = tux_message_note(c->msg, f->lane, m->note)->err;
		tux_conn_trace(c, TUX_TRACE_MSG_FAILED, f->lane, f->id, err);
		tux_message_settle(c, f->lane, m, TUX_NOTE_FAILED, (int)err);
		return;
	}
	/* If there are too many gaps to note it, the fragment is sent again. */
	if (tux_frag_add(&m->acked, f->off, f->off + f->len,
			 TUX_FRAG_MAX) < 0) {
		tux_frag_cover(&m->lost, f->off, f->off + f->len);
		tux_message_requeue(c->msg, f->lane, m, true);
	} else if (!m->fresh && tux_frag_whole(&m->acked, m->total)) {
		tux_conn_trace(c, TUX_TRACE_MSG_SENT, f->lane, f->id, 0);
		c->stats.msgs_tx++;
		tux_message_settle(c, f->lane, m, TUX_NOTE_SENT, 0);
	}
}

/* Fragment @f is lost: what is not acknowledged of it is sent again. */
static void fragment_again(struct tux_conn *c, const struct tux_msg_sent *f)
{
	struct tux_msg_out *m = message_of(c->msg, f);
	uint32_t start, end, off, stop;

	if (!m || m->cancelled != f->cancel)
		return;
	tux_conn_trace(c, TUX_TRACE_MSG_LOST, f->lane, f->id, f->off);
	m->cancel_due = m->cancelled;
	off = f->off;
	stop = f->off + f->len;
	while (tux_frag_gap(&m->acked, off, stop, &start, &end)) {
		tux_frag_cover(&m->lost, start, end);
		off = end;
	}
	/* An empty message has no bytes in `lost`: it begins anew. */
	if (!m->total && !m->cancelled && !m->fresh) {
		m->fresh = true;
		c->msg->tx[f->lane].open_n++;
	}
	tux_message_requeue(c->msg, f->lane, m, true);
}

/* Are the fragments of @s still in the ring?  A spurious loss may be found out
 * so late that newer fragments have replaced them. */
static bool known(const struct tux_conn *c, const struct tux_sent *s)
{
	return c->msg->sent_next - s->frag_at <= TUX_MSG_SENT;
}

void tux_message_acked(struct tux_conn *c, const struct tux_sent *s)
{
	uint32_t i;

	for (i = 0; known(c, s) && i < s->frag_n; i++)
		fragment_arrived(c, &c->msg->sent[(s->frag_at + i) % TUX_MSG_SENT]);
}

void tux_message_lost(struct tux_conn *c, const struct tux_sent *s)
{
	uint32_t i;

	for (i = 0; known(c, s) && i < s->frag_n; i++)
		fragment_again(c, &c->msg->sent[(s->frag_at + i) % TUX_MSG_SENT]);
	tux_conn_kick(c);
}

void tux_message_framed(struct tux_conn *c, const struct tux_msg_pick *k)
{
	const struct tux_msg_sent f = {
		.off = k->h.off, .len = k->h.len, .id = k->h.id,
		.lane = (uint8_t)k->lane,
		.cancel = k->h.flags & TUX_MESSAGE_CANCEL,
	};

	fragment_arrived(c, &f);
}

/* ---- cancel, room ---- */

/* Cancels @m, unless its last byte has been sent: the peer may have delivered
 * it. */
static void cancel(struct tux_conn *c, unsigned lane, struct tux_msg_out *m)
{
	struct tux_msg_lane_tx *l = &c->msg->tx[lane];

	if (!m->live || m->cancelled || (!m->fresh && m->next == m->total))
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

	if (!atomic_exchange(&g->box->cancels, 0))
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
