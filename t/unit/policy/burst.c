/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/burst.h"

#include "../test.h"

static struct tux_burst tx, rx;

static void start(void)
{
	tx = rx = (struct tux_burst){ 0 };
}

/* @n requests of @ask bytes, each answered by @answer bytes in @pieces. */
static void talk(unsigned n, uint64_t ask, uint64_t answer, unsigned pieces)
{
	unsigned i;

	while (n--) {
		tux_burst_moved(&tx, &rx, ask);
		for (i = 0; i < pieces; i++)
			tux_burst_moved(&rx, &tx, answer / pieces);
	}
}

static void moved__nothing_has_turned_at_first(void **state)
{
	(void)state;
	start();
	assert_int_equal(tux_burst_turns(&tx), 0);
	assert_int_equal(tux_burst_len(&tx), 0);
	tux_burst_moved(&tx, &rx, 10);
	assert_int_equal(tux_burst_turns(&tx), 0);
	assert_int_equal(tux_burst_len(&tx), 10);
	assert_int_equal(tux_burst_total(&tx), 10);
}

static void moved__request_and_answer_are_a_turn_around(void **state)
{
	(void)state;
	start();
	talk(11, 40, 1000, 1);
	assert_int_equal(tux_burst_turns(&tx), 10);
	assert_int_equal(tux_burst_turns(&rx), 10);
	assert_int_equal(tux_burst_len(&tx), 40);
	assert_int_equal(tux_burst_len(&rx), 1000);
}

static void moved__pieces_of_a_burst_count_together(void **state)
{
	(void)state;
	start();
	talk(9, 40, 16000, 16);
	assert_int_equal(tux_burst_turns(&rx), 8);
	assert_int_equal(tux_burst_len(&rx), 16000);
}

static void moved__one_way_never_turns(void **state)
{
	unsigned i;

	(void)state;
	start();
	for (i = 0; i < 1000; i++)
		tux_burst_moved(&tx, &rx, 65536);
	assert_int_equal(tux_burst_turns(&tx), 0);
	assert_int_equal(tux_burst_len(&tx), 65536000);
}

static void burst__the_present_one_counts_before_it_ends(void **state)
{
	(void)state;
	start();
	talk(20, 40, 1000, 1);
	tux_burst_moved(&tx, &rx, 100000);
	assert_int_equal(tux_burst_len(&tx), 100000);
	talk(0, 0, 0, 0);
	tux_burst_moved(&rx, &tx, 1000);
	tux_burst_moved(&tx, &rx, 40);
	/* an eighth of the long one is in the mean */
	assert_in_range(tux_burst_len(&tx), 12000, 13000);
}

static void mean__a_long_burst_is_forgotten(void **state)
{
	(void)state;
	start();
	talk(20, 40, 1000, 1);
	talk(1, 40, 100000, 1);
	talk(40, 40, 1000, 1);
	assert_in_range(tux_burst_len(&rx), 1000, 1100);
}

static void copy__all_of_it(void **state)
{
	struct tux_burst t = { 0 };

	(void)state;
	start();
	talk(5, 40, 1000, 2);
	tux_burst_copy(&t, &rx);
	tux_burst_moved(&tx, &rx, 40);
	tux_burst_moved(&rx, &tx, 600);
	tux_burst_moved(&t, &tx, 600);
	assert_int_equal(tux_burst_total(&t), tux_burst_total(&rx));
	assert_int_equal(tux_burst_turns(&t), tux_burst_turns(&rx));
	assert_int_equal(tux_burst_len(&t), tux_burst_len(&rx));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moved__nothing_has_turned_at_first),
		cmocka_unit_test(moved__request_and_answer_are_a_turn_around),
		cmocka_unit_test(moved__pieces_of_a_burst_count_together),
		cmocka_unit_test(moved__one_way_never_turns),
		cmocka_unit_test(burst__the_present_one_counts_before_it_ends),
		cmocka_unit_test(mean__a_long_burst_is_forgotten),
		cmocka_unit_test(copy__all_of_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
