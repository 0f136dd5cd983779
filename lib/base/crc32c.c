/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crc32c - the Castagnoli CRC
 *
 * The portable version processes four bytes a step with four tables ("slicing
 * by four").  A table entry is linear over GF(2) in the bits of its index, so
 * the compiler builds all four tables from 32 numbers, and nothing is computed
 * at run time.
 */
#include "base/crc32c.h"

#include <endian.h>
#include <string.h>

/* Entry @i of a table that has @a to @h as its entries 1, 2, 4, ... 128. */
#define BIT(i, n, v) (((i) >> (n) & 1u) * (v))
#define E(i, a, b, c, d, e, f, g, h) \
	(BIT(i, 0, a) ^ BIT(i, 1, b) ^ BIT(i, 2, c) ^ BIT(i, 3, d) ^ \
	 BIT(i, 4, e) ^ BIT(i, 5, f) ^ BIT(i, 6, g) ^ BIT(i, 7, h))
#define E4(i, ...) \
	E(i, __VA_ARGS__), E((i) + 1, __VA_ARGS__), \
	E((i) + 2, __VA_ARGS__), E((i) + 3, __VA_ARGS__)
#define E16(i, ...) \
	E4(i, __VA_ARGS__), E4((i) + 4, __VA_ARGS__), \
	E4((i) + 8, __VA_ARGS__), E4((i) + 12, __VA_ARGS__)
#define E64(i, ...) \
	E16(i, __VA_ARGS__), E16((i) + 16, __VA_ARGS__), \
	E16((i) + 32, __VA_ARGS__), E16((i) + 48, __VA_ARGS__)
#define TABLE(...) { \
	E64(0u, __VA_ARGS__), E64(64u, __VA_ARGS__), \
	E64(128u, __VA_ARGS__), E64(192u, __VA_ARGS__) }

/* table[k][b]: the CRC remainder of byte b followed by k zero bytes. */
static const uint32_t table[4][256] = {
	TABLE(0xf26b8303, 0xe13b70f7, 0xc79a971f, 0x8ad958cf,
	      0x105ec76f, 0x20bd8ede, 0x417b1dbc, 0x82f63b78),
	TABLE(0x13a29877, 0x274530ee, 0x4e8a61dc, 0x9d14c3b8,
	      0x3fc5f181, 0x7f8be302, 0xff17c604, 0xfbc3faf9),
	TABLE(0xa541927e, 0x4f6f520d, 0x9edea41a, 0x38513ec5,
	      0x70a27d8a, 0xe144fb14, 0xc76580d9, 0x8b277743),
	TABLE(0xdd45aab8, 0xbf672381, 0x7b2231f3, 0xf64463e6,
	      0xe964b13d, 0xd725148b, 0xaba65fe7, 0x52a0c93f),
};

uint32_t tux_crc32c_table(uint32_t crc, const void *p, size_t len)
{
	const uint8_t *at = p;

	crc = ~crc;
	for (; len >= 4; len -= 4, at += 4) {
		uint32_t v;

		memcpy(&v, at, sizeof(v));
		crc ^= le32toh(v);
		crc = table[3][crc & 0xff] ^ table[2][crc >> 8 & 0xff] ^
		      table[1][crc >> 16 & 0xff] ^ table[0][crc >> 24];
	}
	for (; len; len--, at++)
		crc = table[0][(crc ^ *at) & 0xff] ^ crc >> 8;
	return ~crc;
}

#if defined(__x86_64__)

static uint64_t crc_load64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint32_t crc_load32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

__attribute__((target("sse4.2")))
static uint32_t crc_one_stream(uint32_t crc, const uint8_t *at, size_t len)
{
	uint64_t c = crc;

	for (; len >= 8; len -= 8, at += 8)
		c = __builtin_ia32_crc32di(c, crc_load64(at));
	crc = (uint32_t)c;
	if (len & 4) {
		crc = __builtin_ia32_crc32si(crc, crc_load32(at));
		at += 4;
	}
	for (len &= 3; len; len--, at++)
		crc = __builtin_ia32_crc32qi(crc, *at);
	return crc;
}

/*
 * The crc32 instruction has a latency of three cycles and a throughput of one
 * a cycle, so three independent streams take the time of one.  A block of
 * 3 * STREAM bytes is cut into three streams.  To combine the remainders, that
 * of a stream is moved past the bytes behind it: multiplied by x^(8 * bytes)
 * modulo the polynomial.  The two factors are 33 powers of x short: the product
 * of two reflected numbers is shifted by one bit, and its reduction by another
 * crc32 instruction shifts it by 32.
 *
 * 160 bytes, because three blocks of 480 bytes nearly fill the payload of a
 * full Ethernet frame.
 */
enum { STREAM = 160 };
#define PAST_TWO_STREAMS 0xbac2fd7b	/* x^(16 * STREAM - 33) */
#define PAST_ONE_STREAM 0x878a92a7	/* x^(8 * STREAM - 33) */

typedef long long pair __attribute__((vector_size(16)));

__attribute__((target("sse4.2,pclmul")))
static uint32_t crc_three_streams(uint32_t crc, const uint8_t *at, size_t len)
{
	for (; len >= 3 * STREAM; len -= 3 * STREAM, at += 3 * STREAM) {
		uint64_t a = crc, b = 0, c = 0;
		unsigned i;
		pair v;

		for (i = 0; i < STREAM; i += 8) {
			const uint8_t *p = at + i;

			a = __builtin_ia32_crc32di(a, crc_load64(p));
			b = __builtin_ia32_crc32di(b, crc_load64(p + STREAM));
			c = __builtin_ia32_crc32di(c,
						   crc_load64(p + 2 * STREAM));
		}
		v = __builtin_ia32_pclmulqdq128((pair){ (long long)a },
						(pair){ PAST_TWO_STREAMS }, 0) ^
		    __builtin_ia32_pclmulqdq128((pair){ (long long)b },
						(pair){ PAST_ONE_STREAM }, 0);
		crc = (uint32_t)(c ^ __builtin_ia32_crc32di(0, (uint64_t)v[0]));
	}
	return crc_one_stream(crc, at, len);
}

uint32_t tux_crc32c(uint32_t crc, const void *p, size_t len)
{
	if (!__builtin_cpu_supports("sse4.2"))
		return tux_crc32c_table(crc, p, len);
	if (len >= 3 * STREAM && __builtin_cpu_supports("pclmul"))
		return ~crc_three_streams(~crc, p, len);
	return ~crc_one_stream(~crc, p, len);
}

#else

uint32_t tux_crc32c(uint32_t crc, const void *p, size_t len)
{
	return tux_crc32c_table(crc, p, len);
}

#endif
