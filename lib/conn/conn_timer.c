/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn/conn_timer.h"

#include <errno.h>

#include "conn/back.h"
#include "conn/choose.h"
#include "conn/conn_ack.h"
#include "conn/conn_in.h"
#include "conn/conn_life.h"
#include "conn/hello.h"
#include "conn/message_life.h"
#include "conn/stop.h"
#include "conn/upgrade.h"
#include "conn/window.h"

enum {
	/* The path is silent after so many timeouts in a row, */
	STALL_TIMEOUTS = 4,
	/* ... if nothing was acknowledged for this long.  It is worth waiting
	 * out a shorter silence, since a direction that goes back stays on TCP
	 * for at least a second.  Most often the peer's process just does not
	 * get the processor, and then it would not read TCP either.  A path
	 * that is known to be gone is left at once, by tux_conn_stall(). */
	STALL_MS = 1000,
};

static tux_time rto_at(struct tux_conn *c)
{
	tux_time at = tux_loss_deadline(&c->loss, &c->sentq, &c->rtt,
					c->progress_at);
	tux_time stall = tux_time_add(c->progress_at, TUX_MSEC(STALL_MS));

	/* After several backoffs the timeout may be long after the instant at
	 * which the path counts as silent. */
	if (at != TUX_NEVER && at > stall &&
	    c->rtt.backoff >= STALL_TIMEOUTS && !tux_path_back(c->tx.path))
		at = stall;
	return at;
}

tux_time tux_conn_deadline(struct tux_conn *c)
{
	tux_time at = tux_time_min(c->open.at, c->linger_at);

	if (c->life == TUX_LIFE_GONE)
		return TUX_NEVER;
	if (c->life != TUX_LIFE_PROVED)
		return at;
	at = tux_time_min(at, c->reset_at);
	at = tux_time_min(at, c->ackq.due_at);
	at = tux_time_min(at, rto_at(c));
	at = tux_time_min(at, c->loss.at);
	at = tux_time_min(at, c->tx.probe_at);
	at = tux_time_min(at, c->tx.away_at);
	at = tux_time_min(at, c->tx.barred_at);
	at = tux_time_min(at, c->rx.stop_until);
	at = tux_time_min(at, c->tx.raw_at);
	return tux_time_min(at, tux_upgrade_deadline(c));
}

/* Most deadlines move on with each packet, and few ever pass.  So the heap is
 * only told of earlier ones; a connection that comes up too early goes back. */
void tux_conn_set_timer(struct tux_conn *c)
{
	tux_time at = tux_conn_deadline(c);

	tux_list_remove(&c->untimed);
	if (at < c->timer.at)
		tux_heap_set(&c->core->timers, &c->timer, at);
}

/* A connection that is due again at once is served after the others. */
void tux_conn_rearm(struct tux_conn *c, tux_time now)
{
	tux_time at = tux_conn_deadline(c);

	tux_list_remove(&c->untimed);
	tux_heap_set(&c->core->timers, &c->timer, at > now ? at : now + 1);
}

static bool stalled(const struct tux_conn *c, tux_time now)
{
	return c->rtt.backoff >= STALL_TIMEOUTS &&
	       tux_time_since(c->progress_at, now) >= TUX_MSEC(STALL_MS);
}

/* The sending direction is not on Tux, and the path stays silent: sends nothing
 * more over it for a while. */
static void stay_away(struct tux_conn *c, tux_time now)
{
	tux_time until = tux_back_until(c, true, now);

	tux_conn_lose_all(c, now);
	c->tx.kept |= c->todo & (TUX_DO_PREPARED | TUX_DO_RAW |
				  TUX_DO_LEAVE);
	c->todo &= ~(uint32_t)TUX_DO_NUMBERED;
	c->progress_at = now;
	if (tux_path_back(c->tx.path)) {
		c->tx.probe_at = until;
		tux_back_leave(c, until);
	} else {
		c->tx.gen = c->tx.ack_gen = 0;	/* tux_upgrade_step() withdraws */
		c->tx.writer_at = TUX_NEVER;
		c->tx.announce_at = c->tx.away_at = until;
		c->tx.stalled = true;
		tux_choose_stays(c);
	}
}

/* Tail probe: sends again what the newest packet in flight carried, even if the
 * window is full.  The acknowledgment of the probe shows which of the last
 * packets have arrived (RFC 8985, section 7). */
static void probe_tail(struct tux_conn *c, tux_time now)
{
	struct tux_sent *s = tux_sentq_newest(&c->sentq);

	tux_conn_trace(c, TUX_TRACE_TAIL, c->sentq.in_flight, 0, 0);
	c->stats.tails++;
	c->loss.probe_at = now;
	c->tx.tail = true;
	tux_conn_again(c, s);
	if (!(c->todo & TUX_DO_NUMBERED) &&
	    (c->tx.path != TUX_PATH_TUX || !c->tx.buf.lost.n))
		tux_conn_do(c, TUX_DO_PING);
	/* Its content belongs to the probe now. */
	s->len = 0;
	s->what &= TUX_SENT_PROBE;
	tux_conn_kick(c);
}

/* Is only a PING unanswered, while everything else has arrived?  Or is the PING
 * what the next announcement waits for? */
static bool only_asks(const struct tux_conn *c)
{
	if (c->tx.path == TUX_PATH_PLAIN && !c->trusted)
		return true;
	return c->tx.path == TUX_PATH_TUX &&
	       !(c->todo & (TUX_DO_NUMBERED | TUX_DO_ROOM)) &&
	       c->tx.buf.got >= c->tx.buf.next && tux_messages_idle(c);
}

static void on_timeout(struct tux_conn *c, tux_time now)
{
	unsigned n;

	tux_conn_trace(c, TUX_TRACE_TIMEOUT, c->sentq.in_flight, 0, 0);
	c->stats.timeouts++;
	tux_rtt_backoff(&c->rtt);
	c->loss.probe_at = 0;
	if (c->tx.path == TUX_PATH_TUX && stalled(c, now)) {
		tux_pair_stalled(c->pair, c->progress_at);
		tux_back(c, now);
		return;
	}
	if (tux_path_back(c->tx.path) ||
	    (c->tx.path == TUX_PATH_PLAIN && stalled(c, now))) {
		stay_away(c, now);
		return;
	}
	n = tux_conn_lose_all(c, now);
	if (only_asks(c))
		tux_conn_do(c, TUX_DO_PING);
	tux_pair_timeout(c->pair, n, c->progress_at, tux_rtt_rto(&c->rtt), now);
	tux_conn_kick(c);
}

static void on_rto(struct tux_conn *c, tux_time now)
{
	if (tux_loss_may_probe(&c->loss, &c->rtt) &&
	    !tux_path_back(c->tx.path))
		probe_tail(c, now);
	else
		on_timeout(c, now);
}

/* Tries a silent path again: sends @what, and what was lost and kept. */
static void try_again(struct tux_conn *c, uint32_t what)
{
	what |= c->tx.kept;
	c->tx.kept = 0;
	tux_conn_do(c, what);
}

/* Tries the path again.  While messages, or the stream beside them, wait for room,
 * this end sends nothing on TCP, and TCP finds out only by sending that the peer has
 * gone.  So a ROOM frame goes on TCP as well. */
static void on_probe(struct tux_conn *c)
{
	bool shut = tux_window_shut(c);

	c->tx.probe_at = TUX_NEVER;
	try_again(c, TUX_DO_PING);
	/* The peer may not know yet that frames carry the direction. */
	c->out.back |= shut && c->out.off;
	if (shut || (c->tx.path == TUX_PATH_FRAMES &&
		     tux_messages_want_room(c))) {
		tux_conn_do(c, TUX_DO_ROOM);
		tux_conn_mark(c, TUX_DIRTY_ROOM);
	}
}

static void expire_path(struct tux_conn *c, tux_time now)
{
	if (now >= c->ackq.due_at)
		tux_conn_kick(c);
	if (now >= c->loss.at)
		tux_conn_detect(c, now);
	if (now >= rto_at(c))
		on_rto(c, now);
	if (now >= c->tx.probe_at)
		on_probe(c);
	if (now >= c->tx.away_at) {
		c->tx.away_at = TUX_NEVER;
		c->progress_at = now;	/* gives the peer time to answer */
		try_again(c, 0);
	}
	tux_upgrade_expire(c, now);
}

void tux_conn_expire(struct tux_conn *c, tux_time now)
{
	tux_hello_expire(c, now);
	if (now >= c->linger_at) {
		c->linger_at = TUX_NEVER;
		c->rx.tcp_ended = true;	/* as if; it has waited long enough */
		c->expired = true;
		tux_conn_mark(c, TUX_DIRTY_LIFE);
	}
	if (now >= c->reset_at)
		tux_conn_die(c, ECONNRESET, TUX_REASON_NONE);
	if (now >= c->rx.stop_until)
		tux_stop_resume(c, false);
	if (now >= c->tx.raw_at) {
		c->tx.raw_at = TUX_NEVER;
		c->tx.raw_heard = true;	/* as if; it has waited long enough */
		tux_conn_mark(c, TUX_DIRTY_PATH);
	}
	if (now >= c->tx.barred_at && tux_duplex_barred(c->dx))
		tux_conn_die(c, ECONNRESET, TUX_REASON_PROTOCOL);
	if (c->life == TUX_LIFE_PROVED)
		expire_path(c, now);
}
