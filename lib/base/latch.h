/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * latch - one bit that says who is inside
 *
 * It lives in memory that processes may share.  The core only tries it; who
 * may wait (an application's thread) chooses how, between two tries.
 */
#ifndef TUX_BASE_LATCH_H
#define TUX_BASE_LATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct tux_latch {
	_Atomic uint32_t held;
};

static inline bool tux_latch_try(struct tux_latch *l)
{
	/* The plain load keeps a waiter from bouncing the line about. */
	return !atomic_load_explicit(&l->held, memory_order_relaxed) &&
	       !atomic_exchange_explicit(&l->held, 1, memory_order_acquire);
}

static inline void tux_latch_drop(struct tux_latch *l)
{
	atomic_store_explicit(&l->held, 0, memory_order_release);
}

#endif
