/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/crc32c.h"

#include "../test.h"

typedef uint32_t crc_fn(uint32_t crc, const void *p, size_t len);

/* The vectors of RFC 3720, appendix B.4, as numbers; the RFC shows the bytes in
 * the order in which they travel. */
static void rfc3720(crc_fn *crc)
{
	static const uint8_t read10[48] = {
		0x01, 0xc0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x14, 0x00, 0x00, 0x00, 0x00, 0x00, 0x04, 0x00,
		0x00, 0x00, 0x00, 0x14, 0x00, 0x00, 0x00, 0x18,
		0x28, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	};
	uint8_t b[32];
	unsigned i;

	memset(b, 0, sizeof(b));
	assert_int_equal(crc(0, b, sizeof(b)), 0x8a9136aa);
	memset(b, 0xff, sizeof(b));
	assert_int_equal(crc(0, b, sizeof(b)), 0x62a8ab43);
	for (i = 0; i < sizeof(b); i++)
		b[i] = (uint8_t)i;
	assert_int_equal(crc(0, b, sizeof(b)), 0x46dd794e);
	for (i = 0; i < sizeof(b); i++)
		b[i] = (uint8_t)(31 - i);
	assert_int_equal(crc(0, b, sizeof(b)), 0x113fdb5c);
	assert_int_equal(crc(0, read10, sizeof(read10)), 0xd9963a56);
	assert_int_equal(crc(0, "123456789", 9), 0xe3069283);
	assert_int_equal(crc(0, b, 0), 0);
}

static void crc32c__rfc3720(void **state)
{
	(void)state;
	rfc3720(tux_crc32c);
}

static void table__rfc3720(void **state)
{
	(void)state;
	rfc3720(tux_crc32c_table);
}

/* The CRC by its definition, a bit at a time. */
static uint32_t slow(uint32_t crc, const uint8_t *p, size_t len)
{
	crc = ~crc;
	while (len--) {
		unsigned i;

		crc ^= *p++;
		for (i = 0; i < 8; i++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
	}
	return ~crc;
}

static void crc32c__agrees_with_the_definition(void **state)
{
	static uint8_t b[20000];
	uint64_t seed = 1;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(b); i++)
		b[i] = (uint8_t)test_random(&seed);
	for (i = 0; i < 1000; i++) {
		uint32_t from = test_below(&seed, 100);
		/* Mostly short inputs, and some as long as a packet. */
		uint32_t len = test_below(&seed, i % 10 ? 600 : 19900);
		uint32_t init = (uint32_t)test_random(&seed);
		uint32_t want = slow(init, b + from, len);

		assert_int_equal(tux_crc32c(init, b + from, len), want);
		assert_int_equal(tux_crc32c_table(init, b + from, len), want);
	}
}

static void crc32c__continues(void **state)
{
	uint8_t b[500];
	uint64_t seed = 2;
	uint32_t whole, i;

	(void)state;
	for (i = 0; i < sizeof(b); i++)
		b[i] = (uint8_t)test_random(&seed);
	whole = tux_crc32c(0, b, sizeof(b));
	for (i = 0; i <= sizeof(b); i++) {
		uint32_t crc = tux_crc32c(0, b, i);

		assert_int_equal(tux_crc32c(crc, b + i, sizeof(b) - i), whole);
	}
}

static void crc32c__sees_every_flipped_bit(void **state)
{
	uint8_t b[1500];
	uint32_t whole, i;

	(void)state;
	memset(b, 0x5a, sizeof(b));
	whole = tux_crc32c(0, b, sizeof(b));
	for (i = 0; i < 8 * sizeof(b); i++) {
		b[i / 8] ^= (uint8_t)(1u << i % 8);
		assert_int_not_equal(tux_crc32c(0, b, sizeof(b)), whole);
		b[i / 8] ^= (uint8_t)(1u << i % 8);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(crc32c__rfc3720),
		cmocka_unit_test(table__rfc3720),
		cmocka_unit_test(crc32c__agrees_with_the_definition),
		cmocka_unit_test(crc32c__continues),
		cmocka_unit_test(crc32c__sees_every_flipped_bit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
