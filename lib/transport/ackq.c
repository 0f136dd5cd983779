/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ackq - which packet numbers have arrived, and when an acknowledgment is due
 */
#include "transport/ackq.h"

#include <assert.h>

uint64_t tux_seq_expand(uint64_t near, uint32_t low)
{
	int32_t by = (int32_t)(low - (uint32_t)near);
	uint64_t seq = near + (uint64_t)(int64_t)by;

	/* Below 0 there is no number: take the next candidate above. */
	return by < 0 && seq > near ? seq + ((uint64_t)1 << 32) : seq;
}

void tux_ackq_init(struct tux_ackq *q, uint64_t first)
{
	q->next = q->newest = first;
	q->newest_at = 0;
	q->owed_n = 0;
	q->due_at = TUX_NEVER;
	tux_ranges_init(&q->seen);
}

/* Is there room for another range, once those below @floor are removed? */
static bool ackq_has_room(const struct tux_ranges *s, uint64_t floor)
{
	return s->n < TUX_RANGE_MAX || s->r[0].end <= floor;
}

enum tux_ackq_verdict tux_ackq_check(const struct tux_ackq *q, uint64_t seq,
				     uint64_t floor)
{
	if (seq < q->next || tux_ranges_has(&q->seen, seq))
		return TUX_ACKQ_OLD;
	/* A number that extends a range, or `next`, needs no range of its own.
	 * Nor does the floor itself: `next` moves up to the floor first. */
	if (seq == q->next || seq == floor || ackq_has_room(&q->seen, floor) ||
	    tux_ranges_has(&q->seen, seq - 1) ||
	    tux_ranges_has(&q->seen, seq + 1))
		return TUX_ACKQ_NEW;
	return TUX_ACKQ_FULL;
}

/* Moves `next` up to @next, and on past the range that begins there. */
static void ackq_move_next(struct tux_ackq *q, uint64_t next)
{
	tux_ranges_below(&q->seen, next);
	if (q->seen.n && q->seen.r[0].start == next) {
		next = q->seen.r[0].end;
		tux_ranges_below(&q->seen, next);
	}
	q->next = next;
}

void tux_ackq_add(struct tux_ackq *q, uint64_t seq, tux_time now,
		  tux_time delay)
{
	/* Evaluated before the number is added, so it also covers a number that
	 * closes the last gap: the sender is in recovery until it hears of
	 * that. */
	bool gap = q->seen.n || seq != q->next;

	if (seq == q->next) {
		ackq_move_next(q, seq + 1);
	} else {
		int err = tux_ranges_add(&q->seen, seq, seq + 1);

		assert(!err && "tux_ackq_check() has found room for it");
		(void)err;
	}
	if (seq >= q->newest) {
		q->newest = seq + 1;
		q->newest_at = now;
	}
	q->owed_n++;
	if (gap || q->owed_n >= TUX_ACKQ_EVERY)
		delay = 0;
	q->due_at = tux_time_min(q->due_at, tux_time_add(now, delay));
}

void tux_ackq_floor(struct tux_ackq *q, uint64_t floor)
{
	if (floor > q->next)
		ackq_move_next(q, floor);
}

void tux_ackq_again(struct tux_ackq *q, tux_time now)
{
	q->due_at = tux_time_min(q->due_at, now);
}

void tux_ackq_sent(struct tux_ackq *q)
{
	q->owed_n = 0;
	q->due_at = TUX_NEVER;
}
