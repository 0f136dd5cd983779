/* SPDX-License-Identifier: BSD-2-Clause */
#include "stack/refusals.h"

#include "../test.h"

#include "sys/take.h"
#include "wire/reason.h"

static int setup(void **state)
{
	*state = calloc(1, sizeof(struct tux_refusals));
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

/* Connection @i, with a key of its own. */
static struct tux_refused refused(uint32_t i, enum tux_reason why)
{
	return (struct tux_refused){
		.tuple.active.port = (uint16_t)(1000 + i),
		.tuple.passive.port = 80,
		.why = (uint8_t)why,
		.key = { i, ~(uint64_t)i },
	};
}

static bool find(struct tux_refusals *r, uint32_t i, enum tux_reason why)
{
	struct tux_refused want = refused(i, why), x;

	if (!tux_refusals_find(r, &want.tuple, false, &x))
		return false;
	assert_int_equal(x.why, why);
	assert_true(x.key.k0 == want.key.k0 && x.key.k1 == want.key.k1);
	return true;
}

static void add__found_at_its_end_only(void **state)
{
	struct tux_refusals *r = *state;
	struct tux_refused x = refused(1, TUX_REASON_PINNED);

	assert_true(tux_refusals_empty(r));
	assert_false(find(r, 1, TUX_REASON_PINNED));
	tux_refusals_add(r, &x);
	assert_false(tux_refusals_empty(r));
	assert_true(find(r, 1, TUX_REASON_PINNED));
	assert_false(find(r, 2, TUX_REASON_PINNED));
	assert_false(tux_refusals_find(r, &x.tuple, true, &x));
}

static void add__the_last_reason(void **state)
{
	struct tux_refusals *r = *state;
	struct tux_refused x = refused(1, TUX_REASON_PINNED);

	tux_refusals_add(r, &x);
	x.why = TUX_REASON_IPSEC;
	tux_refusals_add(r, &x);
	assert_true(find(r, 1, TUX_REASON_IPSEC));
	assert_int_equal(r->n, 1);
}

static void add__the_oldest_goes(void **state)
{
	struct tux_refusals *r = *state;
	struct tux_refused x;
	uint32_t i;

	for (i = 0; i < 3 * TUX_REFUSED_MAX; i++) {
		x = refused(i, TUX_REASON_PINNED);
		tux_refusals_add(r, &x);
	}
	for (i = 0; i < 3 * TUX_REFUSED_MAX; i++)
		assert_int_equal(find(r, i, TUX_REASON_PINNED),
				 i >= 2 * TUX_REFUSED_MAX);
	assert_int_equal(r->n, TUX_REFUSED_MAX);
}

static void remove__it_alone(void **state)
{
	struct tux_refusals *r = *state;
	struct tux_refused x = refused(1, TUX_REASON_PINNED);

	tux_refusals_remove(r, &x.tuple, false);
	tux_refusals_add(r, &x);
	x = refused(2, TUX_REASON_BYPASSED);
	tux_refusals_add(r, &x);
	tux_refusals_remove(r, &x.tuple, true);
	assert_true(find(r, 2, TUX_REASON_BYPASSED));
	tux_refusals_remove(r, &x.tuple, false);
	assert_false(find(r, 2, TUX_REASON_BYPASSED));
	assert_true(find(r, 1, TUX_REASON_PINNED));
}

/* A thread has died with the latch. */
static void find__not_for_ever(void **state)
{
	struct tux_refusals *r = *state;
	struct tux_refused x = refused(1, TUX_REASON_PINNED);

	tux_refusals_add(r, &x);
	tux_latch_take(&r->latch);
	assert_false(find(r, 1, TUX_REASON_PINNED));
	tux_refusals_add(r, &x);
	tux_refusals_remove(r, &x.tuple, false);
	tux_latch_drop(&r->latch);
	assert_true(find(r, 1, TUX_REASON_PINNED));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(add__found_at_its_end_only),
		T(add__the_last_reason),
		T(add__the_oldest_goes),
		T(remove__it_alone),
		T(find__not_for_ever),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
