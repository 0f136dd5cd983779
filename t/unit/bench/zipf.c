/* SPDX-License-Identifier: BSD-2-Clause */
#include "../../../bench/zipf.h"

#include <math.h>

#include "../test.h"

enum { N = 1000, DRAWS = 1000000 };

/* How often number @i is drawn, if @u goes evenly over [0, 1). */
static void count_draws(const struct zipf *z, unsigned *count)
{
	unsigned i;

	for (i = 0; i < DRAWS; i++) {
		uint64_t k = zipf_draw(z, (double)i / DRAWS);

		assert_true(k < z->n);
		count[k]++;
	}
}

/* The first two are exact; the others are within the method's error, which is
 * largest for the third. */
static void draw__as_often_as_the_law_says(void **state)
{
	static unsigned count[N];
	struct zipf z;
	double sum = 0;
	unsigned i, tail = 0;

	(void)state;
	zipf_init(&z, N, ZIPF_YCSB);
	for (i = 1; i <= N; i++)
		sum += pow(i, -ZIPF_YCSB);
	count_draws(&z, count);
	for (i = 0; i < 2; i++)
		assert_true(fabs(count[i] / (DRAWS * pow(i + 1, -ZIPF_YCSB) / sum)
				 - 1) < 0.001);
	for (i = 2; i < 100; i++)
		assert_true(fabs(count[i] / (DRAWS * pow(i + 1, -ZIPF_YCSB) / sum)
				 - 1) < 0.3);
	for (i = 100; i < N; i++)
		tail += count[i];
	/* 1/101 + ... + 1/1000, nearly. */
	assert_true(fabs(tail / (DRAWS * log(N / 100.0) / sum) - 1) < 0.1);
}

static void draw__ends(void **state)
{
	struct zipf z;

	(void)state;
	zipf_init(&z, 2, 0.5);
	assert_int_equal(zipf_draw(&z, 0), 0);
	assert_int_equal(zipf_draw(&z, 0.999999999), 1);
	zipf_init(&z, N, ZIPF_YCSB);
	assert_int_equal(zipf_draw(&z, 0), 0);
	assert_true(zipf_draw(&z, nextafter(1, 0)) >= N - 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(draw__as_often_as_the_law_says),
		cmocka_unit_test(draw__ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
