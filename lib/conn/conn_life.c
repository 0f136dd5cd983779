/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Birth, death and doorbells of a connection.
 */
#include "conn/conn_in.h"

#include <errno.h>

enum {
	LINGER_S = 60,		/* how long to wait for the end of TCP, closed */
	RESET_S = 1,		/* ... and if the peer is broken */
};

static uint32_t new_id(struct tux_core *core)
{
	uint32_t id;

	do
		id = tux_rng_u32(&core->rng);
	while (!id || tux_table_by_id(&core->table, id));
	return id;
}

static void init(struct tux_conn *c, const struct tux_conn_opts *o)
{
	struct tux_core *core = c->core;

	tux_list_init(&c->sendq);
	tux_list_init(&c->waitq);
	tux_list_init(&c->use);
	tux_list_init(&c->untimed);
	c->timer.at = TUX_NEVER;
	c->dx = o->dx;
	c->user = o->user;
	c->tuple = o->tuple;
	c->active = o->active;
	c->key = o->key;
	c->id = new_id(core);
	c->nonce = tux_rng_u64(&core->rng) | 1;	/* never 0: "not known" */
	c->mtu = o->mtu;
	c->pkt_max = core->pkt_max;
	c->peer = o->active ? o->tuple.passive : o->tuple.active;
	/* Packets on TCP's own ports need no word from the peer first. */
	if (!o->active && core->port)
		c->peer.port = 0;
	c->retry_at = c->linger_at = c->reset_at = TUX_NEVER;
	c->open.at = TUX_NEVER;
	c->tx.announce_at = c->tx.quiet_at = c->tx.probe_at = TUX_NEVER;
	c->tx.hold = TUX_SEC(1);
	c->tx.away_at = TUX_NEVER;
	c->in.need = TUX_FRAME_HDR;
	tux_rtt_init(&c->rtt, 0);
	tux_loss_init(&c->loss);
	/* Above 2^32, so that numbers just below the first are no trouble. */
	c->first = (1ull << 32) + tux_rng_u32(&core->rng);
	tux_sentq_init(&c->sentq, c->first);
}

int tux_core_open(struct tux_core *core, const struct tux_conn_opts *o,
		  struct tux_conn **cp, tux_time now)
{
	struct tux_conn *c;
	int err;

	err = tux_heap_reserve(&core->timers, core->conn_n + 1);
	if (err)
		return err;
	c = tux_mem_alloc(core->mem, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->core = core;
	init(c, o);
	if (o->box)
		c->msg = tux_messages_new(core->mem, o->box);
	err = o->box && !c->msg ? -ENOMEM :
	      tux_table_add(&core->table, c->id, &c->tuple, c->active, c);
	if (err) {
		tux_messages_free(core->mem, c->msg);
		tux_mem_free(core->mem, c);
		return err;
	}
	core->conn_n++;
	tux_hello_start(c, now);
	tux_conn_arm_timer(c);
	*cp = c;
	return 0;
}

void tux_conn_close(struct tux_conn *c)
{
	struct tux_core *core = c->core;

	tux_list_remove(&c->sendq);
	tux_list_remove(&c->untimed);
	tux_conn_drop_flight(c);
	if (c->pair)
		tux_pair_put(&core->pairs, c->pair);
	tux_heap_set(&core->timers, &c->timer, TUX_NEVER);
	tux_table_del(&core->table, c->id, &c->tuple, c->active);
	core->conn_n--;
	tux_messages_free(core->mem, c->msg);
	tux_mem_free(core->mem, c);
}

void tux_conn_decide(struct tux_conn *c, enum tux_reason why)
{
	bool tux = tux_conn_tx_on_tux(c) || tux_conn_rx_on_tux(c);

	if (tux == c->decided_tux && why == c->reason)
		return;
	c->decided_tux = tux;
	c->reason = why;
	tux_conn_ready(c);
}

void tux_conn_gone(struct tux_conn *c, bool reset)
{
	if (c->gone)
		return;
	c->gone = true;
	tux_messages_fail(c, ECONNRESET);
	tux_conn_drop_flight(c);
	c->linger_at = TUX_NEVER;
	tux_conn_trace(c, TUX_TRACE_GONE, 0, 0, 0);
	/* An end of file behind half of a marker would make it data. */
	if (atomic_load(&c->dx->tx.marker_left))
		reset = true;
	c->core->ev->gone(c->core->arg, c, reset);
}

void tux_conn_die(struct tux_conn *c, int err, enum tux_reason why)
{
	struct tux_duplex *d = c->dx;

	if (c->phase == TUX_PHASE_DEAD)
		return;
	c->phase = TUX_PHASE_DEAD;
	tux_conn_drop_flight(c);
	c->reset_at = TUX_NEVER;
	tux_conn_decide(c, why ? why : c->reason);
	if (why && c->peer_id) {
		c->reset_why = why;
		tux_conn_do(c, TUX_DO_RESET);
	}
	tux_messages_fail(c, err);
	/* The error first: who sees the end must see why.  A peer that had said
	 * all leaves a clean end, and only writing fails. */
	if (!tux_conn_said_all(c))
		atomic_store(&d->err, (uint32_t)err);
	atomic_store(&d->rx.eof, 1);
	atomic_store(&d->tx.shut, 1);
	tux_conn_ready(c);
	tux_conn_tcp(c);
	if (c->closed && !(c->todo & TUX_DO_RESET))
		tux_conn_gone_broken(c);
}

/* It may have overtaken frames that TCP has, or is about to bring.  A reset of
 * TCP's own comes behind what was sent before it, and so must this: the end of
 * TCP says when, and follows soon, for the peer has closed it. */
void tux_conn_told_reset(struct tux_conn *c, tux_time now)
{
	if (c->closed || c->rx.tcp_ended || tux_conn_rx_plain(c)) {
		tux_conn_die(c, ECONNRESET, TUX_REASON_NONE);
		return;
	}
	c->reset_at = tux_time_min(c->reset_at,
				   tux_time_add(now, TUX_SEC(RESET_S)));
	tux_conn_tcp(c);
}

/* TCP's reset is quicker than silence, but would destroy bytes of ours that are
 * still in TCP. */
void tux_conn_gone_broken(struct tux_conn *c)
{
	tux_conn_gone(c, c->tx.path == TUX_PATH_TUX);
}

static bool rx_done(const struct tux_conn *c)
{
	return c->rx.tcp_ended || tux_conn_said_all(c);
}

/* Everything that we sent has been taken: the rest is TCP's own FIN. */
static bool tx_done(struct tux_conn *c)
{
	if (c->tx.done)
		return true;
	if (!tux_conn_tx_plain(c)) {
		if (!tux_sendbuf_done(&c->tx.buf) || c->out.busy ||
		    c->out.marker || c->out.fin)
			return false;
		/* ROOM for the peer's messages may have to go in frames. */
		if (c->msg && c->peer_messages && !c->closed && !rx_done(c))
			return false;
	} else if (!c->closed || tux_conn_tx_state(c) == TUX_TX_SWITCHED ||
		   !tux_messages_idle(c)) {
		return false;
	}
	c->tx.done = true;
	tux_list_remove(&c->use);	/* it has no more to ask for */
	c->out.sw = false;
	c->core->ev->tcp_shut(c->core->arg, c);
	return true;
}

void tux_conn_check_end(struct tux_conn *c, tux_time now)
{
	bool tx, rx;

	/* So it is for each packet but the last ones. */
	if (!c->closed && c->tx.path == TUX_PATH_TUX &&
	    c->tx.buf.end == UINT64_MAX)
		return;
	tx = tx_done(c);
	rx = rx_done(c);
	/* A dead one is gone already, or as soon as it has told the peer. */
	if (!c->closed || c->gone || c->phase == TUX_PHASE_DEAD)
		return;
	if (tx && rx && c->rx.tcp_ended) {
		tux_conn_gone(c, false);
	} else if (tx) {
		c->linger_at = tux_time_min(c->linger_at, tux_time_add(now,
							TUX_SEC(LINGER_S)));
	}
}

void tux_conn_sink(struct tux_conn *c)
{
	if (!c->closed || !c->rx.on_ring)
		return;
	tux_pipe_consume(&c->dx->rxp, tux_pipe_head(&c->dx->rxp));
	if (tux_pipe_head(&c->dx->rxp) > c->closed_at && c->tx.done)
		tux_conn_die(c, ECONNRESET, TUX_REASON_DATA_AFTER_CLOSE);
}

/* The stream was on TCP from first to last, or is again, for good. */
static bool tcp_alone(const struct tux_conn *c)
{
	return tux_conn_tx_plain(c) && tux_conn_rx_plain(c) &&
	       tux_conn_rx_state(c) != TUX_RX_ARMED;
}

/* The application is done: what it wrote still goes out, what comes in has no
 * reader any more. */
static void on_close(struct tux_conn *c, bool abort, tux_time now)
{
	tux_conn_trace(c, TUX_TRACE_CLOSE, 0, 0, 0);
	c->closed = true;
	c->closed_at = tux_pipe_head(&c->dx->rxp);
	if (!c->decided_tux && !c->reason)
		tux_conn_decide(c, c->peer.port ? TUX_REASON_CLOSED :
				TUX_REASON_PEER_SILENT);
	if (abort || c->phase == TUX_PHASE_DEAD) {
		tux_conn_gone(c, abort);
		return;
	}
	if (tux_conn_tx_plain(c) && !tux_messages_idle(c)) {
		c->linger_at = tux_time_add(now, TUX_SEC(LINGER_S));
	} else if (tcp_alone(c)) {
		tux_conn_gone(c, false);
		return;
	}
	tux_conn_sink(c);
	tux_conn_tcp(c);
	tux_conn_check_end(c, now);
}

/* Bytes, or the end of them, wait in the tx ring. */
static void on_tx(struct tux_conn *c, tux_time now)
{
	tux_upgrade_tx(c, now);
	if (c->tx.path == TUX_PATH_NONE)
		return;
	if (c->tx.buf.end == UINT64_MAX && atomic_load(&c->dx->tx.shut) &&
	    tux_conn_tx_state(c) == TUX_TX_SWITCHED && tux_messages_idle(c)) {
		tux_sendbuf_finish(&c->tx.buf, tux_pipe_head(&c->dx->txp));
		c->out.fin = true;
		tux_conn_tcp(c);
	}
	tux_back_raw_step(c, now);
	tux_conn_kick(c);
	/* Only if there is something for it: TCP, asked in vain, comes here. */
	if (c->tx.path == TUX_PATH_TCP &&
	    c->out.off < tux_pipe_head(&c->dx->txp))
		tux_conn_tcp(c);
}

void tux_conn_drained(struct tux_conn *c, tux_time now)
{
	if (!atomic_load(&c->dx->tx.shut) && !c->tx.raw_wanted)
		return;
	on_tx(c, now);
	if (c->closed && !c->gone && tcp_alone(c))
		tux_conn_gone(c, false);
	tux_conn_check_end(c, now);
}

static void on_rx(struct tux_conn *c, tux_time now)
{
	tux_upgrade_rx(c, now);
	if (!c->rx.on_ring)
		return;
	if (tux_pipe_tail(&c->dx->rxp) >= tux_recvbuf_wake_at(&c->rx.buf))
		tux_conn_do(c, TUX_DO_ACK);
	tux_conn_tcp(c);
}

void tux_conn_rung(struct tux_conn *c, uint32_t bits, tux_time now)
{
	if (c->gone)
		return;
	if (bits & TUX_DOORBELL_TOUCH)
		tux_hello_touch(c, now);
	if (bits & TUX_DOORBELL_ABORT) {
		on_close(c, true, now);
		return;
	}
	if (bits & TUX_DOORBELL_CLOSE)
		atomic_store(&c->dx->tx.shut, 1);
	if (c->phase == TUX_PHASE_PROVED) {
		if (bits & (TUX_DOORBELL_TX | TUX_DOORBELL_MESSAGE))
			tux_back_early(c, now);
		if (bits & (TUX_DOORBELL_TX | TUX_DOORBELL_TOUCH | TUX_DOORBELL_CLOSE))
			on_tx(c, now);
		if (bits & (TUX_DOORBELL_RX | TUX_DOORBELL_TOUCH | TUX_DOORBELL_CLOSE))
			on_rx(c, now);
	}
	if (bits & TUX_DOORBELL_RAW)
		tux_back_raw(c, TUX_REASON_PINNED, now);
	if (bits & TUX_DOORBELL_CLOSE)
		on_close(c, false, now);
	if (bits & (TUX_DOORBELL_MESSAGE | TUX_DOORBELL_CLOSE))
		tux_messages_rung(c);
	tux_conn_arm_timer(c);
}

void tux_conn_set_mtu(struct tux_conn *c, uint32_t mtu, tux_time now)
{
	if (mtu != c->mtu && c->pair)
		tux_pmtu_again(&c->pair->pmtu, now);
	c->mtu = mtu;
}

/* ---- looking ---- */

void *tux_conn_user(const struct tux_conn *c)
{
	return c->user;
}

struct tux_duplex *tux_conn_duplex(const struct tux_conn *c)
{
	return c->dx;
}

const struct tux_tuple *tux_conn_tuple(const struct tux_conn *c, bool *active)
{
	if (active)
		*active = c->active;
	return &c->tuple;
}

const struct tux_conn_stats *tux_conn_stats(const struct tux_conn *c)
{
	return &c->stats;
}

enum tux_reason tux_conn_reason(const struct tux_conn *c)
{
	return c->reason;
}

bool tux_conn_tx_on_tux(const struct tux_conn *c)
{
	return c->tx.path == TUX_PATH_TUX;
}

bool tux_conn_rx_on_tux(const struct tux_conn *c)
{
	return c->rx.tux;
}
