/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn/trace.h"

#include "../test.h"

static void text__puts_the_numbers_in(void **state)
{
	const struct tux_trace t = { TUX_TRACE_SEND, { 7, 0, 1460 } };
	char buf[100];

	(void)state;
	assert_int_equal(tux_trace_text(&t, buf, sizeof(buf)),
			 strlen("send 7 stream 0 +1460"));
	assert_string_equal(buf, "send 7 stream 0 +1460");
}

static void text__may_have_no_number(void **state)
{
	const struct tux_trace t = { TUX_TRACE_PROVED, { 1, 2, 3 } };
	char buf[100];

	(void)state;
	tux_trace_text(&t, buf, sizeof(buf));
	assert_string_equal(buf, "path proved");
}

static void text__prints_the_largest_number(void **state)
{
	const struct tux_trace t = { TUX_TRACE_VOID, { UINT64_MAX } };
	char buf[100];

	(void)state;
	tux_trace_text(&t, buf, sizeof(buf));
	assert_string_equal(buf, "generation 18446744073709551615 void");
}

static void text__is_cut_at_the_end_of_the_buffer(void **state)
{
	const struct tux_trace t = { TUX_TRACE_SEND_PREPARE, { 12, 3456 } };
	const char *whole = "send prepare 12 at 3456";
	char buf[40];
	size_t cap;

	(void)state;
	for (cap = 1; cap <= strlen(whole) + 1; cap++) {
		memset(buf, 'x', sizeof(buf));
		assert_int_equal(tux_trace_text(&t, buf, cap), cap - 1);
		assert_memory_equal(buf, whole, cap - 1);
		assert_int_equal(buf[cap - 1], '\0');
		assert_int_equal(buf[cap], 'x');
	}
	assert_int_equal(tux_trace_text(&t, buf, 0), 0);
}

static void text__every_event_has_one(void **state)
{
	struct tux_trace t = { .n = { 1, 2, 3 } };
	char buf[100];
	unsigned i;

	(void)state;
	for (i = 0; i < TUX_TRACE_N; i++) {
		t.what = (enum tux_trace_what)i;
		assert_true(tux_trace_text(&t, buf, sizeof(buf)) > 3);
		assert_null(strchr(buf, '%'));
		assert_string_not_equal(buf, "unknown");
	}
	t.what = TUX_TRACE_N;
	tux_trace_text(&t, buf, sizeof(buf));
	assert_string_equal(buf, "unknown");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(text__puts_the_numbers_in),
		cmocka_unit_test(text__may_have_no_number),
		cmocka_unit_test(text__prints_the_largest_number),
		cmocka_unit_test(text__is_cut_at_the_end_of_the_buffer),
		cmocka_unit_test(text__every_event_has_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
