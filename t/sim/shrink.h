/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shrink - a smaller world that still fails
 */
#ifndef SIM_SHRINK_H
#define SIM_SHRINK_H

#include <stdbool.h>

#include "world.h"

typedef bool sim_fails_fn(void *arg, const struct sim_world *w);

/* Makes @w, which fails, smaller as long as that fails: leaves items out, and
 * moves numbers towards plain.  Asks @fails up to @tries times; returns how
 * often it did. */
unsigned sim_shrink(struct sim_world *w, sim_fails_fn *fails, void *arg,
		    unsigned tries);

#endif
