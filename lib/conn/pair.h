/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pair - what the connections between two loops, over the same two addresses,
 * share (RFC 9040)
 *
 * Their packets take the same path through the network.  So these connections
 * share one congestion window, the pace, the length of datagrams, an estimate
 * of the round-trip time, and whether the path can be trusted with ECN.  A
 * connection that finds no room in the window waits in line, first come, first
 * served.  While all connections of a pair are idle, one of them asks now and
 * then, in turns, whether the path still answers.  The pair is made when the
 * first connection hears from the peer, and freed with the last.
 *
 * A connection is known here by its places in the pair's two lists,
 * tux_conn.waitq and tux_conn.use.
 */
#ifndef TUX_CONN_PAIR_H
#define TUX_CONN_PAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/heap.h"
#include "base/list.h"
#include "base/map.h"
#include "base/sip.h"
#include "transport/cc.h"
#include "transport/ecn.h"
#include "transport/pace.h"
#include "transport/pmtu.h"
#include "transport/rtt.h"

struct tux_pairs {			/* all of a core */
	const struct tux_mem *mem;
	const struct tux_cc_ops *cc;	/* how their windows grow */
	struct tux_key key;
	struct tux_map map;
	struct tux_heap paces;		/* pairs that the pace holds back */
	struct tux_heap idle;		/* pairs with users: when to look */
	uint32_t n;			/* pairs */
};

struct tux_pair {
	uint64_t key;			/* in the map; 0: not there */
	uint32_t conn_n;
	uint32_t mss;			/* longest packet that a connection of the
					 * pair may send; cc.mss is the minimum of
					 * this and of pmtu.len */
	struct tux_cc cc;
	struct tux_pace pace;
	struct tux_pmtu pmtu;
	struct tux_rtt rtt;		/* of the connection that measured last */
	struct tux_ecn ecn;
	uint64_t in_flight;		/* bytes, of all connections */
	uint64_t used;			/* the most that was in flight in this round
					 * trip, */
	uint64_t used_before;		/* ... and in the one before */
	tux_time round_at;		/* when this round trip began */
	tux_time ack_at;		/* the last acknowledgment of any of them */
	tux_time asked_at;		/* when one asked on a way that was new */
	bool down;			/* a connection has stalled, and nothing was
					 * acknowledged since */
	bool full;			/* the last connection that wanted to send
					 * was held back */
	struct tux_list waitq;		/* connections that are held back, in line */
	struct tux_heap_node timer;	/* when the pace lets the next one send */
	struct tux_list users;		/* connections that send over Tux */
	struct tux_heap_node idle;	/* when to look whether the pair is idle */
};

/* @key, @cc and @mem: for all pairs.  @key is copied; the others must outlive
 * @ps. */
void tux_pairs_init(struct tux_pairs *ps, const struct tux_key *key,
		    const struct tux_cc_ops *cc, const struct tux_mem *mem);

/* All pairs have been put. */
void tux_pairs_fini(struct tux_pairs *ps);

/* The earliest instant at which tux_pairs_due() or tux_pairs_idle() may
 * return a connection; TUX_NEVER: no timer is set. */
tux_time tux_pairs_deadline(const struct tux_pairs *ps);

/* Of a pair that the pace no longer holds back at @now: takes the first
 * connection out of the line, which may send.  NULL: there is no such pair (any
 * more). */
struct tux_list *tux_pairs_due(struct tux_pairs *ps, tux_time now);

/* Is it time to call tux_pairs_idle()? */
static inline bool tux_pairs_may_be_idle(const struct tux_pairs *ps, tux_time now)
{
	const struct tux_heap_node *n = tux_heap_min(&ps->idle);

	return n && n->at <= now;
}

/* Of a pair with users, on which nothing is in flight and nothing was
 * acknowledged for @in: returns the user that should now ask the peer.  Users
 * take turns.  NULL: there is no such pair (any more). */
struct tux_list *tux_pairs_idle(struct tux_pairs *ps, tux_time in,
				  tux_time now);

/* A connection from address @local to the loop @token at address @peer joins
 * its pair, which is made if there is none yet.  @token 0: the peer's loop is
 * not known, so the connection gets a pair of its own.  @mss is the longest
 * packet of the connection.  NULL: no memory.  tux_pair_put() gives the pair
 * back. */
struct tux_pair *tux_pair_get(struct tux_pairs *ps, const uint8_t local[16],
			      const uint8_t peer[16], uint64_t token,
			      uint32_t mss);

/* A connection leaves @p; it is in none of its lists, and has nothing in
 * flight.  The last one frees @p. */
void tux_pair_put(struct tux_pairs *ps, struct tux_pair *p);

/* Adds @place, of a connection, to the users of @p.  The connection removes it
 * when it no longer sends over Tux. */
void tux_pair_use(struct tux_pairs *ps, struct tux_pair *p,
		  struct tux_list *place, tux_time now);

/* Do window and pace let a connection of @p send now? */
static inline bool tux_pair_room(const struct tux_pair *p, tux_time now)
{
	return p->in_flight < p->cc.w.cwnd && tux_pace_open(&p->pace, now);
}

/* A packet of @p has left.  Notes how much of the window is in use. */
static inline void tux_pair_sent(struct tux_pair *p)
{
	if (p->used < p->in_flight)
		p->used = p->in_flight;
}

/* Is the window in use, so that it may grow?  A connection was held back, and
 * at least half of the window was in flight in this round trip or in the last
 * one: it may be the pace alone that holds connections back. */
static inline bool tux_pair_in_use(const struct tux_pair *p)
{
	uint64_t half = p->cc.w.cwnd / 2;

	return p->full && (p->used >= half || p->used_before >= half);
}

/* The connection of @place may not send now: it goes to the end of the line,
 * unless it is in line already. */
void tux_pair_wait(struct tux_pairs *ps, struct tux_pair *p,
		   struct tux_list *place);

/* A connection is in line.  If the window has room, and only the pace holds the
 * connection back, sets the timer for tux_pairs_due(). */
void tux_pair_hold(struct tux_pairs *ps, struct tux_pair *p);

/* Takes the first connection out of the line, which sends and then lets the
 * next one send.  NULL: nothing may be sent, or the line is empty. */
struct tux_list *tux_pair_next(struct tux_pair *p, tux_time now);

/* @a was acknowledged; @rtt is the estimate of its connection. */
void tux_pair_acked(struct tux_pair *p, const struct tux_cc_ack *a,
		    const struct tux_rtt *rtt, tux_time now);

/* p->pmtu.len has changed because a longer datagram than before has arrived:
 * adapts cc.mss.  (When pmtu.len falls, cc.mss stays: a path that carries
 * nothing at all says nothing about lengths.) */
void tux_pair_fit(struct tux_pair *p);

/* The retransmission timer of a connection expired: it has waited since @since,
 * and its @n packets in flight are lost.  If another connection of the pair was
 * acknowledged something since then, and within the last @rto, the path works:
 * it counts as a loss, not as a timeout. */
void tux_pair_timeout(struct tux_pair *p, unsigned n, tux_time since,
		      tux_time rto, tux_time now);

/* A connection that has waited since @since goes back to TCP.  If the others
 * were acknowledged nothing since then either, the pair is down. */
void tux_pair_stalled(struct tux_pair *p, tux_time since);

#endif
