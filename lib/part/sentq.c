/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sentq - packets in flight and what each carried
 *
 * The entry at the floor is always in flight, unless there is none.
 */
#include "part/sentq.h"

#include <assert.h>
#include <stddef.h>

static struct tux_sent *at(struct tux_sentq *q, uint64_t seq)
{
	return &q->ring[seq % TUX_SENTQ_CAP];
}

void tux_sentq_init(struct tux_sentq *q, uint64_t first)
{
	*q = (struct tux_sentq){ .floor = first, .next = first, .top = first };
}

struct tux_sent *tux_sentq_slot(struct tux_sentq *q)
{
	assert(!tux_sentq_full(q) && "the caller asks before it builds");
	return at(q, q->next);
}

void tux_sentq_push(struct tux_sentq *q)
{
	struct tux_sent *s = tux_sentq_slot(q);

	s->state = TUX_SENT_FLIGHT;
	q->in_flight += s->size;
	q->next++;
}

struct tux_sent *tux_sentq_find(struct tux_sentq *q, uint64_t seq)
{
	struct tux_sent *s = at(q, seq);

	if (seq < q->floor || seq >= q->next || s->state != TUX_SENT_FLIGHT)
		return NULL;
	return s;
}

void tux_sentq_settle(struct tux_sentq *q, struct tux_sent *s)
{
	assert(s->state == TUX_SENT_FLIGHT && "an entry is settled once");
	s->state = TUX_SENT_SETTLED;
	q->in_flight -= s->size;
	while (q->floor < q->next &&
	       at(q, q->floor)->state == TUX_SENT_SETTLED)
		q->floor++;
}

struct tux_sent *tux_sentq_oldest(struct tux_sentq *q)
{
	return tux_sentq_empty(q) ? NULL : at(q, q->floor);
}
