/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn/conn_tcp_in.h"

#include <errno.h>

#include "conn/back.h"
#include "conn/conn_in.h"
#include "conn/conn_life.h"
#include "conn/leave.h"
#include "conn/message_fate.h"
#include "conn/message_rx.h"
#include "conn/message_tcp.h"
#include "conn/state.h"
#include "conn/stop.h"
#include "conn/window.h"

/* ---- frames ---- */

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
	if (c->in.again)
		return c->in.again;
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

/* Of a RAW or PLAIN frame: has the peer begun again where the application had stopped
 * to read, or is the frame behind all bytes that have come? */
static bool plain_fits(const struct tux_conn *c, uint64_t off)
{
	return off == tux_pipe_head(&c->dx->rxp) ||
	       (c->rx.stop >= TUX_STOP_STOPPED && off == c->rx.read_to);
}

/* Does the peer begin again there, with bytes that reads have left on the ring? */
static bool drops(const struct tux_conn *c, uint64_t off)
{
	return c->rx.stop == TUX_STOP_STOPPED && off == c->rx.read_to;
}

static uint64_t raw_from(const struct tux_conn *c)
{
	return c->in.frame.len ? tux_get64(c->in.hdr + TUX_FRAME_HDR) :
				 UINT64_MAX;
}

/* The RAW frame: behind it the application reads TCP itself again. */
static void rx_raw(struct tux_conn *c)
{
	uint64_t off = c->in.frame.off;

	tux_conn_trace(c, TUX_TRACE_RAW_IN, off, 0, 0);
	tux_conn_set_rx(c, TUX_PATH_RAW);
	if (c->msg)
		tux_message_no_more(c);
	/* Before RAW lets readers of TCP in. */
	tux_stop_resume(c, drops(c, off));
	atomic_store(&c->dx->rx.state, TUX_RX_RAW);
	tux_back_raw_heard(c, raw_from(c));	/* this end sends RAW as well */
	tux_conn_mark(c, TUX_DIRTY_READY);
}

/* The PLAIN frame: behind it the application reads TCP itself, in a new turn of
 * the direction.  A PREPARE of that turn may have come before it. */
static void rx_plain(struct tux_conn *c)
{
	const struct tux_frame *f = &c->in.frame;
	const uint8_t *body = c->in.hdr + TUX_FRAME_HDR;
	bool drop = drops(c, f->off);
	uint64_t at = drop ? f->off : tux_pipe_head(&c->dx->rxp);

	tux_conn_trace(c, TUX_TRACE_PLAIN_IN, f->off, 0, 0);
	tux_conn_set_rx(c, TUX_PATH_PLAIN);
	c->rx.gen = c->rx.answer = 0;
	c->rx.turn_at = at;
	c->rx.late_to = tux_pipe_head(&c->dx->rxp);
	tux_stop_resume(c, drop);
	tux_duplex_rx_plain(c->dx, at);
	tux_leave_rx_plain(c);
	if (f->len)
		tux_leave_asked(c, tux_get64(body), tux_get32(body + 8));
	tux_conn_mark(c, TUX_DIRTY_READY | TUX_DIRTY_ARM |
		      (c->tx.raw_wanted ? TUX_DIRTY_RAW : 0));
}

static void rx_plain_or_raw(struct tux_conn *c)
{
	if (c->in.frame.type == TUX_FRAME_RAW)
		rx_raw(c);
	else
		rx_plain(c);
}

/* RAW or PLAIN.  If the peer begins again, but reads go on by now, what comes a second
 * time is left out first. */
static bool on_plain_frame(struct tux_conn *c)
{
	uint64_t off = c->in.frame.off, head = tux_pipe_head(&c->dx->rxp);

	if (!plain_fits(c, off))
		return false;
	if (c->rx.stop != TUX_STOP_STOPPED && off < head)
		c->in.again = head - off;
	else
		rx_plain_or_raw(c);
	return true;
}

static bool on_data_frame(struct tux_conn *c)
{
	const struct tux_frame *f = &c->in.frame;

	if (f->off > tux_pipe_head(&c->dx->rxp))
		return false;		/* it leaves out bytes */
	c->in.off = f->off;
	c->in.left = f->len;
	tux_stop_data(c);
	/* At N lies the rest of a write, which comes in packets, too. */
	if (c->in.first && f->off == c->dx->rx.at)
		return true;
	if (c->rx.path == TUX_PATH_TUX) {
		tux_conn_set_rx(c, TUX_PATH_FRAMES);
		tux_window_in_frames(c);
		/* Nothing new: the frame only says that packets no longer
		 * arrive. */
		c->rx.back = f->off + f->len <= tux_pipe_head(&c->dx->rxp);
	}
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
		return on_plain_frame(c);
	case TUX_FRAME_PLAIN:
		/* Messages are not where a direction becomes plain again, and
		 * no turn begins once the peer has named the end. */
		return !c->peer_messages && c->rx.buf.end == UINT64_MAX &&
		       on_plain_frame(c);
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
		c->in.first = false;
	}
	return n;
}

/* Leaves out what the peer sends again too late. */
static size_t in_again(struct tux_conn *c, size_t len)
{
	size_t n = len < c->in.again ? len : c->in.again;

	c->in.again -= n;
	if (!c->in.again)
		rx_plain_or_raw(c);
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
		} else if (c->in.again) {
			n = in_again(c, len);
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
	/* The kernel tells an error once.  A call of the application may have got
	 * it, and has kept it in the duplex then. */
	if (!err && !c->rx.tcp_ended)
		err = (int)atomic_load(&c->dx->err);
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
