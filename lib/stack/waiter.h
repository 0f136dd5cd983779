/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * waiter - a bell, and the descriptor that wakes the threads that sleep on it
 */
#ifndef TUX_STACK_WAITER_H
#define TUX_STACK_WAITER_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/bell.h"
#include "sys/wake.h"

struct tux_waiter {
	struct tux_bell *bell;
	int fd;			/* eventfd, readable after a wake-up */
	_Atomic uint32_t sleepers;	/* threads in tux_channel_wait() */
	_Atomic uint32_t owed;	/* wake-ups collected in some tux_wakes */
	_Atomic uint32_t loop;	/* that threads run while they wait with it,
				 * counted from 1; 0: the thread's own */
};

/* A waiter for indices below @cap (a power of two).  -errno. */
int tux_waiter_init(struct tux_waiter *w, uint32_t cap);

/* Waits until no wake-up is owed any more: not for a thread that owes one. */
void tux_waiter_fini(struct tux_waiter *w);

/* Rings for index @i. The caller takes care not to ring twice for one. */
void tux_waiter_ring(struct tux_waiter *w, uint32_t i);

/* The same, and a wake-up is left to tux_wakes_go(@k).  NULL: none is. */
void tux_waiter_ring_later(struct tux_waiter *w, uint32_t i,
			   struct tux_wakes *k);

#endif
