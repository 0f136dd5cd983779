/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn/back.h"

#include <errno.h>

#include "conn/conn_ack.h"
#include "conn/conn_in.h"
#include "conn/hello.h"
#include "conn/message_fate.h"
#include "conn/message_life.h"
#include "conn/state.h"

enum { UNSTALL_MS = 20 };	/* the peer's path opens when ours does, about */

/* TCP carries the stream bytes in flight again, so their packets no longer
 * matter.  What else those said is said once more. */
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
	/* A path that held for a minute has earned a quick second chance. */
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

/* While the path was closed, the peer's packets may have reached a stranger on
 * the same address.  Packets are sealed, but the seal does not cover what stands
 * behind the header, so the stranger could change that, and here the packets
 * would be new.  Therefore what is in flight is given up, and from now on only a
 * packet that acknowledges something sent since is accepted. */
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
		return;			/* too late: it stays on TCP */
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
		c->open.why = TUX_REASON_NONE;	/* the newest counts */
	}
	tux_messages_end(c, ESHUTDOWN);
	c->out.sw = false;
	tux_conn_mark(c, TUX_DIRTY_RAW);
}

/* False: the application holds the latch. */
static bool pin_tx(struct tux_conn *c, tux_time now)
{
	struct tux_duplex_tx *t = &c->dx->tx;

	if (!tux_latch_try(&t->latch))
		return false;
	tux_duplex_withdraw(c->dx);
	t->pinned = 1;
	/* The peer may be armed still: it has to be told of nowhere. */
	if (t->doubt)
		c->tx.announce_at = tux_time_min(c->tx.announce_at, now);
	tux_latch_drop(&t->latch);
	return true;
}

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
	/* Under the latch, so that the application's next byte comes behind the
	 * frame.  If there will be none, FIN is enough. */
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
