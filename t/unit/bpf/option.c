/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * option - what the programs in the kernel compute is what the library does
 */
#include "option_bpf.h"

#include <string.h>

#include "wire/key.h"

#include "../test.h"

static const struct tux_tuple v4 = {
	{ { [10] = 0xff, 0xff, 10, 0, 0, 1 }, 50000 },
	{ { [10] = 0xff, 0xff, 10, 0, 0, 2 }, 6379 },
};
static const struct tux_tuple v6 = {
	{ { 0x20, 0x01, 0x0d, 0xb8, [15] = 1 }, 443 },
	{ { 0x20, 0x01, 0x0d, 0xb8, [15] = 2 }, 50000 },
};

static struct tuple tuple_of(const struct tux_tuple *t)
{
	struct tuple r = { 0 };

	memcpy(r.w, t->active.ip, 16);
	memcpy(r.w + 2, t->passive.ip, 16);
	r.w[4] = bpf_htons(t->active.port) |
		 (__u64)bpf_htons(t->passive.port) << 16;
	return r;
}

static void option__is_as_long_as_the_page_says(void **state)
{
	(void)state;
	assert_int_equal(sizeof(struct option), TUX_OPT_LEN);
	assert_int_equal(offsetof(struct option, nonce), 4);
	assert_int_equal(offsetof(struct option, hash), 12);
	assert_int_equal(offsetof(struct option, port), 16);
	assert_int_equal(offsetof(struct option, version), 18);
	assert_int_equal(offsetof(struct option, why), 19);
}

static void option_hash__is_the_librarys(void **state)
{
	const __u64 nonce = 0x0123456789abcdef;
	struct tuple four = tuple_of(&v4), six = tuple_of(&v6);

	(void)state;
	assert_int_equal(option_hash(&four, nonce), tux_key_places(&v4, nonce));
	assert_int_equal(option_hash(&six, nonce), tux_key_places(&v6, nonce));
	assert_int_equal(v4_word(bpf_htonl(0x0a000001)), four.w[1]);
}

static void option_key__is_the_librarys(void **state)
{
	const struct tux_said active = { 0x0123456789abcdef, 0xdeadbeef };
	const struct tux_said passive = { 0xfedcba9876543210, 0x01020304 };
	const struct tux_bpf_mark at_active = {
		.nonce = active.nonce, .isn = active.isn,
		.peer_nonce = passive.nonce, .peer_isn = passive.isn,
	};
	const struct tux_bpf_mark at_passive = {
		.nonce = passive.nonce, .isn = passive.isn,
		.peer_nonce = active.nonce, .peer_isn = active.isn,
	};
	struct tux_key k;
	__u64 key[2];

	(void)state;
	tux_key_make(&k, &active, &passive);
	option_key(key, &at_active, 1);
	assert_true(key[0] == k.k0 && key[1] == k.k1);
	option_key(key, &at_passive, 0);
	assert_true(key[0] == k.k0 && key[1] == k.k1);
}

static void option_answer__depends_on_all(void **state)
{
	struct tuple t = tuple_of(&v4), other = tuple_of(&v6);
	__u64 is = option_answer(1, 2, &t, 3, 4);

	(void)state;
	assert_true(is & 1);
	assert_true(is == option_answer(1, 2, &t, 3, 4));
	assert_true(is != option_answer(5, 2, &t, 3, 4));
	assert_true(is != option_answer(1, 5, &t, 3, 4));
	assert_true(is != option_answer(1, 2, &other, 3, 4));
	assert_true(is != option_answer(1, 2, &t, 5, 4));
	assert_true(is != option_answer(1, 2, &t, 3, 5));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(option__is_as_long_as_the_page_says),
		cmocka_unit_test(option_hash__is_the_librarys),
		cmocka_unit_test(option_key__is_the_librarys),
		cmocka_unit_test(option_answer__depends_on_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
