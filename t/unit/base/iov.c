/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/iov.h"

#include "../test.h"

static char text[] = "abcdefghij";

/* abc, nothing, de, fghij */
static const struct iovec four[4] = {
	{ text, 3 }, { text + 3, 0 }, { text + 3, 2 }, { text + 5, 5 },
};

static void len__adds(void **state)
{
	(void)state;
	assert_int_equal(tux_iov_len(four, 0), 0);
	assert_int_equal(tux_iov_len(four, 4), 10);
}

static void len__beyond_what_a_call_returns(void **state)
{
	const struct iovec most[2] = { { text, SSIZE_MAX - 1 }, { text, 1 } };
	const struct iovec more[2] = { { text, SSIZE_MAX }, { text, 1 } };
	const struct iovec wrap[2] = { { text, 2 }, { text, SIZE_MAX } };

	(void)state;
	assert_int_equal(tux_iov_len(most, 2), SSIZE_MAX);
	assert_int_equal(tux_iov_len(more, 2), SIZE_MAX);
	assert_int_equal(tux_iov_len(wrap, 2), SIZE_MAX);
}

static void skip__nothing_leaves_out_the_empty(void **state)
{
	struct iovec out[4];

	(void)state;
	assert_int_equal(tux_iov_skip(out, 4, four, 4, 0), 3);
	assert_ptr_equal(out[0].iov_base, text);
	assert_int_equal(out[0].iov_len, 3);
	assert_ptr_equal(out[1].iov_base, text + 3);
	assert_int_equal(out[1].iov_len, 2);
	assert_ptr_equal(out[2].iov_base, text + 5);
	assert_int_equal(out[2].iov_len, 5);
}

static void skip__each_number_of_bytes(void **state)
{
	size_t skip;

	(void)state;
	for (skip = 0; skip <= 10; skip++) {
		struct iovec out[4];
		int m = tux_iov_skip(out, 4, four, 4, skip);

		assert_int_equal(tux_iov_len(out, m), 10 - skip);
		if (m)
			assert_ptr_equal(out[0].iov_base, text + skip);
	}
}

static void skip__fills_what_there_is(void **state)
{
	struct iovec out[1];

	(void)state;
	assert_int_equal(tux_iov_skip(out, 1, four, 4, 1), 1);
	assert_ptr_equal(out[0].iov_base, text + 1);
	assert_int_equal(out[0].iov_len, 2);
	assert_int_equal(tux_iov_skip(out, 0, four, 4, 1), 0);
}

static void cut__ends_in_a_buffer_or_between_two(void **state)
{
	uint64_t skip, max;

	(void)state;
	for (skip = 0; skip <= 10; skip++) {
		for (max = 0; max <= 11; max++) {
			struct iovec out[4];
			uint64_t left = 10 - skip;
			int m = tux_iov_cut(out, 4, four, 4, skip, max);

			assert_int_equal(tux_iov_len(out, m),
					 max < left ? max : left);
			if (m)
				assert_ptr_equal(out[0].iov_base, text + skip);
		}
	}
}

static void copy__each_part(void **state)
{
	uint64_t skip, max;

	(void)state;
	for (skip = 0; skip <= 10; skip++)
		for (max = 0; max <= 11; max++) {
			uint8_t to[11];
			uint64_t left = 10 - skip, n = max < left ? max : left;

			memset(to, 'z', sizeof(to));
			assert_int_equal(tux_iov_copy(to, max, four, 4, skip),
					 n);
			assert_memory_equal(to, text + skip, n);
			assert_true(n == sizeof(to) || to[n] == 'z');
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(len__adds),
		cmocka_unit_test(len__beyond_what_a_call_returns),
		cmocka_unit_test(skip__nothing_leaves_out_the_empty),
		cmocka_unit_test(skip__each_number_of_bytes),
		cmocka_unit_test(skip__fills_what_there_is),
		cmocka_unit_test(cut__ends_in_a_buffer_or_between_two),
		cmocka_unit_test(copy__each_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
