/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ecn - ECN marks, and whether a network path supports ECN (RFC 3168)
 *
 * The receiver of a connection counts the ELICIT packets that it keeps: those
 * that came with ECT(0) or CE, and those of them that came with CE.  Each
 * packet carries both counts, modulo 256, so no mark is lost with an
 * acknowledgment.  The sender compares the growth of the counts with what it
 * sent with ECT(0) and with what was acknowledged of that.  Some paths clear
 * ECT(0), set CE on everything, or drop packets with ECT(0).  When the sender
 * finds that, it sends no packet with ECT(0) on that path any more (RFC 9000,
 * 13.4.2).
 *
 * The verdict (struct tux_ecn) belongs to a path and is shared by all
 * connections on it; the counts belong to a connection.
 */
#ifndef TUX_TRANSPORT_ECN_H
#define TUX_TRANSPORT_ECN_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/wire.h"

enum {
	TUX_ECN_ROUNDS = 10,	/* reductions for CE while every packet has CE:
				 * then the verdict is ALL_CE */
	TUX_ECN_HOLES = 3,	/* times that packets with ECT(0) were lost and
				 * only others arrived: then it is HOLE */
};

enum tux_ecn_verdict {
	TUX_ECN_GOOD,		/* nothing is known against the path */
	TUX_ECN_BLEACHED,	/* packets arrived, but without ECT(0) or CE */
	TUX_ECN_INVENTED,	/* the counts grew by more than was sent */
	TUX_ECN_ALL_CE,		/* every packet has CE, however small cwnd is */
	TUX_ECN_HOLE,		/* packets with ECT(0) are dropped */
};

struct tux_ecn {		/* of a path; all zero at first */
	uint8_t verdict;	/* enum tux_ecn_verdict */
	uint8_t rounds;		/* reductions for CE since a packet with ECT(0)
				 * arrived without CE */
	uint8_t holes;		/* see TUX_ECN_HOLES */
	bool lost;		/* a packet with ECT(0) was lost, and none has
				 * been acknowledged since */
};

struct tux_ecn_counts {		/* packets, modulo 256 */
	uint8_t ect;		/* that came with ECT(0) or CE */
	uint8_t ce;		/* that came with CE */
};

struct tux_ecn_sent {		/* of a connection; all zero at first */
	struct tux_ecn_counts heard;	/* the newest counts of the peer */
	/* Packets with ECT(0), modulo 2^32: sent, counted by the peer, and
	 * acknowledged. */
	uint32_t sent_n, counted_n, acked_n;
};

/* May packets leave with ECT(0)? */
static inline bool tux_ecn_capable(const struct tux_ecn *e)
{
	return e->verdict == TUX_ECN_GOOD;
}

/* An ELICIT packet that the receiver keeps came in a datagram with @ecn
 * (TUX_ECN_NONE to TUX_ECN_CE). */
static inline void tux_ecn_came(struct tux_ecn_counts *c, uint8_t ecn)
{
	bool ce = ecn == TUX_ECN_CE;

	c->ect = (uint8_t)(c->ect + (ce || ecn == TUX_ECN_ECT0));
	c->ce = (uint8_t)(c->ce + ce);
}

/* A packet is lost; @ect: it left with ECT(0). */
static inline void tux_ecn_lost(struct tux_ecn *e, bool ect)
{
	e->lost |= ect;
}

/* @n packets of a connection are acknowledged; @ect_n of them left with
 * ECT(0). */
void tux_ecn_acked(struct tux_ecn *e, struct tux_ecn_sent *s, uint64_t ect_n,
		   uint64_t n);

/* The peer's counts @c came with an acknowledgment that is newer than any
 * before it and has been given to tux_ecn_acked().  Returns how many packets
 * came with CE since the last such counts; 0 if the path does not support
 * ECN. */
unsigned tux_ecn_heard(struct tux_ecn *e, struct tux_ecn_sent *s,
		       struct tux_ecn_counts c);

/* The window was reduced because of CE. */
void tux_ecn_reduced(struct tux_ecn *e);

#endif
