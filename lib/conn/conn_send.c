/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn/conn_send.h"

#include <assert.h>

#include "conn/conn_ecn.h"
#include "conn/conn_fill.h"
#include "conn/conn_in.h"
#include "conn/hello.h"
#include "conn/message_life.h"
#include "conn/message_tx.h"
#include "conn/window.h"

enum {
	CONTROL_MAX = TUX_PREPARE_LEN + TUX_PREPARED_LEN + 4 * TUX_REC_HDR,
	BESIDE_MESSAGE = TUX_PKT_HDR + TUX_REC_HDR,
	FEW = 32,		/* packets: in a smaller window, acknowledgments
				 * are asked for without delay */
	SHOW_S = 60,		/* of packets, before TCP shows that it is in use:
				 * load balancers of large clouds forget a connection
				 * after four minutes without a segment */
};

/* The longest packet that @c may send, probes aside. */
static uint32_t limit(const struct tux_conn *c)
{
	uint32_t room = tux_conn_room(c);

	return c->pkt_max < room ? c->pkt_max : room;
}

/* Notes whether the pair's window is used up, for the congestion controller. */
static void note_full(struct tux_conn *c, tux_time now)
{
	if (!tux_sentq_full(&c->sentq))
		c->pair->full = !tux_pair_room(c->pair, now);
}

/* May another numbered packet leave?  If the pair's window is used up, it may
 * while @c has less in flight than each connection may have. */
static bool window_open(const struct tux_conn *c)
{
	const struct tux_cc *cc = &c->pair->cc;

	if (tux_sentq_full(&c->sentq))
		return false;
	return !c->pair->full || c->tx.tail ||
	       c->sentq.in_flight + cc->mss <= tux_cc_own(cc);
}

static bool ack_due(const struct tux_conn *c, tux_time now)
{
	return c->todo & TUX_DO_ACK || c->ackq.due_at <= now;
}

/* Is the ring bounded (SO_SNDBUF), and half full? */
static bool is_bounded(const struct tux_conn *c)
{
	const struct tux_pipe *p = &c->dx->txp;
	uint32_t most = tux_pipe_most(p);

	return most < p->cap && tux_pipe_len(p) >= most / 2;
}

/* Should the peer acknowledge without delay?  In a small window that is half in
 * flight, or a small ring that is half full, a delayed acknowledgment would
 * delay what waits here. */
static bool hurries(const struct tux_conn *c)
{
	const struct tux_cc *cc = c->pair ? &c->pair->cc : NULL;

	if (is_bounded(c))
		return true;
	return cc && cc->w.cwnd < (uint64_t)FEW * cc->mss &&
	       c->pair->in_flight >= cc->w.cwnd / 2;
}

/* Completes the packet: fills in its header, with @flags (TUX_PKT_*), and seals
 * it.  Returns its length. */
static size_t packet_finish(struct tux_conn *c, struct tux_writer *w, uint8_t flags,
		     tux_time now)
{
	bool elicit = flags & TUX_PKT_ELICIT;
	/* The peer learns the new floor only from packets that it acknowledges.
	 * So this end knows which floor the peer knows, and whether an
	 * acknowledgment of a lost packet proves that the packet has
	 * arrived. */
	uint64_t floor = elicit ? tux_sentq_told(&c->sentq) : c->sentq.closed;
	struct tux_pkt h = {
		.version = TUX_WIRE_VERSION,
		.flags = elicit && hurries(c) ? flags | TUX_PKT_NOW : flags,
		.id = c->peer_id,
		.seq = (uint32_t)c->sentq.next,
		.span = (uint16_t)(c->sentq.next - floor),
		.ack = (uint32_t)c->ackq.next,
		.ect = c->came.ect,
		.ce = c->came.ce,
	};
	tux_time held = tux_time_since(c->ackq.newest_at, now) / 16000u;

	h.delay = held > UINT16_MAX ? UINT16_MAX : (uint16_t)held;
	if (c->rx.path != TUX_PATH_PLAIN)
		h.window = tux_window_tell(c, &h.got);
	if (!elicit)
		tux_conn_trace(c, TUX_TRACE_SEND_ACK,
			       c->ackq.next - c->peer_first, h.got, 0);
	tux_ackq_sent(&c->ackq);
	c->todo &= ~(uint32_t)TUX_DO_ACK;
	c->stats.pkts_tx++;
	return tux_writer_end(w, &h, &c->seal);
}

/* A packet is about to leave.  If none is in flight, the wait for
 * acknowledgments begins now. */
static void begin_wait(struct tux_conn *c, tux_time now)
{
	if (!tux_sentq_empty(&c->sentq) || c->rtt.backoff)
		return;
	if (!c->pair->in_flight)
		tux_cc_idle(&c->pair->cc, tux_time_since(c->pair->ack_at, now));
	c->progress_at = now;
}

/* The packet is in flight.  @s says what it carries; it has @len bytes, which
 * end at @reach in their datagram. */
static void launch(struct tux_conn *c, struct tux_sent *s, size_t len,
		   size_t reach, tux_time now)
{
	s->at = now;
	s->size = (uint32_t)len;
	s->reach = (uint16_t)reach;
	s->ect = tux_conn_choose_ect(c);
	tux_sentq_push(&c->sentq);
	tux_pair_sent(c->pair);
	if (tux_pace_open(&c->pair->pace, now))
		tux_pace_sent(&c->pair->pace, s->size, now);
}

/* Is it time to probe the path MTU, with a longer packet than the path is known
 * to carry?  Only while other packets are in flight and are acknowledged, so
 * that an idle path stays idle. */
static bool probe_due(const struct tux_conn *c, tux_time now)
{
	return now >= c->pair->pmtu.at && !c->rtt.backoff && !c->barred &&
	       !tux_sentq_empty(&c->sentq) && !tux_sentq_full(&c->sentq);
}

/* A probe of the path MTU, with padding.  It carries nothing that could be
 * lost, and may leave even if the window is full. */
static size_t send_probe(struct tux_conn *c, uint8_t *buf, size_t cap,
			 tux_time now)
{
	uint32_t max = c->pkt_max < c->mtu ? c->pkt_max : c->mtu;
	struct tux_writer w;
	struct tux_sent *s;
	size_t len;

	len = tux_pmtu_probe(&c->pair->pmtu, max < cap ? max : (uint32_t)cap,
			     now);
	if (!len)
		return 0;
	tux_writer_init(&w, buf, len);
	tux_fill_sack(c, &w);
	len = tux_writer_room(&w);
	memset(tux_writer_add(&w, TUX_REC_PAD, 0, len), 0, len);
	len = packet_finish(c, &w, TUX_PKT_ELICIT, now);
	tux_conn_trace(c, TUX_TRACE_MTU_PROBE, len, 0, 0);
	s = tux_sentq_slot(&c->sentq);
	*s = (struct tux_sent){
		.what = TUX_SENT_PROBE,
		.frag_at = c->msg ? c->msg->sent_next : 0,
	};
	launch(c, s, len, len, now);
	return len;
}

/* How long a packet of @c may become without messages and stream bytes. */
static size_t bare_len(const struct tux_conn *c)
{
	size_t len = TUX_PKT_HDR + CONTROL_MAX;

	if (c->todo & TUX_DO_HELLO)
		return TUX_PKT_HDR + TUX_REC_HDR + TUX_HELLO_LEN;
	if (c->ackq.seen.n)
		len += TUX_REC_HDR + TUX_SACK_EACH * TUX_SACK_MAX;
	if (c->todo & TUX_DO_ROOM)
		len += TUX_REC_HDR + TUX_ROOM_LEN;
	if (c->todo & TUX_DO_PREPARE)
		len += TUX_PREPARE_TURN_LEN - TUX_PREPARE_LEN;
	if (c->todo & TUX_DO_RAW)
		len += TUX_RAW_LEN;
	if (c->todo & TUX_DO_LEAVE)
		len += TUX_REC_HDR + TUX_LEAVE_LEN;
	return len;
}

/* Finds the stream bytes of the next numbered packet, of @most bytes; *@e is empty
 * if there are none.  False: @cap bytes would cut what the packet is to carry.
 * Then it goes in a datagram of its own, since stream bytes that are ready together
 * are most often one request or response. */
static bool draft(struct tux_conn *c, uint32_t most, size_t cap,
		  struct tux_extent *e)
{
	size_t len, next;

	*e = (struct tux_extent){ 0 };
	tux_conn_next_extent(c, most, e);
	if (cap >= most)
		return true;
	len = bare_len(c);
	if (e->len || e->fin)
		len += TUX_REC_HDR + TUX_STREAM_HDR + e->len;
	if (tux_conn_messages_here(c)) {
		next = tux_message_next_len(c, most - BESIDE_MESSAGE);
		if (next)
			len += TUX_REC_HDR + next;
	}
	return cap >= len;
}

/* Stream bytes or messages leave over Tux, and so TCP shows, now and then, that the
 * connection is in use: firewalls on the way look at TCP.  A SWITCH frame changes
 * nothing in a direction that is on Tux. */
static void show_use(struct tux_conn *c, tux_time now)
{
	if (c->tx.path != TUX_PATH_TUX || c->out.sw ||
	    tux_time_since(c->out.sent_at, now) < TUX_SEC(SHOW_S))
		return;
	c->out.sw = true;
	tux_conn_mark(c, TUX_DIRTY_PATH);
}

/* A packet with a number: control records, messages and the stream bytes @e.
 * 0: there are none.  @before bytes of the datagram are in front of it. */
static size_t send_numbered(struct tux_conn *c, struct tux_extent e,
			    uint8_t *buf, size_t before, size_t cap,
			    tux_time now)
{
	uint16_t frag_n = 0;
	uint32_t what;
	struct tux_sent *s;
	struct tux_writer w;
	size_t len;
	bool asks;

	tux_writer_init(&w, buf, cap);
	what = tux_fill(c, &w, &e, &frag_n);
	if (!what && !e.len && !frag_n)
		return 0;
	asks = what == TUX_DO_PING && !e.len && !frag_n;
	len = packet_finish(c, &w, asks ? TUX_PKT_ELICIT | TUX_PKT_ASK :
				   TUX_PKT_ELICIT, now);
	begin_wait(c, now);
	s = tux_sentq_slot(&c->sentq);
	s->frag_at = c->msg ? c->msg->sent_next - frag_n : 0;
	s->frag_n = frag_n;
	s->off = e.off;
	s->len = e.len;
	s->what = (uint16_t)what;
	launch(c, s, len, before + len, now);
	c->tx.tail = false;
	if (e.len || frag_n)
		show_use(c, now);
	return len;
}

static size_t send_ack(struct tux_conn *c, uint8_t *buf, size_t cap,
		       tux_time now)
{
	struct tux_writer w;

	if (!ack_due(c, now))
		return 0;
	tux_writer_init(&w, buf, cap);
	tux_fill_sack(c, &w);
	return packet_finish(c, &w, 0, now);
}

/* RESET is sent once: this end does not wait for an acknowledgment. */
static size_t send_reset(struct tux_conn *c, uint8_t *buf, size_t cap,
			 tux_time now)
{
	struct tux_writer w;
	uint8_t *p;

	c->todo = 0;
	tux_writer_init(&w, buf, cap);
	p = tux_writer_add(&w, TUX_REC_RESET, 0, TUX_RESET_LEN);
	assert(p && "no packet is so short");
	tux_put32(p, c->dead_why);
	tux_conn_trace(c, TUX_TRACE_SEND_RESET, c->dead_why, 0, 0);
	tux_conn_mark(c, TUX_DIRTY_LIFE);	/* it may be gone now */
	return packet_finish(c, &w, TUX_PKT_ELICIT, now);
}

/* If the pair holds @c back, and @c has something to send, @c waits in line. */
static void wait_in_line(struct tux_conn *c)
{
	if (c->pair->full && !tux_sentq_full(&c->sentq) &&
	    (c->todo & TUX_DO_NUMBERED || tux_conn_messages_here(c) ||
	     tux_conn_any_stream(c)))
		tux_pair_wait(&c->core->pairs, c->pair, &c->waitq);
}

/* This end waits for the peer to open its window, or to acknowledge what has
 * arrived, and nothing in flight brings an answer.  So it sends PINGs, at
 * growing intervals (RFC 9293, section 3.8.6.1). */
static void watch_news(struct tux_conn *c, tux_time now)
{
	const struct tux_sendbuf *b = &c->tx.buf;

	if (c->tx.path != TUX_PATH_TUX)
		return;
	if (!tux_sentq_empty(&c->sentq) ||
	    (!tux_sendbuf_blocked(b) && b->got >= b->next &&
	     tux_messages_idle(c))) {
		c->tx.probe_at = TUX_NEVER;
	} else if (c->tx.probe_at == TUX_NEVER) {
		if (!c->tx.probe_in)
			c->tx.probe_in = tux_rtt_rto(&c->rtt);
		c->tx.probe_at = tux_time_add(now, c->tx.probe_in);
		c->tx.probe_in = tux_time_min(2 * c->tx.probe_in, TUX_SEC(60));
	}
}

/* May there be something to send in a numbered packet?  This is cheap, for the
 * common case that an acknowledgment came and nothing is left to send. */
static bool any(const struct tux_conn *c)
{
	return c->todo || tux_conn_any_stream(c) ||
	       (c->msg && tux_message_any(c));
}

/* Builds the next packet of a connection that is PROVED, of @most bytes unless it
 * is a probe.  If there is none, notes what the connection waits for. */
static size_t send_proved(struct tux_conn *c, uint8_t *buf, size_t before,
			  size_t cap, uint32_t most, bool *more, tux_time now)
{
	struct tux_extent e;
	size_t len = 0;

	note_full(c, now);
	if (!window_open(c)) {
		wait_in_line(c);
	} else if (any(c)) {
		*more = !draft(c, most, cap, &e);
		if (*more)
			return 0;
		len = send_numbered(c, e, buf, before, cap < most ? cap : most,
				    now);
	}
	if (!len)
		len = send_ack(c, buf, cap < most ? cap : most, now);
	if (!len && probe_due(c, now)) {
		*more = before;		/* needs a datagram of its own */
		if (*more)
			return 0;
		len = send_probe(c, buf, cap, now);
	}
	*more = len && (any(c) || probe_due(c, now));
	if (*more)
		return len;
	if (len)
		note_full(c, now);
	if (c->msg)
		tux_conn_mark(c, TUX_DIRTY_MESSAGE);
	watch_news(c, now);
	return len;
}

size_t tux_conn_send(struct tux_conn *c, uint8_t *buf, size_t before,
		     size_t cap, bool *more, tux_time now)
{
	size_t len = 0;
	uint32_t most;

	*more = false;
	if (!c->peer.port || c->life == TUX_LIFE_GONE)
		return 0;
	most = limit(c);
	if (cap < most && cap < bare_len(c)) {
		*more = true;
		return 0;
	}
	if (c->todo & TUX_DO_HELLO)
		len = tux_hello_build(c, buf, cap, now);
	else if (c->todo & TUX_DO_RESET)
		len = send_reset(c, buf, cap, now);
	else if (c->life == TUX_LIFE_PROVED)
		return send_proved(c, buf, before, cap, most, more, now);
	*more = len > 0;
	return len;
}
