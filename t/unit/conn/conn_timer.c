/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The deadline of a connection, and what happens when it passes.
 */
#include <errno.h>

#include "duo.h"

#include "conn/conn_timer.h"

/* The timer of @e goes off at @at. */
static void expire(struct duo_end *e, tux_time at)
{
	*e->now = at;
	tux_conn_expire(e->c, at);
	duo_derive(e, 0);
}

/* ... when it is due; that was due at @at. */
static void expire_at(struct duo_end *e, tux_time at)
{
	assert_true(tux_conn_deadline(e->c) == at);
	expire(e, at);
}

/* One packet leaves, and is lost on the way. */
static void ask(struct duo_end *e)
{
	tux_conn_do(e->c, TUX_DO_PING);
	assert_int_equal(duo_drop(e), 1);
}

/* ---- when? ---- */

static void deadline__earliest_of_all(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	tux_time *at[] = {
		&c->open.at, &c->linger_at, &c->reset_at, &c->ackq.due_at,
		&c->loss.at, &c->tx.probe_at, &c->tx.away_at, &c->tx.barred_at,
		&c->retry_at, &c->tx.writer_at,
	};
	unsigned i;

	assert_true(tux_conn_deadline(c) == TUX_NEVER);
	for (i = 0; i < N_OF(at); i++) {
		*at[i] = 1000 - i;
		assert_true(tux_conn_deadline(c) == 1000 - i);
	}
	/* Most say nothing before the path is proved. */
	c->life = TUX_LIFE_OPENING;
	assert_true(tux_conn_deadline(c) == 999);
	c->life = TUX_LIFE_GONE;
	assert_true(tux_conn_deadline(c) == TUX_NEVER);
	for (i = 0; i < N_OF(at); i++)
		*at[i] = TUX_NEVER;
	c->life = TUX_LIFE_PROVED;
}

static void deadline__of_what_is_in_flight(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	ask(&d->a);
	assert_true(tux_conn_deadline(c) == d->now + tux_rtt_pto(&c->rtt));
	c->loss.probe_at = d->now;
	assert_true(tux_conn_deadline(c) == d->now + tux_rtt_rto(&c->rtt));
	/* Doubled, it would come long after the stall. */
	c->rtt.backoff = 3;
	assert_true(tux_conn_deadline(c) == d->now + tux_rtt_rto(&c->rtt));
	c->rtt.srtt = TUX_SEC(1);
	assert_true(tux_conn_deadline(c) == d->now + tux_rtt_rto(&c->rtt));
	c->rtt.backoff = 4;
	assert_true(tux_conn_deadline(c) == d->now + TUX_SEC(1));
	c->tx.path = TUX_PATH_FRAMES;
	assert_true(tux_conn_deadline(c) == d->now + TUX_SEC(10));
	c->tx.path = TUX_PATH_TUX;
}

/* The heap is told of earlier ones only. */
static void set_timer__never_later(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	tux_heap_set(&d->a.core->timers, &c->timer, 1000);
	c->tx.probe_at = 2000;
	duo_derive(&d->a, 0);
	assert_false(tux_list_empty(&c->untimed));
	tux_conn_set_timer(c);
	assert_true(tux_list_empty(&c->untimed));
	assert_true(c->timer.at == 1000);
	c->tx.probe_at = 999;
	tux_conn_set_timer(c);
	assert_true(c->timer.at == 999);
	c->tx.probe_at = TUX_NEVER;
}

/* ---- the tail, and the timer ---- */

/* What the very last carried goes once more, whatever the window says. */
static void tail__is_probed_once(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	struct duo_pkt k;

	assert_int_equal(duo_write(&d->a, "abc", 3), 3);
	assert_int_equal(duo_drop(&d->a), 1);
	duo_narrow(c);
	expire_at(&d->a, d->now + tux_rtt_pto(&c->rtt));
	assert_int_equal(c->stats.tails, 1);
	assert_int_equal(c->stats.timeouts, 0);
	assert_true(c->loss.probe_at == d->now);
	assert_true(duo_out(&d->a, &k) > 0);
	assert_int_equal(duo_rec(&k, TUX_REC_STREAM)->data_len, 3);
	assert_null(duo_rec(&k, TUX_REC_PING));
	/* It is the newer packet that has the bytes now. */
	assert_int_equal(tux_sentq_oldest(&c->sentq)->len, 0);
	expire_at(&d->a, d->now + tux_rtt_rto(&c->rtt));
	assert_int_equal(c->stats.tails, 1);
	assert_int_equal(c->stats.timeouts, 1);
}

/* A question that nobody needs to be asked again: so ask another one. */
static void tail__with_nothing_to_say_again(void **state)
{
	struct duo *d = *state;
	struct duo_pkt k;

	ask(&d->a);
	expire_at(&d->a, d->now + tux_rtt_pto(&d->a.c->rtt));
	assert_true(duo_out(&d->a, &k) > 0);
	assert_non_null(duo_rec(&k, TUX_REC_PING));
}

static void tail__with_a_record_to_say_again(void **state)
{
	struct duo *d = *state;
	struct duo_pkt k;

	tux_conn_do(d->a.c, TUX_DO_PREPARED);
	duo_drop(&d->a);
	expire_at(&d->a, d->now + tux_rtt_pto(&d->a.c->rtt));
	assert_true(duo_out(&d->a, &k) > 0);
	assert_non_null(duo_rec(&k, TUX_REC_PREPARED));
	assert_null(duo_rec(&k, TUX_REC_PING));
}

static void timeout__all_again(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	struct duo_pkt k;

	assert_int_equal(duo_write(&d->a, "abc", 3), 3);
	duo_drop(&d->a);
	ask(&d->a);
	c->loss.probe_at = d->now;
	c->pair->ack_at = 0;
	expire_at(&d->a, d->now + tux_rtt_rto(&c->rtt));
	assert_int_equal(c->rtt.backoff, 1);
	assert_true(c->loss.probe_at == 0);
	assert_int_equal(c->stats.lost, 2);
	assert_true(c->pair->cc.w.cwnd == c->pair->cc.mss);
	assert_true(duo_out(&d->a, &k) > 0);
	assert_int_equal(duo_rec(&k, TUX_REC_STREAM)->data_len, 3);
	assert_null(duo_rec(&k, TUX_REC_PING));
	/* No tail is probed while timers pass. */
	expire_at(&d->a, d->now + tux_rtt_rto(&c->rtt));
	assert_int_equal(c->rtt.backoff, 2);
	assert_int_equal(c->stats.tails, 0);
}

/* Only a question was lost, and everybody has everything: it is put again. */
static void timeout__of_a_question(void **state)
{
	struct duo *d = *state;
	struct duo_pkt k;

	ask(&d->a);
	d->a.c->loss.probe_at = d->now;
	expire_at(&d->a, d->now + tux_rtt_rto(&d->a.c->rtt));
	assert_true(duo_out(&d->a, &k) > 0);
	assert_non_null(duo_rec(&k, TUX_REC_PING));
}

/* Before the switch nobody has asked for an answer. */
static void timeout__of_a_question_before_the_switch(void **state)
{
	struct duo *d = *state;
	struct duo_pkt k;

	ask(&d->a);
	d->a.c->loss.probe_at = d->now;
	expire_at(&d->a, d->now + tux_rtt_rto(&d->a.c->rtt));
	assert_int_equal(d->a.c->stats.timeouts, 1);
	assert_int_equal(duo_out(&d->a, &k), 0);
}

/* ---- the path does not answer ---- */

/* Four in a row, and a second: back to TCP. */
static void stall__four_timeouts_and_a_second(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	tux_time since = d->now;

	c->rtt.srtt = c->rtt.rttvar = TUX_USEC(100);
	assert_int_equal(duo_write(&d->a, "abc", 3), 3);
	while (c->tx.path == TUX_PATH_TUX) {
		duo_drop(&d->a);
		d->now = tux_conn_deadline(c);
		expire(&d->a, d->now);
	}
	assert_true(d->now == since + TUX_SEC(1));
	assert_true(c->rtt.backoff >= 4);
	assert_int_equal(c->stats.backs, 1);
	assert_int_equal(c->reason, TUX_REASON_STALLED);
	assert_true(c->pair->down);
}

static void stall__needs_both(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	ask(&d->a);
	c->loss.probe_at = d->now;
	c->progress_at = 0;
	c->rtt.backoff = 2;		/* this is the third */
	d->now = tux_conn_deadline(c);
	expire(&d->a, d->now);
	assert_int_equal(c->tx.path, TUX_PATH_TUX);
	ask(&d->a);
	c->rtt.backoff = 9;
	c->progress_at = d->now - TUX_SEC(1) + 1;
	tux_sentq_oldest(&c->sentq)->at = 0;
	c->rtt.srtt = 1;
	expire(&d->a, d->now);
	assert_int_equal(c->tx.path, TUX_PATH_TUX);
}

/* Not switched yet: it stays away for a second, then two, and says so. */
static void away__before_the_switch(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	struct duo_pkt k;

	c->tx.announce_at = d->now;
	duo_derive(&d->a, TUX_DIRTY_ANNOUNCE);
	assert_int_equal(d->a.dx->tx.state, TUX_TX_ANNOUNCED);
	tux_conn_do(c, TUX_DO_PREPARED);
	assert_int_equal(duo_drop(&d->a), 1);
	c->rtt.backoff = 3;
	c->progress_at = d->now;
	d->now += TUX_SEC(1);
	expire(&d->a, d->now);
	assert_int_equal(d->a.dx->tx.state, TUX_TX_PLAIN);
	assert_int_equal(c->tx.gen, 0);
	assert_true(c->tx.away_at == d->now + TUX_SEC(1));
	assert_true(c->tx.announce_at == c->tx.away_at);
	assert_int_equal(c->tx.away.len, TUX_SEC(1));
	assert_int_equal(c->reason, TUX_REASON_STALLED);
	assert_int_equal(duo_out(&d->a, &k), 0);
	/* What it had to say is kept until then. */
	d->now += TUX_SEC(1);
	expire(&d->a, d->now);
	assert_true(c->tx.away_at == TUX_NEVER);
	assert_true(duo_out(&d->a, &k) > 0);
	assert_non_null(duo_rec(&k, TUX_REC_PREPARED));
	assert_int_equal(c->tx.kept, 0);
}

/* A writer is there: the generation is withdrawn when it has gone, and the next
 * follows in time, even if the application writes no more. */
static void away__latch_is_held(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	tux_time at;

	c->tx.announce_at = d->now;
	duo_derive(&d->a, TUX_DIRTY_ANNOUNCE);
	assert_int_equal(duo_drop(&d->a), 1);
	c->rtt.backoff = 3;
	c->progress_at = d->now;
	d->now += TUX_SEC(1);
	at = d->now + TUX_SEC(1);
	assert_true(tux_latch_try(&d->a.dx->tx.latch));
	expire(&d->a, d->now);
	tux_latch_drop(&d->a.dx->tx.latch);
	assert_int_equal(d->a.dx->tx.state, TUX_TX_ANNOUNCED);
	assert_int_equal(c->tx.gen, 0);
	assert_int_equal(c->reason, TUX_REASON_STALLED);
	expire_at(&d->a, d->now + TUX_USEC(100));
	assert_int_equal(d->a.dx->tx.state, TUX_TX_PLAIN);
	expire_at(&d->a, at);
	assert_true(c->tx.gen_at == TUX_NOWHERE);
	assert_true(tux_conn_deadline(c) > at);
}

/* On TCP the path is asked, less and less often, for a minute at most. */
static void away__on_tcp(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	uint64_t gap = 1;
	unsigned i;

	c->peer_plain = false;
	tux_conn_stall(c, d->now);
	assert_int_equal(duo_drop(&d->a), 0);
	for (i = 0; i < 8; i++) {
		assert_true(c->tx.probe_at == d->now + TUX_SEC(gap));
		d->now = c->tx.probe_at;
		expire(&d->a, d->now);
		assert_true(c->tx.probe_at == TUX_NEVER);
		assert_int_equal(duo_drop(&d->a), 1);
		d->now = tux_conn_deadline(c);
		expire(&d->a, d->now);
		assert_int_equal(c->stats.timeouts, i + 1);
		gap = gap < 32 ? 2 * gap : 60;
	}
}

/* ---- the other deadlines ---- */

static void linger__is_over(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	duo_ring(&d->a, TUX_DOORBELL_CLOSE);
	duo_settle(d);
	duo_pass(d, TUX_MSEC(1));
	duo_settle(d);
	assert_true(c->tx.done);
	assert_true(c->linger_at == d->now + TUX_SEC(60));
	d->now += TUX_SEC(60) - 1;
	expire(&d->a, d->now);
	assert_int_equal(d->a.gone_n, 0);
	d->now++;
	expire(&d->a, d->now);
	assert_int_equal(d->a.gone_n, 1);
	assert_false(d->a.gone_reset);
}

/* And what we had to send has not been taken. */
static void linger__is_over_with_bytes_left(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	assert_int_equal(duo_write(&d->a, "abc", 3), 3);
	duo_ring(&d->a, TUX_DOORBELL_CLOSE);
	c->linger_at = d->now + 5;
	d->now += 5;
	expire(&d->a, d->now);
	assert_true(d->log_a.last[TUX_TRACE_LIFE].n[0] == TUX_LIFE_DEAD);
	assert_int_equal(c->life, TUX_LIFE_GONE);
	assert_int_equal(atomic_load(&d->a.dx->err), ETIMEDOUT);
	assert_int_equal(d->a.gone_n, 1);
}

static void reset__is_due(void **state)
{
	struct duo *d = *state;
	tux_time at = d->now + 5;

	d->a.c->reset_at = at;
	expire(&d->a, at - 1);
	assert_int_equal(d->a.c->life, TUX_LIFE_PROVED);
	expire(&d->a, at);
	assert_int_equal(d->a.c->life, TUX_LIFE_DEAD);
	assert_int_equal(atomic_load(&d->a.dx->err), ECONNRESET);
}

static void ack__is_due(void **state)
{
	struct duo *d = *state;
	tux_time at = d->now + 5;

	d->a.c->ackq.due_at = at;
	expire(&d->a, at - 1);
	assert_true(tux_list_empty(&d->a.c->sendq));
	expire(&d->a, at);
	assert_false(tux_list_empty(&d->a.c->sendq));
}

/* What is due again at once waits its turn: the timer is always later. */
static void expire__is_never_due_at_once(void **state)
{
	struct duo *d = *state;

	d->a.c->ackq.due_at = d->now;
	duo_derive(&d->a, 0);
	assert_true(tux_core_expire(d->a.core, d->now));
	assert_true(d->a.c->timer.at == d->now + 1);
}

int main(void)
{
#define T(name, setup) \
	cmocka_unit_test_setup_teardown(name, setup, duo_teardown)
	const struct CMUnitTest tests[] = {
		T(deadline__earliest_of_all, duo_setup_switched),
		T(deadline__of_what_is_in_flight, duo_setup_switched),
		T(set_timer__never_later, duo_setup_switched),
		T(tail__is_probed_once, duo_setup_switched),
		T(tail__with_nothing_to_say_again, duo_setup_switched),
		T(tail__with_a_record_to_say_again, duo_setup_switched),
		T(timeout__all_again, duo_setup_switched),
		T(timeout__of_a_question, duo_setup_switched),
		T(timeout__of_a_question_before_the_switch,
		  duo_setup_proved),
		T(stall__four_timeouts_and_a_second, duo_setup_switched),
		T(stall__needs_both, duo_setup_switched),
		T(away__before_the_switch, duo_setup_proved),
		T(away__latch_is_held, duo_setup_proved),
		T(away__on_tcp, duo_setup_switched),
		T(linger__is_over, duo_setup_switched),
		T(linger__is_over_with_bytes_left, duo_setup_switched),
		T(reset__is_due, duo_setup_switched),
		T(ack__is_due, duo_setup_switched),
		T(expire__is_never_due_at_once, duo_setup_switched),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
