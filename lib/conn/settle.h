/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * settle - the settle step: derives what follows from the state of a connection
 *
 * An entry point of the core changes the state of a connection, marks in
 * `dirty` what it has changed, and then runs the settle step.  The settle step
 * does not run between tux_conn_tcp_out() and tux_conn_tcp_sent(), since the
 * send latch may be held there.
 *
 * Connections share the congestion window of their pair.  When less of one
 * connection is in flight than before, another may send.  So an entry point
 * settles the pair as well, in constant time: the first connection in line is
 * queued to send, and settles the pair again when it has sent.
 */
#ifndef TUX_CONN_SETTLE_H
#define TUX_CONN_SETTLE_H

#include "conn/conn.h"

/* Derives what follows from the parts of the state that `dirty` names, in the
 * order that DESIGN lists, and clears `dirty`.  What has to happen outside of
 * the core is recorded as effects (TUX_EFFECT_*). */
void tux_conn_derive(struct tux_conn *c, tux_time now);

/* For a pair with connections in line: queues the first of them to send if
 * there is room in the window.  If only the pace holds it back, sets the pair's
 * timer. */
void tux_pair_settle(struct tux_core *core, struct tux_pair *p, tux_time now);

/* Settles the pair of @c, if it has one and a connection is in line. */
static inline void tux_conn_settle_pair(struct tux_conn *c, tux_time now)
{
	if (c->pair && !tux_list_empty(&c->pair->waitq))
		tux_pair_settle(c->core, c->pair, now);
}

/* The settle step of @c: every entry point ends with it. */
static inline void tux_conn_settle(struct tux_conn *c, tux_time now)
{
	if (c->dirty)
		tux_conn_derive(c, now);
	/* The deadline may have changed.  It is computed later, once for all
	 * inputs of a turn, when the loop asks for it. */
	if (tux_list_empty(&c->untimed))
		tux_list_push(&c->core->untimed, &c->untimed);
}

#endif
