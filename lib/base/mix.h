/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mix - a quick hash of two words
 *
 * A multiplication that keeps both halves of its product, as in wyhash.  Of two
 * numbers, one should be secret: who does not know it cannot aim.
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
