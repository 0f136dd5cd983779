/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * TCP under a switched direction: the marker, frames out, frames in, its end.
 *
 * Out, one thing at a time: what has begun is finished first.  In, never a byte
 * more is asked for than belongs to the frame at hand, so that whatever follows
 * RAW is left for the application.
 */
#include "conn/conn_in.h"

#include <errno.h>

/* ---- out ---- */

void tux_conn_frame(struct tux_conn *c, uint8_t type, uint64_t off, uint32_t len)
{
	struct tux_conn_out *o = &c->out;
	const struct tux_frame f = { .type = type, .len = len, .off = off };

	tux_frame_encode(&f, o->hdr);
	o->hdr_len = o->hdr_left = TUX_FRAME_HDR;
	o->type = type;
	o->left = len;
	o->busy = true;
	tux_conn_trace(c, TUX_TRACE_FRAME_OUT, type, off, len);
}

/* The rest of a marker that TCP took only in part. */
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

/* At N, acknowledged: the marker, under the latch until TCP has answered. */
static size_t commit_out(struct tux_conn *c, uint8_t *buf, tux_time now)
{
	struct tux_duplex_tx *t = &c->dx->tx;

	if (!tux_latch_try(&t->latch)) {
		tux_conn_retry(c, now);	/* a writer is there; look again */
		tux_conn_arm_timer(c);
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

static void commit_sent(struct tux_conn *c, size_t n, tux_time now)
{
	c->out.latched = false;
	if (n)
		tux_duplex_committed(c->dx, n);
	tux_latch_drop(&c->dx->tx.latch);
	tux_upgrade_tx(c, now);
}

/* What goes to TCP next?  False: nothing. */
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
	} else if (c->tx.path == TUX_PATH_TCP && o->off < head) {
		len = len < TUX_FRAME_MAX ? len : TUX_FRAME_MAX;
		tux_conn_frame(c, TUX_FRAME_DATA, o->off, (uint32_t)len);
		c->stats.frame_tx += len;
		o->turn = true;
	} else if (o->fin) {
		tux_message_fin_frame(c);
	} else if (o->raw) {
		tux_conn_frame(c, TUX_FRAME_RAW, o->off, 0);
	} else if (o->sw) {
		tux_conn_frame(c, TUX_FRAME_SWITCH, o->off, 0);
	} else {
		return tux_message_frame(c);
	}
	return true;
}

/* @len bytes of the body at hand. */
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

size_t tux_conn_tcp_out(struct tux_conn *c, uint8_t *buf, size_t cap,
			tux_time now)
{
	struct tux_conn_out *o = &c->out;
	size_t n;
	uint32_t body;

	if (c->phase == TUX_PHASE_DEAD)
		return 0;
	if (c->tx.path == TUX_PATH_NONE)
		return tux_conn_tx_state(c) == TUX_TX_ACKED ?
		       commit_out(c, buf, now) : 0;
	if (!o->busy && !next_frame(c)) {
		tux_messages_settled(c, now);
		return 0;
	}
	n = o->hdr_left < cap ? o->hdr_left : cap;
	memcpy(buf, o->hdr + o->hdr_len - o->hdr_left, n);
	body = o->left < cap - n ? o->left : (uint32_t)(cap - n);
	if (body)
		copy_body(c, buf + n, body);
	return n + body;
}

/* Is TCP to carry everything, and has it the FIN and all before it? */
static void fin_in_tcp(struct tux_conn *c)
{
	if (c->tx.path == TUX_PATH_TCP && c->out.fin_sent &&
	    c->out.off == c->tx.buf.end)
		c->tx.buf.got = c->tx.buf.end + 1;
}

/* Behind this frame the application writes TCP itself again. */
static void raw_done(struct tux_conn *c)
{
	c->out.raw = false;
	tux_conn_trace(c, TUX_TRACE_RAW_OUT, c->out.off, 0, 0);
	atomic_store(&c->dx->tx.hold, 0);
	if (atomic_load(&c->dx->tx.shut))
		c->core->ev->tcp_shut(c->core->arg, c);
	tux_conn_decide(c, c->tx.raw_why);
	tux_conn_ready(c);
}

/* A frame has gone into TCP whole. */
static void frame_done(struct tux_conn *c, tux_time now)
{
	struct tux_conn_out *o = &c->out;

	o->busy = false;
	switch (o->type) {
	case 0:
		o->marker = false;
		atomic_store(&c->dx->tx.marker_left, 0);
		tux_conn_ready(c);
		break;
	case TUX_FRAME_DATA:
		fin_in_tcp(c);
		break;
	case TUX_FRAME_MESSAGE:
		tux_message_framed(c, &o->pick);
		tux_messages_settled(c, now);
		break;
	case TUX_FRAME_FIN:
		o->fin = false;
		o->fin_sent = true;
		fin_in_tcp(c);
		break;
	case TUX_FRAME_RAW:
		raw_done(c);
		break;
	case TUX_FRAME_SWITCH:
		o->sw = false;
		tux_back_again(c, now);
		break;
	default:
		break;
	}
	tux_back_raw_step(c, now);
	tux_conn_check_end(c, now);
}

void tux_conn_tcp_sent(struct tux_conn *c, size_t n, tux_time now)
{
	struct tux_conn_out *o = &c->out;
	size_t h = n < o->hdr_left ? n : o->hdr_left;

	if (o->latched) {
		commit_sent(c, n, now);
		tux_conn_arm_timer(c);
		return;
	}
	o->hdr_left = (uint8_t)(o->hdr_left - h);
	n -= h;
	if (n && o->type == TUX_FRAME_MESSAGE) {
		o->left -= (uint32_t)n;
	} else if (n) {			/* the kernel has them: as good as got */
		o->off += n;
		o->left -= (uint32_t)n;
		c->tx.buf.got = o->off;
		tux_pipe_consume(&c->dx->txp, o->off);
		tux_conn_ready(c);
	}
	if (o->busy && !o->hdr_left && !o->left)
		frame_done(c, now);
	tux_conn_arm_timer(c);
}

/* ---- in ---- */

/* How much of the body at hand the ring can take; what it has already is read
 * and passed over. */
static size_t body_room(struct tux_conn *c)
{
	struct tux_conn_in *i = &c->in;
	uint64_t end = tux_pipe_tail(&c->dx->rxp) + c->dx->rxp.cap;
	uint64_t room = i->off < end ? end - i->off : 0;

	return room < i->left ? (size_t)room : i->left;
}

size_t tux_conn_tcp_want(struct tux_conn *c)
{
	size_t n;

	if (c->phase == TUX_PHASE_DEAD || c->rx.tcp_ended)
		return 0;
	if (tux_conn_rx_plain(c))
		return c->closed ? tux_duplex_swallow_want(c->dx) : 0;
	if (c->dx->rx.marker_left)
		return c->dx->rx.marker_left;
	if (!c->in.left)
		return (size_t)(c->in.need - c->in.have);
	if (c->in.message)
		return c->in.left;
	n = body_room(c);
	if (!n) {			/* ring for any byte that is read */
		c->in.starved = true;
		atomic_store(&c->dx->wake_at, 0);
		n = body_room(c);
	}
	c->in.starved = !n;
	return n;
}

static void rx_raw(struct tux_conn *c, tux_time now)
{
	tux_conn_trace(c, TUX_TRACE_RAW_IN, c->in.frame.off, 0, 0);
	c->rx.tux = false;
	if (c->msg)
		tux_message_no_more(c);
	atomic_store(&c->dx->rx.state, TUX_RX_RAW);
	tux_back_raw(c, TUX_REASON_PEER_RAW, now);	/* and so do we */
	tux_conn_decide(c, c->tx.raw_why);
	tux_conn_ready(c);
}

static void on_frame(struct tux_conn *c, tux_time now)
{
	const struct tux_frame *f = &c->in.frame;

	tux_conn_trace(c, TUX_TRACE_FRAME_IN, f->type, f->off, f->len);
	switch (f->type) {
	case TUX_FRAME_DATA:
		if (f->off > tux_pipe_head(&c->dx->rxp))
			break;		/* frames begin at what we have */
		c->in.off = f->off;
		c->in.left = f->len;
		if (c->rx.tux) {
			c->rx.tux = false;
			tux_conn_decide(c, tux_conn_why_back(c));
		}
		return;
	case TUX_FRAME_MESSAGE:
	case TUX_FRAME_ROOM:
		if (tux_message_frame_in(c))
			break;
		tux_messages_settled(c, now);
		return;
	case TUX_FRAME_FIN:
		if (f->len && tux_message_fin(c, c->in.hdr + TUX_FRAME_HDR,
					      f->len))
			break;
		if (tux_recvbuf_put(&c->rx.buf, f->off, NULL, 0, true) < 0)
			break;
		tux_conn_look_eof(c);
		tux_conn_ready(c);
		tux_conn_check_end(c, now);
		return;
	case TUX_FRAME_RESET:
		tux_conn_trace(c, TUX_TRACE_RECV_RESET, f->off, 0, 0);
		tux_conn_die(c, ECONNRESET, TUX_REASON_NONE);
		return;
	case TUX_FRAME_SWITCH:
		c->rx.tux = true;
		tux_conn_decide(c, c->tx.path == TUX_PATH_TCP ? c->reason :
				TUX_REASON_NONE);
		return;
	case TUX_FRAME_RAW:
		if (f->off != tux_pipe_head(&c->dx->rxp))
			break;
		rx_raw(c, now);
		return;
	}
	tux_conn_die(c, ECONNRESET, TUX_REASON_PROTOCOL);
}

static size_t in_header(struct tux_conn *c, const uint8_t *p, size_t len,
			tux_time now)
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
		on_frame(c, now);
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
	tux_conn_look_eof(c);
	if (err) {
		tux_conn_ready(c);
		tux_conn_sink(c);
	}
	return n;
}

static size_t in_message(struct tux_conn *c, const uint8_t *p, size_t len)
{
	uint32_t n = len < c->in.left ? (uint32_t)len : c->in.left;

	if (tux_message_frame_body(c, p, n))
		tux_conn_die(c, ECONNRESET, TUX_REASON_PROTOCOL);
	return n;
}

void tux_conn_tcp_in(struct tux_conn *c, const uint8_t *p, size_t len,
		     tux_time now)
{
	uint8_t *skip = &c->dx->rx.marker_left;
	size_t n;

	if (tux_conn_rx_plain(c)) {
		tux_duplex_swallow(c->dx, p, len);
		tux_upgrade_rx(c, now);
		len = 0;
	}
	while (len && c->phase != TUX_PHASE_DEAD) {
		if (*skip) {
			n = *skip < len ? *skip : len;
			*skip = (uint8_t)(*skip - n);
		} else if (c->in.message) {
			n = in_message(c, p, len);
		} else if (c->in.left) {
			n = in_body(c, p, len);
		} else {
			n = in_header(c, p, len, now);
		}
		p += n;
		len -= n;
	}
	tux_conn_arm_timer(c);
}

/* ---- its end ---- */

void tux_conn_tcp_end(struct tux_conn *c, int err, tux_time now)
{
	if (c->gone || c->rx.tcp_err || (c->rx.tcp_ended && !err))
		return;
	tux_conn_trace(c, TUX_TRACE_TCP_END, (uint64_t)err, 0, 0);
	c->rx.tcp_ended = true;
	c->rx.tcp_err = err;
	if (c->reset_at != TUX_NEVER) {
		tux_conn_die(c, ECONNRESET, TUX_REASON_NONE);
	} else if (c->rx.on_ring && tux_conn_rx_state(c) == TUX_RX_SWITCHED &&
		   !tux_conn_said_all(c)) {
		tux_conn_trace(c, TUX_TRACE_PEER_DIED, 0, 0, 0);
		atomic_store(&c->dx->tx.mute, !err && !tux_conn_tx_plain(c) &&
			     !atomic_load(&c->dx->tx.shut));
		tux_conn_die(c, ECONNRESET, TUX_REASON_NONE);
	} else if (err && !c->tx.done) {
		tux_conn_die(c, err, TUX_REASON_NONE);
	}
	tux_conn_check_end(c, now);
	tux_conn_arm_timer(c);
}
