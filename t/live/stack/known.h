/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * known - bytes that both ends of a connection know: a function of a seed and a
 * place
 */
#ifndef TUX_T_LIVE_KNOWN_H
#define TUX_T_LIVE_KNOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct known {
	uint64_t seed;
	uint32_t at, len;	/* the next byte, of so many */
};

/* The last step of splitmix64. */
static inline uint64_t known_word(uint64_t seed, uint32_t i)
{
	uint64_t z = seed + (uint64_t)i * 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static inline uint8_t known_byte(const struct known *k, uint32_t at)
{
	return (uint8_t)(known_word(k->seed, at / 8) >> at % 8 * 8);
}

/* At most @cap of the bytes that come next, into @p. */
static inline size_t known_fill(const struct known *k, uint8_t *p, size_t cap)
{
	size_t i, n = k->len - k->at < cap ? k->len - k->at : cap;

	for (i = 0; i < n; i++)
		p[i] = known_byte(k, k->at + (uint32_t)i);
	return n;
}

/* Are the @n bytes at @p those that come next? */
static inline bool known_are(const struct known *k, const uint8_t *p, size_t n)
{
	size_t i;

	for (i = 0; i < n && p[i] == known_byte(k, k->at + (uint32_t)i); i++)
		;
	return i == n;
}

#endif
