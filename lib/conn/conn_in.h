/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * conn_in - what the files of a connection do alike; private to lib/conn
 *
 * Questions return a value and change nothing.
 */
#ifndef TUX_CONN_CONN_IN_H
#define TUX_CONN_CONN_IN_H

#include "conn/conn.h"

static inline void tux_conn_trace(struct tux_conn *c, enum tux_trace_what what,
				  uint64_t a, uint64_t b, uint64_t d)
{
	const struct tux_trace t = { what, { a, b, d } };

	if (c->core->trace)
		c->core->trace(c->core->trace_arg, c->user, &t);
}

/* ---- what a handler leaves behind ---- */

/* The settle step has to look at @dirty (TUX_DIRTY_*). */
static inline void tux_conn_mark(struct tux_conn *c, uint32_t dirty)
{
	c->dirty |= dirty;
}

/* @c has, or may have, something to send. */
static inline void tux_conn_kick(struct tux_conn *c)
{
	if (tux_list_empty(&c->sendq))
		tux_list_push(&c->core->sendq, &c->sendq);
}

/* @what (TUX_DO_*) has to be sent. */
static inline void tux_conn_do(struct tux_conn *c, uint32_t what)
{
	c->todo |= what;
	tux_conn_kick(c);
}

/* The application holds a latch: the upgrade is tried again soon. */
static inline void tux_conn_retry(struct tux_conn *c, tux_time now)
{
	c->retry_at = tux_time_min(c->retry_at, tux_time_add(now, TUX_USEC(100)));
}

/* @c gives up what it has in flight, and its place in the pair. */
static inline void tux_conn_drop_flight(struct tux_conn *c)
{
	struct tux_sent *s;

	while ((s = tux_sentq_oldest(&c->sentq)) != NULL)
		tux_sentq_settle(&c->sentq, s);
	tux_list_remove(&c->waitq);
	tux_list_remove(&c->use);
	tux_conn_mark(c, TUX_DIRTY_FLIGHT);
}

/* ---- questions ---- */

/* The longest datagram that may begin with a packet of @c. */
static inline uint32_t tux_conn_room(const struct tux_conn *c)
{
	return c->pair && c->pair->pmtu.len < c->mtu ? c->pair->pmtu.len :
						       c->mtu;
}

static inline const struct tux_addr *tux_conn_local(const struct tux_conn *c)
{
	return c->active ? &c->tuple.active : &c->tuple.passive;
}

/* Has the path been proved?  The loop may still be duplicating the descriptor,
 * while further packets of the same datagram come in. */
static inline bool tux_conn_heard(const struct tux_conn *c)
{
	return c->life == TUX_LIFE_PROVED || c->life == TUX_LIFE_OWNING;
}

static inline uint8_t tux_conn_tx_state(const struct tux_conn *c)
{
	return atomic_load_explicit(&c->dx->tx.state, memory_order_acquire);
}

static inline uint8_t tux_conn_rx_state(const struct tux_conn *c)
{
	return atomic_load_explicit(&c->dx->rx.state, memory_order_acquire);
}

/* Does the application read and write TCP itself in a direction on @path? */
static inline bool tux_path_plain(enum tux_path path)
{
	return path == TUX_PATH_PLAIN || path == TUX_PATH_RAW;
}

/* Does TCP carry what the application sends on @path? */
static inline bool tux_path_back(enum tux_path path)
{
	return path == TUX_PATH_FRAMES || path == TUX_PATH_RAW;
}

/* In a direction that has a ring: is everything up to the peer's FIN here, and
 * every message? */
static inline bool tux_conn_said_all(const struct tux_conn *c)
{
	return c->rx.gen && tux_pipe_head(&c->dx->rxp) == c->rx.buf.end &&
	       (!c->msg || tux_messages_all_here(c->msg));
}

static inline bool tux_conn_any_stream(const struct tux_conn *c)
{
	return c->tx.path == TUX_PATH_TUX && tux_sendbuf_any(&c->tx.buf);
}

static inline bool tux_conn_next_extent(const struct tux_conn *c, uint32_t max,
					struct tux_extent *e)
{
	return c->tx.path == TUX_PATH_TUX &&
	       tux_sendbuf_peek(&c->tx.buf, max, e);
}

/* May messages go over Tux?  They may before the switch, too, as long as the
 * path answers. */
static inline bool tux_conn_messages_here(const struct tux_conn *c)
{
	return c->msg && c->tx.away_at == TUX_NEVER &&
	       (c->tx.path == TUX_PATH_PLAIN || c->tx.path == TUX_PATH_TUX);
}

#endif
