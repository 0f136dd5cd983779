/* SPDX-License-Identifier: BSD-2-Clause */
#include "../../../bench/histogram.h"

#include "../test.h"

static struct histogram h;

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void at__of_none_is_zero(void **state)
{
	(void)state;
	histogram_clear(&h);
	assert_int_equal(histogram_at(&h, 500), 0);
	assert_int_equal(h.n, 0);
}

static void at__small_values_are_exact(void **state)
{
	uint64_t v;

	(void)state;
	histogram_clear(&h);
	for (v = 0; v < 2000; v++)
		histogram_add(&h, v);
	assert_int_equal(histogram_at(&h, 0), 0);
	assert_int_equal(histogram_at(&h, 500), 999);
	assert_int_equal(histogram_at(&h, 990), 1979);
	assert_int_equal(histogram_at(&h, 999), 1997);
	assert_int_equal(histogram_at(&h, 1000), 1999);
}

static void at__one_value_is_itself(void **state)
{
	static const uint64_t value[] = {
		0, 1, 2047, 2048, 2049, 123456789, UINT64_MAX / 2, UINT64_MAX,
	};
	unsigned i;

	(void)state;
	for (i = 0; i < N_OF(value); i++) {
		histogram_clear(&h);
		histogram_add(&h, value[i]);
		assert_true(histogram_at(&h, 500) == value[i]);
		assert_true(h.max == value[i]);
	}
}

/* Each value in turn with a great one above it, so that the maximum is no
 * help: what is reported is not below it, nor above by more than 1/1024. */
static void at__is_right_to_three_digits(void **state)
{
	uint64_t seed = 7, v, got;
	unsigned i;

	(void)state;
	for (i = 0; i < 2000; i++) {
		v = test_random(&seed) >> (1 + test_below(&seed, 63));
		histogram_clear(&h);
		histogram_add(&h, v);
		histogram_add(&h, UINT64_MAX);
		got = histogram_at(&h, 500);
		assert_true(got >= v);
		assert_true(got - v <= v / 1024);
	}
}

/* A slot ends where the next one begins.  Eight doublings; all are alike. */
static void add__slots_are_in_order(void **state)
{
	uint64_t v = 0, got;
	unsigned i;

	(void)state;
	histogram_clear(&h);
	histogram_add(&h, UINT64_MAX);
	for (i = 0; i < 8 * HISTOGRAM_HALF; i++) {
		histogram_add(&h, v);
		got = histogram_at(&h, 500);
		assert_true(got >= v && got < UINT64_MAX);
		assert_int_equal(h.slot[i], 1);
		h.slot[i] = 0;
		h.n--;
		v = got + 1;
	}
}

static void at__agrees_with_sorting(void **state)
{
	enum { N = 10000 };
	static uint64_t value[N];
	static const double mille[] = { 500, 900, 990, 999 };
	uint64_t seed = 11, want, got;
	unsigned i;

	(void)state;
	histogram_clear(&h);
	for (i = 0; i < N; i++) {
		value[i] = test_random(&seed) % 100000000;
		histogram_add(&h, value[i]);
	}
	qsort(value, N, sizeof(*value), by_value);
	for (i = 0; i < N_OF(mille); i++) {
		want = value[(unsigned)(mille[i] * N / 1000) - 1];
		got = histogram_at(&h, mille[i]);
		assert_true(got >= want && got - want <= want / 1024);
	}
	assert_true(h.max == value[N - 1]);
	assert_int_equal(h.n, N);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(at__of_none_is_zero),
		cmocka_unit_test(at__small_values_are_exact),
		cmocka_unit_test(at__one_value_is_itself),
		cmocka_unit_test(at__is_right_to_three_digits),
		cmocka_unit_test(add__slots_are_in_order),
		cmocka_unit_test(at__agrees_with_sorting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
