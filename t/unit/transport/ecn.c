/* SPDX-License-Identifier: BSD-2-Clause */
#include "transport/ecn.h"

#include "../test.h"

static struct tux_ecn e;
static struct tux_ecn_sent s;
static struct tux_ecn_counts c;		/* what the peer counts */

static void start(void)
{
	memset(&e, 0, sizeof(e));
	memset(&s, 0, sizeof(s));
	memset(&c, 0, sizeof(c));
}

/* @n packets leave with ECT(0) and arrive with @ecn. */
static void arrive(unsigned n, uint8_t ecn)
{
	s.sent_n += n;
	while (n--)
		tux_ecn_came(&c, ecn);
}

static unsigned heard(unsigned acked_n)
{
	tux_ecn_acked(&e, &s, acked_n, acked_n);
	return tux_ecn_heard(&e, &s, c);
}

static void came__counts_what_is_ours(void **state)
{
	(void)state;
	start();
	tux_ecn_came(&c, TUX_ECN_NONE);
	tux_ecn_came(&c, TUX_ECN_ECT1);
	assert_int_equal(c.ect, 0);
	tux_ecn_came(&c, TUX_ECN_ECT0);
	tux_ecn_came(&c, TUX_ECN_CE);
	assert_int_equal(c.ect, 2);
	assert_int_equal(c.ce, 1);
}

static void heard__tells_what_is_new(void **state)
{
	(void)state;
	start();
	arrive(3, TUX_ECN_ECT0);
	arrive(2, TUX_ECN_CE);
	assert_int_equal(heard(5), 2);
	assert_int_equal(heard(0), 0);
	arrive(1, TUX_ECN_CE);
	assert_int_equal(heard(1), 1);
	assert_true(tux_ecn_capable(&e));
}

static void heard__counts_go_round(void **state)
{
	unsigned i, ce = 0;

	(void)state;
	start();
	for (i = 0; i < 50; i++) {
		arrive(10, TUX_ECN_ECT0);
		arrive(3, TUX_ECN_CE);
		ce += heard(13);
	}
	assert_int_equal(ce, 150);
	assert_true(tux_ecn_capable(&e));
	assert_int_equal(s.counted_n, 650);
}

/* 256 packets are acknowledged at once: the count has wrapped to its old
 * value. */
static void heard__counts_go_round_at_once(void **state)
{
	(void)state;
	start();
	arrive(253, TUX_ECN_ECT0);
	arrive(3, TUX_ECN_CE);
	assert_int_equal(c.ect, 0);
	assert_int_equal(heard(256), 3);
	arrive(300, TUX_ECN_ECT0);
	assert_int_equal(heard(290), 0);
	assert_int_equal(heard(10), 0);
	assert_true(tux_ecn_capable(&e));
	assert_int_equal(s.counted_n, 556);
}

/* The peer may count packets long before it acknowledges them. */
static void heard__may_run_ahead_of_acknowledgments(void **state)
{
	(void)state;
	start();
	arrive(20, TUX_ECN_ECT0);
	heard(5);
	heard(10);
	arrive(1, TUX_ECN_ECT0);
	heard(1);
	assert_true(tux_ecn_capable(&e));
}

/* Lost packets are in no count. */
static void heard__less_than_was_sent(void **state)
{
	(void)state;
	start();
	s.sent_n = 100;
	arrive(5, TUX_ECN_ECT0);
	heard(5);
	assert_true(tux_ecn_capable(&e));
}

static void heard__bleached(void **state)
{
	(void)state;
	start();
	arrive(5, TUX_ECN_ECT0);
	heard(5);
	arrive(1, TUX_ECN_NONE);
	assert_int_equal(heard(1), 0);
	assert_int_equal(e.verdict, TUX_ECN_BLEACHED);
	start();
	arrive(1, TUX_ECN_ECT1);
	heard(1);
	assert_int_equal(e.verdict, TUX_ECN_BLEACHED);
}

static void heard__invented(void **state)
{
	(void)state;
	start();
	tux_ecn_came(&c, TUX_ECN_ECT0);
	assert_int_equal(heard(0), 0);
	assert_int_equal(e.verdict, TUX_ECN_INVENTED);
	/* More packets with CE than with ECT(0) or CE. */
	start();
	arrive(1, TUX_ECN_CE);
	c.ect = 0;
	assert_int_equal(heard(0), 0);
	assert_int_equal(e.verdict, TUX_ECN_INVENTED);
}

/* A count that goes down has, modulo 256, grown by more than was sent. */
static void heard__down(void **state)
{
	(void)state;
	start();
	arrive(20, TUX_ECN_ECT0);
	heard(20);
	c.ect--;
	heard(0);
	assert_int_equal(e.verdict, TUX_ECN_INVENTED);
}

static void heard__nothing_after_the_verdict(void **state)
{
	(void)state;
	start();
	arrive(1, TUX_ECN_NONE);
	heard(1);
	arrive(5, TUX_ECN_CE);
	assert_int_equal(heard(5), 0);
	assert_int_equal(e.verdict, TUX_ECN_BLEACHED);
}

/* @n reductions, and every packet between them comes with CE. */
static void all_ce(unsigned n)
{
	while (n--) {
		arrive(2, TUX_ECN_CE);
		if (heard(2))
			tux_ecn_reduced(&e);
	}
}

static void reduced__in_vain(void **state)
{
	(void)state;
	start();
	all_ce(TUX_ECN_ROUNDS - 1);
	assert_true(tux_ecn_capable(&e));
	all_ce(1);
	assert_int_equal(e.verdict, TUX_ECN_ALL_CE);
}

static void reduced__one_without_ce_is_enough(void **state)
{
	(void)state;
	start();
	all_ce(TUX_ECN_ROUNDS - 1);
	arrive(1, TUX_ECN_ECT0);
	heard(1);
	all_ce(TUX_ECN_ROUNDS - 1);
	assert_true(tux_ecn_capable(&e));
}

/* A packet with ECT(0) is lost, then a packet without arrives. */
static void only_the_other_passes(void)
{
	tux_ecn_lost(&e, true);
	tux_ecn_lost(&e, false);
	tux_ecn_acked(&e, &s, 0, 1);
}

static void acked__only_without_ect(void **state)
{
	unsigned i;

	(void)state;
	start();
	for (i = 1; i < TUX_ECN_HOLES; i++)
		only_the_other_passes();
	tux_ecn_acked(&e, &s, 0, 1);
	assert_true(tux_ecn_capable(&e));
	only_the_other_passes();
	assert_int_equal(e.verdict, TUX_ECN_HOLE);
}

static void acked__one_with_ect_is_enough(void **state)
{
	unsigned i;

	(void)state;
	start();
	for (i = 0; i < 3 * TUX_ECN_HOLES; i++) {
		only_the_other_passes();
		if (i % 2)
			tux_ecn_acked(&e, &s, 1, 2);
	}
	assert_true(tux_ecn_capable(&e));
}

/* A loss before that acknowledgment does not count afterwards. */
static void acked__one_with_ect_ends_a_loss(void **state)
{
	unsigned i;

	(void)state;
	start();
	tux_ecn_lost(&e, true);
	tux_ecn_acked(&e, &s, 1, 1);
	tux_ecn_acked(&e, &s, 0, 1);
	for (i = 1; i < TUX_ECN_HOLES; i++)
		only_the_other_passes();
	assert_true(tux_ecn_capable(&e));
}

/* The first verdict is not replaced by another. */
static void heard__first_verdict_stands(void **state)
{
	unsigned i;

	(void)state;
	start();
	e.verdict = TUX_ECN_INVENTED;
	for (i = 0; i < TUX_ECN_HOLES; i++) {
		tux_ecn_lost(&e, true);
		tux_ecn_acked(&e, &s, 0, 1);
	}
	assert_int_equal(e.verdict, TUX_ECN_INVENTED);
	for (i = 0; i < TUX_ECN_ROUNDS; i++)
		tux_ecn_reduced(&e);
	assert_int_equal(e.verdict, TUX_ECN_INVENTED);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(came__counts_what_is_ours),
		cmocka_unit_test(heard__tells_what_is_new),
		cmocka_unit_test(heard__counts_go_round),
		cmocka_unit_test(heard__counts_go_round_at_once),
		cmocka_unit_test(heard__may_run_ahead_of_acknowledgments),
		cmocka_unit_test(heard__less_than_was_sent),
		cmocka_unit_test(heard__bleached),
		cmocka_unit_test(heard__invented),
		cmocka_unit_test(heard__down),
		cmocka_unit_test(heard__nothing_after_the_verdict),
		cmocka_unit_test(reduced__in_vain),
		cmocka_unit_test(reduced__one_without_ce_is_enough),
		cmocka_unit_test(acked__only_without_ect),
		cmocka_unit_test(acked__one_with_ect_is_enough),
		cmocka_unit_test(acked__one_with_ect_ends_a_loss),
		cmocka_unit_test(heard__first_verdict_stands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
