/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn/conn_fill.h"

#include <assert.h>

#include "conn/conn_in.h"
#include "conn/leave.h"
#include "conn/message_room.h"
#include "conn/message_tcp.h"
#include "conn/message_tx.h"
#include "conn/window.h"

enum { AHEAD_MOST = 16384 };	/* the limit of `ahead`, both ways */

/* May ROOM go in a packet?  It may also if the sending direction has left Tux
 * but can carry no more frames. */
static bool room_here(const struct tux_conn *c)
{
	return tux_conn_messages_here(c) ||
	       (c->msg && tux_path_back(c->tx.path) &&
		!tux_message_may_frame(c));
}

/* Adds a control record.  There is always room: all control records together
 * fit into the shortest packet that a peer or a path may ask for. */
static uint8_t *add(struct tux_writer *w, uint8_t type, size_t len)
{
	uint8_t *p = tux_writer_add(w, type, 0, len);

	assert(p && "what must be said fits into any packet");
	return p;
}

void tux_fill_sack(struct tux_conn *c, struct tux_writer *w)
{
	const struct tux_ranges *s = &c->ackq.seen;
	uint32_t i, n = s->n < TUX_SACK_MAX ? s->n : TUX_SACK_MAX;
	uint8_t *p;

	if (!n)
		return;
	p = add(w, TUX_REC_SACK, n * TUX_SACK_EACH);
	for (i = 0; i < n; i++, p += TUX_SACK_EACH) {
		const struct tux_range *r = &s->r[s->n - 1 - i];

		tux_put32(p, (uint32_t)r->start);
		tux_put32(p + 4, (uint32_t)r->end);
	}
}

static void add_prepare(struct tux_conn *c, struct tux_writer *w)
{
	uint32_t turn = atomic_load(&c->dx->tx.turn);
	uint8_t *p;

	if (!c->tx.gen)
		return;
	p = add(w, TUX_REC_PREPARE,
		turn ? TUX_PREPARE_TURN_LEN : TUX_PREPARE_LEN);
	tux_put32(p, c->tx.gen);
	tux_put64(p + 4, c->tx.gen_at);
	if (turn)
		tux_put32(p + TUX_PREPARE_LEN, turn);
	tux_conn_trace(c, c->tx.gen_at == TUX_NOWHERE ? TUX_TRACE_SEND_NOWHERE :
		       TUX_TRACE_SEND_PREPARE, c->tx.gen, c->tx.gen_at, 0);
}

static void add_prepared(struct tux_conn *c, struct tux_writer *w)
{
	tux_put32(add(w, TUX_REC_PREPARED, TUX_PREPARED_LEN), c->rx.answer);
	tux_conn_trace(c, TUX_TRACE_SEND_PREPARED, c->rx.answer, 0, 0);
}

static void add_raw(struct tux_conn *c, struct tux_writer *w)
{
	bool stopped = c->rx.stop == TUX_STOP_STOPPED;
	uint8_t *p = add(w, TUX_REC_RAW, stopped ? TUX_RAW_LEN : 0);

	if (stopped)
		tux_put64(p, c->rx.read_to);
}

static void add_leave(struct tux_conn *c, struct tux_writer *w)
{
	tux_leave_tell(c, add(w, TUX_REC_LEAVE, TUX_LEAVE_LEN));
}

static void add_room(struct tux_conn *c, struct tux_writer *w)
{
	tux_window_end(c);		/* the header tells it */
	tux_message_tell_room(c, add(w, TUX_REC_ROOM, TUX_ROOM_LEN));
}

/* Adds the control records that are due, and returns which (TUX_DO_*). */
static uint32_t add_control(struct tux_conn *c, struct tux_writer *w)
{
	uint32_t what = c->todo & TUX_DO_NUMBERED;

	/* It is sent again when lost, but the direction may be plain by then. */
	if (what & TUX_DO_LEAVE && !tux_leave_tells(c))
		what &= ~(uint32_t)TUX_DO_LEAVE;
	if (c->todo & TUX_DO_ROOM && room_here(c)) {
		add_room(c, w);
		what |= TUX_DO_ROOM;
	}
	if (what & TUX_DO_PREPARE)
		add_prepare(c, w);
	if (what & TUX_DO_PREPARED)
		add_prepared(c, w);
	if (what & TUX_DO_PING) {
		add(w, TUX_REC_PING, 0);
		tux_conn_trace(c, TUX_TRACE_PROBE, 0, 0, 0);
	}
	if (what & TUX_DO_RAW)
		add_raw(c, w);
	if (what & TUX_DO_LEAVE)
		add_leave(c, w);
	c->todo &= ~(what | TUX_DO_LEAVE);
	return what;
}

/* Adds END, which goes before FIN: FIN may overtake messages that TCP carries,
 * and END says how many there are. */
static void add_end(struct tux_conn *c, struct tux_writer *w)
{
	uint8_t *p = tux_writer_add(w, TUX_REC_END, 0, TUX_END_LEN);

	if (p)
		tux_message_tell_end(c, p);
}

/* Adds the stream bytes @e, and END before the FIN.  *@e is cut to what fits.
 * False: there are none, or no room. */
static bool add_stream(struct tux_conn *c, struct tux_writer *w,
		       struct tux_extent *e)
{
	size_t room;
	uint8_t *p;

	if (!e->len && !e->fin)
		return false;
	if (c->msg && c->peer_messages && c->tx.buf.end != UINT64_MAX)
		add_end(c, w);
	room = tux_writer_room(w);
	tux_extent_cut(e, room > TUX_STREAM_HDR ? room - TUX_STREAM_HDR : 0);
	if (room <= TUX_STREAM_HDR)
		return false;
	p = tux_writer_add(w, TUX_REC_STREAM,
			   TUX_STREAM_ORDER | (e->fin ? TUX_STREAM_FIN : 0),
			   TUX_STREAM_HDR + e->len);
	tux_put64(p, e->off);
	if (e->len)
		tux_pipe_copy(&c->dx->txp, e->off, p + TUX_STREAM_HDR, e->len);
	tux_sendbuf_take(&c->tx.buf, e);
	c->stats.tux_tx += e->len;
	tux_conn_trace(c, TUX_TRACE_SEND, c->sentq.next - c->first, e->off,
		       e->len);
	if (e->fin)
		tux_conn_trace(c, TUX_TRACE_SEND_FIN, c->sentq.next - c->first,
			       e->off + e->len, 0);
	return true;
}

/* If stream and messages both wait, the one that has sent less lately goes
 * first in the next packet: counts @stream and @messages bytes that were
 * sent. */
static void balance(struct tux_conn *c, uint32_t stream, uint32_t messages)
{
	int32_t *ahead = &c->msg->ahead;

	if (!tux_conn_any_stream(c) || !tux_message_could_go(c)) {
		*ahead = 0;
		return;
	}
	*ahead += (int32_t)messages - (int32_t)stream;
	if (*ahead > AHEAD_MOST)
		*ahead = AHEAD_MOST;
	if (*ahead < -AHEAD_MOST)
		*ahead = -AHEAD_MOST;
}

/* Adds messages and stream bytes, as many as fit.  After a timeout, until
 * something is acknowledged, a packet with control records gets no messages,
 * since the path may have dropped the packets because of their length.  False:
 * no stream bytes. */
static bool add_content(struct tux_conn *c, struct tux_writer *w,
			struct tux_extent *e, uint16_t *frag_n, bool control)
{
	bool try = c->rtt.backoff && (control || !tux_sentq_empty(&c->sentq));
	bool messages = !try && tux_conn_messages_here(c);
	bool first = messages && c->msg->ahead <= 0, stream;
	uint32_t n = 0;

	if (first)
		n = tux_message_add(c, w, frag_n);
	stream = add_stream(c, w, e);
	if (messages && !first)
		n = tux_message_add(c, w, frag_n);
	if (messages)
		balance(c, e->len, n);
	return stream;
}

/* Adds ROOM to a packet that leaves anyway, if enough has changed and there is
 * space. */
static uint32_t add_news(struct tux_conn *c, struct tux_writer *w)
{
	if (!c->msg || !tux_message_room_news(c) || !room_here(c) ||
	    tux_writer_room(w) < TUX_ROOM_LEN)
		return 0;
	add_room(c, w);
	return TUX_DO_ROOM;
}

uint32_t tux_fill(struct tux_conn *c, struct tux_writer *w,
		  struct tux_extent *e, uint16_t *frag_n)
{
	uint32_t what;

	tux_fill_sack(c, w);
	what = add_control(c, w);
	if (add_content(c, w, e, frag_n, what) && e->fin)
		what |= TUX_SENT_FIN;
	if (e->len || *frag_n)
		what |= add_news(c, w);
	return what;
}
