/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * talk - how the bytes of one direction come: in bursts, between turn-arounds
 *
 * A burst is what a direction carries until the other direction has carried
 * something, too.  A request is a burst, and so is its answer.  The end of a
 * burst shows with the next byte of the same direction, and is a turn-around.
 *
 * Tux saves a constant time for each burst, and costs a time for each packet of
 * a burst.  So the mean length of bursts tells which path is faster (choice.h).
 *
 * The threads that move bytes of a direction update its talk; other threads may
 * read it at any time.  If two threads move bytes of the same direction at the
 * same time, an update may be lost.
 */
#ifndef TUX_POLICY_TALK_H
#define TUX_POLICY_TALK_H

#include <stdatomic.h>
#include <stdint.h>

struct tux_talk {
	_Atomic uint64_t total;		/* bytes so far */
	_Atomic uint64_t began;		/* `total` when the burst began */
	_Atomic uint64_t other;		/* the other direction's total when
					 * this one last moved */
	_Atomic uint32_t turns;		/* bursts that have ended */
	_Atomic uint32_t mean;		/* of their lengths, in bytes, the later
					 * ones weighing more */
};

/* Makes @t what @from was at this moment. */
void tux_talk_copy(struct tux_talk *t, const struct tux_talk *from);

/* @t has carried @total bytes before it was counted, and the opposite direction
 * @theirs; their bursts are not known. */
void tux_talk_begin(struct tux_talk *t, uint64_t total, uint64_t theirs);

static inline uint64_t tux_talk_total(const struct tux_talk *t)
{
	return atomic_load_explicit(&t->total, memory_order_relaxed);
}

static inline uint32_t tux_talk_turns(const struct tux_talk *t)
{
	return atomic_load_explicit(&t->turns, memory_order_relaxed);
}

static inline uint32_t tux_talk_mean(const struct tux_talk *t)
{
	return atomic_load_explicit(&t->mean, memory_order_relaxed);
}

/* The length of bursts: the mean, or that of the present burst if it is longer
 * already. */
static inline uint64_t tux_talk_burst(const struct tux_talk *t)
{
	uint64_t now = tux_talk_total(t) -
		       atomic_load_explicit(&t->began, memory_order_relaxed);
	uint32_t mean = tux_talk_mean(t);

	return now > mean ? now : mean;
}

/* The opposite direction has moved since this one did, to @theirs: the burst that
 * ended at @total is over. */
void tux_talk_turn(struct tux_talk *t, uint64_t total, uint64_t theirs);

/* Direction @t has moved @n > 0 bytes; @other is the opposite one. */
static inline void tux_talk_moved(struct tux_talk *t,
				  const struct tux_talk *other, uint64_t n)
{
	uint64_t total = tux_talk_total(t), theirs = tux_talk_total(other);

	if (theirs != atomic_load_explicit(&t->other, memory_order_relaxed))
		tux_talk_turn(t, total, theirs);
	atomic_store_explicit(&t->total, total + n, memory_order_relaxed);
}

#endif
