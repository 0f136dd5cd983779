/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sentq - packets in flight and what each carried
 *
 * A ring indexed by number: the oldest unsettled number is the floor.  An
 * entry is settled when it is acknowledged or declared lost; what a lost
 * packet carried is told to the caller, who sends the content again under a
 * new number.  Memory is given at creation; nothing is allocated later.
 */
#ifndef TUX_PART_SENTQ_H
#define TUX_PART_SENTQ_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"

struct tux_sent {
	tux_time at;		/* when it left */
	uint64_t off;		/* the stream bytes in it: [off, off + len) */
	uint32_t len;
	uint32_t size;		/* of the packet, for congestion control */
	uint16_t what;		/* control records in it; the caller's bits */
	uint8_t state;		/* enum tux_sent_state */
};

enum tux_sent_state { TUX_SENT_SETTLED, TUX_SENT_FLIGHT };

enum { TUX_SENTQ_CAP = 256 };	/* packets in flight, at most */

struct tux_sentq {
	uint64_t floor, next;	/* numbers in flight are in [floor, next) */
	uint64_t top;		/* highest acknowledged number, plus one */
	uint64_t in_flight;	/* bytes, by size */
	struct tux_sent ring[TUX_SENTQ_CAP];
};

void tux_sentq_init(struct tux_sentq *q, uint64_t first);

static inline bool tux_sentq_full(const struct tux_sentq *q)
{
	return q->next - q->floor >= TUX_SENTQ_CAP;
}

static inline bool tux_sentq_empty(const struct tux_sentq *q)
{
	return q->next == q->floor;
}

/* A place for the packet that leaves now under number q->next (before the
 * call); the queue must not be full.  The caller fills at, off, len, size and
 * what; tux_sentq_push() counts it. */
struct tux_sent *tux_sentq_slot(struct tux_sentq *q);
void tux_sentq_push(struct tux_sentq *q);

/* The entry of @seq if it is in flight; NULL if it is settled or unknown. */
struct tux_sent *tux_sentq_find(struct tux_sentq *q, uint64_t seq);

/* Settles @s and takes its size out of the flight; the floor moves on. */
void tux_sentq_settle(struct tux_sentq *q, struct tux_sent *s);

/* The oldest in flight; NULL if there is none. */
struct tux_sent *tux_sentq_oldest(struct tux_sentq *q);

#endif
