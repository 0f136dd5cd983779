/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A packet in: its acknowledgments first, then its records.  A packet whose
 * content cannot be kept is treated as if it had been lost, so that its sender
 * sends it again.
 */
#include "conn/conn.h"

#include <errno.h>

/* Farther from what we expect than this, a number is no honest one: span has
 * 16 bits.  And an acknowledgment from farther back is not, either: who knows no
 * more than the id of a connection must guess both (RFC 5961's thought). */
enum { SEQ_REACH = 1 << 16 };

/* ---- what the peer has ---- */

void tux_conn_again(struct tux_conn *c, const struct tux_sent *s)
{
	uint32_t again = s->what & (TUX_DO_PREPARED | TUX_DO_RAW |
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

static void arrived(struct tux_conn *c, uint64_t seq, const struct tux_sent *s,
		    struct tux_settled *out)
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

static void settle(struct tux_conn *c, uint64_t seq, struct tux_settled *out)
{
	struct tux_sent *s = tux_sentq_find(&c->sentq, seq);

	if (!s)
		return;
	out->bytes += s->size;
	if (s->frag_n)
		tux_message_acked(c, s);
	arrived(c, seq, s, out);
	tux_sentq_settle(&c->sentq, s);
}

static void settle_range(struct tux_conn *c, uint64_t start, uint64_t end,
			 struct tux_settled *out)
{
	if (start < c->sentq.floor)
		start = c->sentq.floor;
	if (end > c->sentq.next)
		end = c->sentq.next;
	for (; start < end; start++)
		settle(c, start, out);
}

/* Declared lost, and here it is: the path is to be thought better of. */
static void on_spurious(struct tux_conn *c, uint64_t seq, struct tux_sent *s,
			struct tux_settled *out)
{
	c->stats.spurious++;
	tux_conn_trace(c, TUX_TRACE_SPURIOUS, seq - c->first, 0, 0);
	if (!s->timed)
		tux_loss_spurious(&c->loss, &c->sentq, seq);
	arrived(c, seq, s, out);
	if (!(s->what & TUX_SENT_PROBE) &&
	    tux_cc_spurious(&c->pair->cc, s->at)) {
		c->stats.undone++;
		tux_conn_trace(c, TUX_TRACE_UNDO, c->pair->cc.w.cwnd, 0, 0);
	}
	if (c->tx.path == TUX_PATH_TUX)
		tux_sendbuf_found(&c->tx.buf, s->off, s->len);
	if (s->frag_n)
		tux_message_acked(c, s);
	tux_sentq_settle(&c->sentq, s);
}

/* Downwards: each that has arrived may have closed those below it, and then
 * their acknowledgment is no proof. */
static void find_lost(struct tux_conn *c, uint64_t start, uint64_t end,
		      struct tux_settled *out)
{
	struct tux_sentq *q = &c->sentq;

	if (start >= q->next)
		return;
	if (end > q->next)
		end = q->next;
	if (q->next - start > TUX_SENTQ_CAP)
		start = q->next - TUX_SENTQ_CAP;
	while (q->lost_n && end > start && end > q->closed) {
		struct tux_sent *s = tux_sentq_lost(q, --end);

		if (s)
			on_spurious(c, end, s, out);
	}
}

typedef void range_fn(struct tux_conn *c, uint64_t start, uint64_t end,
		      struct tux_settled *out);

static void each_sack(struct tux_conn *c, const struct tux_record *rec,
		      range_fn *fn, struct tux_settled *out)
{
	unsigned i, n = rec->len / TUX_SACK_EACH;
	uint32_t start, end;

	for (i = 0; i < n; i++) {
		tux_sack_get(rec, i, &start, &end);
		fn(c, tux_seq_expand(c->sentq.next, start),
		   tux_seq_expand(c->sentq.next, end), out);
	}
}

static void on_settled(struct tux_conn *c, const struct tux_settled *got,
		       tux_time delay, tux_time now)
{
	struct tux_cc_ack ack = {
		.bytes = got->bytes, .sent_at = got->sent_at,
		.full = c->pair->full,
	};

	c->progress_at = now;
	c->loss.probe_at = 0;
	/* What comes so late was held up by a peer that slept, say, and is no
	 * measure of the path. */
	if (c->sentq.top > got->top && !got->timed) {
		tux_rtt_sample(&c->rtt, tux_time_since(got->sent_at, now),
			       delay);
		ack.rtt = c->rtt.last;
	}
	tux_pair_acked(c->pair, &ack, &c->rtt, now);
	if (tux_pmtu_acked(&c->pair->pmtu, got->reach, now))
		tux_conn_trace(c, TUX_TRACE_MTU, got->reach, 0, 0);
	if (got->bytes && c->tx.path == TUX_PATH_TCP)
		tux_back_alive(c, now);
	tux_conn_kick(c);
}

struct loss {
	struct tux_conn *c;
	tux_time now;
};

/* Was it too long?  A probe often is, and does no harm. */
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

/* The stream bytes that the peer has; only while Tux carries them: on the way
 * back TCP's own count leads. */
static bool on_got(struct tux_conn *c, const struct tux_pkt *h, tux_time now)
{
	int moved;

	if (c->tx.path == TUX_PATH_TCP && h->got + h->window > c->tx.buf.limit)
		c->tx.buf.limit = h->got + h->window;
	if (c->tx.path != TUX_PATH_TUX)
		return true;
	moved = tux_sendbuf_got(&c->tx.buf, h->got, h->got + h->window);
	if (moved < 0)
		return false;
	if (moved) {
		c->tx.probe_in = 0;
		tux_conn_ready(c);
		tux_conn_kick(c);
		tux_back_raw_step(c, now);
		tux_conn_check_end(c, now);
	}
	return true;
}

/* Does @ack speak of what was sent, and not so long ago?  And @sack, of what was
 * sent behind that? */
static bool honest(const struct tux_conn *c, uint64_t ack,
		   const struct tux_record *sack)
{
	unsigned i, n = sack ? sack->len / TUX_SACK_EACH : 0;
	uint32_t start, end;

	if (ack > c->sentq.next || ack < c->first ||
	    ack + SEQ_REACH < c->sentq.floor)
		return false;
	for (i = 0; i < n; i++) {
		tux_sack_get(sack, i, &start, &end);
		if (tux_seq_expand(c->sentq.next, start) < ack ||
		    tux_seq_expand(c->sentq.next, end) > c->sentq.next)
			return false;
	}
	return true;
}

/* Acknowledgments of the packet with header @h; its SACK, if any, is @sack. */
static bool on_acks(struct tux_conn *c, const struct tux_pkt *h,
		    const struct tux_record *sack, tux_time now)
{
	uint64_t ack = tux_seq_expand(c->sentq.next, h->ack);
	struct tux_settled got = { .top = c->sentq.top };

	if (!honest(c, ack, sack))
		return false;
	tux_conn_trace(c, TUX_TRACE_RECV_ACK, ack - c->first, h->got, 0);
	settle_range(c, c->sentq.floor, ack, &got);
	if (sack)
		each_sack(c, sack, settle_range, &got);
	if (c->sentq.lost_n) {
		if (sack)
			each_sack(c, sack, find_lost, &got);
		find_lost(c, c->sentq.closed, ack, &got);
	}
	if (got.n) {
		tux_conn_ecn_acked(c, h, &got, now);
		on_settled(c, &got, (tux_time)h->delay * 16000u, now);
	}
	if (c->msg && got.n)
		tux_messages_settled(c, now);
	if (!on_got(c, h, now))
		return false;
	if (c->sentq.floor < c->sentq.top)
		tux_conn_detect(c, now);
	else
		c->loss.at = TUX_NEVER;
	return true;
}

/* ---- what the peer sends ---- */

static int on_stream(struct tux_conn *c, const struct tux_record *rec,
		     uint64_t seq, tux_time now)
{
	bool fin = rec->flags & TUX_STREAM_FIN;
	uint64_t before;
	int err;

	if (!(rec->flags & TUX_STREAM_ORDER))
		return -EBADMSG;
	if (!c->rx.gen || tux_conn_rx_state(c) == TUX_RX_PLAIN)
		return -EBADMSG;
	if (tux_conn_rx_state(c) == TUX_RX_RAW)
		return 0;		/* late: TCP has brought it */
	tux_conn_trace(c, TUX_TRACE_RECV, seq - c->peer_first, rec->off,
		       rec->data_len);
	if (fin)
		tux_conn_trace(c, TUX_TRACE_RECV_FIN, seq - c->peer_first,
			       rec->off + rec->data_len, 0);
	before = tux_recvbuf_got(&c->rx.buf);
	err = tux_recvbuf_put(&c->rx.buf, rec->off, rec->data, rec->data_len,
			      fin);
	if (err < 0)
		return err;
	c->stats.tux_rx += err ? rec->data_len : 0;
	if (!c->rx.on_ring) {
		c->rx.prove = true;
		tux_upgrade_rx(c, now);
	}
	tux_conn_look_eof(c);
	if (tux_recvbuf_got(&c->rx.buf) != before) {
		tux_conn_ready(c);
		tux_conn_sink(c);
		tux_conn_check_end(c, now);
	}
	return 0;
}

static int on_message(struct tux_conn *c, const struct tux_record *rec,
		      tux_time now)
{
	struct tux_message_hdr h;
	int err = tux_message_decode(&h, rec->flags, rec->body, rec->len);

	if (!err)
		err = tux_message_put(c, &h, rec->body + TUX_MESSAGE_HDR,
				      false);
	if (!err && c->msg->fin)
		tux_conn_check_end(c, now);
	return err;
}

static int on_record(struct tux_conn *c, const struct tux_record *rec,
		     uint64_t seq, tux_time now)
{
	switch (rec->type) {
	case TUX_REC_STREAM:
		return on_stream(c, rec, seq, now);
	case TUX_REC_MESSAGE:
		return on_message(c, rec, now);
	case TUX_REC_END:
		return tux_message_fin(c, rec->body, rec->len);
	case TUX_REC_ROOM:
		return tux_message_room(c, rec->body, rec->len);
	case TUX_REC_PREPARE:
		tux_upgrade_prepare(c, rec->gen, rec->off, now);
		return 0;
	case TUX_REC_PREPARED:
		tux_upgrade_prepared(c, rec->gen, now);
		return 0;
	case TUX_REC_RAW:
		tux_conn_decide(c, TUX_REASON_PEER_RAW);
		tux_back_raw(c, now);
		return 0;
	case TUX_REC_RESET:
		tux_conn_trace(c, TUX_TRACE_RECV_RESET, rec->reason, 0, 0);
		tux_conn_told_reset(c, now);
		return 0;
	default:			/* SACK is done, PING needs nothing */
		return 0;
	}
}

static int on_records(struct tux_conn *c, const struct tux_pkt *h,
		      const uint8_t *p, uint64_t seq, tux_time now)
{
	struct tux_record rec;
	struct tux_reader r;
	int more, err;

	tux_reader_init(&r, h, p);
	while ((more = tux_reader_next(&r, &rec)) > 0) {
		err = on_record(c, &rec, seq, now);
		if (err)
			return err;
	}
	return more;
}

/* The first SACK record of a packet, if it has one. */
static bool find_sack(const struct tux_pkt *h, const uint8_t *p,
		      struct tux_record *rec)
{
	struct tux_reader r;

	tux_reader_init(&r, h, p);
	return tux_reader_find(&r, TUX_REC_SACK, rec);
}

static bool drop(struct tux_conn *c, uint64_t seq)
{
	c->stats.dropped++;
	tux_conn_trace(c, TUX_TRACE_DROPPED, seq - c->peer_first, 0, 0);
	return false;
}

/* Does the packet come from where the peer is, and is its number in reach? */
static bool plausible(struct tux_conn *c, const struct tux_addr *from,
		      uint64_t seq)
{
	if (!c->peer_nonce || !tux_addr_same_ip(from, &c->peer))
		return false;
	return seq + SEQ_REACH >= c->ackq.next &&
	       seq <= c->ackq.next + SEQ_REACH;
}

static void take(struct tux_conn *c, const struct tux_pkt *h, const uint8_t *p,
		 uint64_t seq, tux_time now)
{
	int err;

	switch (tux_ackq_check(&c->ackq, seq, seq - h->span)) {
	case TUX_ACKQ_OLD:
		c->stats.duplicates++;
		tux_conn_trace(c, TUX_TRACE_DUPLICATE, seq - c->peer_first, 0,
			       0);
		tux_ackq_again(&c->ackq, now);
		tux_conn_kick(c);
		return;
	case TUX_ACKQ_FULL:
		drop(c, seq);
		return;
	case TUX_ACKQ_NEW:
		break;
	}
	err = on_records(c, h, p, seq, now);
	if (err) {
		drop(c, seq);
		return;
	}
	/* Not for one that is dropped: who does not see it acknowledged must
	 * believe that it told nothing. */
	tux_ackq_floor(&c->ackq, seq - h->span);
	tux_ackq_add(&c->ackq, seq, now, h->flags & TUX_PKT_NOW ? 0 :
		     c->core->ack_delay / 4);
	if (c->core->ecn_rx)
		tux_conn_ecn_came(c, now);
	if (c->ackq.due_at <= now)
		tux_conn_kick(c);
}

void tux_conn_recv(struct tux_conn *c, const struct tux_addr *from,
		   const struct tux_pkt *h, const uint8_t *p, tux_time now)
{
	uint64_t seq = tux_seq_expand(c->ackq.next, h->seq);
	struct tux_record sack;
	bool has_sack;

	if (!plausible(c, from, seq) || h->span > seq) {
		drop(c, seq);
		return;
	}
	tux_hello_proved(c, now);
	if (c->phase != TUX_PHASE_PROVED) {
		drop(c, seq);
		return;
	}
	c->stats.pkts_rx++;
	has_sack = find_sack(h, p, &sack);
	if (!on_acks(c, h, has_sack ? &sack : NULL, now)) {
		drop(c, seq);
		return;
	}
	if (h->flags & TUX_PKT_ELICIT)
		take(c, h, p, seq, now);
	else
		tux_ackq_floor(&c->ackq, seq - h->span);
}
