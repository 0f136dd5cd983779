/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The way back: a direction whose Tux path has gone quiet goes on in frames
 * over TCP, from the last byte that the peer has acknowledged.  It tries the
 * path again later.  RAW ends Tux for good.
 */
#include "conn/conn_in.h"

#include <errno.h>

enum { UNSTALL_MS = 20 };	/* the peer's way opens when ours does, about */

/* The stream bytes in flight do not matter any more, TCP carries them again;
 * what else was said is said once more. */
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
	c->tx.path = TUX_PATH_TCP;
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
	tux_conn_decide(c, tux_conn_why_back(c));
	tux_conn_tcp(c);
	tux_conn_check_end(c, now);
}

void tux_back_early(struct tux_conn *c, tux_time now)
{
	if (c->pair->down && tux_sentq_empty(&c->sentq))
		tux_back(c, now);
}

/* While the way was closed, the peer's packets may have come to somebody else.
 * They are sealed, but what is behind the header can be changed, and here they
 * would be new.  So what is in flight is given up, and only who has heard of
 * numbers from now on is believed. */
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

void tux_conn_stall(struct tux_conn *c, tux_time now)
{
	tux_back(c, now);
	distrust(c);
	tux_conn_next(c, now);
	tux_conn_arm_timer(c);
}

void tux_conn_unstall(struct tux_conn *c, tux_time now)
{
	tux_time soon = tux_time_add(now, TUX_MSEC(UNSTALL_MS));

	distrust(c);
	c->tx.hold = TUX_SEC(1);
	if (c->tx.path == TUX_PATH_TCP && !c->tx.raw_wanted && !c->tx.done)
		c->tx.probe_at = tux_time_min(c->tx.probe_at, soon);
	else if (c->tx.announce_at != TUX_NEVER)
		c->tx.announce_at = tux_time_min(c->tx.announce_at, soon);
	if (c->tx.away_at != TUX_NEVER)
		c->tx.away_at = tux_time_min(c->tx.away_at, soon);
	tux_hello_again(c, now);
	tux_conn_arm_timer(c);
}

void tux_back_alive(struct tux_conn *c, tux_time now)
{
	(void)now;
	if (c->out.sw || c->tx.raw_wanted || c->tx.done ||
	    c->phase == TUX_PHASE_DEAD)
		return;
	c->tx.probe_at = TUX_NEVER;
	c->out.sw = true;
	tux_conn_tcp(c);
}

void tux_back_again(struct tux_conn *c, tux_time now)
{
	if (c->tx.raw_wanted)
		return;			/* too late: it stays on TCP */
	c->tx.path = TUX_PATH_TUX;
	tux_pair_use(&c->core->pairs, c->pair, &c->use, now);
	c->tx.back_at = now;
	c->tx.buf.next = c->out.off;
	if (c->tx.buf.got > c->out.off)
		c->tx.buf.next = c->tx.buf.got;		/* FIN */
	tux_conn_trace(c, TUX_TRACE_AGAIN, c->out.off, 0, 0);
	tux_conn_decide(c, TUX_REASON_NONE);
	tux_conn_kick(c);
}

/* Not yet switched: then it never will be. */
static bool pin_plain(struct tux_conn *c, tux_time now)
{
	struct tux_duplex *d = c->dx;
	bool both = true;

	if (c->tx.path == TUX_PATH_NONE && tux_latch_try(&d->tx.latch)) {
		tux_duplex_withdraw(d);
		d->tx.pinned = 1;
		if (d->tx.doubt)
			c->tx.announce_at = tux_time_min(c->tx.announce_at,
							 now);
		tux_latch_drop(&d->tx.latch);
	} else if (c->tx.path == TUX_PATH_NONE) {
		both = false;
	}
	if (!c->rx.on_ring && tux_latch_try(&d->rx.latch)) {
		d->rx.pinned = 1;
		tux_latch_drop(&d->rx.latch);
	} else if (!c->rx.on_ring) {
		both = false;
	}
	return both;
}

void tux_back_raw(struct tux_conn *c, enum tux_reason why, tux_time now)
{
	bool first = !c->tx.raw_wanted;

	c->tx.raw_wanted = true;
	if (first) {
		c->tx.raw_why = why;
		if (c->phase != TUX_PHASE_DEAD)	/* that has its own reason */
			tux_conn_decide(c, why);
	}
	tux_messages_end(c, ESHUTDOWN);
	c->out.sw = false;
	if (!pin_plain(c, now))
		tux_conn_retry(c, now);
	if (c->phase != TUX_PHASE_PROVED)
		return;
	if (first)
		tux_conn_do(c, TUX_DO_RAW);
	tux_upgrade_tx(c, now);
	tux_back(c, now);
	tux_back_raw_step(c, now);
}

void tux_back_raw_step(struct tux_conn *c, tux_time now)
{
	struct tux_duplex_tx *t = &c->dx->tx;

	if (!c->tx.raw_wanted || c->tx.path != TUX_PATH_TCP || c->out.busy ||
	    c->out.raw || c->out.marker ||
	    c->out.off < tux_pipe_head(&c->dx->txp) ||
	    tux_conn_tx_state(c) != TUX_TX_SWITCHED || !tux_messages_idle(c))
		return;
	if (!tux_latch_try(&t->latch)) {
		tux_conn_retry(c, now);
		return;
	}
	/* Held: the application's next byte must come behind the frame.  If
	 * there is none, FIN is enough. */
	if (c->out.off == tux_pipe_head(&c->dx->txp) &&
	    !atomic_load(&t->shut)) {
		atomic_store(&t->hold, 1);
		atomic_store(&t->state, TUX_TX_RAW);
		c->out.raw = true;
		c->tx.probe_at = TUX_NEVER;
		tux_conn_tcp(c);
	}
	tux_latch_drop(&t->latch);
}
