/* SPDX-License-Identifier: BSD-2-Clause */
#include "transport/pmtu.h"

#include "../test.h"

enum { MAX = 1472 };

static const tux_time T = TUX_SEC(5);

/* Long datagrams have been lost: a search begins at @T. */
static void fall(struct tux_pmtu *p)
{
	tux_pmtu_init(p);
	assert_false(tux_pmtu_lost(p, MAX, T - 2, T - 1));
	assert_true(tux_pmtu_lost(p, MAX, T - 1, T));
}

/* Runs a search over a path that carries @path bytes.  Returns how many probes
 * it took. */
static unsigned search(struct tux_pmtu *p, uint32_t path, tux_time *now)
{
	unsigned n = 0;
	uint32_t len;

	while (p->at <= *now && (len = tux_pmtu_probe(p, MAX, *now)) != 0) {
		++*now;
		n++;
		if (len > path)
			tux_pmtu_probe_lost(p, len, *now);
		else
			tux_pmtu_acked(p, len, *now);
	}
	return n;
}

static void lost__once_is_no_proof(void **state)
{
	struct tux_pmtu p;

	(void)state;
	tux_pmtu_init(&p);
	assert_false(tux_pmtu_lost(&p, MAX, T, T + 10));
	/* The other losses left before this round was noticed. */
	assert_false(tux_pmtu_lost(&p, MAX, T + 1, T + 11));
	assert_false(tux_pmtu_lost(&p, MAX, T + 9, T + 11));
	assert_int_equal(p.len, UINT32_MAX);
	assert_true(p.at == TUX_NEVER);
}

static void lost__twice_in_a_row(void **state)
{
	struct tux_pmtu p;

	(void)state;
	fall(&p);
	assert_int_equal(p.len, TUX_PMTU_FLOOR);
	assert_true(p.at == T);
}

static void lost__the_short_ones_too(void **state)
{
	struct tux_pmtu p;
	unsigned i;

	(void)state;
	tux_pmtu_init(&p);
	for (i = 0; i < 10; i++)
		assert_false(tux_pmtu_lost(&p, TUX_PMTU_FLOOR, T + i,
					   T + i + 1));
	fall(&p);
	for (i = 0; i < 10; i++)
		assert_false(tux_pmtu_lost(&p, MAX, T + i, T + i + 1));
}

static void acked__as_long_clears(void **state)
{
	struct tux_pmtu p;

	(void)state;
	tux_pmtu_init(&p);
	tux_pmtu_lost(&p, MAX, T, T + 10);
	assert_false(tux_pmtu_acked(&p, MAX, T + 11));
	assert_false(tux_pmtu_lost(&p, MAX, T + 12, T + 20));
	assert_true(tux_pmtu_lost(&p, MAX, T + 21, T + 30));
}

static void acked__shorter_does_not(void **state)
{
	struct tux_pmtu p;

	(void)state;
	tux_pmtu_init(&p);
	tux_pmtu_lost(&p, MAX, T, T + 10);
	assert_false(tux_pmtu_acked(&p, MAX - 1, T + 11));
	assert_true(tux_pmtu_lost(&p, MAX, T + 12, T + 20));
}

/* A datagram that was declared lost was only late. */
static void acked__after_all(void **state)
{
	struct tux_pmtu p;

	(void)state;
	fall(&p);
	assert_true(tux_pmtu_acked(&p, MAX, T + 1));
	assert_int_equal(p.len, MAX);
	assert_int_equal(tux_pmtu_probe(&p, MAX, T + 1), 0);
}

static void probe__likely_then_longest_then_halfway(void **state)
{
	struct tux_pmtu p;

	(void)state;
	fall(&p);
	assert_int_equal(tux_pmtu_probe(&p, MAX, T), TUX_PMTU_BASE);
	assert_true(p.at == T + TUX_SEC(TUX_PMTU_ANSWER_S));
	tux_pmtu_acked(&p, TUX_PMTU_BASE, T);
	assert_true(p.at == T);
	assert_int_equal(tux_pmtu_probe(&p, MAX, T), MAX);
	tux_pmtu_probe_lost(&p, MAX, T);
	assert_int_equal(tux_pmtu_probe(&p, MAX, T), MAX);
	tux_pmtu_probe_lost(&p, MAX, T);
	assert_int_equal(tux_pmtu_probe(&p, MAX, T), MAX);
	tux_pmtu_probe_lost(&p, MAX, T);
	assert_int_equal(tux_pmtu_probe(&p, MAX, T),
			 (TUX_PMTU_BASE + MAX) / 2);
}

/* The search finds what the path carries to within a step, with few probes. */
static void probe__finds_every_length(void **state)
{
	struct tux_pmtu p;
	uint32_t path;
	tux_time now;

	(void)state;
	for (path = TUX_PMTU_FLOOR; path <= MAX; path++) {
		now = T;
		fall(&p);
		assert_in_range(search(&p, path, &now), 1, 40);
		assert_in_range(p.len, path - TUX_PMTU_STEP, path);
	}
}

static void probe__the_longest_again_later(void **state)
{
	tux_time now = T;
	struct tux_pmtu p;

	(void)state;
	fall(&p);
	search(&p, 1000, &now);
	assert_true(p.at == now + TUX_SEC(TUX_PMTU_RAISE_S));
	now = p.at;
	assert_int_equal(search(&p, MAX, &now), 2);
	assert_int_equal(p.len, MAX);
}

static void probe__no_longer_than_may_be(void **state)
{
	struct tux_pmtu p;

	(void)state;
	fall(&p);
	assert_int_equal(tux_pmtu_probe(&p, MAX, T), TUX_PMTU_BASE);
	assert_int_equal(tux_pmtu_probe(&p, 900, T), 900);
	tux_pmtu_acked(&p, 900, T);
	assert_int_equal(tux_pmtu_probe(&p, 900, T), 0);
}

static void probe_lost__an_old_one(void **state)
{
	struct tux_pmtu p;
	unsigned i;

	(void)state;
	fall(&p);
	tux_pmtu_probe(&p, MAX, T);
	tux_pmtu_acked(&p, TUX_PMTU_BASE, T);
	assert_int_equal(tux_pmtu_probe(&p, MAX, T), MAX);
	for (i = 0; i < 9; i++)
		tux_pmtu_probe_lost(&p, TUX_PMTU_BASE, T);
	assert_int_equal(p.tries, 0);
	assert_int_equal(p.over, UINT32_MAX);
}

static void again__only_where_something_was_found(void **state)
{
	tux_time now = T;
	struct tux_pmtu p;

	(void)state;
	tux_pmtu_init(&p);
	tux_pmtu_again(&p, T);
	assert_true(p.at == TUX_NEVER);
	fall(&p);
	search(&p, 1000, &now);
	tux_pmtu_again(&p, now);
	assert_true(p.at == now);
	assert_int_equal(search(&p, MAX, &now), 2);
}

/* The path has changed: a length that was too long passes, so longer ones may
 * pass as well. */
static void carried__longer_than_what_was_too_long(void **state)
{
	struct tux_pmtu p;

	(void)state;
	fall(&p);
	p.over = 1000;
	assert_true(tux_pmtu_carried(&p, 999, T));
	assert_int_equal(p.over, 1000);
	assert_true(tux_pmtu_carried(&p, 1000, T));
	assert_int_equal(p.len, 1000);
	assert_true(p.over == UINT32_MAX);
	assert_true(p.at == T);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(lost__once_is_no_proof),
		cmocka_unit_test(lost__twice_in_a_row),
		cmocka_unit_test(lost__the_short_ones_too),
		cmocka_unit_test(acked__as_long_clears),
		cmocka_unit_test(acked__shorter_does_not),
		cmocka_unit_test(acked__after_all),
		cmocka_unit_test(probe__likely_then_longest_then_halfway),
		cmocka_unit_test(probe__finds_every_length),
		cmocka_unit_test(probe__the_longest_again_later),
		cmocka_unit_test(probe__no_longer_than_may_be),
		cmocka_unit_test(probe_lost__an_old_one),
		cmocka_unit_test(again__only_where_something_was_found),
		cmocka_unit_test(carried__longer_than_what_was_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
