/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sentq - the packets in flight, and what each carried
 *
 * A ring of entries, indexed by packet number.  The oldest number in flight is
 * the floor.  An entry leaves the flight when its packet is acknowledged
 * ("retired") or declared lost.  The content of a lost packet is sent again in
 * a packet with a new number.  The entry of a lost packet stays until its slot
 * is needed for another number: if the packet is acknowledged meanwhile, it was
 * not lost.  The ring is part of the struct, so nothing is allocated for a
 * packet.
 */
#ifndef TUX_TRANSPORT_SENTQ_H
#define TUX_TRANSPORT_SENTQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/time.h"

struct tux_sent {
	tux_time at;		/* when the packet left */
	uint64_t off;		/* stream bytes in it: [off, off + len) */
	uint32_t len;
	uint32_t size;		/* bytes in flight, for congestion control */
	uint32_t frag_at;	/* notes of messages in it; the caller's */
	uint16_t frag_n;
	uint16_t what;		/* control records in it; the caller's bits */
	uint16_t span;		/* its number less the floor that it told */
	uint8_t state;		/* enum tux_sent_state */
	bool timed;		/* declared lost by the retransmission timer */
	uint16_t reach;		/* where the packet ended in its datagram */
	bool ect;		/* its datagram left with ECT(0) */
};

enum tux_sent_state {
	TUX_SENT_RETIRED,	/* acknowledged, given up, or not used yet */
	TUX_SENT_FLIGHT,
	TUX_SENT_LOST,		/* declared lost, but may still arrive */
};

enum { TUX_SENTQ_CAP = 256 };	/* numbers from the floor on, at most */

struct tux_sentq {
	uint64_t floor, next;	/* numbers in flight are in [floor, next) */
	/* Packets that the timer declared lost may only be late.  So until a
	 * packet is acknowledged, the peer is told this floor instead: it is
	 * the oldest number that the timer declared lost.  0: none. */
	uint64_t hold;
	uint64_t top;		/* the highest acknowledged number, plus one */
	/* The peer was told that it may acknowledge every number below this,
	 * received or not: an acknowledgment of one of them proves nothing. */
	uint64_t closed;
	uint32_t lost_n;	/* entries in the state TUX_SENT_LOST */
	uint64_t in_flight;	/* sum of size over the packets in flight */
	uint64_t *sum;		/* the same, over all connections that share a
				 * window; NULL: not shared */
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

/* The floor to tell the peer. */
static inline uint64_t tux_sentq_told(const struct tux_sentq *q)
{
	return q->hold ? q->hold : q->floor;
}

/* The slot of @seq; it may hold the entry of another number. */
static inline struct tux_sent *tux_sentq_at(struct tux_sentq *q, uint64_t seq)
{
	return &q->ring[seq % TUX_SENTQ_CAP];
}

/* The slot for the packet of number q->next, which is about to leave; the queue
 * must not be full.  The caller fills the entry but for state, timed and span.
 * Then tux_sentq_push() puts it into the flight and advances q->next. */
struct tux_sent *tux_sentq_slot(struct tux_sentq *q);
void tux_sentq_push(struct tux_sentq *q);

/* Leaves out number q->next, which is returned, and moves the floor behind it.
 * Nothing may be in flight.  An acknowledgment beyond that number proves that
 * the peer has received a later packet. */
uint64_t tux_sentq_skip(struct tux_sentq *q);

/* The entry of @seq if that packet is in flight; otherwise NULL. */
static inline struct tux_sent *tux_sentq_find(struct tux_sentq *q, uint64_t seq)
{
	struct tux_sent *s = tux_sentq_at(q, seq);

	if (seq < q->floor || seq >= q->next || s->state != TUX_SENT_FLIGHT)
		return NULL;
	return s;
}

/* Retires @s, which is in flight or lost.  Its size leaves the flight, and the
 * floor moves up to the next packet in flight. */
void tux_sentq_retire(struct tux_sentq *q, struct tux_sent *s);

/* Declares @s, which is in flight, lost.  It leaves the flight, and its entry
 * stays. */
void tux_sentq_lose(struct tux_sentq *q, struct tux_sent *s);

/* The entry of @seq if that packet was declared lost and its entry has not been
 * used again; otherwise NULL. */
struct tux_sent *tux_sentq_lost(struct tux_sentq *q, uint64_t seq);

/* Retires all entries that were declared lost.  Nothing may be in flight.
 *
 * Call it after packets in flight were given up without an answer.  Such a
 * packet may have told the peer a higher floor than `closed` says.  Then the
 * peer acknowledges numbers below that floor, and that would look like proof
 * that lost packets have arrived. */
void tux_sentq_forget(struct tux_sentq *q);

/* Number @seq, with the entry @s, is acknowledged: it has arrived, and with it
 * the floor that it told. */
static inline void tux_sentq_arrived(struct tux_sentq *q, uint64_t seq,
				     const struct tux_sent *s)
{
	q->hold = 0;
	if (q->top <= seq)
		q->top = seq + 1;
	if (seq - s->span > q->closed)
		q->closed = seq - s->span;
}

/* The oldest packet in flight; NULL if there is none. */
static inline struct tux_sent *tux_sentq_oldest(struct tux_sentq *q)
{
	return tux_sentq_empty(q) ? NULL : tux_sentq_at(q, q->floor);
}

/* The newest packet in flight; NULL if there is none. */
struct tux_sent *tux_sentq_newest(struct tux_sentq *q);

#endif
