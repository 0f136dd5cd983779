/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/sip.h"

#include "../test.h"

enum { VECTORS = 64 };

/* The key and the input of the reference vectors: the bytes 0, 1, 2, ... */
static const struct tux_key ref_key = { 0x0706050403020100,
					0x0f0e0d0c0b0a0908 };

/* vectors.h of the reference implementation, read as numbers: entry i is the
 * hash of the bytes 0, 1, ... i - 1. */
static const uint64_t ref[VECTORS] = {
	0x726fdb47dd0e0e31, 0x74f839c593dc67fd, 0x0d6c8009d9a94f5a,
	0x85676696d7fb7e2d, 0xcf2794e0277187b7, 0x18765564cd99a68d,
	0xcbc9466e58fee3ce, 0xab0200f58b01d137, 0x93f5f5799a932462,
	0x9e0082df0ba9e4b0, 0x7a5dbbc594ddb9f3, 0xf4b32f46226bada7,
	0x751e8fbc860ee5fb, 0x14ea5627c0843d90, 0xf723ca908e7af2ee,
	0xa129ca6149be45e5, 0x3f2acc7f57c29bdb, 0x699ae9f52cbe4794,
	0x4bc1b3f0968dd39c, 0xbb6dc91da77961bd, 0xbed65cf21aa2ee98,
	0xd0f2cbb02e3b67c7, 0x93536795e3a33e88, 0xa80c038ccd5ccec8,
	0xb8ad50c6f649af94, 0xbce192de8a85b8ea, 0x17d835b85bbb15f3,
	0x2f2e6163076bcfad, 0xde4daaaca71dc9a5, 0xa6a2506687956571,
	0xad87a3535c49ef28, 0x32d892fad841c342, 0x7127512f72f27cce,
	0xa7f32346f95978e3, 0x12e0b01abb051238, 0x15e034d40fa197ae,
	0x314dffbe0815a3b4, 0x027990f029623981, 0xcadcd4e59ef40c4d,
	0x9abfd8766a33735c, 0x0e3ea96b5304a7d0, 0xad0c42d6fc585992,
	0x187306c89bc215a9, 0xd4a60abcf3792b95, 0xf935451de4f21df2,
	0xa9538f0419755787, 0xdb9acddff56ca510, 0xd06c98cd5c0975eb,
	0xe612a3cb9ecba951, 0xc766e62cfcadaf96, 0xee64435a9752fe72,
	0xa192d576b245165a, 0x0a8787bf8ecb74b2, 0x81b3e73d20b49b6f,
	0x7fa8220ba3b2ecea, 0x245731c13ca42499, 0xb78dbfaf3a8d83bd,
	0xea1ad565322a1a0b, 0x60e61c23a3795013, 0x6606d7e446282b93,
	0x6ca4ecb15c5f91e1, 0x9f626da15c9625f3, 0xe51b38608ef25f57,
	0x958a324ceb064572,  
};

static void count_up(uint8_t *p, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++)
		p[i] = (uint8_t)i;
}

static void sip__reference_vectors(void **state)
{
	uint8_t in[VECTORS];
	unsigned i;

	(void)state;
	count_up(in, VECTORS);
	for (i = 0; i < VECTORS; i++)
		assert_true(tux_sip(&ref_key, in, i) == ref[i]);
}

static void sip__needs_no_alignment(void **state)
{
	uint8_t in[VECTORS + 8];
	unsigned i;

	(void)state;
	for (i = 1; i < 8; i++) {
		count_up(in + i, VECTORS);
		assert_true(tux_sip(&ref_key, in + i, 63) == ref[63]);
	}
}

static void sip__depends_on_both_halves_of_the_key(void **state)
{
	struct tux_key a = ref_key, b = ref_key;

	(void)state;
	a.k0 ^= 1;
	b.k1 ^= 1;
	assert_true(tux_sip(&a, "x", 1) != tux_sip(&ref_key, "x", 1));
	assert_true(tux_sip(&b, "x", 1) != tux_sip(&ref_key, "x", 1));
}

static void pieces__are_the_whole(void **state)
{
	uint8_t in[VECTORS];
	unsigned i, len;

	(void)state;
	count_up(in, VECTORS);
	for (len = 0; len < VECTORS; len++) {
		for (i = 0; i <= len; i += 8) {
			struct tux_sip_state s;

			tux_sip_init(&s, &ref_key);
			tux_sip_add(&s, in, i / 16 * 8);
			tux_sip_add(&s, in + i / 16 * 8, i - i / 16 * 8);
			assert_true(tux_sip_end(&s, in + i, len - i) ==
				    ref[len]);
		}
	}
}

static void sip__long_inputs_count_modulo_256(void **state)
{
	static uint8_t in[512];

	(void)state;
	/* Only the low byte of the length goes in; the zeros differ, too. */
	assert_true(tux_sip(&ref_key, in, 0) != tux_sip(&ref_key, in, 256));
	assert_true(tux_sip(&ref_key, in, 255) != tux_sip(&ref_key, in, 511));
}

/* The hash of the bytes 0, 1, ... 8 * i - 1; the lower halves are those of the
 * Linux kernel's test of hsiphash. */
static void sip13__known_vectors(void **state)
{
	static const uint64_t want[] = {
		0xabac0158050fc4dc, 0x369095118d299a8e, 0xcc4fdd1a7d908b66,
		0xf464aeb267349c8c, 0x81157b6c16a7b60d,
	};
	uint8_t in[VECTORS];
	unsigned i;

	(void)state;
	count_up(in, VECTORS);
	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		assert_true(tux_sip13(&ref_key, in, (size_t)8 * i) == want[i]);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(sip__reference_vectors),
		cmocka_unit_test(sip__needs_no_alignment),
		cmocka_unit_test(sip__depends_on_both_halves_of_the_key),
		cmocka_unit_test(pieces__are_the_whole),
		cmocka_unit_test(sip13__known_vectors),
		cmocka_unit_test(sip__long_inputs_count_modulo_256),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
