/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn/choose.h"

#include "conn/back.h"
#include "conn/conn_in.h"

enum {
	WINDOW_MS = 5,			/* so long a rate is measured, */
	WINDOWS = 8,			/* ... and so often over TCP */
};

/* So many bytes have left: the peer has them, or TCP. */
static uint64_t have_left(const struct tux_conn *c)
{
	return c->tx.path == TUX_PATH_PLAIN ?
	       tux_burst_total(&c->dx->tx.bursts) : c->tx.buf.got;
}

static void begin_window(struct tux_conn *c, tux_time now)
{
	c->tx.rate_at = now;
	c->tx.rate_from = have_left(c);
}

/* Bytes per second since the window began; 0: it is too short. */
static uint64_t window_rate(const struct tux_conn *c, tux_time now)
{
	tux_time took = tux_time_since(c->tx.rate_at, now);

	if (c->tx.rate_at == TUX_NEVER || took < TUX_MSEC(WINDOW_MS))
		return 0;
	return (have_left(c) - c->tx.rate_from) * 1000000u / (took / 1000u);
}

static struct tux_evidence evidence(const struct tux_conn *c)
{
	const struct tux_burst *t = &c->dx->tx.bursts;

	return (struct tux_evidence){
		.burst = tux_burst_len(t),
		.mean = tux_burst_mean(t),
		.turns = tux_burst_turns(t),
	};
}

/* After a return for which the rate over Tux is known, the rate over TCP is
 * measured in a few windows.  The best one counts, since the application may
 * pause.  False: windows are left. */
static bool tried_tcp(struct tux_conn *c, struct tux_evidence *e, tux_time now)
{
	uint64_t rate;

	if (!c->tx.windows)
		return true;
	rate = window_rate(c, now);
	if (rate > c->tx.rate)
		c->tx.rate = rate;
	if (now >= c->tx.rate_at + TUX_MSEC(WINDOW_MS)) {
		begin_window(c, now);
		c->tx.windows--;
	}
	e->rate = c->tx.rate;
	return !c->tx.windows;
}

bool tux_conn_returned(const struct tux_conn *c, tux_time *until)
{
	if (c->life != TUX_LIFE_PROVED || c->tx.path != TUX_PATH_PLAIN ||
	    c->rx.path != TUX_PATH_PLAIN || c->tx.raw_wanted || c->tx.done ||
	    c->tx.windows || c->tx.gen ||
	    !(atomic_load(&c->dx->tx.turn) | atomic_load(&c->dx->rx.turn)))
		return false;
	*until = c->tx.choice.until;
	if (c->tx.away_at != TUX_NEVER && c->tx.away_at > *until)
		*until = c->tx.away_at;
	return true;
}

void tux_choose_stays(struct tux_conn *c)
{
	c->told &= (uint8_t)~TUX_TOLD_RETURNED;
	tux_conn_mark(c, TUX_DIRTY_ANNOUNCE);
}

bool tux_choose_tux(struct tux_conn *c, tux_time now)
{
	struct tux_choice *p = &c->tx.choice;
	struct tux_evidence e = evidence(c);
	bool moves, was = c->tx.bulk;

	if (!tried_tcp(c, &e, now)) {
		c->tx.announce_at = c->tx.rate_at + TUX_MSEC(WINDOW_MS);
		return false;
	}
	moves = tux_choice_look(p, false, &e, now) == TUX_MOVE;
	c->tx.bulk = !moves && e.burst > p->limit;
	if (c->tx.bulk != was)
		tux_conn_mark(c, TUX_DIRTY_ANNOUNCE);	/* the reason changes */
	if (moves)
		return true;
	c->tx.announce_at = now < p->until ? p->until : TUX_NEVER;
	atomic_store(&c->dx->tx.look_at, tux_choice_look_turns(p, e.turns));
	tux_choose_stays(c);
	return false;
}

void tux_choose_moved(struct tux_conn *c, tux_time now)
{
	struct tux_evidence e = evidence(c);

	tux_choice_moved(&c->tx.choice, &e, now);
	c->tx.rate_at = TUX_NEVER;
	c->tx.windows = 0;
}

void tux_choose_turn(struct tux_conn *c, tux_time now)
{
	if (!c->tx.windows)
		return;
	begin_window(c, now);
	c->tx.rate = 0;
	c->tx.announce_at = now + TUX_MSEC(WINDOW_MS);
}

void tux_choose_mtu(struct tux_conn *c)
{
	uint32_t len = c->mtu < c->pkt_max ? c->mtu : c->pkt_max;

	tux_choice_packet(&c->tx.choice, len - TUX_PKT_HDR - TUX_REC_HDR -
			  TUX_STREAM_HDR);
	c->tx.burst_max = tux_choice_burst_max(&c->tx.choice);
}

void tux_choose_look(struct tux_conn *c, tux_time now)
{
	if (c->life != TUX_LIFE_PROVED || c->tx.path != TUX_PATH_PLAIN ||
	    tux_conn_tx_state(c) != TUX_TX_PLAIN)
		return;
	c->tx.announce_at = tux_time_min(c->tx.announce_at,
					 now < c->tx.choice.until ?
					 c->tx.choice.until : now);
	tux_conn_mark(c, TUX_DIRTY_ANNOUNCE);
	if (now < c->tx.choice.until)
		tux_choose_stays(c);
}

/* Do bytes wait?  Half of the ring is full. */
static bool backlog(const struct tux_conn *c)
{
	return tux_pipe_len(&c->dx->txp) >= tux_pipe_most(&c->dx->txp) / 2;
}

void tux_choose_leave(struct tux_conn *c, tux_time now)
{
	struct tux_choice *p = &c->tx.choice;
	struct tux_evidence e;

	if (c->tx.path != TUX_PATH_TUX || c->tx.leaving)
		return;
	e = evidence(c);
	if (!backlog(c))
		c->tx.rate_at = TUX_NEVER;
	else if (c->tx.rate_at == TUX_NEVER)
		begin_window(c, now);
	else
		e.rate = window_rate(c, now);
	if (tux_choice_look(p, true, &e, now) != TUX_RETURN)
		return;
	tux_choice_returned(p, &e, now);
	c->tx.windows = e.rate ? WINDOWS : 0;
	c->tx.rate_at = TUX_NEVER;
	tux_conn_trace(c, TUX_TRACE_LEAVE, e.burst, p->limit, e.rate);
	tux_back_leave(c, p->until);
}

struct tux_grounds tux_conn_grounds(const struct tux_conn *c)
{
	const struct tux_burst *tx = &c->dx->tx.bursts, *rx = &c->dx->rx.bursts;
	uint32_t sent = tux_burst_turns(tx), received = tux_burst_turns(rx);

	return (struct tux_grounds){
		.turns = sent < received ? sent : received,
		.sent = tux_burst_mean(tx),
		.received = tux_burst_mean(rx),
		.limit = c->tx.choice.limit,
		.tux_rate = c->tx.choice.tux_rate,
		.tcp_rate = c->tx.choice.tux_rate ? c->tx.rate : 0,
	};
}
