/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of a connection do alike; private to lib/conn.
 */
#ifndef TUX_CONN_CONN_IN_H
#define TUX_CONN_CONN_IN_H

#include "conn/conn.h"

static inline void tux_conn_trace(struct tux_conn *c, enum tux_trace_what what,
				  uint64_t a, uint64_t b, uint64_t d)
{
	const struct tux_trace t = { what, { a, b, d } };

	if (c->core->ev->trace)
		c->core->ev->trace(c->core->arg, c->user, &t);
}

/* How long a datagram may be that begins with a packet of @c. */
static inline uint32_t tux_conn_room(const struct tux_conn *c)
{
	return c->pair && c->pair->pmtu.len < c->mtu ? c->pair->pmtu.len :
						       c->mtu;
}

static inline const struct tux_addr *tux_conn_local(const struct tux_conn *c)
{
	return c->active ? &c->tuple.active : &c->tuple.passive;
}

/* It has, or may have, something to send. */
static inline void tux_conn_kick(struct tux_conn *c)
{
	if (tux_list_empty(&c->sendq))
		tux_list_push(&c->core->sendq, &c->sendq);
}

/* The deadline may have changed: that is looked at once, when somebody asks. */
static inline void tux_conn_arm_timer(struct tux_conn *c)
{
	if (tux_list_empty(&c->untimed))
		tux_list_push(&c->core->untimed, &c->untimed);
}

/* The first in line of @c's pair has its turn, if there is room. */
static inline void tux_conn_next(struct tux_conn *c, tux_time now)
{
	struct tux_list *n;

	if (!c->pair || tux_list_empty(&c->pair->waitq))
		return;
	n = tux_pair_next(c->pair, now);
	if (n)
		tux_conn_kick(TUX_CONTAINER(n, struct tux_conn, waitq));
	else
		tux_pair_hold(&c->core->pairs, c->pair);
}

static inline void tux_conn_do(struct tux_conn *c, uint32_t what)
{
	c->todo |= what;
	tux_conn_kick(c);
}

static inline void tux_conn_ready(struct tux_conn *c)
{
	c->core->ev->ready(c->core->arg, c);
}

static inline void tux_conn_tcp(struct tux_conn *c)
{
	c->core->ev->tcp(c->core->arg, c);
}

static inline uint8_t tux_conn_tx_state(const struct tux_conn *c)
{
	return atomic_load_explicit(&c->dx->tx.state, memory_order_acquire);
}

static inline uint8_t tux_conn_rx_state(const struct tux_conn *c)
{
	return atomic_load_explicit(&c->dx->rx.state, memory_order_acquire);
}

/* Does the application read and write TCP itself? */
static inline bool tux_conn_tx_plain(const struct tux_conn *c)
{
	return c->tx.path == TUX_PATH_NONE ||
	       (tux_conn_tx_state(c) == TUX_TX_RAW && !c->out.raw);
}

static inline bool tux_conn_rx_plain(const struct tux_conn *c)
{
	return !c->rx.on_ring || tux_conn_rx_state(c) == TUX_RX_RAW;
}

/* In a direction that has a ring: everything up to the peer's FIN is here, and
 * every message. */
static inline bool tux_conn_said_all(const struct tux_conn *c)
{
	return c->rx.gen && tux_pipe_head(&c->dx->rxp) == c->rx.buf.end &&
	       (!c->msg || tux_messages_all_here(c->msg));
}

/* Something has come: is that all?  Then the application may know. */
static inline void tux_conn_look_eof(struct tux_conn *c)
{
	if (tux_conn_said_all(c))
		atomic_store(&c->dx->rx.eof, 1);
}

/* @c waits for no acknowledgment any more, and leaves the room to others. */
static inline void tux_conn_drop_flight(struct tux_conn *c)
{
	struct tux_sent *s;

	while ((s = tux_sentq_oldest(&c->sentq)) != NULL)
		tux_sentq_settle(&c->sentq, s);
	tux_list_remove(&c->waitq);
	tux_list_remove(&c->use);
	/* When exactly, its pace decides as soon as it sends. */
	tux_conn_next(c, TUX_NEVER);
}

static inline bool tux_conn_any_stream(const struct tux_conn *c)
{
	return c->tx.path == TUX_PATH_TUX && tux_sendbuf_any(&c->tx.buf);
}

static inline bool tux_conn_next_extent(struct tux_conn *c, uint32_t max, struct tux_extent *e)
{
	return c->tx.path == TUX_PATH_TUX &&
	       tux_sendbuf_peek(&c->tx.buf, max, e);
}

/* May messages go over Tux?  Before the switch, too, as long as it answers. */
static inline bool tux_conn_messages_here(const struct tux_conn *c)
{
	return c->msg && c->tx.path != TUX_PATH_TCP &&
	       c->tx.away_at == TUX_NEVER;
}

/* Why does a direction go on over TCP? */
static inline enum tux_reason tux_conn_why_back(const struct tux_conn *c)
{
	return c->tx.raw_wanted ? c->tx.raw_why : TUX_REASON_STALLED;
}

/* A latch was held: look again soon. */
static inline void tux_conn_retry(struct tux_conn *c, tux_time now)
{
	c->retry_at = tux_time_min(c->retry_at, tux_time_add(now, TUX_USEC(100)));
}

#endif
