/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The inputs that concern one connection: what they do beside their handlers.
 */
#include <errno.h>

#include "duo.h"

#include "conn/upgrade.h"

/* ---- the loop duplicates the descriptor ---- */

/* b's loop takes its time: a is proved and has announced a place, and its HELLO
 * and PREPARE have reached b in one datagram.  The generation. */
static uint32_t owning(struct duo *d)
{
	struct duo_pkt k;
	uint32_t gen;

	d->b.own_late = true;
	duo_carry(&d->a);
	duo_carry(&d->b);
	assert_true(duo_out(&d->a, &k) > 0);
	duo_in(&d->b, &k);
	assert_non_null(duo_rec(&k, TUX_REC_HELLO));
	assert_true(duo_next(&k));
	assert_non_null(duo_rec(&k, TUX_REC_PREPARE));
	gen = duo_rec(&k, TUX_REC_PREPARE)->gen;
	assert_int_equal(duo_out(&d->a, &k), 0);
	assert_int_equal(d->b.c->life, TUX_LIFE_OWNING);
	assert_int_equal(d->b.own_n, 1);
	return gen;
}

/* b is asked by one packet more. */
static void ask(struct duo *d)
{
	tux_conn_do(d->a.c, TUX_DO_PING);
	assert_int_equal(duo_carry(&d->a), 1);
}

/* What was to be sent again has been, and b has said nothing. */
static void assert_silent(struct duo *d)
{
	struct duo_pkt k;

	duo_pass(d, TUX_MSEC(100));
	duo_carry(&d->a);
	assert_int_equal(duo_out(&d->b, &k), 0);
	assert_int_equal(d->b.own_n, 1);
	assert_int_equal(d->b.dx->rx.state, TUX_RX_PLAIN);
}

/* b takes packets, the rest of the datagram included, but agrees to no switch:
 * nothing would read TCP for the marker. */
static void owned__answers_what_came_meanwhile(void **state)
{
	struct duo *d = *state;
	uint32_t gen = owning(d);
	struct tux_conn *c = d->b.c;
	struct duo_pkt k;

	assert_int_equal(c->stats.pkts_rx, 1);
	assert_int_equal(c->rx.arm_gen, gen);
	ask(d);
	assert_int_equal(c->stats.pkts_rx, 2);
	assert_int_equal(c->stats.dropped, 0);
	assert_int_equal(d->b.own_n, 1);
	assert_int_equal(d->b.dx->rx.state, TUX_RX_PLAIN);
	assert_int_equal(duo_out(&d->b, &k), 0);
	tux_conn_owned(c, 0, d->now);
	assert_int_equal(c->life, TUX_LIFE_PROVED);
	assert_int_equal(d->b.dx->rx.state, TUX_RX_ARMED);
	assert_true(duo_out(&d->b, &k) > 0);
	assert_non_null(duo_rec(&k, TUX_REC_PREPARED));
	assert_int_equal(duo_rec(&k, TUX_REC_PREPARED)->gen, gen);
	assert_int_equal(k.h.ack, (uint32_t)d->a.c->sentq.next);
	/* And it goes on from there. */
	duo_in(&d->a, &k);
	duo_settle_all(d);
	assert_true(tux_conn_rx_on_tux(c) && tux_conn_tx_on_tux(c));
}

/* The loop takes its time, and the peer sends again what was not answered: the
 * answer still comes from tux_conn_owned() alone. */
static void owned__silent_until_then(void **state)
{
	struct duo *d = *state;

	owning(d);
	ask(d);
	assert_silent(d);
	tux_conn_owned(d->b.c, 0, d->now);
	duo_settle_all(d);
	assert_int_equal(d->b.c->life, TUX_LIFE_PROVED);
	assert_true(tux_conn_rx_on_tux(d->b.c));
	assert_int_equal(d->b.c->reason, TUX_REASON_NONE);
}

static void owned__could_not(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->b.c;

	owning(d);
	d->b.ready_n = 0;
	tux_conn_owned(c, -EMFILE, d->now);
	duo_effects(&d->b);
	assert_int_equal(c->life, TUX_LIFE_REFUSED);
	assert_int_equal(c->reason, TUX_REASON_NO_FD);
	assert_int_equal(d->b.ready_n, 1);
	assert_int_equal(duo_carry(&d->b), 1);
	assert_int_equal(d->a.c->reason, TUX_REASON_NO_FD);
	assert_silent(d);
	ask(d);
	assert_int_equal(c->stats.pkts_rx, 1);
	assert_true(c->stats.dropped > 0);
	assert_silent(d);
	assert_int_equal(c->life, TUX_LIFE_REFUSED);
	assert_int_equal(c->reason, TUX_REASON_NO_FD);
}

/* The connection has died.  An answer of the loop's comes too late to matter. */
static void owned__after_its_death(void **state)
{
	static const int answer[] = { 0, -EMFILE };
	struct duo *d = *state;
	struct tux_conn *c = d->b.c;
	unsigned i;

	owning(d);
	c->life = TUX_LIFE_PROVED;
	tux_conn_tcp_end(c, EIO, d->now);
	for (i = 0; i < 2; i++) {
		assert_int_equal(c->life, TUX_LIFE_DEAD);
		assert_int_equal(atomic_load(&d->b.dx->err), EIO);
		assert_int_equal(c->reason, TUX_REASON_NONE);
		tux_conn_owned(c, answer[i], d->now);
	}
	duo_effects(&d->b);
	assert_true(d->b.ready_n > 0);
	assert_silent(d);
	duo_ring(&d->b, TUX_DOORBELL_CLOSE);
	assert_int_equal(d->b.gone_n, 1);
	assert_int_equal(d->b.own_n, 1);
}

/* The peer's RESET comes while the loop is at it: that waits for the loop. */
static void owned__after_a_reset(void **state)
{
	struct duo *d = *state;
	struct duo_forge f;

	owning(d);
	duo_forge(&f, &d->b);
	tux_put32(duo_forge_add(&f, TUX_REC_RESET, 0, TUX_RESET_LEN), 13);
	assert_true(duo_forge_in(&f));
	assert_int_equal(d->b.c->life, TUX_LIFE_OWNING);
	assert_silent(d);
	tux_conn_owned(d->b.c, 0, d->now);
	assert_int_equal(d->b.c->life, TUX_LIFE_PROVED);
	duo_pass(d, 0);
	assert_int_equal(d->b.c->life, TUX_LIFE_DEAD);
}

static void owned__after_a_close(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->b.c;

	owning(d);
	duo_ring(&d->b, TUX_DOORBELL_CLOSE);
	assert_int_equal(d->b.gone_n, 1);
	assert_false(d->b.gone_reset);
	assert_int_equal(c->reason, TUX_REASON_CLOSED);
	tux_conn_owned(c, 0, d->now);
	duo_effects(&d->b);
	assert_int_equal(c->life, TUX_LIFE_GONE);
	assert_int_equal(d->b.gone_n, 1);
	assert_silent(d);
}

static void owned__after_an_abort(void **state)
{
	struct duo *d = *state;

	owning(d);
	duo_ring(&d->b, TUX_DOORBELL_ABORT);
	assert_int_equal(d->b.gone_n, 1);
	assert_true(d->b.gone_reset);
	tux_conn_owned(d->b.c, -EMFILE, d->now);
	assert_int_equal(d->b.c->life, TUX_LIFE_GONE);
	assert_silent(d);
}

/* Messages wait: a closed connection is gone when they have arrived. */
static void owned__closed_with_messages(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->b.c;

	d->a.dx->tx.pinned = d->b.dx->tx.pinned = 1;
	d->b.own_late = true;
	duo_settle(d);
	assert_int_equal(c->life, TUX_LIFE_OWNING);
	duo_send(&d->b, 100, 0, 'm');
	duo_ring(&d->b, TUX_DOORBELL_CLOSE);
	assert_int_equal(d->b.gone_n, 0);
	assert_true(c->linger_at == d->now + TUX_SEC(60));
	tux_conn_owned(c, 0, d->now);
	assert_int_equal(d->b.gone_n, 0);
	duo_settle_all(d);
	assert_int_equal(c->stats.msgs_tx, 1);
	assert_int_equal(d->b.gone_n, 1);
}

/* The application has asked for plain TCP meanwhile: the peer is told now. */
static void owned__plain_tcp_wanted(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->b.c;

	owning(d);
	duo_ring(&d->b, TUX_DOORBELL_RAW);
	assert_int_equal(c->reason, TUX_REASON_PINNED);
	assert_int_equal(d->b.dx->tx.pinned, 1);
	assert_int_equal(d->b.dx->rx.pinned, 1);
	assert_int_equal(c->todo & TUX_DO_RAW, 0);
	d->b.ready_n = 0;
	tux_conn_owned(c, 0, d->now);
	duo_effects(&d->b);
	assert_int_equal(d->b.ready_n, 0);	/* it knows the reason */
	assert_int_equal(c->todo & TUX_DO_RAW, TUX_DO_RAW);
	duo_settle_all(d);
	assert_int_equal(d->a.c->reason, TUX_REASON_PEER_RAW);
	assert_int_equal(c->reason, TUX_REASON_PINNED);
	assert_int_equal(d->b.dx->rx.state, TUX_RX_PLAIN);
}

/* The active end has nothing to announce, but an answer: the packet with it
 * proves the path to the peer, and no PING goes with it. */
static void owned__answers_and_asks_no_more(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	struct duo_pkt k;

	d->a.own_late = true;
	d->a.dx->tx.pinned = 1;
	duo_carry(&d->a);
	duo_carry(&d->b);
	assert_int_equal(c->life, TUX_LIFE_OWNING);
	tux_upgrade_prepare(c, 1, 100, 0);
	tux_conn_owned(c, 0, d->now);
	assert_int_equal(d->a.dx->rx.state, TUX_RX_ARMED);
	assert_true(duo_out(&d->a, &k) > 0);
	do {
		assert_null(duo_rec(&k, TUX_REC_PING));
	} while (!duo_rec(&k, TUX_REC_PREPARED) && duo_next(&k));
	assert_non_null(duo_rec(&k, TUX_REC_PREPARED));
}

/* ---- TCP ---- */

/* No tux_conn_tcp_sent() follows: what was marked is settled at once. */
static void tcp_out__settles_if_there_is_nothing(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	uint8_t buf[16];

	tux_conn_mark(c, TUX_DIRTY_READY);
	assert_int_equal(tux_conn_tcp_out(c, buf, 16, d->now), 0);
	assert_int_equal(c->dirty, 0);
	d->a.ready_n = 0;
	duo_effects(&d->a);
	assert_int_equal(d->a.ready_n, 1);
}

/* The loop has closed TCP, or will. */
static void tcp_end__of_one_that_is_gone(void **state)
{
	struct duo *d = *state;

	duo_ring(&d->a, TUX_DOORBELL_ABORT);
	tux_conn_tcp_end(d->a.c, EIO, d->now);
	assert_int_equal(d->log_a.n[TUX_TRACE_TCP_END], 0);
	assert_int_equal(atomic_load(&d->a.dx->err), 0);
	duo_ring(&d->a, TUX_DOORBELL_CLOSE);
	assert_int_equal(d->a.gone_n, 1);
}

/* ---- what is known of the path ---- */

static void set_mtu__is_news_for_the_path(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	c->pair->pmtu.len = 600;
	c->pair->pmtu.at = TUX_NEVER;
	tux_conn_set_mtu(c, DUO_MTU, d->now);
	assert_true(c->pair->pmtu.at == TUX_NEVER);
	tux_conn_set_mtu(c, 1400, d->now);
	assert_true(c->pair->pmtu.at == d->now);
	assert_int_equal(c->mtu, 1400);
}

static void set_mtu__before_there_is_a_pair(void **state)
{
	struct duo *d = *state;

	tux_conn_set_mtu(d->a.c, 1400, d->now);
	assert_int_equal(d->a.c->mtu, 1400);
}

static void rerouted__the_first_of_a_pair_asks(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	uint64_t sent = tux_conn_stats(c)->pkts_tx;

	c->pair->asked_at = d->now;	/* as if another one had asked */
	tux_conn_rerouted(c, d->now);
	duo_settle(d);
	assert_int_equal(tux_conn_stats(c)->pkts_tx, sent);
	d->now += TUX_MSEC(1);
	tux_conn_rerouted(c, d->now);
	duo_settle_all(d);
	assert_int_equal(tux_conn_stats(c)->pkts_tx, sent + 1);
	assert_true(tux_sentq_empty(&c->sentq));	/* it was answered */
}

static void rerouted__what_is_on_tcp_asks_nothing(void **state)
{
	struct duo *d = *state;

	tux_conn_rerouted(d->a.c, d->now);
	assert_false(d->a.c->todo & TUX_DO_PING);
}

/* Closed with a message that waits, then proved, told of a reset and refused in
 * one batch: it lingers, and does not die of the reset a minute later. */
static void owned__refused_after_a_reset_and_a_close(void **state)
{
	struct duo *d = *state;
	struct duo_forge f;

	d->a.own_late = true;
	duo_send(&d->a, 8, 0, 'm');
	duo_ring(&d->a, TUX_DOORBELL_CLOSE);
	assert_int_equal(d->a.c->life, TUX_LIFE_OPENING);
	duo_carry(&d->a);
	duo_carry(&d->b);
	assert_int_equal(d->a.c->life, TUX_LIFE_OWNING);
	duo_forge(&f, &d->a);
	duo_forge_add(&f, TUX_REC_RESET, 0, TUX_RESET_LEN);
	assert_true(duo_forge_in(&f));
	tux_conn_owned(d->a.c, -EBADF, d->now);
	duo_effects(&d->a);
	/* Nothing is left to do, and nothing to die of. */
	assert_int_equal(d->a.c->life, TUX_LIFE_GONE);
	assert_true(d->a.c->reset_at == TUX_NEVER);
}

int main(void)
{
#define T(name, setup) \
	cmocka_unit_test_setup_teardown(name, setup, duo_teardown)
	const struct CMUnitTest tests[] = {
		T(owned__answers_what_came_meanwhile, duo_setup),
		T(owned__silent_until_then, duo_setup),
		T(owned__could_not, duo_setup),
		T(owned__after_its_death, duo_setup),
		T(owned__after_a_reset, duo_setup),
		T(owned__refused_after_a_reset_and_a_close,
		  duo_setup_open_messages),
		T(owned__after_a_close, duo_setup),
		T(owned__after_an_abort, duo_setup),
		T(owned__closed_with_messages, duo_setup_open_messages),
		T(owned__plain_tcp_wanted, duo_setup),
		T(owned__answers_and_asks_no_more, duo_setup),
		T(tcp_out__settles_if_there_is_nothing, duo_setup_switched),
		T(tcp_end__of_one_that_is_gone, duo_setup_switched),
		T(set_mtu__is_news_for_the_path, duo_setup_switched),
		T(set_mtu__before_there_is_a_pair, duo_setup),
		T(rerouted__the_first_of_a_pair_asks, duo_setup_switched),
		T(rerouted__what_is_on_tcp_asks_nothing, duo_setup),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
