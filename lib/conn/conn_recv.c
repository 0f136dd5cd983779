/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Takes the acknowledgments of a packet first (conn_ack.c), then its records.
 * If this end has no room for the content of a packet, it drops the packet
 * without acknowledging it, so that the peer sends the content again.
 */
#include "conn/conn_recv.h"

#include <errno.h>

#include "conn/back.h"
#include "conn/conn_ack.h"
#include "conn/conn_ecn.h"
#include "conn/conn_in.h"
#include "conn/conn_life.h"
#include "conn/hello.h"
#include "conn/leave.h"
#include "conn/message_fate.h"
#include "conn/message_rx.h"
#include "conn/upgrade.h"

static int on_stream(struct tux_conn *c, const struct tux_record *rec,
		     uint64_t seq)
{
	bool fin = rec->flags & TUX_STREAM_FIN;
	uint64_t before;
	int err;

	if (!(rec->flags & TUX_STREAM_ORDER))
		return -EBADMSG;
	if (tux_conn_rx_state(c) == TUX_RX_RAW || c->in.again ||
	    (rec->off < c->rx.late_to &&
	     rec->off + rec->data_len <= c->rx.late_to))
		return 0;	/* late: TCP or an earlier turn has brought them */
	if (!c->rx.gen || tux_conn_rx_state(c) == TUX_RX_PLAIN)
		return -EBADMSG;
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
	tux_conn_mark(c, TUX_DIRTY_CAME);
	if (c->rx.path == TUX_PATH_PLAIN) {
		c->rx.prove = true;
		tux_conn_mark(c, TUX_DIRTY_PROVE);
	}
	if (tux_recvbuf_got(&c->rx.buf) != before)
		tux_conn_mark(c, TUX_DIRTY_READY);
	return 0;
}

static int on_message(struct tux_conn *c, const struct tux_record *rec)
{
	struct tux_message_hdr h;
	int err = tux_message_decode(&h, rec->flags, rec->body, rec->len);

	if (!err)
		err = tux_message_put(c, &h, rec->body + rec->len - h.len,
				      false);
	return err;
}

static int on_record(struct tux_conn *c, const struct tux_record *rec,
		     uint64_t seq, tux_time now)
{
	switch (rec->type) {
	case TUX_REC_STREAM:
		return on_stream(c, rec, seq);
	case TUX_REC_MESSAGE:
		return on_message(c, rec);
	case TUX_REC_END:
		return tux_message_fin(c, rec->body, rec->len);
	case TUX_REC_ROOM:
		return tux_message_room(c, rec->body, rec->len);
	case TUX_REC_PREPARE:
		tux_upgrade_prepare(c, rec->gen, rec->off, rec->turn);
		return 0;
	case TUX_REC_PREPARED:
		tux_upgrade_prepared(c, rec->gen);
		return 0;
	case TUX_REC_RAW:
		tux_back_raw_heard(c, rec->off);
		return 0;
	case TUX_REC_LEAVE:
		tux_leave_asked(c, rec->off, rec->turn);
		return 0;
	case TUX_REC_RESET:
		tux_conn_trace(c, TUX_TRACE_RECV_RESET, rec->reason, 0, 0);
		tux_conn_told_reset(c, now);
		return 0;
	default:			/* SACK is taken already, and PING needs only
					 * an acknowledgment */
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

/* Finds the first SACK record of a packet.  False: it has none. */
static bool find_sack(const struct tux_pkt *h, const uint8_t *p,
		      struct tux_record *rec)
{
	struct tux_reader r;

	tux_reader_init(&r, h, p);
	return tux_reader_find(&r, TUX_REC_SACK, rec);
}

/* Counts a packet as dropped.  Returns false. */
static bool drop(struct tux_conn *c, uint64_t seq)
{
	c->stats.dropped++;
	tux_conn_trace(c, TUX_TRACE_DROPPED, seq - c->peer_first, 0, 0);
	return false;
}

/* Does the packet come from the peer's address, with a number in reach? */
static bool plausible(struct tux_conn *c, const struct tux_addr *from,
		      uint64_t seq)
{
	if (!c->peer_nonce || !tux_addr_same_ip(from, &c->peer))
		return false;
	return seq + TUX_SEQ_REACH >= c->ackq.next &&
	       seq <= c->ackq.next + TUX_SEQ_REACH;
}

/* Does the packet acknowledge something that was sent since the path was last
 * closed or reopened? */
static bool recent(const struct tux_conn *c, const struct tux_pkt *h)
{
	return tux_seq_expand(c->sentq.next, h->ack) > c->since;
}

/* Notes that a packet has come, which is then acknowledged.  Takes its records
 * if @accepted. */
static void take(struct tux_conn *c, const struct tux_pkt *h, const uint8_t *p,
		 uint64_t seq, bool accepted, tux_time now)
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
	err = accepted ? on_records(c, h, p, seq, now) : 0;
	if (err) {
		drop(c, seq);
		return;
	}
	/* Not for a dropped packet: the peer gets no acknowledgment of it, and
	 * assumes that this end has not seen its header. */
	tux_ackq_floor(&c->ackq, seq - h->span);
	tux_ackq_add(&c->ackq, seq, now, h->flags & TUX_PKT_NOW ? 0 :
		     c->core->ack_delay / 4);
	if (c->core->ecn_rx)
		tux_conn_ecn_came(c, now);
	if (c->ackq.due_at <= now)
		tux_conn_kick(c);
}

/* A packet that is not recent is not accepted.  Sends a PING, since the peer's
 * answer to it will be recent; but only if the peer waits for an acknowledgment,
 * and nothing in flight brings an answer anyway.
 *
 * A PING is acknowledged even if it is not recent.  Otherwise two ends that have
 * both reopened the path would drop each other's packets for ever.  The flag that
 * makes it a PING is in the header, which the seal protects; its records are
 * ignored. */
static void not_recent(struct tux_conn *c, const struct tux_pkt *h,
		       const uint8_t *p, uint64_t seq, tux_time now)
{
	if (h->flags & TUX_PKT_ELICIT && tux_sentq_empty(&c->sentq))
		tux_conn_do(c, TUX_DO_PING);
	if (h->flags & TUX_PKT_ASK)
		take(c, h, p, seq, false, now);
	else
		drop(c, seq);
}

void tux_conn_recv(struct tux_conn *c, const struct tux_addr *from,
		   const struct tux_pkt *h, const uint8_t *p, tux_time now)
{
	uint64_t seq = tux_seq_expand(c->ackq.next, h->seq);
	struct tux_record sack;
	bool has_sack;

	if (!plausible(c, from, seq)) {
		drop(c, seq);
		return;
	}
	tux_hello_proved(c);
	if (!tux_conn_heard(c)) {
		drop(c, seq);
		return;
	}
	c->stats.pkts_rx++;
	if (!recent(c, h)) {
		not_recent(c, h, p, seq, now);
		return;
	}
	tux_back_heard(c, now);
	has_sack = find_sack(h, p, &sack);
	if (!tux_conn_acked(c, h, has_sack ? &sack : NULL, now))
		drop(c, seq);
	else if (h->flags & TUX_PKT_ELICIT)
		take(c, h, p, seq, true, now);
	else
		tux_ackq_floor(&c->ackq, seq - h->span);
}
