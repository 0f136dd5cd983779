/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn/back.h"

#include <errno.h>

#include "conn/conn_ack.h"
#include "conn/conn_in.h"
#include "conn/hello.h"
#include "conn/message_fate.h"
#include "conn/message_life.h"
#include "conn/state.h"
#include "conn/stop.h"
#include "conn/window.h"

enum {
	UNSTALL_MS = 20,	/* after the path opens here, the peer needs
				 * time to open its side of it */
	AWAY_MIN_S = 1,
	AWAY_MAX_S = 60,
	AWAY_SLOW = 512,	/* each try uses up to five packet numbers, and a
				 * peer takes none that is more than TUX_SEQ_REACH
				 * away: years of tries must not use them up */
	ANSWER_MS = 10,		/* and two round-trip times: for the peer to say
				 * what it has read */
	WORKED_S = 60,		/* a path that carried for longer: the next
				 * hold is AWAY_MIN_S again */
};

static const struct tux_backoff_rule away = {
	.min = TUX_SEC(AWAY_MIN_S),
	.max = TUX_SEC(AWAY_MAX_S),
	.calm = TUX_NEVER,
};

/* It was tried, and is still silent. */
static const struct tux_backoff_rule still_away = {
	.min = TUX_SEC(AWAY_MIN_S),
	.max = TUX_SEC(AWAY_MAX_S),
	.calm = TUX_NEVER,
	.slow = AWAY_SLOW,
};

/* Gives up all packets in flight.  TCP will carry their stream bytes; their
 * control records and messages are sent again. */
static void forget_flight(struct tux_conn *c)
{
	struct tux_sent *s;

	c->todo &= ~(uint32_t)TUX_DO_PING;
	while ((s = tux_sentq_oldest(&c->sentq)) != NULL) {
		tux_conn_do(c, s->what & (TUX_DO_PREPARED | TUX_DO_RAW |
					  TUX_DO_LEAVE |
					  TUX_DO_ROOM));
		if (s->frag_n)
			tux_message_lost(c, s);
		tux_sentq_retire(&c->sentq, s);
	}
	tux_sentq_forget(&c->sentq);
	tux_ranges_init(&c->tx.buf.lost);
}

bool tux_back_may_leave(const struct tux_conn *c)
{
	return c->peer_plain && !c->msg && !c->tx.raw_wanted && !c->tx.done &&
	       c->tx.buf.end == UINT64_MAX;
}

tux_time tux_back_until(struct tux_conn *c, bool still, tux_time now)
{
	return tux_time_add(now, tux_backoff_again(&c->tx.away, still ?
						   &still_away : &away, now));
}

void tux_back(struct tux_conn *c, tux_time now)
{
	if (c->tx.path != TUX_PATH_TUX)
		return;
	forget_flight(c);
	tux_list_remove(&c->use);
	c->out.sw = false;	/* of a write that went across N */
	if (!tux_conn_is_across(c))
		c->out.off = tux_pipe_tail(&c->dx->txp);
	tux_conn_set_tx(c, TUX_PATH_FRAMES);
	if (c->out.fin_sent && c->out.off == c->tx.buf.end)
		c->tx.buf.got = c->tx.buf.end + 1;	/* TCP has the FIN */
	/* The peer is to learn that frames carry the direction, also if its window has
	 * no room for one: then it tells the window in frames of its own. */
	c->out.back = tux_window_spent(c) && !c->tx.done && c->out.off;
	c->stats.backs++;
	if (tux_time_since(c->tx.back_at, now) > TUX_SEC(WORKED_S))
		tux_backoff_reset(&c->tx.away);
	c->tx.probe_at = tux_back_until(c, false, now);
	tux_conn_trace(c, TUX_TRACE_BACK, c->out.off, 0, 0);
}

void tux_back_leave(struct tux_conn *c, tux_time until)
{
	if (tux_path_plain(c->tx.path) || !tux_back_may_leave(c))
		return;
	c->tx.stalled = c->tx.path == TUX_PATH_FRAMES;
	if (c->tx.leaving || c->out.plain)
		return;
	c->tx.leaving = true;
	c->tx.announce_at = until;
	c->tx.probe_at = TUX_NEVER;
	c->out.sw = false;
	tux_conn_mark(c, TUX_DIRTY_PATH);
}

void tux_back_plain(struct tux_conn *c)
{
	struct tux_conn_tx *t = &c->tx;

	t->turn_at = c->out.off;
	t->gen = t->ack_gen = 0;
	t->voids = 0;
	t->ahead = 0;
	t->probe_at = TUX_NEVER;
	if (t->stalled)
		t->away_at = t->announce_at;
	t->asked = false;
	t->again_from = UINT64_MAX;
	tux_duplex_tx_plain(c->dx);
}

void tux_back_follow(struct tux_conn *c, tux_time now)
{
	c->rx.back = false;
	if (c->tx.path != TUX_PATH_TUX)
		return;
	tux_back(c, now);
	tux_back_leave(c, c->tx.probe_at);
}

void tux_back_early(struct tux_conn *c, tux_time now)
{
	if (c->pair->down && tux_sentq_empty(&c->sentq))
		tux_back(c, now);
}

/* While the path was closed, another user of the same address may have received
 * the peer's packets.  The seal covers only the header, so that user could
 * change the rest and send the packets here later, where their numbers would be
 * new.  Therefore this end gives up what is in flight, and from now on accepts
 * only packets that acknowledge something sent since. */
static void distrust(struct tux_conn *c)
{
	struct tux_sent *s;

	while ((s = tux_sentq_oldest(&c->sentq)) != NULL) {
		tux_conn_again(c, s);
		tux_sentq_retire(&c->sentq, s);
	}
	tux_sentq_forget(&c->sentq);
	c->since = tux_sentq_skip(&c->sentq);
	c->trusted = c->life != TUX_LIFE_PROVED;
}

void tux_back_stalled(struct tux_conn *c, tux_time now)
{
	if (c->tx.path == TUX_PATH_TUX) {
		tux_back(c, now);
		c->out.back = !c->tx.raw_wanted && !c->tx.done && c->out.off;
	}
	tux_back_leave(c, c->tx.probe_at);
	distrust(c);
	tux_conn_mark(c, TUX_DIRTY_FLIGHT);
}

void tux_back_unstalled(struct tux_conn *c, tux_time now)
{
	tux_time soon = tux_time_add(now, TUX_MSEC(UNSTALL_MS));
	/* The PING that an announcement waits for is given up as well. */
	bool asked = !c->trusted && c->tx.path == TUX_PATH_PLAIN &&
		     tux_conn_tx_state(c) == TUX_TX_PLAIN;

	distrust(c);
	tux_backoff_reset(&c->tx.away);
	if (c->tx.path == TUX_PATH_FRAMES && !c->tx.raw_wanted &&
	    !c->tx.leaving && !c->tx.done)
		c->tx.probe_at = tux_time_min(c->tx.probe_at, soon);
	else if (asked || c->tx.announce_at != TUX_NEVER)
		c->tx.announce_at = tux_time_min(c->tx.announce_at, soon);
	if (c->tx.away_at != TUX_NEVER)
		c->tx.away_at = tux_time_min(c->tx.away_at, soon);
	tux_hello_again(c, now);
}

void tux_back_heard(struct tux_conn *c, tux_time now)
{
	bool news = !c->trusted || c->tx.away_at != TUX_NEVER;

	c->trusted = true;
	if (!news || c->tx.path != TUX_PATH_PLAIN)
		return;
	if (c->tx.away_at != TUX_NEVER)
		c->tx.away_at = now;
	atomic_store(&c->dx->called, 1);
	if (tux_conn_tx_state(c) == TUX_TX_PLAIN) {
		c->tx.announce_at = now;
		tux_conn_mark(c, TUX_DIRTY_ANNOUNCE);
	}
}

void tux_back_alive(struct tux_conn *c)
{
	if (c->out.sw || c->tx.raw_wanted || c->tx.leaving || c->tx.done ||
	    c->life != TUX_LIFE_PROVED)
		return;
	c->tx.probe_at = TUX_NEVER;
	c->out.sw = true;
	tux_conn_mark(c, TUX_DIRTY_PATH);
}

void tux_back_to_tux(struct tux_conn *c, tux_time now)
{
	if (c->tx.raw_wanted)
		return;			/* plain TCP is wanted meanwhile */
	tux_conn_set_tx(c, TUX_PATH_TUX);
	c->out.back = false;
	tux_pair_use(&c->core->pairs, c->pair, &c->use, now);
	c->tx.back_at = now;
	c->tx.buf.next = c->out.off;
	if (c->tx.buf.got > c->out.off)
		c->tx.buf.next = c->tx.buf.got;		/* FIN */
	tux_conn_trace(c, TUX_TRACE_AGAIN, c->out.off, 0, 0);
	tux_conn_kick(c);
}

void tux_back_raw(struct tux_conn *c, enum tux_reason why)
{
	if (!c->tx.raw_wanted && c->life < TUX_LIFE_DEAD) {
		/* LEAVE is not waited for any more. */
		if (c->tx.shared && why != TUX_REASON_PEER_RAW)
			c->tx.raw_heard = false;
		if (c->tx.shared)
			c->tx.raw_at = TUX_NEVER;
		c->tx.raw_wanted = true;
		c->tx.raw_why = why;
		c->open.why = TUX_REASON_NONE;	/* @why replaces it */
	}
	if (c->rx.stop == TUX_STOP_NEVER)
		c->rx.stop = TUX_STOP_WANTED;
	tux_messages_end(c, ESHUTDOWN);
	c->out.sw = c->tx.leaving = false;
	if (c->out.plain && !c->out.busy) {
		c->out.plain = false;
		c->out.raw = true;
		atomic_store(&c->dx->tx.state, TUX_TX_RAW);
	}
	tux_conn_mark(c, TUX_DIRTY_RAW);
}

void tux_back_raw_heard(struct tux_conn *c, uint64_t from)
{
	c->tx.raw_heard = true;
	if (from != UINT64_MAX)
		c->tx.again_from = from;
	tux_back_raw(c, TUX_REASON_PEER_RAW);
}

/* The sending direction, which is plain, has no N any more, and @pins: gets none for
 * good.  False: the application holds the latch. */
static bool withdraw_tx(struct tux_conn *c, bool pins, tux_time now)
{
	struct tux_duplex_tx *t = &c->dx->tx;

	if (!tux_latch_try(&t->latch))
		return false;
	tux_duplex_withdraw(c->dx);
	if (pins)
		t->pinned = 1;
	/* The peer may be armed: "nowhere" has to be announced, unless that is
	 * open already.  While the peer is not heard nothing is announced, and
	 * tux_back_heard() makes it due then.  Behind a shutdown nothing is
	 * announced at all. */
	if (t->doubt && c->trusted && !atomic_load(&t->shut) &&
	    !(c->tx.gen && t->disarming))
		c->tx.announce_at = tux_time_min(c->tx.announce_at, now);
	tux_latch_drop(&t->latch);
	return true;
}

bool tux_back_withdraw(struct tux_conn *c, tux_time now)
{
	bool plain = tux_conn_tx_state(c) == TUX_TX_PLAIN;

	/* While the path is closed, nothing is announced, until the peer is heard. */
	if (plain && (!atomic_load(&c->dx->tx.doubt) || !c->trusted ||
		      c->tx.announce_at != TUX_NEVER))
		return true;
	return withdraw_tx(c, false, now);
}

/* Pins the receiving direction. */
static bool pin_rx(struct tux_conn *c)
{
	struct tux_duplex_rx *r = &c->dx->rx;

	if (!tux_latch_try(&r->latch))
		return false;
	r->pinned = 1;
	tux_latch_drop(&r->latch);
	return true;
}

void tux_back_pin(struct tux_conn *c, tux_time now)
{
	bool proved = c->life == TUX_LIFE_PROVED;
	bool tx = c->tx.path != TUX_PATH_PLAIN || withdraw_tx(c, true, now);
	bool rx = c->rx.path != TUX_PATH_PLAIN || pin_rx(c);

	if (rx && proved)
		rx = tux_stop_rx(c, now);
	if (!tx || !rx)
		tux_conn_retry(c, now);
	if (!rx || !proved || c->tx.raw_told)
		return;
	c->tx.raw_told = true;
	tux_conn_do(c, TUX_DO_RAW);
	if (!c->tx.raw_heard)
		c->tx.raw_at = tux_time_add(now, 2 * c->rtt.srtt +
						 TUX_MSEC(ANSWER_MS));
}

/* Does the peer, or TCP, have every byte that the application has written? */
static bool tx_drained(const struct tux_conn *c)
{
	uint64_t head = tux_pipe_head(&c->dx->txp);

	if (c->tx.path == TUX_PATH_FRAMES)
		return c->out.off == head;
	return c->tx.leaving && c->tx.path == TUX_PATH_TUX &&
	       c->tx.buf.got == head;
}

/* Makes a RAW or PLAIN frame due, at offset @off.  The caller holds the send
 * latch. */
static void make_plain_due(struct tux_conn *c, uint64_t off)
{
	if (c->tx.path == TUX_PATH_TUX) {
		tux_list_remove(&c->use);
		tux_conn_set_tx(c, TUX_PATH_FRAMES);
	}
	c->out.off = off;
	tux_duplex_tx_leave(c->dx, tux_pipe_head(&c->dx->txp));
	c->out.sw = false;
	c->out.back = c->out.back && off;	/* it has the byte before @off */
	c->out.plain = c->tx.leaving && !c->tx.raw_wanted;
	c->out.raw = !c->out.plain;
	if (c->out.raw)
		atomic_store(&c->dx->tx.state, TUX_TX_RAW);
	c->tx.leaving = false;
	c->tx.probe_at = TUX_NEVER;
	tux_conn_mark(c, TUX_DIRTY_PATH);
}

/* RAW says where this end's application has read, and is written where the peer's has.
 * The peer may want plain TCP of itself, so it says that without being asked. */
static bool waits_for_raw(const struct tux_conn *c)
{
	return c->tx.raw_wanted && (tux_stop_due(c) ||
		(c->peer_again && !c->tx.raw_heard));
}

/* Under the latch the application cannot write, and `hold` makes its next write wait
 * until TCP has the frame.  After a shutdown there is no next write, and FIN is
 * enough. */
static void step_latched(struct tux_conn *c)
{
	uint64_t from = c->tx.again_from;

	c->tx.again_from = UINT64_MAX;
	if (atomic_load(&c->dx->tx.shut))
		return;
	if (tux_duplex_keeps(c->dx, from))
		make_plain_due(c, from);
	else if (tx_drained(c))
		make_plain_due(c, tux_pipe_head(&c->dx->txp));
	else if (c->tx.leaving)
		tux_duplex_hold(c->dx, true);
}

void tux_back_step(struct tux_conn *c, tux_time now)
{
	struct tux_duplex_tx *t = &c->dx->tx;
	bool wait;

	if (c->tx.leaving && atomic_load(&t->shut)) {
		c->tx.leaving = false;
		tux_duplex_hold(c->dx, false);
	}
	if (c->tx.raw_wanted && tux_stop_due(c))
		tux_back_pin(c, now);
	wait = (c->tx.leaving && !atomic_load(&t->hold)) ||
	       c->tx.again_from != UINT64_MAX;
	if (tux_path_plain(c->tx.path) || c->out.busy || c->out.raw ||
	    c->out.plain || c->out.marker || (!wait && !tx_drained(c)) ||
	    tux_conn_tx_state(c) != TUX_TX_SWITCHED || !tux_messages_idle(c) ||
	    waits_for_raw(c))
		return;
	if (!tux_latch_try(&t->latch)) {
		tux_conn_retry(c, now);
		return;
	}
	step_latched(c);
	tux_latch_drop(&t->latch);
}
