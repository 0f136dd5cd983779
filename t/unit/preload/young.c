/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a candidate that stays on TCP costs: how often it is asked about, and how
 * often the kernel is.
 */
#include "../../../preload/young.h"

#include "../../../preload/libc.h"
#include "../test.h"

enum { SEGMENT = 1448, TURNS = 1000 };

struct libc libc;
struct conf conf = { .path = TUX_PATH_MODE_AUTO };

static unsigned asked;		/* for the segment */

uint32_t tux_end_segment(enum tux_io io, int fd)
{
	(void)io, (void)fd;
	asked++;
	return SEGMENT;
}

/* A request of @n bytes and its answer; then the candidate's next call. */
static bool turn(struct sock *s, size_t n)
{
	young_moved(s, true, n);
	young_moved(s, false, n);
	return young_asks(s) && young_due(s, 3);
}

static void due__asks_for_the_segment_once(void **state)
{
	struct sock s = { .active = true };

	(void)state;
	asked = 0;
	for (int i = 0; i < TURNS; i++)
		assert_false(turn(&s, 16384));
	assert_int_equal(asked, 1);
	assert_int_equal(s.packet, SEGMENT);
}

static void asks__again_when_bulk_becomes_brief(void **state)
{
	struct sock s = { .active = true };
	int i;

	(void)state;
	for (i = 0; i < TURNS; i++)
		assert_false(turn(&s, 16384));
	for (i = 0; i < TURNS && !turn(&s, 100); i++)
		;
	assert_in_range(i, 1, 64);
}

static void asks__always_on_a_chosen_path(void **state)
{
	struct sock s = { .active = true };

	(void)state;
	assert_false(young_asks(&s));
	conf.path = TUX_PATH_MODE_TUX;
	assert_true(young_asks(&s));
	conf.path = TUX_PATH_MODE_AUTO;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(due__asks_for_the_segment_once),
		cmocka_unit_test(asks__again_when_bulk_becomes_brief),
		cmocka_unit_test(asks__always_on_a_chosen_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
