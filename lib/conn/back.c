/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn/back.h"

#include <errno.h>

#include "conn/conn_ack.h"
#include "conn/conn_in.h"
#include "conn/hello.h"
#include "conn/message_fate.h"
#include "conn/message_life.h"
#include "conn/state.h"

enum { UNSTALL_MS = 20 };	/* time for the peer's end to reopen, too */

/* Gives up all packets in flight.  TCP will carry their stream bytes; their
 * control records and messages are sent again. */
static void forget_flight(struct tux_conn *c)
{
	struct tux_sent *s;

	c->todo &= ~(uint32_t)TUX_DO_PING;
	while ((s = tux_sentq_oldest(&c->sentq)) != NULL) {
		tux_conn_do(c, s->what & (TUX_DO_PREPARED | TUX_DO_RAW |
					  TUX_DO_ROOM));
		if (s->frag_n)
			tux_message_lost(c, s);
		tux_sentq_settle(&c->sentq, s);
	}
	tux_sentq_forget(&c->sentq);
	tux_ranges_init(&c->tx.buf.lost);
}

void tux_back(struct tux_conn *c, tux_time now)
{
	if (c->tx.path != TUX_PATH_TUX)
		return;
	forget_flight(c);
	tux_list_remove(&c->use);
	tux_conn_set_tx(c, TUX_PATH_FRAMES);
	c->out.off = tux_pipe_tail(&c->dx->txp);
	if (c->out.fin_sent && c->out.off == c->tx.buf.end)
		c->tx.buf.got = c->tx.buf.end + 1;	/* TCP has the FIN */
	c->stats.backs++;
	/* If the path had worked for a minute, try it again soon. */
	if (tux_time_since(c->tx.back_at, now) > TUX_SEC(60))
		c->tx.hold = TUX_SEC(1);
	c->tx.probe_at = tux_time_add(now, c->tx.hold);
	c->tx.hold = tux_time_min(2 * c->tx.hold, TUX_SEC(60));
	tux_conn_trace(c, TUX_TRACE_BACK, c->out.off, 0, 0);
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
		tux_sentq_settle(&c->sentq, s);
	}
	tux_sentq_forget(&c->sentq);
	c->since = tux_sentq_skip(&c->sentq);
}

void tux_back_stalled(struct tux_conn *c, tux_time now)
{
	tux_back(c, now);
	distrust(c);
	tux_conn_mark(c, TUX_DIRTY_FLIGHT);
}

void tux_back_unstalled(struct tux_conn *c, tux_time now)
{
	tux_time soon = tux_time_add(now, TUX_MSEC(UNSTALL_MS));

	distrust(c);
	c->tx.hold = TUX_SEC(1);
	if (c->tx.path == TUX_PATH_FRAMES && !c->tx.raw_wanted && !c->tx.done)
		c->tx.probe_at = tux_time_min(c->tx.probe_at, soon);
	else if (c->tx.announce_at != TUX_NEVER)
		c->tx.announce_at = tux_time_min(c->tx.announce_at, soon);
	if (c->tx.away_at != TUX_NEVER)
		c->tx.away_at = tux_time_min(c->tx.away_at, soon);
	tux_hello_again(c, now);
}

void tux_back_alive(struct tux_conn *c)
{
	if (c->out.sw || c->tx.raw_wanted || c->tx.done ||
	    c->life != TUX_LIFE_PROVED)
		return;
	c->tx.probe_at = TUX_NEVER;
	c->out.sw = true;
	tux_conn_mark(c, TUX_DIRTY_PATH);
}

void tux_back_again(struct tux_conn *c, tux_time now)
{
	if (c->tx.raw_wanted)
		return;			/* plain TCP is wanted meanwhile */
	tux_conn_set_tx(c, TUX_PATH_TUX);
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
		c->tx.raw_wanted = true;
		c->tx.raw_why = why;
		c->open.why = TUX_REASON_NONE;	/* @why replaces it */
	}
	tux_messages_end(c, ESHUTDOWN);
	c->out.sw = false;
	tux_conn_mark(c, TUX_DIRTY_RAW);
}

/* Pins the sending direction.  False: the application holds the latch. */
static bool pin_tx(struct tux_conn *c, tux_time now)
{
	struct tux_duplex_tx *t = &c->dx->tx;

	if (!tux_latch_try(&t->latch))
		return false;
	tux_duplex_withdraw(c->dx);
	t->pinned = 1;
	/* The peer may be armed: "nowhere" has to be announced. */
	if (t->doubt)
		c->tx.announce_at = tux_time_min(c->tx.announce_at, now);
	tux_latch_drop(&t->latch);
	return true;
}

/* The same for the receiving direction. */
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
	bool tx = c->tx.path != TUX_PATH_PLAIN || pin_tx(c, now);
	bool rx = c->rx.path != TUX_PATH_PLAIN || pin_rx(c);

	if (!tx || !rx)
		tux_conn_retry(c, now);
	if (c->life == TUX_LIFE_PROVED && !c->tx.raw_told) {
		c->tx.raw_told = true;
		tux_conn_do(c, TUX_DO_RAW);
	}
}

void tux_back_raw_step(struct tux_conn *c, tux_time now)
{
	struct tux_duplex_tx *t = &c->dx->tx;

	if (c->tx.path != TUX_PATH_FRAMES || c->out.busy || c->out.raw ||
	    c->out.marker || c->out.off < tux_pipe_head(&c->dx->txp) ||
	    tux_conn_tx_state(c) != TUX_TX_SWITCHED || !tux_messages_idle(c))
		return;
	if (!tux_latch_try(&t->latch)) {
		tux_conn_retry(c, now);
		return;
	}
	/* Under the latch the application cannot write, and `hold` makes its
	 * next write wait until TCP has the frame.  After a shutdown there is
	 * no next write, and FIN is enough. */
	if (c->out.off == tux_pipe_head(&c->dx->txp) &&
	    !atomic_load(&t->shut)) {
		atomic_store(&t->hold, 1);
		atomic_store(&t->state, TUX_TX_RAW);
		c->out.raw = true;
		c->tx.probe_at = TUX_NEVER;
		tux_conn_mark(c, TUX_DIRTY_PATH);
	}
	tux_latch_drop(&t->latch);
}
