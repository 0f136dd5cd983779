/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pmtu - how long a datagram the path carries (RFC 8899)
 *
 * It begins with what the interface takes.  When long datagrams vanish twice in
 * a row, with none as long acknowledged in between, they go on at a length that
 * every path carries, and probes look for a longer one: empty packets, padded,
 * whose loss says nothing about congestion.  Whoever searches for long has the
 * narrowest link found; it is tried again later, for paths change.
 *
 * Lengths are those of UDP's payload.
 */
#ifndef TUX_PART_PMTU_H
#define TUX_PART_PMTU_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"

enum {
	/* An IPv4 host takes 576 bytes (RFC 1122, 3.3.2), IPv6 carries 1280. */
	TUX_PMTU_FLOOR = 512,
	TUX_PMTU_BASE = 1200,		/* what nearly every path carries */
	TUX_PMTU_STEP = 16,		/* no finer */
	TUX_PMTU_ROUNDS = 2,		/* in which long ones vanished */
	TUX_PMTU_TRIES = 3,		/* probes of a length, all lost */
	TUX_PMTU_ANSWER_S = 15,		/* a probe has not been heard of */
	TUX_PMTU_RAISE_S = 600,		/* the end of a search to the next */
};

struct tux_pmtu {
	uint32_t len;		/* no longer than this; UINT32_MAX: as long as
				 * the interface takes */
	uint32_t over;		/* so long is too long; UINT32_MAX: not known */
	uint32_t probe;		/* the length that is tried */
	unsigned tries;		/* ... and was lost */
	tux_time at;		/* a probe is due; TUX_NEVER: nothing to find */
	uint32_t gone;		/* the shortest that vanished; UINT32_MAX */
	unsigned rounds;	/* in which as long or longer ones did */
	tux_time round_at;	/* what left before is in one of them */
};

void tux_pmtu_init(struct tux_pmtu *p);

/* A datagram of at least @len bytes has arrived.  True: p->len has changed. */
bool tux_pmtu_carried(struct tux_pmtu *p, uint32_t len, tux_time now);

/* ... is known to have; once for an acknowledgment, of the longest in it. */
static inline bool tux_pmtu_acked(struct tux_pmtu *p, uint32_t len,
				  tux_time now)
{
	return (len >= p->gone || len > p->len) && tux_pmtu_carried(p, len, now);
}

/* One of @len bytes, no probe, that left at @sent_at is lost.  True: p->len has
 * changed. */
bool tux_pmtu_lost(struct tux_pmtu *p, uint32_t len, tux_time sent_at,
		   tux_time now);

/* p->at has passed: how long the probe is to be; 0: none is needed.  @max: what
 * the interface and the peer take. */
uint32_t tux_pmtu_probe(struct tux_pmtu *p, uint32_t max, tux_time now);

/* It, of @len bytes, is lost. */
void tux_pmtu_probe_lost(struct tux_pmtu *p, uint32_t len, tux_time now);

/* The interface takes another length: whatever was too long need not be. */
void tux_pmtu_again(struct tux_pmtu *p, tux_time now);

#endif
