/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn/conn_tcp.h"

#include <errno.h>

#include "conn/back.h"
#include "conn/choose.h"
#include "conn/conn_frame.h"
#include "conn/conn_in.h"
#include "conn/conn_life.h"
#include "conn/message_fate.h"
#include "conn/message_rx.h"
#include "conn/message_tcp.h"
#include "conn/message_tx.h"
#include "conn/state.h"

/* ---- out ---- */

/* Begins the rest of a marker that TCP took only in part. */
static void begin_marker(struct tux_conn *c)
{
	struct tux_conn_out *o = &c->out;

	memcpy(o->hdr, c->dx->tx.marker, TUX_MARKER_LEN);
	o->hdr_len = TUX_MARKER_LEN;
	o->hdr_left = atomic_load(&c->dx->tx.marker_left);
	o->type = 0;
	o->left = 0;
	o->busy = true;
}

/* PREPARED has come, and the writer is at N: the marker.  Keeps the latch until
 * tux_tcp_sent() says what TCP took. */
static size_t commit_out(struct tux_conn *c, uint8_t *buf, tux_time now)
{
	struct tux_duplex_tx *t = &c->dx->tx;

	if (!tux_latch_try(&t->latch)) {
		tux_conn_retry(c, now);	/* the application is writing */
		return 0;
	}
	if (!tux_duplex_at_commit(c->dx)) {
		tux_latch_drop(&t->latch);
		return 0;
	}
	c->out.latched = true;
	memcpy(buf, t->marker, TUX_MARKER_LEN);
	return TUX_MARKER_LEN;
}

static void commit_sent(struct tux_conn *c, size_t n)
{
	c->out.latched = false;
	if (n)
		tux_duplex_committed(c->dx, n);
	tux_latch_drop(&c->dx->tx.latch);
	tux_conn_mark(c, TUX_DIRTY_ANNOUNCE);
}

/* Begins what goes to TCP next.  False: nothing does. */
static bool next_frame(struct tux_conn *c)
{
	struct tux_conn_out *o = &c->out;
	uint64_t head = tux_pipe_head(&c->dx->txp);
	uint64_t len = head - o->off;

	if (o->marker) {
		begin_marker(c);
	} else if (tux_message_room_frame(c)) {
		return true;
	} else if (o->turn && tux_message_frame(c)) {
		o->turn = false;
	} else if (c->tx.path == TUX_PATH_FRAMES && o->off < head) {
		len = len < TUX_FRAME_MAX ? len : TUX_FRAME_MAX;
		tux_conn_frame(c, TUX_FRAME_DATA, o->off, (uint32_t)len);
		c->stats.frame_tx += len;
		o->turn = true;
	} else if (o->fin) {
		tux_message_fin_frame(c);
	} else if (o->raw) {
		tux_conn_frame(c, TUX_FRAME_RAW, o->off, 0);
	} else if (o->plain) {
		tux_conn_frame(c, TUX_FRAME_PLAIN, o->off, 0);
	} else if (o->sw) {
		tux_conn_frame(c, TUX_FRAME_SWITCH, o->off, 0);
	} else {
		return tux_message_frame(c);
	}
	return true;
}

/* Copies the next @len bytes of the current body. */
static void copy_body(struct tux_conn *c, uint8_t *dst, uint32_t len)
{
	struct tux_conn_out *o = &c->out;
	const struct tux_message_hdr *h = &o->pick.h;

	if (o->type == TUX_FRAME_MESSAGE)
		tux_message_copy(c, &o->pick, h->off + h->len - o->left, dst,
				 len);
	else
		tux_pipe_copy(&c->dx->txp, o->off, dst, len);
}

size_t tux_tcp_out(struct tux_conn *c, uint8_t *buf, size_t cap, tux_time now)
{
	struct tux_conn_out *o = &c->out;
	size_t n;
	uint32_t body;

	if (c->life >= TUX_LIFE_DEAD)
		return 0;
	if (c->tx.path == TUX_PATH_PLAIN)
		return tux_conn_tx_state(c) == TUX_TX_ACKED ?
		       commit_out(c, buf, now) : 0;
	if (!o->busy && !next_frame(c)) {
		tux_conn_mark(c, TUX_DIRTY_MESSAGE);
		return 0;
	}
	n = o->hdr_left < cap ? o->hdr_left : cap;
	memcpy(buf, o->hdr + o->hdr_len - o->hdr_left, n);
	body = o->left < cap - n ? o->left : (uint32_t)(cap - n);
	if (body)
		copy_body(c, buf + n, body);
	return n + body;
}

/* If frames carry the direction, and TCP has taken everything up to the FIN,
 * then everything counts as acknowledged. */
static void fin_in_tcp(struct tux_conn *c)
{
	if (c->tx.path == TUX_PATH_FRAMES && c->out.fin_sent &&
	    c->out.off == c->tx.buf.end)
		c->tx.buf.got = c->tx.buf.end + 1;
}

/* TCP has taken the RAW frame: the application writes to TCP itself again. */
static void raw_done(struct tux_conn *c)
{
	c->out.raw = false;
	tux_conn_trace(c, TUX_TRACE_RAW_OUT, c->out.off, 0, 0);
	tux_conn_set_tx(c, TUX_PATH_RAW);
	atomic_store(&c->dx->tx.hold, 0);
	/* If the application has shut down already, the loop shuts TCP down;
	 * from now on, the application does that itself. */
	c->tx.shut_due = atomic_load(&c->dx->tx.shut);
	tux_conn_mark(c, TUX_DIRTY_READY);
}

/* TCP has taken the PLAIN frame: the direction is where it began, in a new
 * turn. */
static void plain_done(struct tux_conn *c, tux_time now)
{
	c->out.plain = false;
	tux_conn_trace(c, TUX_TRACE_PLAIN_OUT, c->out.off, 0, 0);
	tux_conn_set_tx(c, TUX_PATH_PLAIN);
	tux_back_plain(c);
	tux_choose_turn(c, now);
	c->tx.shut_due = atomic_load(&c->dx->tx.shut);
	tux_conn_mark(c, TUX_DIRTY_READY | TUX_DIRTY_ANNOUNCE |
		      (c->tx.raw_wanted ? TUX_DIRTY_RAW : 0));
}

/* TCP has taken all of the current frame. */
static void frame_done(struct tux_conn *c, tux_time now)
{
	struct tux_conn_out *o = &c->out;

	o->busy = false;
	switch (o->type) {
	case 0:
		o->marker = false;
		atomic_store(&c->dx->tx.marker_left, 0);
		tux_conn_mark(c, TUX_DIRTY_READY);
		break;
	case TUX_FRAME_DATA:
		fin_in_tcp(c);
		break;
	case TUX_FRAME_MESSAGE:
		tux_message_framed(c, &o->pick);
		tux_conn_mark(c, TUX_DIRTY_MESSAGE);
		break;
	case TUX_FRAME_FIN:
		o->fin = false;
		o->fin_sent = true;
		fin_in_tcp(c);
		break;
	case TUX_FRAME_RAW:
		raw_done(c);
		break;
	case TUX_FRAME_PLAIN:
		plain_done(c, now);
		break;
	case TUX_FRAME_SWITCH:
		o->sw = false;
		tux_back_again(c, now);
		break;
	default:
		break;
	}
}

void tux_tcp_sent(struct tux_conn *c, size_t n, tux_time now)
{
	struct tux_conn_out *o = &c->out;
	size_t h = n < o->hdr_left ? n : o->hdr_left;

	if (o->latched) {
		commit_sent(c, n);
		return;
	}
	tux_conn_mark(c, TUX_DIRTY_TCP);
	o->hdr_left = (uint8_t)(o->hdr_left - h);
	n -= h;
	if (n && o->type == TUX_FRAME_MESSAGE) {
		o->left -= (uint32_t)n;
	} else if (n) {			/* in TCP counts as acknowledged */
		o->off += n;
		o->left -= (uint32_t)n;
		c->tx.buf.got = o->off;
		tux_pipe_consume(&c->dx->txp, o->off);
		tux_conn_mark(c, TUX_DIRTY_READY);
	}
	if (o->busy && !o->hdr_left && !o->left)
		frame_done(c, now);
}

bool tux_conn_tcp_due(const struct tux_conn *c)
{
	const struct tux_conn_out *o = &c->out;

	if (c->life >= TUX_LIFE_DEAD)
		return false;
	if (c->tx.path == TUX_PATH_PLAIN)
		return tux_conn_tx_state(c) == TUX_TX_ACKED;
	return o->busy || o->marker || o->fin || o->raw || o->plain || o->sw ||
	       (c->tx.path == TUX_PATH_FRAMES &&
		o->off < tux_pipe_head(&c->dx->txp)) ||
	       (tux_message_may_frame(c) &&
		(c->todo & TUX_DO_ROOM || tux_message_any(c)));
}

/* ---- in ---- */

/* How many bytes of the current body may be read: as many as the ring has room
 * for.  Bytes that have arrived before are read as well, and discarded. */
static size_t body_room(const struct tux_conn *c)
{
	const struct tux_conn_in *i = &c->in;
	uint64_t end = tux_pipe_tail(&c->dx->rxp) + c->dx->rxp.cap;
	uint64_t room = i->off < end ? end - i->off : 0;

	return room < i->left ? (size_t)room : i->left;
}

/* Is the body of a DATA frame next? */
static bool in_data(const struct tux_conn *c)
{
	return !tux_path_plain(c->rx.path) && !c->dx->rx.marker_left &&
	       c->in.left && !c->in.message;
}

size_t tux_conn_tcp_want(const struct tux_conn *c)
{
	if (c->life >= TUX_LIFE_DEAD || c->rx.tcp_ended)
		return 0;
	if (tux_path_plain(c->rx.path))
		return c->closed ? tux_duplex_swallow_want(c->dx) : 0;
	if (c->dx->rx.marker_left)
		return c->dx->rx.marker_left;
	if (!c->in.left)
		return (size_t)(c->in.need - c->in.have);
	return c->in.message ? c->in.left : body_room(c);
}

void tux_conn_tcp_starve(struct tux_conn *c)
{
	c->in.starved = in_data(c) && !body_room(c);
	if (!c->in.starved)
		return;
	/* From now on the application rings whenever it reads.  It may just
	 * have read without, so look again. */
	atomic_store(&c->dx->wake_at, 0);
	c->in.starved = !body_room(c);
}

/* The RAW frame: behind it the application reads TCP itself again. */
static void rx_raw(struct tux_conn *c)
{
	tux_conn_trace(c, TUX_TRACE_RAW_IN, c->in.frame.off, 0, 0);
	tux_conn_set_rx(c, TUX_PATH_RAW);
	if (c->msg)
		tux_message_no_more(c);
	atomic_store(&c->dx->rx.state, TUX_RX_RAW);
	tux_back_raw(c, TUX_REASON_PEER_RAW);	/* this end sends RAW as well */
	tux_conn_mark(c, TUX_DIRTY_READY);
}

/* The PLAIN frame: behind it the application reads TCP itself, in a new turn of
 * the direction.  A PREPARE of that turn may have come before it. */
static void rx_plain(struct tux_conn *c)
{
	tux_conn_trace(c, TUX_TRACE_PLAIN_IN, c->in.frame.off, 0, 0);
	tux_conn_set_rx(c, TUX_PATH_PLAIN);
	c->rx.gen = c->rx.answer = 0;
	c->rx.turn_at = c->in.frame.off;
	tux_duplex_rx_plain(c->dx, c->in.frame.off);
	tux_conn_mark(c, TUX_DIRTY_READY | TUX_DIRTY_ARM |
		      (c->tx.raw_wanted ? TUX_DIRTY_RAW : 0));
}

static bool on_data_frame(struct tux_conn *c)
{
	const struct tux_frame *f = &c->in.frame;

	if (f->off > tux_pipe_head(&c->dx->rxp))
		return false;		/* it leaves out bytes */
	c->in.off = f->off;
	c->in.left = f->len;
	if (c->rx.path == TUX_PATH_TUX)
		tux_conn_set_rx(c, TUX_PATH_FRAMES);
	return true;
}

static bool on_fin_frame(struct tux_conn *c)
{
	const struct tux_frame *f = &c->in.frame;

	if (f->len &&
	    tux_message_fin(c, c->in.hdr + TUX_FRAME_HDR, f->len))
		return false;
	if (tux_recvbuf_put(&c->rx.buf, f->off, NULL, 0, true) < 0)
		return false;
	tux_conn_mark(c, TUX_DIRTY_READY);
	return true;
}

/* SWITCH: the peer sends in packets again. */
static void on_switch_frame(struct tux_conn *c)
{
	if (c->rx.path == TUX_PATH_FRAMES)
		tux_conn_set_rx(c, TUX_PATH_TUX);
	c->tx.stalled = false;
	tux_conn_mark(c, TUX_DIRTY_PATH);
}

/* Takes the frame with its header in c->in.  False: no honest peer sends it. */
static bool on_frame(struct tux_conn *c)
{
	const struct tux_frame *f = &c->in.frame;

	tux_conn_trace(c, TUX_TRACE_FRAME_IN, f->type, f->off, f->len);
	switch (f->type) {
	case TUX_FRAME_DATA:
		return on_data_frame(c);
	case TUX_FRAME_MESSAGE:
	case TUX_FRAME_ROOM:
		tux_conn_mark(c, TUX_DIRTY_MESSAGE);
		return tux_message_frame_in(c) == 0;
	case TUX_FRAME_FIN:
		return on_fin_frame(c);
	case TUX_FRAME_RESET:
		tux_conn_trace(c, TUX_TRACE_RECV_RESET, f->off, 0, 0);
		tux_conn_die(c, ECONNRESET, TUX_REASON_NONE);
		return true;
	case TUX_FRAME_SWITCH:
		on_switch_frame(c);
		return true;
	case TUX_FRAME_RAW:
		if (f->off != tux_pipe_head(&c->dx->rxp))
			break;
		rx_raw(c);
		return true;
	case TUX_FRAME_PLAIN:
		/* Messages are not where a direction becomes plain again, and
		 * no turn begins once the peer has named the end. */
		if (c->peer_messages || c->rx.buf.end != UINT64_MAX ||
		    f->off != tux_pipe_head(&c->dx->rxp))
			break;
		rx_plain(c);
		return true;
	}
	return false;
}

static size_t in_header(struct tux_conn *c, const uint8_t *p, size_t len)
{
	struct tux_conn_in *i = &c->in;
	size_t n = (size_t)(i->need - i->have);

	if (n > len)
		n = len;
	memcpy(i->hdr + i->have, p, n);
	i->have = (uint8_t)(i->have + n);
	if (i->have == TUX_FRAME_HDR) {
		if (tux_frame_decode(&i->frame, i->hdr)) {
			tux_conn_die(c, ECONNRESET, TUX_REASON_PROTOCOL);
			return n;
		}
		i->need = tux_message_frame_need(&i->frame);
	}
	if (i->have == i->need) {
		i->have = 0;
		i->need = TUX_FRAME_HDR;
		if (!on_frame(c))
			tux_conn_die(c, ECONNRESET, TUX_REASON_PROTOCOL);
	}
	return n;
}

static size_t in_body(struct tux_conn *c, const uint8_t *p, size_t len)
{
	struct tux_conn_in *i = &c->in;
	uint32_t n = len < i->left ? (uint32_t)len : i->left;
	int err = tux_recvbuf_put(&c->rx.buf, i->off, p, n, false);

	if (err < 0) {
		tux_conn_die(c, ECONNRESET, TUX_REASON_PROTOCOL);
		return len;
	}
	i->off += n;
	i->left -= n;
	c->stats.frame_rx += n;
	if (err)
		tux_conn_mark(c, TUX_DIRTY_READY);
	return n;
}

static size_t in_message(struct tux_conn *c, const uint8_t *p, size_t len)
{
	uint32_t n = len < c->in.left ? (uint32_t)len : c->in.left;

	if (tux_message_frame_body(c, p, n))
		tux_conn_die(c, ECONNRESET, TUX_REASON_PROTOCOL);
	return n;
}

void tux_tcp_in(struct tux_conn *c, const uint8_t *p, size_t len)
{
	uint8_t *skip = &c->dx->rx.marker_left;
	size_t n;

	tux_conn_mark(c, TUX_DIRTY_TCP);
	if (tux_path_plain(c->rx.path)) {
		tux_duplex_swallow(c->dx, p, len);
		tux_conn_mark(c, TUX_DIRTY_PROVE);
		len = 0;
	}
	while (len && c->life < TUX_LIFE_DEAD) {
		if (*skip) {
			n = *skip < len ? *skip : len;
			*skip = (uint8_t)(*skip - n);
		} else if (c->in.message) {
			n = in_message(c, p, len);
		} else if (c->in.left) {
			n = in_body(c, p, len);
		} else {
			n = in_header(c, p, len);
		}
		p += n;
		len -= n;
	}
}

/* ---- its end ---- */

/* TCP has ended: has the peer died, that is, have bytes of a switched direction
 * not arrived? */
static bool peer_died(const struct tux_conn *c)
{
	return (c->rx.path == TUX_PATH_TUX || c->rx.path == TUX_PATH_FRAMES) &&
	       !tux_conn_said_all(c);
}

void tux_tcp_end(struct tux_conn *c, int err)
{
	if (c->rx.tcp_err || (c->rx.tcp_ended && !err))
		return;
	tux_conn_trace(c, TUX_TRACE_TCP_END, (uint64_t)err, 0, 0);
	c->rx.tcp_ended = true;
	c->rx.tcp_err = err;
	tux_conn_mark(c, TUX_DIRTY_LIFE);
	if (c->reset_at != TUX_NEVER) {
		tux_conn_die(c, ECONNRESET, TUX_REASON_NONE);
	} else if (peer_died(c)) {
		tux_conn_trace(c, TUX_TRACE_PEER_DIED, 0, 0, 0);
		atomic_store(&c->dx->tx.mute, !err &&
			     !tux_path_plain(c->tx.path) &&
			     !atomic_load(&c->dx->tx.shut));
		tux_conn_die(c, ECONNRESET, TUX_REASON_NONE);
	} else if (err && !c->tx.done) {
		tux_conn_die(c, err, TUX_REASON_NONE);
	}
}
