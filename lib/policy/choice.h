/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * choice - which path a direction should take
 *
 * The rule behind all of it: no connection is slower with Tux than without.
 * Tux saves some 10 us for each burst, which is a request or an answer, because
 * no thread is woken through the kernel's TCP.  It costs some 2.5 us more for
 * each packet, because TCP hands up to 64 KiB to the interface at once and Tux
 * one packet, and 0.6 us for each KB, which Tux copies once more.  So short
 * bursts are faster over Tux, long ones over TCP.  Where the means are equal, the
 * slowest answers are slower over Tux, so a direction moves only if the mean gets
 * better by a fifth.  The limit is the same for both links; BENCHMARKS has the
 * curve.
 *
 * A direction begins on TCP.  It moves when enough bursts have shown that they
 * are short.  It returns when they have become long and TCP is faster.  Whether
 * TCP is faster is measured, by bytes per second on either path while bytes
 * wait.  After a return the direction stays on TCP for a hold, unless the rates
 * show that TCP is slower: then it moves back at once, and stays on Tux for a hold.
 * Each hold is twice as long as the last one, until the direction has been on Tux
 * for long.
 *
 * These functions are pure.  Evidence and the time go in, a decision comes out.
 */
#ifndef TUX_POLICY_CHOICE_H
#define TUX_POLICY_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "policy/backoff.h"
#include "policy/burst.h"

enum tux_path_mode {		/* what the user wants */
	TUX_PATH_MODE_TUX,	/* Tux whenever both ends can */
	TUX_PATH_MODE_AUTO,	/* the path that is faster */
	TUX_PATH_MODE_TCP,	/* TCP; nothing is announced */
};

enum {
	/* In ns: what Tux saves for a burst, less a fifth, and what it costs
	 * for a packet and for 1000 bytes. */
	TUX_CHOICE_SAVED = 8200,
	TUX_CHOICE_PACKET = 2450,
	TUX_CHOICE_KB = 600,
	/* Turn-arounds before a new connection opens the path.  The passive
	 * end needs fewer, so that it is ready when the active end opens. */
	TUX_CHOICE_TURNS_ACTIVE = 8,
	TUX_CHOICE_TURNS_PASSIVE = 6,
	/* ... and a direction that has returned. */
	TUX_CHOICE_TURNS_AGAIN = 32,
};

enum tux_move {
	TUX_STAY,
	TUX_MOVE,		/* from TCP to Tux */
	TUX_RETURN,		/* from Tux to TCP */
};

struct tux_choice {		/* of one direction */
	enum tux_path_mode mode;
	uint32_t limit;		/* bytes: the longest mean burst that suits
				 * Tux */
	uint32_t turns;		/* turn-arounds, when it last returned */
	bool returned;		/* it has been on Tux before */
	struct tux_backoff hold;	/* on either path */
	tux_time until;		/* end of the hold: after a return, short
					 * bursts do not move it before; after a
					 * move because TCP was slower, long bursts
					 * do not return it before */
	tux_time moved_at;	/* when it last moved to Tux */
	uint64_t tux_rate;	/* bytes per second over Tux while bytes waited;
				 * 0: not measured */
};

struct tux_evidence {
	uint64_t burst;		/* tux_burst_len(), */
	uint32_t mean;		/* ... tux_burst_mean(), */
	uint32_t turns;		/* tux_burst_turns() */
	uint64_t rate;		/* bytes per second on the present path, if
				 * bytes have waited for long enough to tell;
				 * 0: not known */
};

struct tux_grounds {		/* what decides about a connection, to be shown */
	uint32_t turns;		/* turn-arounds of both directions */
	uint32_t sent, received;	/* their mean bursts, in bytes */
	uint32_t limit;		/* bytes: the longest mean burst that suits
				 * Tux; 0: not known yet */
	uint64_t tux_rate;	/* bytes per second that left over Tux while
				 * bytes waited, before the last return; 0: not
				 * measured */
	uint64_t tcp_rate;	/* ... and over TCP, behind it */
};

/* The longest mean burst, in bytes, with which a direction moves.  @packet: the
 * payload of the longest datagram, in bytes. */
static inline uint32_t tux_choice_limit(uint32_t packet)
{
	uint64_t cost = TUX_CHOICE_PACKET +
			(uint64_t)TUX_CHOICE_KB * packet / 1000;

	return (uint32_t)((uint64_t)TUX_CHOICE_SAVED * packet / cost);
}

/* A direction that moves at @limit returns when its bursts are longer than
 * this. */
static inline uint64_t tux_choice_beyond(uint32_t limit)
{
	return limit + limit / 3;
}

/* @packet: as above. */
void tux_choice_init(struct tux_choice *p, enum tux_path_mode mode,
		     uint32_t packet);

/* The length of datagrams has changed. */
void tux_choice_packet(struct tux_choice *p, uint32_t packet);

/* How many turn-arounds a new connection needs before it opens the path. */
static inline uint32_t tux_choice_turns(bool active)
{
	return active ? TUX_CHOICE_TURNS_ACTIVE : TUX_CHOICE_TURNS_PASSIVE;
}

/* Should a connection that is not on Tux yet open the path?  @tx and @rx are its
 * two directions, @packet as above.  Both ends compare the same numbers where
 * they count the same bursts and TCP has agreed on one length of segments, so
 * the passive end opens if the active end will. */
bool tux_choice_opens(bool active, const struct tux_burst *tx,
		      const struct tux_burst *rx, uint32_t packet);

/* What should the direction do, which is on Tux (@on_tux) or on TCP?  Changes
 * nothing.  The caller acts on the answer, and then calls tux_choice_moved() or
 * tux_choice_returned(). */
enum tux_move tux_choice_look(const struct tux_choice *p, bool on_tux,
			      const struct tux_evidence *e, tux_time now);

void tux_choice_moved(struct tux_choice *p, const struct tux_evidence *e,
		      tux_time now);
void tux_choice_returned(struct tux_choice *p, const struct tux_evidence *e,
			 tux_time now);

/* On Tux: the longest bursts for which tux_choice_look() need not be asked. */
static inline uint64_t tux_choice_burst_max(const struct tux_choice *p)
{
	return p->mode == TUX_PATH_MODE_TUX ? UINT64_MAX :
	       tux_choice_beyond(p->limit);
}

/* On TCP: the count of turn-arounds, @turns being the present one, at which to call
 * tux_choice_look() again.  The caller also waits for p->until. */
static inline uint32_t tux_choice_look_turns(const struct tux_choice *p,
					     uint32_t turns)
{
	uint32_t at = p->turns + TUX_CHOICE_TURNS_AGAIN;

	return p->returned && at > turns ? at :
	       turns + TUX_CHOICE_TURNS_PASSIVE;
}

#endif
