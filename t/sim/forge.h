/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * forge - packets that are not what a core made
 *
 * A tap or a story changes a packet, or makes one; here it gets a right CRC, for
 * those who know the key of the connection and for those who do not.
 */
#ifndef SIM_FORGE_H
#define SIM_FORGE_H

#include "sim.h"

/* The CRC of the packet at @p, under the key of the connection whose end @to
 * will receive it; with NULL, without a key. */
void sim_seal(const struct sim_end *to, uint8_t *p);

/* Is the numbered packet at @p for the connection whose end is @e? */
bool sim_knows(const struct sim_end *e, const uint8_t *p);

#endif
