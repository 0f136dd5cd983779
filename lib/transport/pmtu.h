/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pmtu - the longest datagram that a network path carries (DPLPMTUD, RFC 8899)
 *
 * A path begins with datagrams as long as the interface takes.  If long
 * datagrams are lost in two rounds, and none as long is acknowledged in
 * between, the path is taken for a black hole: datagrams go on at a length that
 * every path carries, and probes search for a longer one.  A probe is a packet
 * of padding that carries nothing to be sent again; its loss is no sign of
 * congestion.  The search ends when it knows the limit to within TUX_PMTU_STEP
 * bytes, and begins again later, because paths change.
 *
 * All lengths are those of UDP payloads.
 */
#ifndef TUX_TRANSPORT_PMTU_H
#define TUX_TRANSPORT_PMTU_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"

enum {
	/* Every IPv4 host accepts datagrams of 576 bytes (RFC 1122, 3.3.2), and
	 * every IPv6 link carries 1280; headers are taken off. */
	TUX_PMTU_FLOOR = 512,
	TUX_PMTU_BASE = 1200,	/* BASE_PLPMTU: nearly every path carries it */
	TUX_PMTU_STEP = 16,	/* the search is no finer */
	TUX_PMTU_ROUNDS = 2,	/* so many rounds with losses: a black hole */
	TUX_PMTU_TRIES = 3,	/* MAX_PROBES of one length */
	TUX_PMTU_ANSWER_S = 15,	/* PROBE_TIMER: then the probe is repeated */
	TUX_PMTU_RAISE_S = 600,	/* PMTU_RAISE_TIMER: from search to search */
};

struct tux_pmtu {
	uint32_t len;		/* the longest datagram to send; UINT32_MAX: as
				 * long as the interface takes */
	uint32_t over;		/* a length that the path does not carry;
				 * UINT32_MAX: none is known */
	uint32_t probe;		/* the length that probes try; 0: not chosen */
	unsigned tries;		/* probes of that length that were lost */
	tux_time at;		/* when a probe is due; TUX_NEVER: no search */
	/* Datagrams that were lost, with none as long acknowledged since: */
	uint32_t gone;		/* length of the shortest; UINT32_MAX: none */
	unsigned rounds;	/* rounds in which that happened */
	tux_time round_at;	/* when the last round was noticed: losses of
				 * datagrams that left before belong to it */
};

void tux_pmtu_init(struct tux_pmtu *p);

/* A datagram of at least @len bytes has arrived.  Returns true if that changes
 * p->len. */
bool tux_pmtu_carried(struct tux_pmtu *p, uint32_t len, tux_time now);

/* An acknowledgment arrived, and the longest datagram in it had @len bytes.
 * Returns true if that changes p->len. */
static inline bool tux_pmtu_acked(struct tux_pmtu *p, uint32_t len,
				  tux_time now)
{
	return (len >= p->gone || len > p->len) && tux_pmtu_carried(p, len, now);
}

/* A datagram of @len bytes, not a probe, that left at @sent_at is lost.
 * Returns true if that changes p->len. */
bool tux_pmtu_lost(struct tux_pmtu *p, uint32_t len, tux_time sent_at,
		   tux_time now);

/* p->at has passed: returns the length of the probe to send, or 0 if the search
 * is over.  @max is the most that the interface and the peer accept. */
uint32_t tux_pmtu_probe(struct tux_pmtu *p, uint32_t max, tux_time now);

/* A probe of @len bytes is lost. */
void tux_pmtu_probe_lost(struct tux_pmtu *p, uint32_t len, tux_time now);

/* The MTU of the interface has changed: what was too long may pass now, so the
 * search begins again. */
void tux_pmtu_again(struct tux_pmtu *p, tux_time now);

#endif
