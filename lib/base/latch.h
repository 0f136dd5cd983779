/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * latch - a lock of one word that offers a try and nothing else
 *
 * A latch may lie in memory that processes share.  The core only tries it and
 * never waits.  A thread of the application that has to wait decides itself
 * what to do between two tries: spin, yield or sleep.
 */
#ifndef TUX_BASE_LATCH_H
#define TUX_BASE_LATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct tux_latch {
	_Atomic uint32_t held;
};

/* Takes the latch if it is free.  True: the caller holds it. */
static inline bool tux_latch_try(struct tux_latch *l)
{
	/* The plain load comes first, so that threads that wait share the cache
	 * line instead of taking it from each other with every exchange. */
	return !atomic_load_explicit(&l->held, memory_order_relaxed) &&
	       !atomic_exchange_explicit(&l->held, 1, memory_order_acquire);
}

static inline void tux_latch_drop(struct tux_latch *l)
{
	atomic_store_explicit(&l->held, 0, memory_order_release);
}

#endif
