/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sentq - the packets in flight, and what each carried
 *
 * Invariant: the packet at the floor is in flight, unless none is; then the
 * floor is `next`.
 */
#include "transport/sentq.h"

#include <assert.h>

void tux_sentq_init(struct tux_sentq *q, uint64_t first)
{
	*q = (struct tux_sentq){
		.floor = first, .next = first, .top = first,
		.closed = first,
	};
}

struct tux_sent *tux_sentq_slot(struct tux_sentq *q)
{
	struct tux_sent *s = tux_sentq_at(q, q->next);

	assert(!tux_sentq_full(q) && "the caller has asked tux_sentq_full()");
	if (s->state == TUX_SENT_LOST) {
		s->state = TUX_SENT_RETIRED;
		q->lost_n--;
	}
	return s;
}

void tux_sentq_push(struct tux_sentq *q)
{
	struct tux_sent *s = tux_sentq_at(q, q->next);

	s->state = TUX_SENT_FLIGHT;
	s->timed = false;
	s->span = (uint16_t)(q->next - tux_sentq_told(q));
	q->in_flight += s->size;
	if (q->sum)
		*q->sum += s->size;
	q->next++;
}

uint64_t tux_sentq_skip(struct tux_sentq *q)
{
	assert(tux_sentq_empty(q) && "the floor passes no packet in flight");
	tux_sentq_slot(q)->state = TUX_SENT_RETIRED;
	q->hold = 0;
	q->floor = q->next + 1;
	return q->next++;
}

/* Takes @s out of the flight into @state. */
static void sentq_land(struct tux_sentq *q, struct tux_sent *s, uint8_t state)
{
	s->state = state;
	q->in_flight -= s->size;
	if (q->sum)
		*q->sum -= s->size;
	while (q->floor < q->next &&
	       tux_sentq_at(q, q->floor)->state != TUX_SENT_FLIGHT)
		q->floor++;
}

void tux_sentq_retire(struct tux_sentq *q, struct tux_sent *s)
{
	assert(s->state != TUX_SENT_RETIRED && "an entry is retired once");
	if (s->state == TUX_SENT_LOST) {
		s->state = TUX_SENT_RETIRED;
		q->lost_n--;
	} else {
		sentq_land(q, s, TUX_SENT_RETIRED);
	}
}

void tux_sentq_lose(struct tux_sentq *q, struct tux_sent *s)
{
	assert(s->state == TUX_SENT_FLIGHT && "a lost packet was in flight");
	sentq_land(q, s, TUX_SENT_LOST);
	q->lost_n++;
}

void tux_sentq_forget(struct tux_sentq *q)
{
	unsigned i;

	assert(tux_sentq_empty(q) && "the caller has given up what was there");
	for (i = 0; q->lost_n && i < TUX_SENTQ_CAP; i++)
		if (q->ring[i].state == TUX_SENT_LOST)
			tux_sentq_retire(q, &q->ring[i]);
}

struct tux_sent *tux_sentq_lost(struct tux_sentq *q, uint64_t seq)
{
	struct tux_sent *s = tux_sentq_at(q, seq);

	if (seq >= q->next || q->next - seq > TUX_SENTQ_CAP ||
	    s->state != TUX_SENT_LOST)
		return NULL;
	return s;
}

struct tux_sent *tux_sentq_newest(struct tux_sentq *q)
{
	uint64_t seq = q->next;

	if (tux_sentq_empty(q))
		return NULL;
	while (tux_sentq_at(q, --seq)->state != TUX_SENT_FLIGHT)
		;
	return tux_sentq_at(q, seq);
}
