/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn/settle.h"

#include <errno.h>

#include "conn/back.h"
#include "conn/choose.h"
#include "conn/conn_in.h"
#include "conn/conn_life.h"
#include "conn/conn_tcp_in.h"
#include "conn/conn_tcp_out.h"
#include "conn/leave.h"
#include "conn/message_life.h"
#include "conn/state.h"
#include "conn/stop.h"
#include "conn/upgrade.h"
#include "conn/window.h"

enum { LINGER_S = 60 };	/* how long a closed connection waits for TCP's end */

static void add_effect(struct tux_conn *c, uint32_t what)
{
	c->effects |= what;
	if (tux_list_empty(&c->effectq))
		tux_list_push(&c->core->effectq, &c->effectq);
}

/* ---- the end of messages, FIN ---- */

/* The application has shut down the sending direction, and every message is
 * settled: FIN becomes due behind the last byte of the ring. */
static void settle_fin(struct tux_conn *c)
{
	if (tux_path_plain(c->tx.path) || c->tx.buf.end != UINT64_MAX ||
	    !atomic_load(&c->dx->tx.shut) ||
	    tux_conn_tx_state(c) != TUX_TX_SWITCHED || !tux_messages_idle(c))
		return;
	tux_sendbuf_finish(&c->tx.buf, tux_pipe_head(&c->dx->txp));
	c->out.fin = true;
	tux_conn_kick(c);
	tux_conn_mark(c, TUX_DIRTY_PATH);
}

/* FIN, RAW and the end of a closed connection wait for the last message.  True:
 * something waits, and all messages are settled now. */
static bool messages_drained(const struct tux_conn *c)
{
	return c->msg && tux_messages_idle(c) &&
	       (atomic_load(&c->dx->tx.shut) || c->tx.raw_wanted);
}

/* ---- the end of file ---- */

/* Content has come: if that was all, the application gets the end of file. */
static void settle_content(struct tux_conn *c)
{
	if (!tux_conn_said_all(c))
		return;
	tux_stop_resume(c, false);
	atomic_store(&c->dx->rx.eof, 1);
}

/* ---- the end of the connection ---- */

/* Has the peer, or TCP, everything that this end sends, so that only TCP's own
 * FIN is left? */
static bool tx_done(const struct tux_conn *c)
{
	if (tux_path_plain(c->tx.path))
		return c->closed && tux_conn_tx_state(c) != TUX_TX_SWITCHED &&
		       tux_messages_idle(c);
	if (!tux_sendbuf_done(&c->tx.buf) || c->out.busy || c->out.marker ||
	    c->out.fin)
		return false;
	/* The peer may still send messages, and ROOM for them may have to go in
	 * frames on TCP. */
	return !c->msg || !c->peer_messages || c->closed ||
	       c->rx.tcp_ended || tux_conn_said_all(c);
}

static void discard_ring(struct tux_conn *c, uint64_t head)
{
	tux_pipe_consume(&c->dx->rxp, head);
	tux_window_opened(c, head);
}

/* The application has closed, and bytes have arrived that it will not read.
 * Discards those of the ring; those of a plain direction are discarded already
 * (tux_duplex_swallow()).  If they arrived after the closing, and the peer or
 * TCP has everything that this end sends, they break the connection with a
 * RESET: otherwise the peer would go on sending.  Asks tx_done() as well, since
 * the packet that brought the bytes may also have acknowledged the last of this
 * end's, and settle_done() comes later. */
static void settle_sink(struct tux_conn *c)
{
	uint64_t head = tux_pipe_head(&c->dx->rxp);

	if (c->rx.path == TUX_PATH_PLAIN)
		head = c->dx->rx.off;
	else if (tux_pipe_tail(&c->dx->rxp) == head)
		return;
	else
		discard_ring(c, head);
	if (head > c->closed_at && (c->tx.done || tx_done(c)))
		tux_conn_die(c, ECONNRESET, TUX_REASON_DATA_AFTER_CLOSE);
}

/* Everything has been sent: TCP's sending side is to be shut down. */
static void settle_done(struct tux_conn *c)
{
	if (c->tx.done || !tx_done(c))
		return;
	c->tx.done = c->tx.shut_due = true;
	tux_list_remove(&c->use);	/* it no longer sends over Tux */
	c->out.sw = c->out.back = false;
}

/* Does the application use TCP itself in both directions, and no switch is
 * under way in the receiving one? */
static bool tcp_alone(const struct tux_conn *c)
{
	return tux_path_plain(c->tx.path) && tux_path_plain(c->rx.path) &&
	       tux_conn_rx_state(c) != TUX_RX_ARMED;
}

/* The end: the loop closes TCP, with a reset if @reset. */
static void settle_gone(struct tux_conn *c, bool reset)
{
	tux_messages_fail(c, ECONNRESET);
	tux_conn_drop_flight(c);
	c->linger_at = TUX_NEVER;
	tux_conn_set_life(c, TUX_LIFE_GONE);
	tux_conn_trace(c, TUX_TRACE_GONE, 0, 0, 0);
	/* If TCP ended behind a part of the marker, the peer would take that
	 * part for data; a reset makes it an error. */
	if (atomic_load(&c->dx->tx.marker_left) || tux_conn_tcp_cut(c))
		reset = true;
	add_effect(c, TUX_EFFECT_GONE | (reset ? TUX_EFFECT_RESET : 0));
}

/* Closed, and waits for the end of TCP, but not for ever. */
static void settle_linger(struct tux_conn *c, tux_time now)
{
	c->linger_at = tux_time_min(c->linger_at,
				    tux_time_add(now, TUX_SEC(LINGER_S)));
}

/* Closed: can the connection end at once?  It can if it is aborted.  It also
 * can if it is on TCP only and no message waits, since then TCP has all that
 * the application wrote. */
static bool plain_end(const struct tux_conn *c, uint32_t dirty)
{
	return c->aborted || (dirty & TUX_DIRTY_CLOSE && tcp_alone(c) &&
			      tux_messages_idle(c));
}

/* The connection is closed: ends it if nothing is left to do, or if TCP has not
 * ended in time. */
static void settle_closed(struct tux_conn *c, tux_time now)
{
	if (c->tx.done && c->rx.tcp_ended)
		settle_gone(c, false);
	else if (c->expired)
		tux_conn_die(c, ETIMEDOUT, TUX_REASON_NONE);
	else if (c->tx.done || tux_path_plain(c->tx.path))
		settle_linger(c, now);
}

static void settle_end(struct tux_conn *c, uint32_t dirty, tux_time now)
{
	/* The common case: nothing has ended yet. */
	if (!c->closed && c->tx.path == TUX_PATH_TUX &&
	    c->tx.buf.end == UINT64_MAX)
		return;
	if (c->closed && plain_end(c, dirty)) {
		settle_gone(c, c->aborted);
		return;
	}
	settle_done(c);
	if (c->closed && c->life < TUX_LIFE_DEAD)
		settle_closed(c, now);
}

/* ---- death ---- */

/* Stores the error before `eof` and `shut`, so that a thread that sees these
 * also sees the error; unless there is one, or the application was told one.  If
 * everything of the peer's has arrived, there is no error: reading ends with an end of
 * file, and only writing fails. */
static void settle_death(struct tux_conn *c)
{
	struct tux_duplex *d = c->dx;
	uint32_t none = 0;

	if (c->dead_told)
		return;
	c->dead_told = true;
	tux_messages_fail(c, c->dead_err);
	tux_stop_resume(c, false);
	if (!tux_conn_said_all(c) && !atomic_load(&d->failed))
		atomic_compare_exchange_strong(&d->err, &none,
					       (uint32_t)c->dead_err);
	atomic_store(&d->rx.eof, 1);
	atomic_store(&d->tx.shut, 1);
	add_effect(c, TUX_EFFECT_READY | TUX_EFFECT_TCP);
}

/* Ends a connection that is dead and closed.  If the application closed before
 * the death, waits until RESET has been sent.  A reset of TCP tells the peer at
 * once, but TCP then discards bytes that it has not sent.  So TCP is reset only
 * if the application aborts, or if it closed before the death and the sending
 * direction is on Tux. */
static void settle_dead_closed(struct tux_conn *c)
{
	if (!c->closed || (c->todo & TUX_DO_RESET && !c->closed_dead))
		return;
	settle_gone(c, c->aborted ||
		(!c->closed_dead && c->tx.path == TUX_PATH_TUX));
}

/* ---- the reason ---- */

/* Has a path stopped working?  A direction that leaves because TCP is faster is
 * in frames, too, until TCP has taken the frame PLAIN. */
static bool reason_stalled(const struct tux_conn *c)
{
	return c->tx.stalled || c->rx.path == TUX_PATH_FRAMES ||
	       (c->tx.path == TUX_PATH_FRAMES && !c->out.plain);
}

/* Why is @c not on Tux?  The most final reason first. */
static enum tux_reason reason_of(const struct tux_conn *c)
{
	if (c->dead_why)
		return c->dead_why;
	if (c->open.why)
		return c->open.why;
	if (c->tx.raw_wanted)
		return c->tx.raw_why;
	if (c->tx.shared && c->life == TUX_LIFE_PROVED)
		return TUX_REASON_SHARED;
	if (reason_stalled(c))
		return TUX_REASON_STALLED;
	if (c->out.plain ||
	    (c->tx.path == TUX_PATH_PLAIN &&
	     (c->tx.bulk || atomic_load(&c->dx->tx.turn))) ||
	    (c->rx.path == TUX_PATH_PLAIN && atomic_load(&c->dx->rx.turn)))
		return c->turn_why ? c->turn_why : TUX_REASON_BULK;
	return TUX_REASON_NONE;
}

/* Tells the loop, and wakes the application, if a direction has moved to Tux or
 * from it, if all has returned to TCP, or if the reason has changed. */
static void settle_reason(struct tux_conn *c)
{
	bool tx = c->tx.path == TUX_PATH_TUX, rx = c->rx.path == TUX_PATH_TUX;
	enum tux_reason why = reason_of(c);
	tux_time until;
	uint8_t is = 0;

	if (!why && !tx && !rx && c->closed)
		why = c->closed_why;
	if (tx)
		is |= TUX_TOLD_TX;
	if (rx)
		is |= TUX_TOLD_RX;
	if (tux_conn_returned(c, &until))
		is |= TUX_TOLD_RETURNED;
	if (is == c->told && why == c->reason)
		return;
	c->told = is;
	c->reason = why;
	add_effect(c, TUX_EFFECT_PATH | TUX_EFFECT_READY);
}

/* ---- what TCP is to carry ---- */

/* May TCP have something new to carry, a marker or a frame?  TUX_DIRTY_TCP does
 * not count alone: while TCP takes bytes, the loop asks for more by itself. */
static bool writes_changed(const struct tux_conn *c, uint32_t dirty)
{
	const uint32_t any = TUX_DIRTY_LIFE | TUX_DIRTY_PATH | TUX_DIRTY_RAW |
			     TUX_DIRTY_CLOSE;

	switch (c->tx.path) {
	case TUX_PATH_PLAIN:
		return dirty & (TUX_DIRTY_APP_TX | TUX_DIRTY_ANNOUNCE |
				TUX_DIRTY_ACCEPT | TUX_DIRTY_RAW);
	case TUX_PATH_FRAMES:
		return dirty & (any | TUX_DIRTY_APP_TX | TUX_DIRTY_APP_RX |
				TUX_DIRTY_ROOM);
	default:
		return dirty & any;
	}
}

/* May tux_conn_tcp_want() have changed? */
static bool reads_changed(const struct tux_conn *c, uint32_t dirty)
{
	if (dirty & TUX_DIRTY_APP_RX && c->in.starved)
		return true;
	return dirty & (TUX_DIRTY_LIFE | TUX_DIRTY_PATH | TUX_DIRTY_TCP |
			TUX_DIRTY_CLOSE);
}

static void settle_tcp(struct tux_conn *c, uint32_t dirty)
{
	if (reads_changed(c, dirty)) {
		bool wanted, starved = c->in.starved;

		tux_conn_tcp_starve(c);
		if (c->in.starved != starved)	/* tux_window_frames() */
			dirty |= TUX_DIRTY_ROOM;
		wanted = tux_conn_tcp_want(c) > 0;
		if (wanted != c->rx.tcp_wanted)
			add_effect(c, TUX_EFFECT_TCP);
		c->rx.tcp_wanted = wanted;
	}
	if (writes_changed(c, dirty) && tux_conn_tcp_due(c))
		add_effect(c, TUX_EFFECT_TCP);
}

/* ---- the pair ---- */

void tux_pair_settle(struct tux_core *core, struct tux_pair *p, tux_time now)
{
	struct tux_list *n = tux_pair_next(p, now);

	if (n)
		tux_conn_kick(TUX_CONTAINER(n, struct tux_conn, waitq));
	else
		tux_pair_hold(&core->pairs, p);
}

/* ---- all of it ---- */

/* The path was PROVED just now, at the active end.  The HELLO that would tell
 * the peer may be lost: this end does not repeat it, and the peer may be one
 * that only answers HELLOs (`begins`).  A packet with a number tells the peer,
 * too, and its content is sent again when lost.  So a PING is sent if no other
 * packet with a number is due. */
static void settle_opened(struct tux_conn *c)
{
	if (!(c->todo & TUX_DO_NUMBERED))
		tux_conn_do(c, TUX_DO_PING);
	c->open.ask = false;
}

static void settle_alive(struct tux_conn *c, uint32_t dirty, tux_time now)
{
	if (dirty & TUX_DIRTY_MESSAGE && tux_messages_hopeless(c))
		tux_messages_end(c, ENOBUFS);
	if (dirty & TUX_DIRTY_MESSAGE && messages_drained(c))
		tux_conn_mark(c, TUX_DIRTY_APP_TX | TUX_DIRTY_CLOSE);
	dirty |= c->dirty;
	if (dirty & TUX_DIRTY_RAW)
		tux_back_pin(c, now);
	if (c->life == TUX_LIFE_OWNING && !c->open.owned) {
		c->open.owned = true;
		add_effect(c, TUX_EFFECT_OWN);
	}
	if (c->life == TUX_LIFE_PROVED) {
		if (tux_conn_leaves(c))
			tux_leave_step(c, now);
		if (c->tx.path == TUX_PATH_PLAIN ||
		    c->rx.path == TUX_PATH_PLAIN)
			tux_upgrade_step(c, dirty | c->dirty, now);
		if (tux_conn_leaves(c))		/* what has just moved */
			tux_leave_step(c, now);
		if (c->open.ask)
			settle_opened(c);
		if (dirty & TUX_DIRTY_APP_TX)
			settle_fin(c);
		if (dirty & TUX_DIRTY_RAW)
			tux_back(c, now);
		if (c->rx.back)
			tux_back_follow(c, now);
		if (tux_choose_doubtful(c))
			tux_choose_leave(c, now);
		if (c->tx.alive)
			tux_back_alive(c);
		c->tx.alive = false;
		if (c->tx.raw_wanted || c->tx.leaving)
			tux_back_step(c, now);
	}
	if (dirty & (TUX_DIRTY_CAME | TUX_DIRTY_TCP))
		settle_content(c);
	if (c->closed)
		settle_sink(c);
	settle_end(c, dirty, now);
}

/* Is this a usual input, a packet or a doorbell, to a connection that is on Tux
 * in both directions and is not ending?  Then nothing follows, except perhaps
 * the effect READY. */
static bool in_full_flow(const struct tux_conn *c, uint32_t dirty)
{
	const uint32_t usual = TUX_DIRTY_APP_TX | TUX_DIRTY_APP_RX |
			       TUX_DIRTY_CAME | TUX_DIRTY_ACKED |
			       TUX_DIRTY_MESSAGE | TUX_DIRTY_ROOM |
			       TUX_DIRTY_READY;

	return !(dirty & ~usual) && c->life == TUX_LIFE_PROVED &&
	       c->tx.path == TUX_PATH_TUX && c->rx.path == TUX_PATH_TUX &&
	       c->tx.buf.end == UINT64_MAX && c->rx.buf.end == UINT64_MAX &&
	       !c->closed && !c->tx.raw_wanted && !c->tx.leaving &&
	       !tux_conn_leaves(c) &&
	       !c->in.starved && !tux_choose_doubtful(c) &&
	       !atomic_load_explicit(&c->dx->tx.shut, memory_order_acquire);
}

void tux_conn_derive(struct tux_conn *c, tux_time now)
{
	uint32_t dirty = c->dirty;

	if (in_full_flow(c, dirty)) {
		c->dirty = 0;
		if (dirty & TUX_DIRTY_READY)
			add_effect(c, TUX_EFFECT_READY);
		return;
	}
	if (c->life < TUX_LIFE_DEAD)
		settle_alive(c, dirty, now);
	if (c->life == TUX_LIFE_DEAD) {
		settle_death(c);
		settle_dead_closed(c);
	}
	if (c->tx.shut_due)
		add_effect(c, TUX_EFFECT_SHUT);
	c->tx.shut_due = false;
	dirty |= c->dirty;		/* with what the steps above marked */
	c->dirty = 0;
	if (dirty & TUX_DIRTY_READY)
		add_effect(c, TUX_EFFECT_READY);
	if (dirty & (TUX_DIRTY_LIFE | TUX_DIRTY_PATH | TUX_DIRTY_RAW |
		     TUX_DIRTY_ANNOUNCE | TUX_DIRTY_ACCEPT))
		settle_reason(c);
	settle_tcp(c, dirty);
	if (dirty & TUX_DIRTY_FLIGHT)
		tux_conn_settle_pair(c, now);
}
