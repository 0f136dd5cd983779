/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * conn_in - what several files of a connection need; private to lib/conn
 *
 * Questions return a value and change nothing.
 */
#ifndef TUX_CONN_CONN_IN_H
#define TUX_CONN_CONN_IN_H

#include "conn/conn.h"

/* Kept out of its callers: only tests and a debugging user trace. */
static __attribute__((noinline, cold, unused)) void
tux_conn_tell_trace(struct tux_conn *c, enum tux_trace_what what, uint64_t a,
		    uint64_t b, uint64_t d)
{
	const struct tux_trace t = { what, { a, b, d } };

	c->core->trace(c->core->trace_arg, c->user, &t);
}

static inline void tux_conn_trace(struct tux_conn *c, enum tux_trace_what what,
				  uint64_t a, uint64_t b, uint64_t d)
{
	if (c->core->trace)
		tux_conn_tell_trace(c, what, a, b, d);
}

/* ---- what a handler does ---- */

/* Tells the settle step that @dirty (TUX_DIRTY_*) has changed. */
static inline void tux_conn_mark(struct tux_conn *c, uint32_t dirty)
{
	c->dirty |= dirty;
}

/* Queues @c for sending: it has, or may have, something to send. */
static inline void tux_conn_kick(struct tux_conn *c)
{
	if (tux_list_empty(&c->sendq))
		tux_list_push(&c->core->sendq, &c->sendq);
}

/* Queues the control records @what (TUX_DO_*) for sending. */
static inline void tux_conn_do(struct tux_conn *c, uint32_t what)
{
	c->todo |= what;
	tux_conn_kick(c);
}

/* The application holds a latch: tries again what needs it, in 100 us. */
static inline void tux_conn_retry(struct tux_conn *c, tux_time now)
{
	c->retry_at = tux_time_min(c->retry_at, tux_time_add(now, TUX_USEC(100)));
}

/* Takes what @c has in flight off its pair, and @c out of the pair's lists. */
static inline void tux_conn_drop_flight(struct tux_conn *c)
{
	struct tux_sent *s;

	while ((s = tux_sentq_oldest(&c->sentq)) != NULL)
		tux_sentq_retire(&c->sentq, s);
	tux_list_remove(&c->waitq);
	tux_list_remove(&c->use);
	tux_conn_mark(c, TUX_DIRTY_FLIGHT);
}

/* ---- questions ---- */

/* Is @c to leave Tux, because other processes use it? */
static inline bool tux_conn_leaves(const struct tux_conn *c)
{
	return c->tx.shared || c->tx.asked;
}

/* The longest datagram that may begin with a packet of @c. */
static inline uint32_t tux_conn_room(const struct tux_conn *c)
{
	return c->pair && c->pair->pmtu.len < c->mtu ? c->pair->pmtu.len :
						       c->mtu;
}

/* This end's TCP address. */
static inline const struct tux_addr *tux_conn_local(const struct tux_conn *c)
{
	return c->active ? &c->tuple.active : &c->tuple.passive;
}

/* May @c take packets?  It may once the path is proved, and also while the loop
 * duplicates the descriptor: the same datagram may have more packets. */
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

/* Does the application use TCP itself in a direction on @path? */
static inline bool tux_path_plain(enum tux_path path)
{
	return path == TUX_PATH_PLAIN || path == TUX_PATH_RAW;
}

/* Has a direction on @path left Tux, so that TCP carries its bytes again? */
static inline bool tux_path_back(enum tux_path path)
{
	return path == TUX_PATH_FRAMES || path == TUX_PATH_RAW;
}

/* Is TCP still to take a part of the frame with the rest of a write that went
 * across N? */
static inline bool tux_conn_is_across(const struct tux_conn *c)
{
	return c->tx.path == TUX_PATH_TUX && c->out.busy &&
	       c->out.type == TUX_FRAME_DATA;
}

/* Has the receiving direction everything up to the peer's FIN, and every
 * message? */
static inline bool tux_conn_said_all(const struct tux_conn *c)
{
	return c->rx.gen && tux_pipe_head(&c->dx->rxp) == c->rx.buf.end &&
	       (!c->msg || tux_messages_all_here(c->msg));
}

/* Are there stream bytes, or a FIN, that a packet may carry now? */
static inline bool tux_conn_any_stream(const struct tux_conn *c)
{
	return c->tx.path == TUX_PATH_TUX && tux_sendbuf_any(&c->tx.buf);
}

/* Which stream bytes go next, at most @max?  Fills in *@e.  False: none. */
static inline bool tux_conn_next_extent(const struct tux_conn *c, uint32_t max,
					struct tux_extent *e)
{
	return c->tx.path == TUX_PATH_TUX &&
	       tux_sendbuf_peek(&c->tx.buf, max, e);
}

/* May messages go in packets?  They may also before the sending direction has
 * switched, unless the path is silent. */
static inline bool tux_conn_messages_here(const struct tux_conn *c)
{
	return c->msg && c->tx.away_at == TUX_NEVER &&
	       (c->tx.path == TUX_PATH_PLAIN || c->tx.path == TUX_PATH_TUX);
}

#endif
