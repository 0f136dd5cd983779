/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ECN of a connection: what leaves with ECT(0), and what marks do.
 */
#include "duo.h"

#include "conn/conn_ecn.h"

/* Does the next datagram that begins with a packet of @e leave with ECT(0)? */
static bool ect(struct duo_end *e)
{
	e->core->ecn_tx = -1;
	return tux_conn_choose_ect(e->c);
}

/* @n packets leave @e with ECT(0). */
static void ask(struct duo_end *e, unsigned n)
{
	struct duo_pkt k;

	while (n--) {
		tux_conn_do(e->c, TUX_DO_PING);
		assert_true(duo_out(e, &k) > 0);
		assert_int_equal(k.ecn, TUX_ECN_ECT0);
	}
}

/* The peer of @e has all, of which @ect came with ECT(0) or CE so far, and @ce
 * with CE. */
static void hear(struct duo_end *e, uint8_t ect_n, uint8_t ce)
{
	struct duo_forge f;

	duo_forge(&f, e);
	f.h.flags = 0;
	f.h.ack = (uint32_t)e->c->sentq.next;
	f.h.ect = ect_n;
	f.h.ce = ce;
	assert_true(duo_forge_in(&f));
}

/* As setup_proved, and no packet has been counted by anybody. */
static int setup(void **state)
{
	struct duo *d;

	duo_setup_proved(state);
	d = *state;
	d->a.c->ecn = (struct tux_ecn_sent){ 0 };
	d->b.c->came = (struct tux_ecn_counts){ 0 };
	return 0;
}

static void ect__what_must_get_through_goes_without(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	assert_true(ect(&d->a));
	assert_int_equal(c->ecn.sent_n, 1);
	c->tx.tail = true;
	assert_false(ect(&d->a));
	c->tx.tail = false;
	c->rtt.backoff = 1;
	assert_false(ect(&d->a));
	c->rtt.backoff = 0;
	c->pair->ecn.verdict = TUX_ECN_BLEACHED;
	assert_false(ect(&d->a));
	assert_int_equal(c->ecn.sent_n, 1);
}

/* All of a datagram as its first packet chose. */
static void ect__first_of_the_datagram_chooses(void **state)
{
	struct duo *d = *state;

	assert_true(ect(&d->a));
	d->a.c->tx.tail = true;
	assert_true(tux_conn_choose_ect(d->a.c));
	assert_false(ect(&d->a));
	d->a.c->tx.tail = false;
	assert_false(tux_conn_choose_ect(d->a.c));
	assert_int_equal(d->a.c->ecn.sent_n, 2);
}

static void acked__mark_eases(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	uint64_t cwnd = c->pair->cc.w.cwnd;

	ask(&d->a, 3);
	d->now += TUX_MSEC(1);
	hear(&d->a, 3, 0);
	assert_true(c->pair->cc.w.cwnd >= cwnd);
	assert_int_equal(d->a.core->stats.eased, 0);
	ask(&d->a, 3);
	d->now += TUX_MSEC(1);
	hear(&d->a, 6, 2);
	assert_true(c->pair->cc.w.cwnd < cwnd);
	assert_int_equal(c->stats.ce_tx, 2);
	assert_int_equal(d->a.core->stats.eased, 1);
	assert_true(d->log_a.last[TUX_TRACE_EASE].n[0] == 2);
	assert_true(d->log_a.last[TUX_TRACE_EASE].n[1] == c->pair->cc.w.cwnd);
}

/* What left before the window was made smaller is the same event. */
static void acked__once_for_a_round_trip(void **state)
{
	struct duo *d = *state;
	uint64_t cwnd;

	ask(&d->a, 1);
	d->now += TUX_USEC(500);
	ask(&d->a, 1);
	d->now += TUX_USEC(500);
	d->a.c->sentq.next--;		/* the first alone */
	hear(&d->a, 1, 1);
	d->a.c->sentq.next++;
	cwnd = d->a.c->pair->cc.w.cwnd;
	hear(&d->a, 2, 2);
	assert_true(d->a.c->pair->cc.w.cwnd >= cwnd);
	assert_int_equal(d->a.core->stats.eased, 1);
	assert_int_equal(d->a.c->stats.ce_tx, 2);
}

/* An older packet's counts are older. */
static void acked__not_of_overtaken_ones(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	struct tux_retired got = { .n = 1, .ect_n = 1, .top = c->sentq.top };
	struct tux_pkt h = { .ect = 1, .ce = 1 };

	ask(&d->a, 1);
	tux_conn_ecn_acked(c, &h, &got, d->now);
	assert_int_equal(c->stats.ce_tx, 0);
	got = (struct tux_retired){ .top = c->sentq.top - 1 };
	tux_conn_ecn_acked(c, &h, &got, d->now);
	assert_int_equal(c->stats.ce_tx, 1);
}

/* Nobody counts them: somebody on the way wipes the mark out. */
static void acked__given_up_once(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	ask(&d->a, 1);
	hear(&d->a, 0, 0);
	assert_int_equal(c->pair->ecn.verdict, TUX_ECN_BLEACHED);
	assert_int_equal(d->a.core->stats.no_ecn, 1);
	assert_true(d->log_a.last[TUX_TRACE_NO_ECN].n[0] == TUX_ECN_BLEACHED);
	tux_conn_do(c, TUX_DO_PING);
	duo_drop(&d->a);
	hear(&d->a, 0, 0);
	assert_int_equal(d->a.core->stats.no_ecn, 1);
}

static void came__is_told(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->b.c;
	struct duo_pkt k;

	d->b.core->ecn_rx = TUX_ECN_ECT0;
	tux_conn_ecn_came(c, d->now);
	assert_int_equal(c->stats.ce_rx, 0);
	assert_true(c->ackq.due_at == TUX_NEVER);
	d->b.core->ecn_rx = TUX_ECN_CE;
	tux_conn_ecn_came(c, d->now);
	assert_int_equal(c->stats.ce_rx, 1);
	/* Such news does not wait. */
	assert_true(c->ackq.due_at == d->now);
	tux_conn_kick(c);
	assert_true(duo_out(&d->b, &k) > 0);
	assert_int_equal(k.h.ect, 2);
	assert_int_equal(k.h.ce, 1);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, duo_teardown)
	const struct CMUnitTest tests[] = {
		T(ect__what_must_get_through_goes_without),
		T(ect__first_of_the_datagram_chooses),
		T(acked__mark_eases),
		T(acked__once_for_a_round_trip),
		T(acked__not_of_overtaken_ones),
		T(acked__given_up_once),
		T(came__is_told),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
