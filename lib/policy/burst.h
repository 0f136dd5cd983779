/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * burst - how the bytes of one direction come: in bursts, between turn-arounds
 *
 * A burst is what a direction carries until the other direction has carried
 * something, too.  A request is a burst, and so is its answer.  The end of a
 * burst shows with the next byte of the same direction, and is a turn-around.
 *
 * Tux saves a constant time for each burst, and costs a time for each packet of
 * a burst.  So the mean length of bursts tells which path is faster (choice.h).
 *
 * The threads that move bytes of a direction count them; other threads may read
 * the counts at any time.  If two threads move bytes of the same direction at the
 * same time, an update may be lost.
 */
#ifndef TUX_POLICY_BURST_H
#define TUX_POLICY_BURST_H

#include <stdatomic.h>
#include <stdint.h>

struct tux_burst {
	_Atomic uint64_t total;		/* bytes so far */
	_Atomic uint64_t began;		/* `total` when the burst began */
	_Atomic uint64_t other;		/* the other direction's total when
					 * this one last moved */
	_Atomic uint32_t turns;		/* bursts that have ended */
	_Atomic uint32_t mean;		/* of their lengths, in bytes, the later
					 * ones weighing more */
};

/* Makes @t what @from was at this moment. */
void tux_burst_copy(struct tux_burst *t, const struct tux_burst *from);

/* @t has carried @total bytes before it was counted, and the opposite direction
 * @theirs; their bursts are not known. */
void tux_burst_begin(struct tux_burst *t, uint64_t total, uint64_t theirs);

static inline uint64_t tux_burst_total(const struct tux_burst *t)
{
	return atomic_load_explicit(&t->total, memory_order_relaxed);
}

static inline uint32_t tux_burst_turns(const struct tux_burst *t)
{
	return atomic_load_explicit(&t->turns, memory_order_relaxed);
}

static inline uint32_t tux_burst_mean(const struct tux_burst *t)
{
	return atomic_load_explicit(&t->mean, memory_order_relaxed);
}

/* The length of bursts: the mean, or that of the present burst if it is longer
 * already. */
static inline uint64_t tux_burst_len(const struct tux_burst *t)
{
	uint64_t now = tux_burst_total(t) -
		       atomic_load_explicit(&t->began, memory_order_relaxed);
	uint32_t mean = tux_burst_mean(t);

	return now > mean ? now : mean;
}

/* The opposite direction has moved since this one did, to @theirs: the burst that
 * ended at @total is over. */
void tux_burst_turn(struct tux_burst *t, uint64_t total, uint64_t theirs);

/* Direction @t has moved @n > 0 bytes; @other is the opposite one. */
static inline void tux_burst_moved(struct tux_burst *t,
				   const struct tux_burst *other, uint64_t n)
{
	uint64_t total = tux_burst_total(t), theirs = tux_burst_total(other);

	if (theirs != atomic_load_explicit(&t->other, memory_order_relaxed))
		tux_burst_turn(t, total, theirs);
	atomic_store_explicit(&t->total, total + n, memory_order_relaxed);
}

#endif
