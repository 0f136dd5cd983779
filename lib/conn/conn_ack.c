/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn/conn_ack.h"

#include "conn/conn_ecn.h"
#include "conn/conn_in.h"
#include "conn/message_fate.h"
#include "conn/window.h"

void tux_conn_again(struct tux_conn *c, const struct tux_sent *s)
{
	uint32_t again = s->what & (TUX_DO_PREPARED | TUX_DO_RAW |
				    TUX_DO_LEAVE |
				    TUX_DO_ROOM);

	if (c->tx.path == TUX_PATH_TUX && (s->len || s->what & TUX_SENT_FIN)) {
		tux_sendbuf_lost(&c->tx.buf, s->off, s->len,
				 s->what & TUX_SENT_FIN);
		c->stats.resent++;
	}
	if (s->frag_n)
		tux_message_lost(c, s);
	if (s->what & TUX_DO_PREPARE && c->tx.gen)
		again |= TUX_DO_PREPARE;
	tux_conn_do(c, again);
}

/* Adds packet @s, with number @seq, to what is newly acknowledged, *@out. */
static void packet_arrived(struct tux_conn *c, uint64_t seq, const struct tux_sent *s,
		    struct tux_retired *out)
{
	out->n++;
	out->ect_n += s->ect;
	if (s->at > out->sent_at) {
		out->sent_at = s->at;
		out->timed = s->timed;
	}
	if (s->reach > out->reach)
		out->reach = s->reach;
	if (seq < out->top)
		c->loss.reordered = true;
	tux_sentq_arrived(&c->sentq, seq, s);
}

/* Packet @seq is acknowledged: takes it out of what is in flight. */
static void retire(struct tux_conn *c, uint64_t seq, struct tux_retired *out)
{
	struct tux_sent *s = tux_sentq_find(&c->sentq, seq);

	if (!s)
		return;
	out->bytes += s->size;
	if (s->frag_n)
		tux_message_acked(c, s);
	packet_arrived(c, seq, s, out);
	tux_sentq_retire(&c->sentq, s);
}

static void retire_range(struct tux_conn *c, uint64_t start, uint64_t end,
			 struct tux_retired *out)
{
	if (start < c->sentq.floor)
		start = c->sentq.floor;
	for (; start < end; start++)
		retire(c, start, out);
}

/* Spurious loss: packet @seq was declared lost, and had arrived.  Undoes what
 * the loss caused, the reduction of the window included. */
static void on_spurious(struct tux_conn *c, uint64_t seq, struct tux_sent *s,
			struct tux_retired *out)
{
	c->stats.spurious++;
	tux_conn_trace(c, TUX_TRACE_SPURIOUS, seq - c->first, 0, 0);
	if (!s->timed)
		tux_loss_spurious(&c->loss, &c->sentq, seq);
	packet_arrived(c, seq, s, out);
	if (!(s->what & TUX_SENT_PROBE) &&
	    tux_cc_spurious(&c->pair->cc, s->at)) {
		c->stats.undone++;
		tux_conn_trace(c, TUX_TRACE_UNDO, c->pair->cc.w.cwnd, 0, 0);
	}
	if (c->tx.path == TUX_PATH_TUX)
		tux_sendbuf_found(&c->tx.buf, s->off, s->len);
	if (s->frag_n)
		tux_message_acked(c, s);
	tux_sentq_retire(&c->sentq, s);
}

/* Looks for spurious losses in [@start, @end).  Goes downwards: a packet that
 * has arrived may have told the peer a floor above packets below it, and then
 * an acknowledgment of those does not prove that they have arrived. */
static void find_lost(struct tux_conn *c, uint64_t start, uint64_t end,
		      struct tux_retired *out)
{
	struct tux_sentq *q = &c->sentq;

	if (q->next - start > TUX_SENTQ_CAP)
		start = q->next - TUX_SENTQ_CAP;
	while (q->lost_n && end > start && end > q->closed) {
		struct tux_sent *s = tux_sentq_lost(q, --end);

		if (s)
			on_spurious(c, end, s, out);
	}
}

typedef void range_fn(struct tux_conn *c, uint64_t start, uint64_t end,
		      struct tux_retired *out);

static void each_sack(struct tux_conn *c, const struct tux_record *rec,
		      range_fn *fn, struct tux_retired *out)
{
	unsigned i, n = rec->len / TUX_SACK_EACH;
	uint32_t start, end;

	for (i = 0; i < n; i++) {
		tux_sack_get(rec, i, &start, &end);
		fn(c, tux_seq_expand(c->sentq.next, start),
		   tux_seq_expand(c->sentq.next, end), out);
	}
}

/* Packets were newly acknowledged.  @delay is how long the peer held the
 * acknowledgment back. */
static void on_retired(struct tux_conn *c, const struct tux_retired *got,
		       tux_time delay, tux_time now)
{
	struct tux_cc_ack ack = {
		.bytes = got->bytes, .sent_at = got->sent_at,
		.full = tux_pair_in_use(c->pair),
	};

	c->progress_at = now;
	c->loss.probe_at = 0;
	/* If the timer had expired for the newest packet, something else than
	 * the path was slow, such as a peer that slept: no sample. */
	if (c->sentq.top > got->top && !got->timed) {
		tux_rtt_sample(&c->rtt, tux_time_since(got->sent_at, now),
			       delay);
		ack.rtt = c->rtt.last;
	}
	tux_pair_acked(c->pair, &ack, &c->rtt, now);
	if (tux_pmtu_acked(&c->pair->pmtu, got->reach, now)) {
		tux_pair_fit(c->pair);
		tux_conn_trace(c, TUX_TRACE_MTU, got->reach, 0, 0);
	}
	if (got->bytes && c->tx.path == TUX_PATH_FRAMES)
		c->tx.alive = true;
	tux_conn_mark(c, TUX_DIRTY_ACKED);
	tux_conn_kick(c);
}

struct loss {
	struct tux_conn *c;
	tux_time now;
};

/* A packet is lost: perhaps it was too long for the path.  A lost probe just
 * ends the probing for now. */
static void blame_length(struct tux_conn *c, const struct tux_sent *s,
			 tux_time now)
{
	struct tux_pmtu *p = &c->pair->pmtu;

	if (s->what & TUX_SENT_PROBE)
		tux_pmtu_probe_lost(p, s->reach, now);
	else if (tux_pmtu_lost(p, s->reach, s->at, now))
		tux_conn_trace(c, TUX_TRACE_MTU, p->len, 0, 0);
}

static void on_late(void *arg, const struct tux_sent *s)
{
	struct loss *l = arg;

	l->c->stats.lost++;
	tux_conn_trace(l->c, TUX_TRACE_LOST, s->what, s->off, s->len);
	blame_length(l->c, s, l->now);
	tux_ecn_lost(&l->c->pair->ecn, s->ect && !(s->what & TUX_SENT_PROBE));
	tux_conn_again(l->c, s);
}

static void on_loss(void *arg, const struct tux_sent *s)
{
	struct loss *l = arg;

	if (!(s->what & TUX_SENT_PROBE))
		tux_cc_lost(&l->c->pair->cc, s->at, l->now);
	on_late(arg, s);
}

unsigned tux_conn_lose_all(struct tux_conn *c, tux_time now)
{
	struct loss loss = { c, now };

	return tux_loss_all(&c->loss, &c->sentq, on_late, &loss);
}

void tux_conn_detect(struct tux_conn *c, tux_time now)
{
	struct loss loss = { c, now };

	tux_loss_detect(&c->loss, &c->sentq, &c->rtt, on_loss, &loss, now);
}

/* Takes the offset up to which the peer has the stream, and its window.  If TCP
 * carries the direction, what TCP has taken counts instead, and only the window
 * is taken.  False: no honest peer says that. */
static bool on_got(struct tux_conn *c, const struct tux_pkt *h)
{
	int moved;

	if (c->tx.path == TUX_PATH_PLAIN)
		return true;
	if (h->got > tux_pipe_head(&c->dx->txp) + 1)
		return false;		/* not written yet */
	if (tux_conn_is_across(c) && h->got > c->out.off)
		return false;		/* not sent yet */
	if (tux_path_back(c->tx.path)) {
		tux_window_heard(c, h->got + h->window);
		return true;
	}
	moved = tux_sendbuf_got(&c->tx.buf, h->got, h->got + h->window);
	if (moved < 0)
		return false;
	if (moved) {
		atomic_store_explicit(&c->dx->peer_read,
				      c->tx.buf.limit - c->tx.window,
				      memory_order_relaxed);
		c->tx.probe_in = 0;
		tux_conn_mark(c, TUX_DIRTY_ACKED | TUX_DIRTY_READY);
		tux_conn_kick(c);
	}
	return true;
}

/* Is @ack a number that was sent, and in reach?  Is each range of @sack in
 * order, above @ack, and sent? */
static bool honest(const struct tux_conn *c, uint64_t ack,
		   const struct tux_record *sack)
{
	unsigned i, n = sack ? sack->len / TUX_SACK_EACH : 0;
	uint32_t start, end;
	uint64_t from, to;

	if (ack > c->sentq.next || ack < c->first ||
	    ack + TUX_SEQ_REACH < c->sentq.floor)
		return false;
	for (i = 0; i < n; i++) {
		tux_sack_get(sack, i, &start, &end);
		from = tux_seq_expand(c->sentq.next, start);
		to = tux_seq_expand(c->sentq.next, end);
		if (from < ack || from >= to || to > c->sentq.next)
			return false;
	}
	return true;
}

bool tux_conn_acked(struct tux_conn *c, const struct tux_pkt *h,
		    const struct tux_record *sack, tux_time now)
{
	uint64_t ack = tux_seq_expand(c->sentq.next, h->ack);
	struct tux_retired got = { .top = c->sentq.top };

	if (!honest(c, ack, sack))
		return false;
	tux_conn_trace(c, TUX_TRACE_RECV_ACK, ack - c->first, h->got, 0);
	retire_range(c, c->sentq.floor, ack, &got);
	if (sack)
		each_sack(c, sack, retire_range, &got);
	if (c->sentq.lost_n) {
		if (sack)
			each_sack(c, sack, find_lost, &got);
		find_lost(c, c->sentq.closed, ack, &got);
	}
	if (got.n) {
		tux_conn_ecn_acked(c, h, &got, now);
		on_retired(c, &got, (tux_time)h->delay * 16000u, now);
	}
	if (c->msg && got.n)
		tux_conn_mark(c, TUX_DIRTY_MESSAGE);
	if (!on_got(c, h))
		return false;
	if (c->sentq.floor < c->sentq.top)
		tux_conn_detect(c, now);
	else
		c->loss.at = TUX_NEVER;
	return true;
}
