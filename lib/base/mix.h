/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mix - a fast hash of two words
 *
 * A multiplication of which both halves of the product are used, as in wyhash.
 * At least one of the two numbers should be secret: without it, a peer that
 * chooses the other number cannot choose the result.
 */
#ifndef TUX_BASE_MIX_H
#define TUX_BASE_MIX_H

#include <stdint.h>

static inline uint64_t tux_mix(uint64_t a, uint64_t b)
{
	unsigned __int128 p = (unsigned __int128)a * b;

	return (uint64_t)p ^ (uint64_t)(p >> 64);
}

#endif
