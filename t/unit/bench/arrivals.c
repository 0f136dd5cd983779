/* SPDX-License-Identifier: BSD-2-Clause */
#include "../../../bench/arrivals.h"

#include "../test.h"

enum { N = 200000, START = 1000000 };

static void step__same_seed_same_instants(void **state)
{
	struct arrivals a, b;
	unsigned i;

	(void)state;
	arrivals_init(&a, 1000, 3, START);
	arrivals_init(&b, 1000, 3, START);
	for (i = 0; i < 1000; i++) {
		assert_true(a.next == b.next);
		arrivals_step(&a);
		arrivals_step(&b);
	}
}

static void step__other_seed_other_instants(void **state)
{
	struct arrivals a, b;
	unsigned i, same = 0;

	(void)state;
	arrivals_init(&a, 1000, 3, START);
	arrivals_init(&b, 1000, 4, START);
	for (i = 0; i < 1000; i++) {
		same += a.next == b.next;
		arrivals_step(&a);
		arrivals_step(&b);
	}
	assert_true(same < 3);
}

static void step__never_goes_back(void **state)
{
	struct arrivals a;
	tux_time before = START;
	unsigned i;

	(void)state;
	arrivals_init(&a, 5e6, 1, START);
	for (i = 0; i < N; i++) {
		assert_true(a.next >= before);
		before = a.next;
		arrivals_step(&a);
	}
}

/* Gaps are exponential: the mean is 1/rate, as much as that is their standard
 * deviation, and a share of exp(-1) exceeds it.  Tolerances are five standard
 * deviations at N = 200,000, or more. */
static void step__is_poisson(void **state)
{
	const double rate = 250000, mean = 1e9 / rate;
	double sum = 0, squares = 0, gap;
	struct arrivals a;
	tux_time before = START;
	unsigned i, above = 0;

	(void)state;
	arrivals_init(&a, rate, 42, START);
	for (i = 0; i < N; i++) {
		gap = (double)(a.next - before);
		sum += gap;
		squares += gap * gap;
		above += gap > mean;
		before = a.next;
		arrivals_step(&a);
	}
	assert_in_range((uint64_t)(sum / N), mean * 0.985, mean * 1.015);
	assert_in_range((uint64_t)(squares / N), mean * mean * 1.94,
			mean * mean * 2.06);
	assert_in_range(above, N * 0.362, N * 0.374);
}

/* The parts of nanoseconds are not lost: at a rate that does not divide a
 * second, the instants do not drift. */
static void step__keeps_parts_of_nanoseconds(void **state)
{
	struct arrivals a;
	unsigned i;

	(void)state;
	arrivals_init(&a, 3e8, 5, START);
	for (i = 0; i < 10 * N; i++)
		arrivals_step(&a);
	assert_in_range(a.next - START, 10 * N * 3.28, 10 * N * 3.39);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(step__same_seed_same_instants),
		cmocka_unit_test(step__other_seed_other_instants),
		cmocka_unit_test(step__never_goes_back),
		cmocka_unit_test(step__is_poisson),
		cmocka_unit_test(step__keeps_parts_of_nanoseconds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
