/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sentq - packets in flight and what each carried
 *
 * A ring indexed by number: the oldest number in flight is the floor.  An entry
 * leaves the flight when it is acknowledged or declared lost; what a lost
 * packet carried is told to the caller, who sends the content again under a
 * new number.  A lost entry stays until its place is needed: an acknowledgment
 * of it proves that it was not lost.  Memory is given at creation; nothing is
 * allocated later.
 */
#ifndef TUX_PART_SENTQ_H
#define TUX_PART_SENTQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/time.h"

struct tux_sent {
	tux_time at;		/* when it left */
	uint64_t off;		/* the stream bytes in it: [off, off + len) */
	uint32_t len;
	uint32_t size;		/* of the packet, for congestion control */
	uint32_t frag_at;	/* fragments of messages in it: the caller's */
	uint16_t frag_n;
	uint16_t what;		/* control records in it; the caller's bits */
	uint16_t span;		/* its number less the floor that it told */
	uint8_t state;		/* enum tux_sent_state */
	bool timed;		/* lost because the timer passed */
	uint16_t reach;		/* where it ended in its datagram */
	bool ect;		/* its datagram left with ECT(0) */
};

enum tux_sent_state { TUX_SENT_SETTLED, TUX_SENT_FLIGHT, TUX_SENT_LOST };

enum { TUX_SENTQ_CAP = 256 };	/* packets in flight, at most */

struct tux_sentq {
	uint64_t floor, next;	/* numbers in flight are in [floor, next) */
	/* What the timer declared lost may only be late: until there is news,
	 * the peer is told that we still wait for it.  0: nothing. */
	uint64_t hold;
	uint64_t top;		/* highest acknowledged number, plus one */
	/* The peer has heard that we do not wait for numbers below, so it
	 * acknowledges them whether they have arrived or not. */
	uint64_t closed;
	uint32_t lost_n;	/* entries declared lost, still here */
	uint64_t in_flight;	/* bytes, by size */
	uint64_t *sum;		/* in_flight of all that share a window; NULL */
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

/* The floor that the peer is told. */
static inline uint64_t tux_sentq_told(const struct tux_sentq *q)
{
	return q->hold ? q->hold : q->floor;
}

/* Where the entry of @seq is, or will be. */
static inline struct tux_sent *tux_sentq_at(struct tux_sentq *q, uint64_t seq)
{
	return &q->ring[seq % TUX_SENTQ_CAP];
}

/* A place for the packet that leaves now under number q->next (before the
 * call); the queue must not be full.  The caller fills at, off, len, size, what
 * and ect; tux_sentq_push() counts it. */
struct tux_sent *tux_sentq_slot(struct tux_sentq *q);
void tux_sentq_push(struct tux_sentq *q);

/* Leaves out a number, which is returned, and waits for none before it; nothing
 * is in flight.  Who acknowledges it has heard of a later one. */
uint64_t tux_sentq_skip(struct tux_sentq *q);

/* The entry of @seq if it is in flight; NULL if it is settled or unknown. */
static inline struct tux_sent *tux_sentq_find(struct tux_sentq *q, uint64_t seq)
{
	struct tux_sent *s = tux_sentq_at(q, seq);

	if (seq < q->floor || seq >= q->next || s->state != TUX_SENT_FLIGHT)
		return NULL;
	return s;
}

/* Settles @s, which is in flight or lost, and takes its size out of the flight;
 * the floor moves on. */
void tux_sentq_settle(struct tux_sentq *q, struct tux_sent *s);

/* @s, which is in flight, is lost: out of the flight, but remembered. */
void tux_sentq_lose(struct tux_sentq *q, struct tux_sent *s);

/* The entry of @seq if it was declared lost and is still here; NULL. */
struct tux_sent *tux_sentq_lost(struct tux_sentq *q, uint64_t seq);

/* Nothing is in flight, and what was is given up without an answer.  Then the
 * entries that were declared lost must go, too: the answer may have passed over
 * them because of a floor that was told with what is given up. */
void tux_sentq_forget(struct tux_sentq *q);

/* Number @seq, whose entry is @s, has arrived. */
static inline void tux_sentq_arrived(struct tux_sentq *q, uint64_t seq,
				     const struct tux_sent *s)
{
	q->hold = 0;
	if (q->top <= seq)
		q->top = seq + 1;
	if (seq - s->span > q->closed)
		q->closed = seq - s->span;
}

/* The oldest, the newest in flight; NULL if there is none. */
static inline struct tux_sent *tux_sentq_oldest(struct tux_sentq *q)
{
	return tux_sentq_empty(q) ? NULL : tux_sentq_at(q, q->floor);
}

struct tux_sent *tux_sentq_newest(struct tux_sentq *q);

#endif
