/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The deadline of a connection, and what happens when it passes.
 */
#include "conn/conn.h"

#include <errno.h>

enum {
	STALL_TIMEOUTS = 4,		/* in a row, with nothing acknowledged */
	STALL_MS = 300,			/* ... and for at least so long */
	HOLD_MAX_S = 60,
};

static tux_time rto_at(struct tux_conn *c)
{
	return tux_loss_deadline(&c->sentq, &c->rtt, c->progress_at);
}

tux_time tux_conn_deadline(struct tux_conn *c)
{
	tux_time at = tux_time_min(c->open.at, c->linger_at);

	if (c->gone)
		return TUX_NEVER;
	if (c->phase != TUX_PHASE_PROVED)
		return at;
	at = tux_time_min(at, c->ackq.due_at);
	at = tux_time_min(at, rto_at(c));
	at = tux_time_min(at, c->tx.probe_at);
	return tux_time_min(at, tux_upgrade_deadline(c));
}

void tux_conn_arm_timer(struct tux_conn *c)
{
	tux_heap_set(&c->core->timers, &c->timer, tux_conn_deadline(c));
}

static tux_time later(tux_time a, tux_time b)
{
	return a > b ? a : b;
}

static bool stalled(const struct tux_conn *c, tux_time now)
{
	return c->rtt.backoff >= STALL_TIMEOUTS &&
	       tux_time_since(c->progress_at, now) >= TUX_MSEC(STALL_MS);
}

/* On TCP, or not yet on Tux: the path stays quiet. */
static void stay_away(struct tux_conn *c, tux_time now)
{
	tux_loss_all(&c->sentq, tux_conn_lost, c);
	c->todo &= ~(uint32_t)(TUX_DO_PING | TUX_DO_PREPARE);
	c->progress_at = now;
	if (c->tx.path == TUX_PATH_TCP) {
		c->tx.probe_at = tux_time_add(now, c->tx.hold);
	} else {
		if (tux_latch_try(&c->dx->tx.latch)) {
			tux_duplex_withdraw(c->dx);
			tux_latch_drop(&c->dx->tx.latch);
		}
		c->tx.gen = c->tx.ack_gen = 0;
		c->tx.quiet_at = TUX_NEVER;
		c->tx.announce_at = tux_time_add(now, c->tx.hold);
		tux_conn_decide(c, TUX_REASON_STALLED);
	}
	if (c->tx.hold < TUX_SEC(HOLD_MAX_S))
		c->tx.hold *= 2;
}

static void on_timeout(struct tux_conn *c, tux_time now)
{
	tux_conn_trace(c, TUX_TRACE_TIMEOUT, c->sentq.in_flight, 0, 0);
	c->stats.timeouts++;
	tux_rtt_backoff(&c->rtt);
	if (c->tx.path == TUX_PATH_TUX && stalled(c, now)) {
		tux_back(c, now);
		return;
	}
	if (c->tx.path == TUX_PATH_TCP ||
	    (c->tx.path == TUX_PATH_NONE && stalled(c, now))) {
		stay_away(c, now);
		return;
	}
	tux_loss_all(&c->sentq, tux_conn_lost, c);
	c->cc.ops->timeout(&c->cc, now);
	tux_conn_kick(c);
}

static void on_probe(struct tux_conn *c)
{
	c->tx.probe_at = TUX_NEVER;
	tux_conn_do(c, TUX_DO_PING);
}

void tux_conn_expire(struct tux_conn *c, tux_time now)
{
	tux_hello_expire(c, now);
	if (now >= c->linger_at) {
		c->rx.tcp_ended = true;	/* long enough */
		tux_conn_check_end(c, now);
		if (!c->gone)
			tux_conn_die(c, ETIMEDOUT, TUX_REASON_NONE);
	}
	if (c->phase == TUX_PHASE_PROVED) {
		if (now >= c->ackq.due_at)
			tux_conn_kick(c);
		if (now >= rto_at(c))
			on_timeout(c, now);
		if (now >= c->tx.probe_at)
			on_probe(c);
		tux_upgrade_expire(c, now);
	}
	/* What is due again at once waits its turn behind the others. */
	tux_heap_set(&c->core->timers, &c->timer,
		     later(tux_conn_deadline(c), now + 1));
}
