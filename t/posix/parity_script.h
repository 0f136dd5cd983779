/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * parity_script - a list of steps, a pure function of the seed
 *
 * A script opens a few connections between two processes, and makes random
 * calls on them.  It knows nothing of outcomes: a step that makes no sense when
 * its turn comes is a call that fails, or is left out by parity_model.
 */
#ifndef TUX_T_POSIX_PARITY_SCRIPT_H
#define TUX_T_POSIX_PARITY_SCRIPT_H

#include <stdbool.h>

#include "parity_step.h"

enum { PARITY_STEPS = 160 };

struct parity_script {
	unsigned n;
	struct parity_step step[PARITY_STEPS];
};

/* @all: with the kinds that came later, too. */
void parity_script_draw(struct parity_script *s, uint64_t seed, bool all);

/* @to is @from without the @n steps from @at on. */
void parity_script_without(struct parity_script *to,
			   const struct parity_script *from, unsigned at,
			   unsigned n);

#endif
