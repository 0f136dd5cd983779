/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/reason.h"

#include "../test.h"

static void numbers__keep_their_meaning(void **state)
{
	(void)state;
	/* The numbers travel in RESET, and users' scripts know them. */
	assert_int_equal(TUX_REASON_NONE, 0);
	assert_int_equal(TUX_REASON_PEER_SILENT, 1);
	assert_int_equal(TUX_REASON_STALLED, 6);
	assert_int_equal(TUX_REASON_PROTOCOL, 13);
	assert_int_equal(TUX_REASON_ABORTED, 16);
	assert_int_equal(TUX_REASON_SOCKOPT, 52);
}

static void word__is_one_token_and_unique(void **state)
{
	unsigned i, j;

	(void)state;
	for (i = 0; i < TUX_REASON_N; i++) {
		assert_non_null(tux_reason_word(i));
		assert_null(strchr(tux_reason_word(i), ' '));
		for (j = 0; j < i; j++)
			assert_string_not_equal(tux_reason_word(i),
						tux_reason_word(j));
	}
	assert_string_equal(tux_reason_word(TUX_REASON_PEER_SILENT),
			    "peer-silent");
}

static void sentence__is_there_for_each(void **state)
{
	unsigned i;

	(void)state;
	for (i = 0; i < TUX_REASON_N; i++) {
		assert_non_null(tux_reason_sentence(i));
		assert_true(strlen(tux_reason_sentence(i)) > 10);
	}
}

static void unknown__is_named_so(void **state)
{
	(void)state;
	assert_string_equal(tux_reason_word(TUX_REASON_N), "unknown");
	assert_string_equal(tux_reason_word(~0u), "unknown");
	assert_string_equal(tux_reason_sentence(TUX_REASON_N),
			    "unknown reason");
}

static void lasts__what_no_retry_ends(void **state)
{
	(void)state;
	assert_true(tux_reason_lasts(TUX_REASON_INTERFACE_BUSY));
	assert_true(tux_reason_lasts(TUX_REASON_NO_PRIVILEGE));
	assert_true(tux_reason_lasts(TUX_REASON_PINNED));
	assert_false(tux_reason_lasts(TUX_REASON_NONE));
	assert_false(tux_reason_lasts(TUX_REASON_PEER_SILENT));
	assert_false(tux_reason_lasts(TUX_REASON_LINK_DOWN));
	assert_false(tux_reason_lasts(TUX_REASON_NO_FD));
	assert_false(tux_reason_lasts(TUX_REASON_IPSEC));
	assert_false(tux_reason_lasts(TUX_REASON_CPU_BUSY));
	assert_false(tux_reason_lasts(TUX_REASON_N));
}

static void properties__of_no_number_beyond(void **state)
{
	(void)state;
	assert_true(tux_reason_is_ours(TUX_REASON_NO_FD));
	assert_false(tux_reason_is_ours(TUX_REASON_PEER_SILENT));
	assert_true(tux_reason_is_measured(TUX_REASON_BULK));
	assert_false(tux_reason_is_measured(TUX_REASON_IN_USE));
	assert_true(tux_reason_is_untold(TUX_REASON_SHARED));
	assert_false(tux_reason_is_untold(TUX_REASON_PASSED));
	assert_false(tux_reason_is_untold(TUX_REASON_N));
	assert_false(tux_reason_is_ours(~0u));
	assert_false(tux_reason_is_measured(TUX_REASON_N));
}

/* A number from elsewhere may be none. */
static void of__a_number_from_another_process(void **state)
{
	(void)state;
	assert_int_equal(tux_reason_of(TUX_REASON_SOCKOPT, TUX_REASON_PINNED),
			 TUX_REASON_SOCKOPT);
	assert_int_equal(tux_reason_of(TUX_REASON_N, TUX_REASON_PINNED),
			 TUX_REASON_PINNED);
	assert_int_equal(tux_reason_of(0, TUX_REASON_PEER_RAW),
			 TUX_REASON_PEER_RAW);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers__keep_their_meaning),
		cmocka_unit_test(word__is_one_token_and_unique),
		cmocka_unit_test(sentence__is_there_for_each),
		cmocka_unit_test(unknown__is_named_so),
		cmocka_unit_test(lasts__what_no_retry_ends),
		cmocka_unit_test(properties__of_no_number_beyond),
		cmocka_unit_test(of__a_number_from_another_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
