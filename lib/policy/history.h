/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * history - what earlier connections to a peer have shown
 *
 * A peer may announce Tux and then not answer over UDP: something on the way
 * drops UDP, or the peer's process never opens the path.  The next connections
 * to it would send their HELLOs in vain, too.  So they wait for a hold, which
 * doubles with each connection that had no answer, and which long peace
 * shortens again.
 *
 * All connections to a peer may end after a request or two.  Then the option in
 * TCP's handshake and the counting of bytes cost time and bring nothing.  After
 * a row of such connections, close after each other, the next ones are left
 * alone: they are neither announced nor looked at.  Now and then one is, as a
 * probe; not sooner than some time after the last, for a probe costs as much as
 * several that are left alone.  The row ends with a probe that lasts, and with a
 * pause.
 *
 * The tables have a fixed size; a peer may take the place of another one.  Any
 * thread may call.  Of two calls at the same time, one has no effect or returns
 * false, because neither waits for the other.
 */
#ifndef TUX_POLICY_HISTORY_H
#define TUX_POLICY_HISTORY_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/latch.h"
#include "base/time.h"
#include "policy/backoff.h"
#include "wire/addr.h"
#include "wire/reason.h"

enum {
	TUX_HISTORY_PEERS = 64,
	TUX_HISTORY_BRIEF = 64,		/* connections that make a row */
	TUX_HISTORY_PROBE = 16,		/* then, connections per probe, ... */
	TUX_HISTORY_PROBE_MS = 10,	/* ... and time between probes */
};

struct tux_history {			/* all zero: no peer is known */
	struct tux_latch latch;
	_Atomic bool rows;		/* there is one: until then, a question
				 * touches no more of the table */
	struct tux_history_peer {
		struct tux_addr addr;
		struct tux_backoff hold;
		tux_time until;		/* 0: it has answered since */
	} peer[TUX_HISTORY_PEERS];
	struct tux_history_row {
		struct tux_addr addr;
		uint32_t n;		/* connections that ended, in a row */
		uint32_t left;		/* left alone since the last probe */
		tux_time at;		/* when one last ended, or was left
					 * alone, or was a probe */
		tux_time probed;	/* when one was a probe last; 0: none */
	} row[TUX_HISTORY_PEERS];
};

/* A connection to @addr got on @tux; or it did not, because of @why. */
void tux_history_decided(struct tux_history *p, const struct tux_addr *addr,
			 bool tux, enum tux_reason why, tux_time now);

/* Should a connection to @addr not open the path yet? */
bool tux_history_waits(struct tux_history *p, const struct tux_addr *addr,
		       tux_time now);

/* A connection to @addr has carried something both ways and ended before it was
 * worth Tux; or it is worth Tux. */
void tux_history_ended(struct tux_history *p, const struct tux_addr *addr,
		       tux_time now);
void tux_history_lasted(struct tux_history *p, const struct tux_addr *addr);

/* A connection to @addr begins.  Will it end before it is worth Tux, as far as
 * can be told?  Then it is to be left alone. */
bool tux_history_brief(struct tux_history *p, const struct tux_addr *addr,
		       tux_time now);

#endif
