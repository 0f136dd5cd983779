/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ecn - does the path mark packets instead of dropping them (RFC 3168)?
 *
 * Who receives counts, for each connection, the numbered packets that came with
 * ECT(0) or CE, and those with CE; both counts go back in every packet, modulo
 * 256, so that nothing is lost with an acknowledgment.  Who sends compares them
 * with what it sent and what has been acknowledged.  There are paths that clear
 * the bits, set them to no purpose, or drop what has them; on such a path
 * nothing has them any more (RFC 9000, 13.4.2).
 *
 * The verdict is about a path, and so about all connections on it; the counts
 * are a connection's.
 */
#ifndef TUX_PART_ECN_H
#define TUX_PART_ECN_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/wire.h"

enum {
	TUX_ECN_ROUNDS = 10,	/* reductions in a row, and all packets CE */
	TUX_ECN_HOLES = 3,	/* times that only packets without ECT passed */
};

enum tux_ecn_verdict {
	TUX_ECN_GOOD,		/* or nothing is known against it */
	TUX_ECN_BLEACHED,	/* packets arrived, and ECT(0) did not */
	TUX_ECN_INVENTED,	/* more arrived with it than was sent */
	TUX_ECN_ALL_CE,		/* CE, however little is sent */
	TUX_ECN_HOLE,		/* packets with ECT(0) do not arrive */
};

struct tux_ecn {			/* a path; all zero at first */
	uint8_t verdict;	/* enum tux_ecn_verdict */
	uint8_t rounds;		/* reductions since one came without CE */
	uint8_t holes;
	bool lost;		/* one with ECT(0), and none arrived since */
};

struct tux_ecn_counts {			/* modulo 256 */
	uint8_t ect, ce;	/* came with ECT(0) or CE; with CE */
};

struct tux_ecn_sent {			/* a connection's; all zero at first */
	struct tux_ecn_counts heard;	/* the peer's, last */
	/* Packets with ECT(0), modulo 2^32.  What is acknowledged has been
	 * counted, what has been counted was sent. */
	uint32_t sent_n, counted_n, acked_n;
};

/* May packets leave with ECT(0)? */
static inline bool tux_ecn_capable(const struct tux_ecn *e)
{
	return e->verdict == TUX_ECN_GOOD;
}

/* A numbered packet came in a datagram with @ecn (TUX_ECN_*). */
static inline void tux_ecn_came(struct tux_ecn_counts *c, uint8_t ecn)
{
	bool ce = ecn == TUX_ECN_CE;

	c->ect = (uint8_t)(c->ect + (ce || ecn == TUX_ECN_ECT0));
	c->ce = (uint8_t)(c->ce + ce);
}

/* A packet that left with ECT(0), or (@ect false) without, is lost. */
static inline void tux_ecn_lost(struct tux_ecn *e, bool ect)
{
	e->lost |= ect;
}

/* @n packets of a connection are acknowledged, of which @ect_n had left with
 * ECT(0). */
void tux_ecn_acked(struct tux_ecn *e, struct tux_ecn_sent *s, uint64_t ect_n,
		   uint64_t n);

/* The peer's counts as of an acknowledgment that is newer than all others, told
 * to tux_ecn_acked() before.  How many more packets have come with CE; 0 if the
 * path is not to be believed. */
unsigned tux_ecn_heard(struct tux_ecn *e, struct tux_ecn_sent *s,
		       struct tux_ecn_counts c);

/* The window was reduced because of CE. */
void tux_ecn_reduced(struct tux_ecn *e);

#endif
