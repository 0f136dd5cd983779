/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn/upgrade.h"

#include "conn/choose.h"
#include "conn/conn_in.h"
#include "conn/conn_tcp_out.h"
#include "conn/state.h"

enum {
	AHEAD_MIN = 256,
	AHEAD_MAX = 1 << 20,
	GAP_MIN_US = 100,		/* behind a void generation is a pause of
					 * half the round-trip time, which is taken
					 * as this at least; doubled by each one */
	GAP_DOUBLINGS = 10,
	QUIET_US = 2000,
	BARRED_S = 5,
};

/* Takes the send latch.  False: the application holds it; it is tried again. */
static bool try_tx(struct tux_conn *c, tux_time now)
{
	if (tux_latch_try(&c->dx->tx.latch))
		return true;
	tux_conn_retry(c, now);
	return false;
}

/* Takes the receive latch.  False: the same. */
static bool try_rx(struct tux_conn *c, tux_time now)
{
	if (tux_latch_try(&c->dx->rx.latch))
		return true;
	tux_conn_retry(c, now);
	return false;
}

/* ---- the direction that this end sends ---- */

/* Sends a PING in place of PREPARE, if the path was closed: since then, this end
 * accepts only packets that acknowledge something newer.  When one comes,
 * tux_back_heard() makes the announcement due.  Returns true if PREPARE must wait
 * for that. */
static bool ping_first(struct tux_conn *c)
{
	if (c->trusted)
		return false;
	c->tx.announce_at = TUX_NEVER;
	if (tux_sentq_empty(&c->sentq))
		tux_conn_do(c, TUX_DO_PING);
	return true;
}

/* Must the doubt be ended even if TCP is the better path?  Yes if plain TCP is
 * wanted, or if a write waits for the end of the doubt. */
static bool must_disarm(const struct tux_conn *c)
{
	return c->tx.raw_wanted || c->tx.shared || tux_duplex_barred(c->dx);
}

static void announce(struct tux_conn *c, tux_time now)
{
	struct tux_duplex_tx *t = &c->dx->tx;

	if (now < c->tx.announce_at || ping_first(c) ||
	    (!c->tx.gen && !must_disarm(c) && !tux_choose_tux(c, now)))
		return;
	if (!try_tx(c, now)) {
		c->tx.announce_at = c->retry_at;
		return;
	}
	if ((!c->tx.shared || atomic_load(&t->doubt)) &&
	    tux_duplex_announce(c->dx, c->tx.ahead, &c->session, c->active,
				&c->tx.gen_at)) {
		c->tx.gen = t->gen;
		tux_conn_do(c, TUX_DO_PREPARE);
	}
	c->tx.announce_at = TUX_NEVER;
	tux_latch_drop(&t->latch);
}

/* The open generation is void: the next follows after a while, with its N
 * @ahead bytes ahead. */
static void plan_generation(struct tux_conn *c, uint64_t ahead, tux_time now)
{
	tux_time gap = c->rtt.srtt > TUX_USEC(GAP_MIN_US) ?
		       c->rtt.srtt : TUX_USEC(GAP_MIN_US);
	unsigned n = c->tx.voids < GAP_DOUBLINGS ? c->tx.voids : GAP_DOUBLINGS;

	tux_conn_trace(c, TUX_TRACE_VOID, c->tx.gen, 0, 0);
	c->tx.gen = 0;
	c->tx.ack_gen = 0;
	c->tx.voids++;
	c->tx.ahead = ahead;
	c->tx.writer_at = TUX_NEVER;
	c->todo &= ~(uint32_t)TUX_DO_PREPARE;
	c->tx.announce_at = tux_time_add(now, (gap << n) / 2);
	tux_choose_stays(c);
}

static void on_void(struct tux_conn *c, tux_time now)
{
	uint64_t ahead;

	/* An announcement of "nowhere" stays open until the peer has
	 * answered. */
	if (c->tx.gen_at == TUX_NOWHERE || !try_tx(c, now))
		return;
	ahead = 2 * (c->dx->tx.off - c->dx->tx.from);
	tux_latch_drop(&c->dx->tx.latch);
	if (ahead < AHEAD_MIN)
		ahead = AHEAD_MIN;
	if (ahead > AHEAD_MAX)
		ahead = AHEAD_MAX;
	plan_generation(c, ahead, now);
}

/* TCP has taken the marker, at least in part: the sending direction has
 * switched. */
static void on_commit(struct tux_conn *c, tux_time now)
{
	uint64_t n = c->dx->tx.at;

	tux_conn_trace(c, TUX_TRACE_COMMIT, c->dx->tx.gen, n, 0);
	tux_conn_set_tx(c, TUX_PATH_TUX);
	tux_pair_use(&c->core->pairs, c->pair, &c->use, now);
	tux_choose_moved(c, now);
	c->turn_why = TUX_REASON_NONE;
	c->tx.back_at = c->out.sent_at = now;
	c->tx.announce_at = c->tx.writer_at = TUX_NEVER;
	c->tx.stalled = false;
	c->todo &= ~(uint32_t)TUX_DO_PREPARE;
	c->stats.tcp_tx += n - c->tx.turn_at;
	tux_sendbuf_init(&c->tx.buf, &c->dx->txp, n, c->tx.window);
	c->out.marker = atomic_load(&c->dx->tx.marker_left) != 0;
	if (c->dx->tx.rest)
		tux_tcp_across(c, now);
	tux_conn_mark(c, TUX_DIRTY_READY);
	tux_conn_kick(c);
}

/* Makes the open generation void.  stay_away() has given it up because the peer
 * does not answer, but the duplex still waits for N, and takes no new generation
 * before the writer passes N. */
static void withdraw(struct tux_conn *c, tux_time now)
{
	if (!try_tx(c, now))
		return;
	tux_duplex_withdraw(c->dx);
	tux_latch_drop(&c->dx->tx.latch);
}

/* Does a write wait because its next byte would complete the marker, while the
 * peer may be armed?  Then "nowhere" is due now, even if the path is silent.  Only
 * the two ends know the marker, so the peer has made the application write that.
 * If the peer does not answer within BARRED_S, tux_conn_expire() ends the
 * connection. */
static void look_barred(struct tux_conn *c, tux_time now)
{
	if (!tux_duplex_barred(c->dx)) {
		c->tx.barred_at = TUX_NEVER;
		return;
	}
	c->tx.barred_at = tux_time_min(c->tx.barred_at,
				       tux_time_add(now, TUX_SEC(BARRED_S)));
	if (!c->tx.gen)
		c->tx.announce_at = now;
}

static void step_tx(struct tux_conn *c, tux_time now)
{
	if (c->tx.path != TUX_PATH_PLAIN)
		return;
	switch (tux_conn_tx_state(c)) {
	case TUX_TX_SWITCHED:
		on_commit(c, now);
		break;
	case TUX_TX_PLAIN:
		if (c->tx.gen)
			on_void(c, now);
		look_barred(c, now);
		announce(c, now);
		break;
	default:
		if (!c->tx.gen)
			withdraw(c, now);
		break;
	}
}

static void watch_writer(struct tux_conn *c, tux_time now)
{
	tux_time in = 4 * c->rtt.srtt;

	if (in < TUX_USEC(QUIET_US))
		in = TUX_USEC(QUIET_US);
	c->tx.writer_off = c->dx->tx.off;
	c->tx.writer_at = tux_time_add(now, in);
}

void tux_upgrade_prepared(struct tux_conn *c, uint32_t gen)
{
	tux_conn_trace(c, TUX_TRACE_RECV_PREPARED, gen, 0, 0);
	if (c->tx.path != TUX_PATH_PLAIN || gen != c->tx.gen)
		return;
	c->tx.ack_gen = gen;
	tux_conn_mark(c, TUX_DIRTY_ACCEPT);
}

/* Takes PREPARED for the open generation.  The peer is armed for it; or, if N was
 * "nowhere", the peer is disarmed, and the doubt has ended. */
static void accept_prepared(struct tux_conn *c, tux_time now)
{
	uint32_t gen = c->tx.ack_gen;

	if (!gen || !try_tx(c, now))
		return;
	c->tx.ack_gen = 0;
	if (tux_duplex_prepared(c->dx, gen))
		tux_conn_mark(c, TUX_DIRTY_READY);
	if (c->tx.gen_at == TUX_NOWHERE) {
		c->tx.gen = 0;
		c->tx.announce_at = now;
	} else if (tux_conn_tx_state(c) == TUX_TX_ACKED &&
		   !tux_duplex_at_commit(c->dx)) {
		watch_writer(c, now);
	}
	tux_latch_drop(&c->dx->tx.latch);
}

/* PREPARED has come for N, and the writer is short of N.  If it has not moved
 * since the last look, withdraws, and announces a new N where the writer is. */
static void check_writer(struct tux_conn *c, tux_time now)
{
	bool stopped;

	c->tx.writer_at = TUX_NEVER;
	if (tux_conn_tx_state(c) != TUX_TX_ACKED)
		return;
	if (!try_tx(c, now)) {
		c->tx.writer_at = c->retry_at;
		return;
	}
	stopped = c->dx->tx.off == c->tx.writer_off;
	if (stopped)
		tux_duplex_withdraw(c->dx);
	else
		watch_writer(c, now);
	tux_latch_drop(&c->dx->tx.latch);
	if (stopped) {
		plan_generation(c, 0, now);
		c->tx.announce_at = now;
	}
}

/* ---- the direction that this end receives ---- */

/* A PREPARE of the next turn may overtake the PLAIN frame, or the marker of this
 * turn.  arm() leaves it until PLAIN has come: armed earlier, it would make a
 * committed generation void.  Turns other than this one and the next are dropped:
 * an older one is stale, and no honest peer is two ahead, because each turn needs
 * an answer of this end. */
void tux_upgrade_prepare(struct tux_conn *c, uint32_t gen, uint64_t at,
			 uint32_t turn)
{
	struct tux_conn_rx *r = &c->rx;
	uint32_t ahead = turn - atomic_load(&c->dx->rx.turn);

	tux_conn_trace(c, at == TUX_NOWHERE ? TUX_TRACE_RECV_NOWHERE :
		       TUX_TRACE_RECV_PREPARE, gen, at, 0);
	if (ahead > 1 || (!ahead && r->path != TUX_PATH_PLAIN) ||
	    (r->arm_gen && (int32_t)(gen - r->arm_gen) < 0))
		return;
	r->arm_gen = gen;
	r->arm_at = at;
	r->arm_turn = turn;
	tux_conn_mark(c, TUX_DIRTY_ARM);
}

/* Answers PREPARE: arms the receiving direction, and sends PREPARED. */
static void arm(struct tux_conn *c, tux_time now)
{
	struct tux_conn_rx *r = &c->rx;
	uint32_t gen = r->arm_gen;
	uint64_t at = r->arm_at;

	if (!gen || r->arm_turn != atomic_load(&c->dx->rx.turn) ||
	    !tux_duplex_drained(c->dx) || !try_rx(c, now))
		return;
	r->arm_gen = 0;
	/* It is about to be pinned: later, this end announces, too. */
	c->dx->rx.refuses = c->tx.shared;
	if (tux_duplex_arm(c->dx, gen, at, &c->session, !c->active)) {
		if (r->gen != gen && at != TUX_NOWHERE) {
			tux_conn_trace(c, TUX_TRACE_ARMED, gen, at, 0);
			tux_recvbuf_init(&r->buf, &c->dx->rxp);
			r->gen = gen;
		}
		r->answer = gen;
		tux_conn_do(c, TUX_DO_PREPARED);
	}
	/* Spill: bytes that looked like the beginning of a marker are data, and
	 * have left TCP.  epoll cannot report them, so the application is
	 * woken. */
	if (atomic_load(&c->dx->rx.spill_len))
		tux_conn_mark(c, TUX_DIRTY_READY);
	tux_latch_drop(&c->dx->rx.latch);
}

/* The receiving direction has switched. */
static void on_rx_switch(struct tux_conn *c)
{
	tux_conn_trace(c, TUX_TRACE_RX_SWITCHED, c->dx->rx.at, 0, 0);
	tux_conn_set_rx(c, TUX_PATH_TUX);
	c->in.first = true;
	c->tx.stalled = false;		/* the path works */
	c->turn_why = TUX_REASON_NONE;
	c->rx.prove = false;
	if (c->rx.arm_turn == atomic_load(&c->dx->rx.turn))
		c->rx.arm_gen = 0;
	c->stats.tcp_rx += c->dx->rx.at - c->rx.turn_at;
	tux_conn_do(c, TUX_DO_ACK);	/* packets have `got` from now on */
	tux_conn_mark(c, TUX_DIRTY_READY);
}

static void step_rx(struct tux_conn *c, tux_time now)
{
	if (c->rx.path != TUX_PATH_PLAIN || !c->rx.gen)
		return;
	if (c->rx.prove && tux_conn_rx_state(c) == TUX_RX_ARMED &&
	    try_rx(c, now)) {
		c->rx.prove = false;
		tux_duplex_prove(c->dx);
		tux_latch_drop(&c->dx->rx.latch);
	}
	if (tux_conn_rx_state(c) != TUX_RX_SWITCHED)
		return;
	on_rx_switch(c);
	if (c->tx.raw_wanted)		/* reads are to stop */
		tux_conn_retry(c, now);
}

/* ---- both ---- */

void tux_upgrade_step(struct tux_conn *c, uint32_t dirty, tux_time now)
{
	if (dirty & TUX_DIRTY_ARM)
		arm(c, now);
	if (dirty & TUX_DIRTY_ACCEPT)
		accept_prepared(c, now);
	if (dirty & (TUX_DIRTY_APP_TX | TUX_DIRTY_ANNOUNCE |
		     TUX_DIRTY_ACCEPT | TUX_DIRTY_RAW))
		step_tx(c, now);
	if (dirty & (TUX_DIRTY_APP_RX | TUX_DIRTY_PROVE))
		step_rx(c, now);
}

tux_time tux_upgrade_deadline(const struct tux_conn *c)
{
	tux_time at = tux_time_min(c->retry_at, c->tx.writer_at);

	if (c->life == TUX_LIFE_PROVED && c->tx.path == TUX_PATH_PLAIN)
		at = tux_time_min(at, c->tx.announce_at);
	return at;
}

void tux_upgrade_expire(struct tux_conn *c, tux_time now)
{
	if (now >= c->retry_at) {
		c->retry_at = TUX_NEVER;
		tux_conn_mark(c, TUX_DIRTY_ARM | TUX_DIRTY_ACCEPT |
			      TUX_DIRTY_PROVE |
			      (c->tx.raw_wanted ? TUX_DIRTY_RAW : 0));
	}
	if (now >= c->tx.writer_at)
		check_writer(c, now);
	tux_conn_mark(c, TUX_DIRTY_ANNOUNCE);
}
