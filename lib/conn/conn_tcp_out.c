/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn/conn_tcp_out.h"

#include "conn/back.h"
#include "conn/choose.h"
#include "conn/conn_frame.h"
#include "conn/conn_in.h"
#include "conn/leave.h"
#include "conn/message_fate.h"
#include "conn/message_tcp.h"
#include "conn/message_tx.h"
#include "conn/state.h"
#include "conn/window.h"

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

/* Tells the peer that packets no longer arrive here: a DATA frame with the last
 * byte that the peer has acknowledged.  The peer discards the byte, so its value
 * does not matter; the ring may have another in its place by now. */
static void begin_back(struct tux_conn *c)
{
	struct tux_conn_out *o = &c->out;

	tux_conn_frame(c, TUX_FRAME_DATA, o->off - 1, 1);
	o->hdr[TUX_FRAME_HDR] = 0;
	o->hdr_len = o->hdr_left = TUX_FRAME_HDR + 1;
	o->left = 0;
	c->stats.frame_tx++;
}

/* Are bytes behind the current frame plain TCP? */
static bool is_plain_frame(const struct tux_conn_out *o)
{
	return o->type == TUX_FRAME_RAW || o->type == TUX_FRAME_PLAIN;
}

/* The RAW frame, with @len bytes behind it that are plain already: the peer had them
 * on Tux, where its application has not read them. */
static void begin_raw(struct tux_conn *c, uint32_t len)
{
	struct tux_conn_out *o = &c->out;
	bool stopped = c->rx.stop == TUX_STOP_STOPPED;

	tux_conn_frame(c, TUX_FRAME_RAW, o->off, stopped ? TUX_RAW_LEN : 0);
	if (stopped) {
		tux_put64(o->hdr + TUX_FRAME_HDR, c->rx.read_to);
		o->hdr_len = o->hdr_left = TUX_FRAME_HDR + TUX_RAW_LEN;
	}
	o->left = len;
}

/* The PLAIN frame, with @len bytes behind it, as the RAW frame. */
static void begin_plain(struct tux_conn *c, uint32_t len)
{
	struct tux_conn_out *o = &c->out;
	bool asks = tux_leave_tells(c);

	tux_conn_frame(c, TUX_FRAME_PLAIN, o->off, asks ? TUX_LEAVE_LEN : 0);
	if (asks) {
		tux_leave_tell(c, o->hdr + TUX_FRAME_HDR);
		o->hdr_len = o->hdr_left = TUX_FRAME_HDR + TUX_LEAVE_LEN;
	}
	o->left = len;
}

/* Begins what goes to TCP next.  False: nothing does. */
static bool next_frame(struct tux_conn *c)
{
	struct tux_conn_out *o = &c->out;
	uint64_t rest = tux_pipe_head(&c->dx->txp) - o->off;
	uint64_t len = o->raw || o->plain ? 0 : tux_window_frames(c);

	if (o->marker) {
		begin_marker(c);
	} else if (o->back) {
		o->back = false;
		begin_back(c);
	} else if (tux_message_room_frame(c)) {
		return true;
	} else if (o->turn && tux_message_frame(c)) {
		o->turn = false;
	} else if (len) {
		len = len < TUX_FRAME_MAX ? len : TUX_FRAME_MAX;
		tux_conn_frame(c, TUX_FRAME_DATA, o->off, (uint32_t)len);
		c->stats.frame_tx += len;
		o->turn = true;
	} else if (o->fin) {
		tux_message_fin_frame(c);
	} else if (o->raw) {
		begin_raw(c, (uint32_t)rest);
	} else if (o->plain) {
		begin_plain(c, (uint32_t)rest);
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
		if (c->tx.path == TUX_PATH_TUX) {
			tux_sendbuf_lost(&c->tx.buf, c->dx->tx.at,
					 c->dx->tx.rest, false);
			tux_conn_kick(c);
		}
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
		if (o->sw && c->tx.path != TUX_PATH_TUX)
			tux_back_to_tux(c, now);
		o->sw = false;
		break;
	default:
		break;
	}
}

void tux_tcp_sent(struct tux_conn *c, size_t n, tux_time now)
{
	struct tux_conn_out *o = &c->out;
	size_t h = n < o->hdr_left ? n : o->hdr_left;

	if (n)
		o->sent_at = now;
	if (o->latched) {
		commit_sent(c, n);
		return;
	}
	tux_conn_mark(c, TUX_DIRTY_TCP);
	o->hdr_left = (uint8_t)(o->hdr_left - h);
	n -= h;
	if (n && o->type == TUX_FRAME_MESSAGE) {
		o->left -= (uint32_t)n;
	} else if (n && is_plain_frame(o)) {
		o->off += n;
		o->left -= (uint32_t)n;
	} else if (n && tux_conn_is_across(c)) {
		o->off += n;
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

void tux_tcp_across(struct tux_conn *c, tux_time now)
{
	const struct tux_duplex_tx *t = &c->dx->tx;
	uint32_t len = TUX_FRAME_HDR + t->rest;

	c->stats.frame_tx += t->rest;
	c->out.sw = true;
	c->out.off = t->at;
	c->tx.buf.next = t->at + t->rest;
	tux_conn_frame(c, TUX_FRAME_DATA, t->at, t->rest);
	tux_tcp_sent(c, t->framed < len ? t->framed : len, now);
	if (t->framed <= len)
		return;
	tux_conn_frame(c, TUX_FRAME_SWITCH, c->out.off, 0);
	tux_tcp_sent(c, t->framed - len, now);
}

bool tux_conn_tcp_cut(const struct tux_conn *c)
{
	const struct tux_conn_out *o = &c->out;

	return o->busy && is_plain_frame(o) && !o->hdr_left && o->left;
}

bool tux_conn_tcp_due(const struct tux_conn *c)
{
	const struct tux_conn_out *o = &c->out;

	if (c->life >= TUX_LIFE_DEAD)
		return false;
	if (c->tx.path == TUX_PATH_PLAIN)
		return tux_conn_tx_state(c) == TUX_TX_ACKED;
	return o->busy || o->marker || o->back || o->fin || o->raw ||
	       o->plain || o->sw || tux_window_frames(c) ||
	       (tux_message_may_frame(c) &&
		(c->todo & TUX_DO_ROOM || tux_message_any(c)));
}
