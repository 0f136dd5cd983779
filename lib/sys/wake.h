/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wake - a bell, and the sleep of its owner in the kernel
 *
 * A tux_bell with an eventfd beside it. The eventfd is written once per sleep,
 * by the first thread that rings, and never while the owner is awake.
 *
 * A thread that has more to do, or holds what the owner will want, collects the
 * eventfds in a tux_wakes and writes them later: an owner that is woken at once
 * may take the processor from the thread that wakes it.
 */
#ifndef TUX_SYS_WAKE_H
#define TUX_SYS_WAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bell.h"

/* A bell for indices below @cap (a power of two) into *@bell, of which a forked
 * child gets a copy, and its eventfd into *@fd.  -errno. */
int tux_wake_init(struct tux_bell **bell, int *fd, uint32_t cap);

/* The two halves of that: the eventfd or -errno, and the bell. */
int tux_wake_open(void);
int tux_wake_map(struct tux_bell **bell, uint32_t cap);

/* @bell and @fd may be NULL and -1. */
void tux_wake_fini(struct tux_bell *bell, int fd);

/* Makes @fd readable. */
void tux_wake_kick(int fd);

/* Makes @fd unreadable; harmless if it is already. */
void tux_wake_clear(int fd);

/* Wakes the owner if it sleeps. */
static inline void tux_wake_up(struct tux_bell *bell, int fd)
{
	if (atomic_load(&bell->asleep) && atomic_exchange(&bell->asleep, 0))
		tux_wake_kick(fd);
}

static inline void tux_wake_ring(struct tux_bell *bell, int fd, uint32_t i)
{
	if (tux_bell_ring(bell, i))
		tux_wake_kick(fd);
}

enum { TUX_WAKES = 32 };

/* Eventfds that are to be written.  `owed` counts, beside each, the writes that
 * are still to come; the owner closes the eventfd when there are none. */
struct tux_wakes {
	uint32_t n;
	struct {
		int fd;
		_Atomic uint32_t *owed;
	} at[TUX_WAKES];
};

/* As tux_wake_ring(), but the wake-up is left to tux_wakes_go() if there is
 * room in @k. */
static inline void tux_wakes_ring(struct tux_wakes *k, struct tux_bell *bell,
				  int fd, _Atomic uint32_t *owed, uint32_t i)
{
	if (!tux_bell_ring(bell, i))
		return;
	if (k->n == TUX_WAKES) {
		tux_wake_kick(fd);
		return;
	}
	atomic_fetch_add(owed, 1);
	k->at[k->n].fd = fd;
	k->at[k->n++].owed = owed;
}

/* Wakes all that @k has collected. */
void tux_wakes_go(struct tux_wakes *k);

/* The owner is awake again: undoes tux_bell_set_asleep(true).  @woken: @fd was seen
 * readable. */
static inline void tux_wake_finish_sleep(struct tux_bell *bell, int fd,
					 bool woken)
{
	/* The thread that took the flag writes to the eventfd, or has done so.
	 * If that write comes late, it ends the next sleep, once. */
	if (!atomic_exchange(&bell->asleep, 0) || woken)
		tux_wake_clear(fd);
}

#endif
