/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pair - what the connections between two loops, over the same two addresses,
 * share (RFC 9040)
 *
 * They take the same way, so the congestion window belongs to all of them, and
 * so do the pace, the length of datagrams, a first guess at the round trip, and
 * the verdict on ECN.  Each sends in its turn while there is room in the window;
 * who finds none waits in line.  While none of them sends, one after the other
 * sees now and then whether the path still answers.  The pair is made when the first of them hears
 * from the peer, and goes with the last.
 */
#ifndef TUX_CONN_PAIR_H
#define TUX_CONN_PAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/heap.h"
#include "base/list.h"
#include "base/map.h"
#include "base/sip.h"
#include "part/cc.h"
#include "part/ecn.h"
#include "part/pace.h"
#include "part/pmtu.h"
#include "part/rtt.h"

struct tux_pairs {			/* all of a core */
	const struct tux_mem *mem;
	const struct tux_cc_ops *cc;	/* how their windows grow */
	struct tux_key key;
	struct tux_map map;
	struct tux_heap paces;		/* those whose pace holds somebody back */
	struct tux_heap rests;		/* those that may rest */
	uint32_t n;
};

struct tux_pair {
	uint64_t key;			/* in the map; 0: not there */
	uint32_t conn_n;
	uint32_t mss;			/* longest packet that any may send; with
					 * what the path carries, it makes cc.mss */
	struct tux_cc cc;
	struct tux_pace pace;
	struct tux_pmtu pmtu;
	struct tux_rtt rtt;		/* as the last of them measured it */
	struct tux_ecn ecn;
	uint64_t in_flight;		/* bytes, of all */
	tux_time ack_at;		/* any of them was acknowledged something */
	bool down;			/* nobody answered one for long, nor since */
	bool full;			/* the last connection that wanted to send
					 * was held back */
	struct tux_list waitq;		/* who is, in line */
	struct tux_heap_node timer;	/* when the pace lets the next one go */
	struct tux_list users;		/* who sends this way */
	struct tux_heap_node rest;	/* when to look whether anybody did */
};

void tux_pairs_init(struct tux_pairs *ps, const struct tux_key *key,
		    const struct tux_cc_ops *cc, const struct tux_mem *mem);
void tux_pairs_fini(struct tux_pairs *ps);

/* The earliest instant at which tux_pairs_due() or tux_pairs_rested() may have
 * one; TUX_NEVER. */
tux_time tux_pairs_deadline(const struct tux_pairs *ps);

/* Takes out of its line the first whom the pace of its pair lets go at @now; NULL
 * if there is none (left). */
struct tux_list *tux_pairs_due(struct tux_pairs *ps, tux_time now);

/* Is it time to look for one of those? */
static inline bool tux_pairs_may_rest(const struct tux_pairs *ps, tux_time now)
{
	const struct tux_heap_node *n = tux_heap_min(&ps->rests);

	return n && n->at <= now;
}

/* A pair that nobody has heard of for @in: the next of its users, whose turn it
 * is to ask.  NULL: there is none (left). */
struct tux_list *tux_pairs_rested(struct tux_pairs *ps, tux_time in,
				  tux_time now);

/* The pair with the loop that @token names at address @peer, from address
 * @local, for one connection more, whose packets are up to @mss bytes; 0 names
 * none, so that the pair is that connection's own.  NULL: no memory. */
struct tux_pair *tux_pair_get(struct tux_pairs *ps, const uint8_t local[16],
			      const uint8_t peer[16], uint64_t token,
			      uint32_t mss);

/* A connection, out of line and with nothing in flight, leaves @p. */
void tux_pair_put(struct tux_pairs *ps, struct tux_pair *p);

/* From now on @place's owner sends this way, until it takes it out. */
void tux_pair_use(struct tux_pairs *ps, struct tux_pair *p,
		  struct tux_list *place, tux_time now);

/* May a connection of @p send now? */
static inline bool tux_pair_room(const struct tux_pair *p, tux_time now)
{
	return p->in_flight < p->cc.w.cwnd && tux_pace_open(&p->pace, now);
}

/* It may not: @place, if in no line yet, is last in line. */
void tux_pair_wait(struct tux_pairs *ps, struct tux_pair *p,
		   struct tux_list *place);

/* Somebody is in line: if only the pace holds them back, a timer says when it
 * does no more. */
void tux_pair_hold(struct tux_pairs *ps, struct tux_pair *p);

/* There may be room: takes the first out of the line, whose turn it is, and who
 * lets the next one go when it has sent.  NULL: no room, or no line. */
struct tux_list *tux_pair_next(struct tux_pair *p, tux_time now);

/* Something was acknowledged, and @rtt is what its connection knows now. */
void tux_pair_acked(struct tux_pair *p, const struct tux_cc_ack *a,
		    const struct tux_rtt *rtt, tux_time now);

/* The path has carried a longer datagram than was known, and p->pmtu says how
 * long: packets of the controller are no longer than that.  (While nothing
 * passes at all, nothing is known of lengths, and they stay as they were.) */
void tux_pair_fit(struct tux_pair *p);

/* The timer of one passed, which has waited since @since, and @n packets are
 * lost.  If others have had answers meanwhile, and within @rto, the path is not
 * to blame: it is a loss. */
void tux_pair_timeout(struct tux_pair *p, unsigned n, tux_time since,
		      tux_time rto, tux_time now);

/* One has waited since @since in vain, for so long that it gives the way up. */
void tux_pair_stalled(struct tux_pair *p, tux_time since);

#endif
