/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sip - SipHash, a keyed hash of short inputs
 *
 * Names (v, compress, rounds) are those of the paper.
 */
#include "base/sip.h"

#include <endian.h>
#include <string.h>

static inline uint64_t rotl(uint64_t x, unsigned n)
{
	return x << n | x >> (64 - n);
}

static inline void sip_rounds(struct tux_sip_state *s, unsigned n)
{
	uint64_t v0 = s->v[0], v1 = s->v[1], v2 = s->v[2], v3 = s->v[3];

	while (n--) {
		v0 += v1;
		v1 = rotl(v1, 13) ^ v0;
		v0 = rotl(v0, 32);
		v2 += v3;
		v3 = rotl(v3, 16) ^ v2;
		v0 += v3;
		v3 = rotl(v3, 21) ^ v0;
		v2 += v1;
		v1 = rotl(v1, 17) ^ v2;
		v2 = rotl(v2, 32);
	}
	s->v[0] = v0;
	s->v[1] = v1;
	s->v[2] = v2;
	s->v[3] = v3;
}

static inline void sip_compress(struct tux_sip_state *s, uint64_t m, unsigned n)
{
	s->v[3] ^= m;
	sip_rounds(s, n);
	s->v[0] ^= m;
}

void tux_sip_init(struct tux_sip_state *s, const struct tux_key *k)
{
	s->v[0] = k->k0 ^ 0x736f6d6570736575;
	s->v[1] = k->k1 ^ 0x646f72616e646f6d;
	s->v[2] = k->k0 ^ 0x6c7967656e657261;
	s->v[3] = k->k1 ^ 0x7465646279746573;
	s->len = 0;
}

void tux_sip_add(struct tux_sip_state *s, const void *p, size_t len)
{
	const uint8_t *at = p, *end = at + len;

	for (; at < end; at += 8) {
		uint64_t m;

		memcpy(&m, at, sizeof(m));
		sip_compress(s, le64toh(m), 2);
	}
	s->len += len;
}

uint64_t tux_sip_end(struct tux_sip_state *s, const void *p, size_t len)
{
	size_t rest = len & 7;
	uint64_t m = 0;

	tux_sip_add(s, p, len - rest);
	if (rest)
		memcpy(&m, (const uint8_t *)p + len - rest, rest);
	s->len += rest;
	sip_compress(s, le64toh(m) | (uint64_t)s->len << 56, 2);
	s->v[2] ^= 0xff;
	sip_rounds(s, 4);
	return s->v[0] ^ s->v[1] ^ s->v[2] ^ s->v[3];
}

uint64_t tux_sip(const struct tux_key *k, const void *p, size_t len)
{
	struct tux_sip_state s;

	tux_sip_init(&s, k);
	return tux_sip_end(&s, p, len);
}

uint64_t tux_sip13(const struct tux_key *k, const void *p, size_t len)
{
	const uint8_t *at = p, *end = at + len;
	struct tux_sip_state s;
	uint64_t m;

	tux_sip_init(&s, k);
	for (; at < end; at += 8) {
		memcpy(&m, at, sizeof(m));
		sip_compress(&s, le64toh(m), 1);
	}
	sip_compress(&s, (uint64_t)len << 56, 1);
	s.v[2] ^= 0xff;
	sip_rounds(&s, 3);
	return s.v[0] ^ s.v[1] ^ s.v[2] ^ s.v[3];
}
