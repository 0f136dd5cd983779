/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * settle - what follows from the state of a connection
 *
 * Every entry point of the core ends here, once it has changed the state of a
 * connection and has marked in `dirty` what it changed.  Between
 * tux_conn_tcp_out() and tux_conn_tcp_sent() nothing is settled, since the
 * latch of the send direction may be held.
 *
 * Connections share a pair, and one that gives up its flight makes room for
 * another.  So the pair is settled as well, in constant time: the next
 * connection in line sends, and settles the pair again.
 */
#ifndef TUX_CONN_SETTLE_H
#define TUX_CONN_SETTLE_H

#include "conn/conn.h"

/* Derives what follows from the state, where `dirty` says that it has changed,
 * in this order: the next step of the upgrade; the FIN; RAW; the end of file;
 * the end of the connection; its death; the reason; what TCP is to carry.  What
 * has to happen outside is recorded as effects (TUX_EFFECT_*). */
void tux_conn_derive(struct tux_conn *c, tux_time now);

/* Some connection of @p stands in line: it sends if there is room, or a timer
 * says when the pace lets it. */
void tux_pair_settle(struct tux_core *core, struct tux_pair *p, tux_time now);

static inline void tux_conn_settle_pair(struct tux_conn *c, tux_time now)
{
	if (c->pair && !tux_list_empty(&c->pair->waitq))
		tux_pair_settle(c->core, c->pair, now);
}

static inline void tux_conn_settle(struct tux_conn *c, tux_time now)
{
	if (c->dirty)
		tux_conn_derive(c, now);
	/* The deadline may have changed: it is looked at once, when the loop asks
	 * for it. */
	if (tux_list_empty(&c->untimed))
		tux_list_push(&c->core->untimed, &c->untimed);
}

#endif
