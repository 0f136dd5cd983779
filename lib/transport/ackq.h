/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ackq - which packet numbers have arrived, and when an acknowledgment is due
 *
 * This is the receiver's half of acknowledgments; the sender's is sentq.
 *
 * Packet numbers here have 64 bits and never wrap; tux_seq_expand() makes them
 * from the 32 bits on the wire.  A sender never uses a number twice.  With each
 * packet it tells its floor, the lowest number for which it still wants an
 * acknowledgment, so the receiver treats every gap below the floor as closed.
 */
#ifndef TUX_TRANSPORT_ACKQ_H
#define TUX_TRANSPORT_ACKQ_H

#include <stdbool.h>
#include <stdint.h>

#include "base/range.h"
#include "base/time.h"

struct tux_ackq {
	uint64_t next;		/* each number below has arrived, or is below
				 * the sender's floor */
	struct tux_ranges seen;	/* arrived numbers above next */
	tux_time due_at;	/* an ack must leave then; TUX_NEVER: none */
	tux_time newest_at;	/* when the highest number arrived */
	uint64_t newest;	/* the highest number that arrived, plus one */
	unsigned owed_n;	/* packets since the last ack left */
};

enum tux_ackq_verdict {
	TUX_ACKQ_NEW,		/* process the packet, then tux_ackq_add() */
	TUX_ACKQ_OLD,		/* a duplicate, or below the sender's floor */
	TUX_ACKQ_FULL,		/* too many gaps to remember it: drop it */
};

/* Packets per ack while they arrive in order. */
enum { TUX_ACKQ_EVERY = 8 };

/* The 64-bit number closest to @near that has the low 32 bits @low, as QUIC
 * expands packet numbers (RFC 9000, A.3). */
uint64_t tux_seq_expand(uint64_t near, uint32_t low);

void tux_ackq_init(struct tux_ackq *q, uint64_t first);

/* What to do with the packet of number @seq, which tells @floor.  Changes
 * nothing. */
enum tux_ackq_verdict tux_ackq_check(const struct tux_ackq *q, uint64_t seq,
				     uint64_t floor);

/* Number @seq arrived at @now; tux_ackq_check() has returned TUX_ACKQ_NEW for
 * it.  An ack is due at once if there is a gap, or if this number closes the
 * last gap, or if TUX_ACKQ_EVERY packets wait for an ack; otherwise after
 * @delay. */
void tux_ackq_add(struct tux_ackq *q, uint64_t seq, tux_time now,
		  tux_time delay);

/* The sender has told @floor: gaps below it are closed. */
void tux_ackq_floor(struct tux_ackq *q, uint64_t floor);

/* A duplicate arrived.  Its sender seems to have missed the ack, so another ack
 * is due at @now. */
void tux_ackq_again(struct tux_ackq *q, tux_time now);

/* A packet has left, and each packet carries an ack. */
void tux_ackq_sent(struct tux_ackq *q);

#endif
