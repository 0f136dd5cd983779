/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bell - indices from many threads to one, and whether that one is asleep
 *
 * One half of the channel between a loop and everyone else.  It carries small
 * numbers (a connection, a file descriptor), never pointers.  Whoever rings
 * takes care that an index is in the bell at most once (by a flag that is set
 * before ringing and cleared after taking), so a bell with as many slots as
 * there are indices never overflows.
 *
 * Sleeping: the consumer announces it, looks once more, and only then sleeps;
 * a producer rings and then asks whether to wake.  Both are seq_cst, so at
 * least one of the two sees the other (Dekker).
 */
#ifndef TUX_BASE_BELL_H
#define TUX_BASE_BELL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tux_bell {
	_Atomic uint32_t head;		/* producers take slots here */
	_Atomic uint32_t tail;		/* consumer's */
	_Atomic uint32_t asleep;	/* the consumer wants to be woken */
	uint32_t cap;			/* power of two */
	_Atomic uint32_t slot[];	/* index + 1; 0 while not yet written */
};

/* The size of a bell of @cap slots (a power of two). */
static inline size_t tux_bell_size(uint32_t cap)
{
	return sizeof(struct tux_bell) + sizeof(uint32_t) * (size_t)cap;
}

/* Sets up @b in zeroed memory of tux_bell_size(@cap) bytes. */
static inline void tux_bell_init(struct tux_bell *b, uint32_t cap)
{
	b->cap = cap;
}

/* Rings for @index.  True if the consumer sleeps and the caller must wake it;
 * one caller in a sleep is told so. */
static inline bool tux_bell_ring(struct tux_bell *b, uint32_t index)
{
	uint32_t at = atomic_fetch_add(&b->head, 1);

	atomic_store(&b->slot[at & (b->cap - 1)], index + 1);
	return atomic_load(&b->asleep) && atomic_exchange(&b->asleep, 0);
}

/* Consumer: the next index into *@index; false if there is none yet. */
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

/* Consumer: nothing rings?  After tux_bell_doze() the answer may be slept on. */
static inline bool tux_bell_quiet(struct tux_bell *b)
{
	uint32_t at = atomic_load_explicit(&b->tail, memory_order_relaxed);

	return !atomic_load(&b->slot[at & (b->cap - 1)]);
}

/* Consumer: about to sleep (@on), or awake again. */
static inline void tux_bell_doze(struct tux_bell *b, bool on)
{
	atomic_store(&b->asleep, on);
}

#endif
