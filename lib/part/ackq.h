/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ackq - which numbers have arrived, and when to say so
 *
 * Numbers here are 64-bit and never wrap; tux_seq_expand() makes them from the
 * 32 bits on the wire.  The sender never reuses a number and tells with each
 * packet the lowest one that it still waits for, so holes below it are closed.
 */
#ifndef TUX_PART_ACKQ_H
#define TUX_PART_ACKQ_H

#include <stdbool.h>
#include <stdint.h>

#include "base/range.h"
#include "base/time.h"

struct tux_ackq {
	uint64_t next;		/* all below have arrived or are given up */
	struct tux_ranges seen;	/* arrived, at or above next */
	tux_time due_at;	/* when an ack must leave; TUX_NEVER: none owed */
	tux_time newest_at;	/* when the highest number arrived */
	uint64_t newest;	/* the highest number that arrived, plus one */
	unsigned owed_n;	/* packets not yet acknowledged */
};

enum tux_ackq_verdict {
	TUX_ACKQ_NEW,		/* never seen: process it, then tux_ackq_add() */
	TUX_ACKQ_OLD,		/* a duplicate, or given up */
	TUX_ACKQ_FULL,		/* too many holes to remember it: as if lost */
};

enum { TUX_ACKQ_EVERY = 8 };	/* packets per ack, when they come in order */

/* The 64-bit number nearest to @near whose low 32 bits are @low. */
uint64_t tux_seq_expand(uint64_t near, uint32_t low);

void tux_ackq_init(struct tux_ackq *q, uint64_t first);

/* What to do with number @seq, in a packet that tells @floor?  Changes
 * nothing. */
enum tux_ackq_verdict tux_ackq_check(const struct tux_ackq *q, uint64_t seq,
				     uint64_t floor);

/* Number @seq arrived at @now, after tux_ackq_check() said NEW; the ack may
 * wait for @delay.  An ack is due at once if there is a hole or
 * TUX_ACKQ_EVERY packets wait. */
void tux_ackq_add(struct tux_ackq *q, uint64_t seq, tux_time now,
		  tux_time delay);

/* The sender waits for nothing below @floor any more. */
void tux_ackq_floor(struct tux_ackq *q, uint64_t floor);

/* A duplicate arrived: its sender has missed our ack, so one is due at @now. */
void tux_ackq_again(struct tux_ackq *q, tux_time now);

/* An ack has left. */
void tux_ackq_sent(struct tux_ackq *q);

#endif
