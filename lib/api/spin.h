/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * spin - whether it pays to look again before sleeping
 *
 * It does when the last waits were short: then the next one probably is, too,
 * and going to sleep and being woken would cost more than it takes.  A wait
 * that turns out long takes that trust away at once.
 */
#ifndef TUX_API_SPIN_H
#define TUX_API_SPIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"

enum { TUX_SPIN_MAX_US = 50 };

struct tux_spin {
	_Atomic uint32_t mean_ns;	/* of the last waits, each cut at 1 ms */
	bool never;			/* one processor: who spins, blocks */
};

void tux_spin_init(struct tux_spin *s);

/* How long to look before sleeping; 0: do not. */
tux_time tux_spin_for(const struct tux_spin *s);

/* A wait has lasted @in. */
void tux_spin_learn(struct tux_spin *s, tux_time in);

#endif
