/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * parity_shrink - a shorter script that still makes a difference
 */
#ifndef TUX_T_POSIX_PARITY_SHRINK_H
#define TUX_T_POSIX_PARITY_SHRINK_H

#include "parity_play.h"

/* Leaves steps out of @s as long as there is a difference between the same
 * worlds.  False: @s makes none when it is played again. */
bool parity_shrink(struct parity_stage *g, struct parity_script *s);

#endif
