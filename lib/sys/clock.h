/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * clock - what the core must be told: the time, and a seed
 */
#ifndef TUX_SYS_CLOCK_H
#define TUX_SYS_CLOCK_H

#include <time.h>

#include "base/sip.h"
#include "base/time.h"

/* Nanoseconds on CLOCK_MONOTONIC, as the kernel has it. */
tux_time tux_clock_read(void);

/* As it was at the kernel's last tick, up to 10 ms ago: a fifth of the price. */
tux_time tux_clock_coarse(void);

/* @t as a duration that the kernel takes, in *@ts: from @now on, 0 if it is
 * past.  NULL for TUX_NEVER, else @ts. */
struct timespec *tux_clock_until(struct timespec *ts, tux_time t, tux_time now);

/* Randomness that nobody can guess.  -errno. */
int tux_clock_seed(struct tux_key *seed);

#endif
