/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn/leave.h"

#include "conn/back.h"
#include "conn/conn_in.h"
#include "conn/stop.h"

enum { ANSWER_MS = 10 };	/* and two round-trip times: for the peer's word */

static bool may_come_back(const struct tux_conn *c)
{
	return !c->msg && !c->tx.raw_wanted &&
	       (c->life < TUX_LIFE_PROVED ||
		(c->life == TUX_LIFE_PROVED && c->peer_leaves &&
		 !c->peer_messages));
}

void tux_leave_share(struct tux_conn *c)
{
	if (!may_come_back(c)) {
		tux_back_raw(c, TUX_REASON_SHARED);
		return;
	}
	if (!c->tx.shared) {
		c->tx.raw_heard = false;
		c->tx.raw_at = TUX_NEVER;
	}
	c->tx.shared = true;
	c->turn_why = TUX_REASON_SHARED;
	if (c->rx.stop == TUX_STOP_NEVER)
		c->rx.stop = TUX_STOP_WANTED;
	tux_conn_mark(c, TUX_DIRTY_PATH | TUX_DIRTY_ANNOUNCE);
}

void tux_leave_alone(struct tux_conn *c)
{
	if (!c->tx.shared)
		return;
	c->tx.shared = c->tx.raw_heard = false;
	c->tx.raw_at = TUX_NEVER;
	tux_conn_mark(c, TUX_DIRTY_PATH | TUX_DIRTY_ANNOUNCE);
}

void tux_leave_tell(struct tux_conn *c, uint8_t *p)
{
	bool stopped = c->rx.stop == TUX_STOP_STOPPED;

	tux_put64(p, stopped ? c->rx.read_to : UINT64_MAX);
	tux_put32(p + 8, atomic_load(&c->dx->rx.turn));
}

bool tux_leave_tells(const struct tux_conn *c)
{
	return tux_conn_leaves(c) && !tux_path_plain(c->rx.path);
}

void tux_leave_asked(struct tux_conn *c, uint64_t off, uint32_t turn)
{
	tux_conn_trace(c, TUX_TRACE_RECV_LEAVE, off, turn, 0);
	/* A write has just switched it, maybe, and the core has not seen that. */
	if ((tux_path_plain(c->tx.path) &&
	     tux_conn_tx_state(c) != TUX_TX_SWITCHED) || c->tx.raw_wanted ||
	    turn != atomic_load(&c->dx->tx.turn))
		return;
	c->tx.asked = true;
	if (off != UINT64_MAX)
		c->tx.again_from = off;
	c->turn_why = TUX_REASON_PEER_SHARED;
	/* This end may be shared in a moment: its unread bytes come again, too. */
	if (c->rx.stop == TUX_STOP_NEVER)
		c->rx.stop = TUX_STOP_WANTED;
	tux_conn_mark(c, TUX_DIRTY_PATH);
}

void tux_leave_rx_plain(struct tux_conn *c)
{
	if (!c->tx.raw_wanted)
		c->rx.stop = c->tx.shared ? TUX_STOP_WANTED : TUX_STOP_NEVER;
	c->rx.leave_told = false;
	c->todo &= ~(uint32_t)TUX_DO_LEAVE;
	c->tx.kept &= ~(uint32_t)TUX_DO_LEAVE;
}

/* The receiving direction: the peer is asked, once reads have stopped. */
static bool leave_ask(struct tux_conn *c, tux_time now)
{
	if (!tux_leave_tells(c))
		return true;
	if (!tux_stop_rx(c, now))
		return false;
	if (c->rx.leave_told)
		return true;
	c->rx.leave_told = true;
	tux_conn_do(c, TUX_DO_LEAVE);
	c->tx.raw_at = tux_time_add(now, 2 * c->rtt.srtt + TUX_MSEC(ANSWER_MS));
	return true;
}

/* The peer is about to say what its application has not read: that can come again only
 * before this end's PLAIN frame. */
static bool leave_waits(const struct tux_conn *c)
{
	return c->tx.shared && !c->tx.asked && !c->tx.raw_heard &&
	       tux_leave_tells(c);
}

/* What is in flight goes in frames: the other process waits.  The direction is not
 * announced again for a second, and twice as long each time. */
static void leave_now(struct tux_conn *c, tux_time now)
{
	bool stalled = c->tx.stalled;

	if (c->tx.leaving || c->out.plain || leave_waits(c))
		return;
	if (!tux_back_may_leave(c)) {
		c->tx.asked = false;
		return;
	}
	if (c->tx.path == TUX_PATH_FRAMES)
		c->tx.probe_at = tux_back_until(c, false, now);
	tux_back(c, now);
	tux_back_leave(c, c->tx.probe_at);
	c->tx.stalled = stalled;
	if (c->tx.choice.until < c->tx.announce_at)
		c->tx.choice.until = c->tx.announce_at;
}

void tux_leave_step(struct tux_conn *c, tux_time now)
{
	bool done;

	/* What the peer is was not known before. */
	if (c->tx.shared && !may_come_back(c)) {
		c->tx.shared = false;
		tux_back_raw(c, TUX_REASON_SHARED);
		return;
	}
	done = leave_ask(c, now);
	if (!tux_path_plain(c->tx.path) && done)
		leave_now(c, now);
	else if (c->tx.shared && tux_path_plain(c->tx.path))
		done = tux_back_withdraw(c, now) && done;
	if (!done)
		tux_conn_retry(c, now);
}
