/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bell - a queue of small integers with many producers and one consumer
 *
 * A bell carries indices (of a connection, of a file descriptor), never
 * pointers, so it may lie in memory that processes share.
 *
 * A bell never overflows, because of a rule for its producers: an index is in
 * the bell at most once.  A producer sets a flag of its own for the index
 * before it rings, and does not ring while the flag is set; the consumer clears
 * the flag after it has taken the index.  So as many slots as there are indices
 * are enough.
 *
 * No wake-up is lost.  The consumer sets `asleep`, looks at the bell once more,
 * and only then sleeps; a producer fills its slot first and reads `asleep`
 * afterwards.  All four accesses are seq_cst, so at least one side sees what
 * the other wrote (the store-buffer argument of Dekker's algorithm).
 */
#ifndef TUX_BASE_BELL_H
#define TUX_BASE_BELL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tux_bell {
	_Atomic uint32_t head;		/* next slot to fill: producers */
	_Atomic uint32_t tail;		/* next slot to take: the consumer */
	_Atomic uint32_t asleep;	/* the consumer asks to be woken */
	uint32_t cap;			/* slots, a power of two */
	_Atomic uint32_t slot[];	/* index + 1; 0: not filled yet */
};

/* The size in bytes of a bell of @cap slots (a power of two). */
static inline size_t tux_bell_size(uint32_t cap)
{
	return sizeof(struct tux_bell) + sizeof(uint32_t) * (size_t)cap;
}

/* Sets up @b in zeroed memory of tux_bell_size(@cap) bytes. */
static inline void tux_bell_init(struct tux_bell *b, uint32_t cap)
{
	b->cap = cap;
}

/* Producer: puts @index into the bell.  Returns true if the consumer sleeps and
 * the caller must wake it; of several producers that ring during one sleep
 * at most one gets true. */
static inline bool tux_bell_ring(struct tux_bell *b, uint32_t index)
{
	uint32_t at = atomic_fetch_add(&b->head, 1);

	atomic_store(&b->slot[at & (b->cap - 1)], index + 1);
	return atomic_load(&b->asleep) && atomic_exchange(&b->asleep, 0);
}

/* Consumer: moves the next index into *@index.  Returns false if the next slot
 * is not filled (yet). */
static inline bool tux_bell_take(struct tux_bell *b, uint32_t *index)
{
	uint32_t at = atomic_load_explicit(&b->tail, memory_order_relaxed);
	uint32_t v = atomic_load_explicit(&b->slot[at & (b->cap - 1)],
					  memory_order_acquire);

	if (!v)
		return false;
	atomic_store_explicit(&b->slot[at & (b->cap - 1)], 0,
			      memory_order_relaxed);
	atomic_store_explicit(&b->tail, at + 1, memory_order_release);
	*index = v - 1;
	return true;
}

/* Consumer: is the bell empty?  If it is after tux_bell_set_asleep(@b, true),
 * the consumer may sleep: a producer that rings from then on wakes it. */
static inline bool tux_bell_quiet(struct tux_bell *b)
{
	uint32_t at = atomic_load_explicit(&b->tail, memory_order_relaxed);

	return !atomic_load(&b->slot[at & (b->cap - 1)]);
}

/* Consumer: says that it is about to sleep (@on), or that it is awake. */
static inline void tux_bell_set_asleep(struct tux_bell *b, bool on)
{
	atomic_store(&b->asleep, on);
}

#endif
