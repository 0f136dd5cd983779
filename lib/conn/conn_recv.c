/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A packet in: its acknowledgments first, then its records.  A packet whose
 * content cannot be kept is treated as if it had been lost, so that its sender
 * sends it again.
 */
#include "conn/conn.h"

#include <errno.h>

/* Farther from what we expect than this, a number is no honest one: span has
 * 16 bits. */
enum { SEQ_REACH = 1 << 16 };

/* ---- what the peer has ---- */

void tux_conn_lost(void *arg, const struct tux_sent *s)
{
	struct tux_conn *c = arg;
	uint32_t again = s->what & (TUX_DO_PREPARED | TUX_DO_RAW);

	c->stats.lost++;
	tux_conn_trace(c, TUX_TRACE_LOST, s->what, s->off, s->len);
	if (c->tx.path == TUX_PATH_TUX && (s->len || s->what & TUX_SENT_FIN)) {
		tux_sendbuf_lost(&c->tx.buf, s->off, s->len,
				 s->what & TUX_SENT_FIN);
		c->stats.resent++;
	}
	if (s->what & TUX_DO_PREPARE && c->tx.gen)
		again |= TUX_DO_PREPARE;
	tux_conn_do(c, again);
}

struct settled {
	uint64_t bytes;
	uint64_t top;			/* highest number settled, plus one */
	tux_time sent_at;		/* ... and when it left */
};

static void settle(struct tux_conn *c, uint64_t seq, struct settled *out)
{
	struct tux_sent *s = tux_sentq_find(&c->sentq, seq);

	if (!s)
		return;
	out->bytes += s->size;
	if (seq >= out->top) {
		out->top = seq + 1;
		out->sent_at = s->at;
	}
	tux_sentq_settle(&c->sentq, s);
}

static void settle_range(struct tux_conn *c, uint64_t start, uint64_t end,
			 struct settled *out)
{
	if (start < c->sentq.floor)
		start = c->sentq.floor;
	if (end > c->sentq.next)
		end = c->sentq.next;
	for (; start < end; start++)
		settle(c, start, out);
}

static void settle_sack(struct tux_conn *c, const struct tux_record *rec,
			struct settled *out)
{
	unsigned i, n = rec->len / TUX_SACK_EACH;
	uint32_t start, end;

	for (i = 0; i < n; i++) {
		tux_sack_get(rec, i, &start, &end);
		settle_range(c, tux_seq_expand(c->sentq.next, start),
			     tux_seq_expand(c->sentq.next, end), out);
	}
}

static void on_settled(struct tux_conn *c, const struct settled *got,
		       tux_time delay, tux_time now)
{
	c->progress_at = now;
	if (got->top > c->sentq.top) {
		c->sentq.top = got->top;
		tux_rtt_sample(&c->rtt, tux_time_since(got->sent_at, now),
			       delay);
	}
	c->cc.ops->acked(&c->cc, got->bytes, c->tx.full, now);
	if (c->tx.path == TUX_PATH_TCP)
		tux_back_alive(c, now);
	tux_conn_kick(c);
}

struct loss {
	struct tux_conn *c;
	tux_time now;
};

static void on_loss(void *arg, const struct tux_sent *s)
{
	struct loss *l = arg;

	l->c->cc.ops->lost(&l->c->cc, s->at, l->now);
	tux_conn_lost(l->c, s);
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

/* Acknowledgments of the packet with header @h; its SACK, if any, is @sack. */
static bool on_acks(struct tux_conn *c, const struct tux_pkt *h,
		    const struct tux_record *sack, tux_time now)
{
	uint64_t ack = tux_seq_expand(c->sentq.next, h->ack);
	struct settled got = { 0 };
	struct loss loss = { c, now };

	if (ack > c->sentq.next)
		return false;
	tux_conn_trace(c, TUX_TRACE_RECV_ACK, ack - c->first, h->got, 0);
	settle_range(c, c->sentq.floor, ack, &got);
	if (sack)
		settle_sack(c, sack, &got);
	if (got.bytes)
		on_settled(c, &got, (tux_time)h->delay * 16000u, now);
	if (!on_got(c, h, now))
		return false;
	tux_loss_by_order(&c->sentq, on_loss, &loss);
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
	if (tux_conn_said_all(c))
		atomic_store(&c->dx->rx.eof, 1);
	if (tux_recvbuf_got(&c->rx.buf) != before) {
		tux_conn_ready(c);
		tux_conn_sink(c);
		tux_conn_check_end(c, now);
	}
	return 0;
}

static int on_record(struct tux_conn *c, const struct tux_record *rec,
		     uint64_t seq, tux_time now)
{
	switch (rec->type) {
	case TUX_REC_STREAM:
		return on_stream(c, rec, seq, now);
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
		tux_conn_die(c, ECONNRESET, TUX_REASON_NONE);
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
	while (tux_reader_next(&r, rec) > 0) {
		if (rec->type == TUX_REC_SACK)
			return true;
	}
	return false;
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

	switch (tux_ackq_check(&c->ackq, seq)) {
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
	tux_ackq_add(&c->ackq, seq, now, c->core->ack_delay / 4);
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
	tux_ackq_floor(&c->ackq, seq - h->span);
	if (h->flags & TUX_PKT_ELICIT)
		take(c, h, p, seq, now);
}
