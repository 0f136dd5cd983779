/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * policy - which path a direction should take
 *
 * The rule behind all of it: no connection is slower with Tux than without.
 * Tux saves some 10 us for each burst, which is a request or an answer, because
 * no thread is woken through the kernel's TCP.  It costs 2 to 4 us more for
 * each packet, because TCP hands up to 64 KiB to the interface at once and Tux
 * one packet.  So short bursts are faster over Tux, long ones over TCP.  The
 * limit between the two is a number of packets; BENCHMARKS has the curve.
 *
 * A direction begins on TCP.  It moves when enough bursts have shown that they
 * are short.  It returns when they have become long and TCP is faster.  Whether
 * TCP is faster is measured, by bytes per second on either path while bytes
 * wait.  After each return the direction stays on TCP at least for a hold, which
 * doubles with each return soon after a move.
 *
 * These functions are pure.  Evidence and the time go in, a decision comes out.
 */
#ifndef TUX_PART_POLICY_H
#define TUX_PART_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "part/talk.h"

enum tux_path_mode {		/* what the user wants */
	TUX_PATH_MODE_TUX,	/* Tux whenever both ends can */
	TUX_PATH_MODE_AUTO,	/* the path that is faster */
	TUX_PATH_MODE_TCP,	/* TCP; nothing is announced */
};

enum {
	/* A direction whose mean burst is at most so many packets moves. */
	TUX_POLICY_PACKETS = 4,
	/* Turn-arounds that a new connection has to show: fewer at the passive
	 * end, which so is ready when the active end opens the path. */
	TUX_POLICY_TURNS_ACTIVE = 8,
	TUX_POLICY_TURNS_PASSIVE = 6,
	/* ... and a direction that has returned. */
	TUX_POLICY_TURNS_AGAIN = 32,
};

enum tux_move {
	TUX_STAY,
	TUX_MOVE,		/* from TCP to Tux */
	TUX_RETURN,		/* from Tux to TCP */
};

struct tux_policy {		/* of one direction */
	enum tux_path_mode mode;
	uint32_t limit;		/* bytes: the longest mean burst that suits
				 * Tux */
	uint32_t turns;		/* the talk's turn-arounds, when the direction
				 * last returned */
	bool returned;		/* it has been on Tux before */
	tux_time hold;		/* on TCP, after the next return */
	tux_time until;		/* after a return, on TCP until then; after a
				 * move because TCP was slower, on Tux */
	tux_time moved_at;	/* when it last moved to Tux */
	uint64_t tux_rate;	/* bytes per second over Tux while bytes waited;
				 * 0: not measured */
};

struct tux_evidence {
	uint64_t burst;		/* tux_talk_burst() */
	uint32_t turns;		/* tux_talk_turns() */
	uint64_t rate;		/* bytes per second on the present path, if
				 * bytes have waited for long enough to tell;
				 * 0: not known */
};

/* @packet: the payload of the longest datagram, in bytes. */
void tux_policy_init(struct tux_policy *p, enum tux_path_mode mode,
		     uint32_t packet);

/* The length of datagrams has changed. */
void tux_policy_packet(struct tux_policy *p, uint32_t packet);

/* Should a connection that is not on Tux yet open the path?  @tx and @rx are its
 * two directions, @packet as above. */
bool tux_policy_opens(enum tux_path_mode mode, bool active,
		      const struct tux_talk *tx, const struct tux_talk *rx,
		      uint32_t packet);

/* What should a direction do that is @on_tux?  It changes nothing; the caller
 * does what it says, and then calls tux_policy_moved() or
 * tux_policy_returned(). */
enum tux_move tux_policy_look(const struct tux_policy *p, bool on_tux,
			      const struct tux_evidence *e, tux_time now);

void tux_policy_moved(struct tux_policy *p, const struct tux_evidence *e,
		      tux_time now);
void tux_policy_returned(struct tux_policy *p, const struct tux_evidence *e,
			 tux_time now);

/* On TCP: when is it worth looking again?  After how many turn-arounds in all,
 * and not before p->until. */
static inline uint32_t tux_policy_look_turns(const struct tux_policy *p,
					     uint32_t turns)
{
	uint32_t at = p->turns + TUX_POLICY_TURNS_AGAIN;

	return p->returned && at > turns ? at :
	       turns + TUX_POLICY_TURNS_PASSIVE;
}

#endif
