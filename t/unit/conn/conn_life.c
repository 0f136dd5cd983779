/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Birth, death and doorbells of a connection.
 */
#include <errno.h>

#include "duo.h"

/* Datagrams and TCP, and the acknowledgments that were held back. */
static void all(struct duo *d)
{
	duo_settle(d);
	duo_pass(d, TUX_MSEC(1));
	duo_settle(d);
}

/* ---- birth ---- */

static void open__begins_with_nothing(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	bool active = false;

	assert_int_equal(c->phase, TUX_PHASE_OPENING);
	assert_int_equal(c->nonce & 1, 1);
	assert_true(c->id != 0);
	assert_true(c->first >= 1ull << 32 && c->first < 1ull << 33);
	assert_true(tux_table_by_id(&d->a.core->table, c->id) == c);
	assert_int_equal(c->peer.port, 6379);
	assert_int_equal(d->b.c->peer.port, 0);
	assert_ptr_equal(tux_conn_user(c), &d->a);
	assert_ptr_equal(tux_conn_duplex(c), d->a.dx);
	assert_int_equal(tux_conn_tuple(c, &active)->active.port, 40000);
	assert_true(active);
	assert_int_equal(tux_conn_tuple(d->b.c, &active)->passive.port, 6379);
	assert_false(active);
	assert_ptr_equal(tux_conn_tuple(c, NULL), &c->tuple);
	assert_int_equal(tux_conn_stats(c)->pkts_tx, 0);
	assert_int_equal(tux_conn_reason(c), TUX_REASON_NONE);
	assert_false(tux_conn_tx_on_tux(c) || tux_conn_rx_on_tux(c));
}

static void close__leaves_nothing(void **state)
{
	struct duo *d = *state;
	struct tux_core *core = d->a.core;
	uint32_t id = d->a.c->id;

	assert_int_equal(duo_write(&d->a, "abc", 3), 3);
	duo_drop(&d->a);
	tux_conn_do(d->a.c, TUX_DO_PING);
	tux_conn_close(d->a.c);
	d->a.c = NULL;
	assert_null(tux_table_by_id(&core->table, id));
	assert_true(tux_list_empty(&core->sendq));
	assert_true(tux_list_empty(&core->untimed));
	assert_int_equal(core->conn_n, 0);
	assert_int_equal(core->pairs.n, 0);
	assert_true(tux_core_deadline(core) == TUX_NEVER);
	assert_int_equal(duo_drop(&d->a), 0);
}

/* ---- what is told ---- */

static void decide__told_when_it_changes(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	tux_conn_decide(c, TUX_REASON_NONE);
	assert_int_equal(d->a.ready_n, 0);
	tux_conn_decide(c, TUX_REASON_PINNED);
	assert_int_equal(d->a.ready_n, 1);
	assert_int_equal(tux_conn_reason(c), TUX_REASON_PINNED);
	tux_conn_decide(c, TUX_REASON_PINNED);
	assert_int_equal(d->a.ready_n, 1);
	c->rx.tux = true;
	tux_conn_decide(c, TUX_REASON_PINNED);
	assert_int_equal(d->a.ready_n, 2);
	c->rx.tux = false;
	c->tx.path = TUX_PATH_TUX;
	tux_conn_decide(c, TUX_REASON_PINNED);
	assert_int_equal(d->a.ready_n, 2);
	c->tx.path = TUX_PATH_NONE;
}

static void gone__once(void **state)
{
	struct duo *d = *state;

	d->a.c->linger_at = 5;
	tux_conn_gone(d->a.c, false);
	assert_int_equal(d->a.gone_n, 1);
	assert_false(d->a.gone_reset);
	assert_true(d->a.c->linger_at == TUX_NEVER);
	tux_conn_gone(d->a.c, true);
	assert_int_equal(d->a.gone_n, 1);
	/* Nor does it listen to its doorbell any more. */
	duo_ring(&d->a, TUX_DOORBELL_ABORT);
	assert_int_equal(d->a.gone_n, 1);
	assert_false(d->a.c->closed);
}

/* An end of file behind half of a marker would make it data. */
static void gone__within_a_marker(void **state)
{
	struct duo *d = *state;

	d->a.dx->tx.marker_left = 3;
	tux_conn_gone(d->a.c, false);
	assert_true(d->a.gone_reset);
}

/* ---- death ---- */

static void die__the_application_learns_why(void **state)
{
	struct duo *d = *state;
	char buf[4];

	assert_int_equal(duo_write(&d->b, "abc", 3), 3);
	duo_carry(&d->b);
	duo_write(&d->a, "x", 1);
	duo_drop(&d->a);
	d->a.c->reset_at = 5;
	tux_conn_die(d->a.c, EIO, TUX_REASON_NONE);
	assert_int_equal(d->a.c->pair->in_flight, 0);
	assert_true(d->a.c->reset_at == TUX_NEVER);
	assert_int_equal(d->a.c->todo & TUX_DO_RESET, 0);
	/* What is complete comes first. */
	assert_int_equal(duo_read(&d->a, buf, 4), 3);
	assert_int_equal(duo_read(&d->a, buf, 4), -EIO);
	assert_int_equal(duo_read(&d->a, buf, 4), 0);
	assert_int_equal(duo_write(&d->a, "x", 1), -EPIPE);
	assert_int_equal(d->a.gone_n, 0);
	/* The first word counts. */
	tux_conn_die(d->a.c, EPERM, TUX_REASON_PROTOCOL);
	assert_int_equal(atomic_load(&d->a.dx->err), 0);
	assert_int_equal(d->a.c->reason, TUX_REASON_NONE);
}

/* The peer is told, and had said all itself: a clean end for who reads. */
static void die__behind_the_end(void **state)
{
	struct duo *d = *state;
	struct duo_pkt k;
	char buf[4];

	tux_duplex_shut(d->b.dx);
	duo_ring(&d->b, 0);
	duo_carry(&d->b);
	tux_conn_die(d->a.c, EIO, TUX_REASON_PROTOCOL);
	assert_int_equal(d->a.c->reason, TUX_REASON_PROTOCOL);
	assert_int_equal(duo_read(&d->a, buf, 4), 0);
	assert_true(duo_out(&d->a, &k) > 0);
	assert_int_equal(duo_rec(&k, TUX_REC_RESET)->reason,
			 TUX_REASON_PROTOCOL);
}

/* Nobody is known to tell. */
static void die__before_the_peer_is_known(void **state)
{
	struct duo *d = *state;

	tux_conn_die(d->a.c, EIO, TUX_REASON_PROTOCOL);
	assert_int_equal(d->a.c->todo & TUX_DO_RESET, 0);
}

/* With something to say it is gone when that is said. */
static void die__closed(void **state)
{
	struct duo *d = *state;

	duo_ring(&d->a, TUX_DOORBELL_CLOSE);
	tux_conn_die(d->a.c, EIO, TUX_REASON_NONE);
	assert_int_equal(d->a.gone_n, 1);
	assert_true(d->a.gone_reset);
	duo_ring(&d->b, TUX_DOORBELL_CLOSE);
	d->b.c->tx.path = TUX_PATH_TCP;
	tux_conn_die(d->b.c, EIO, TUX_REASON_PROTOCOL);
	assert_int_equal(d->b.gone_n, 0);
	tux_conn_check_end(d->b.c, d->now);
	assert_int_equal(d->b.gone_n, 0);
	assert_int_equal(duo_drop(&d->b), 1);
	assert_int_equal(d->b.gone_n, 1);
	/* Bytes of ours are still in TCP: no reset. */
	assert_false(d->b.gone_reset);
}

static void told_reset__now_or_behind_tcp(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	tux_conn_told_reset(c, d->now);
	assert_int_equal(c->phase, TUX_PHASE_PROVED);
	assert_true(c->reset_at == d->now + TUX_SEC(1));
	tux_conn_told_reset(c, d->now + 5);
	assert_true(c->reset_at == d->now + TUX_SEC(1));
	c->rx.tcp_ended = true;
	tux_conn_told_reset(c, d->now);
	assert_int_equal(c->phase, TUX_PHASE_DEAD);
	d->b.c->closed = true;
	tux_conn_told_reset(d->b.c, d->now);
	assert_int_equal(d->b.c->phase, TUX_PHASE_DEAD);
}

static void told_reset__while_plain(void **state)
{
	struct duo *d = *state;

	tux_conn_told_reset(d->a.c, d->now);
	assert_int_equal(d->a.c->phase, TUX_PHASE_DEAD);
	assert_int_equal(atomic_load(&d->a.dx->err), ECONNRESET);
}

/* ---- the end ---- */

/* A shuts: its FIN goes both ways, and TCP's own comes when all is taken. */
static void end__of_one_direction(void **state)
{
	struct duo *d = *state;
	char buf[4];

	assert_int_equal(duo_write(&d->a, "abc", 3), 3);
	tux_duplex_shut(d->a.dx);
	duo_ring(&d->a, 0);
	assert_int_equal(d->a.shut_n, 0);
	all(d);
	assert_int_equal(d->a.shut_n, 1);
	assert_true(d->a.c->tx.done);
	assert_int_equal(duo_read(&d->b, buf, 4), 3);
	assert_int_equal(duo_read(&d->b, buf, 4), 0);
	assert_int_equal(d->b.shut_n, 0);
	/* The other direction goes on. */
	assert_int_equal(duo_write(&d->b, "xyz", 3), 3);
	all(d);
	assert_int_equal(duo_read(&d->a, buf, 4), 3);
	assert_int_equal(d->a.shut_n, 1);
}

/* Both have closed: gone when TCP's end has come, too. */
static void end__of_both(void **state)
{
	struct duo *d = *state;

	duo_ring(&d->a, TUX_DOORBELL_CLOSE);
	duo_ring(&d->b, TUX_DOORBELL_CLOSE);
	all(d);
	assert_int_equal(d->a.shut_n, 1);
	assert_int_equal(d->b.shut_n, 1);
	assert_int_equal(d->a.gone_n, 0);
	assert_true(d->a.c->linger_at != TUX_NEVER);
	tux_conn_tcp_end(d->a.c, 0, d->now);
	assert_int_equal(d->a.gone_n, 1);
	assert_false(d->a.gone_reset);
}

/* What is still in TCP's marker, or the FIN that TCP is to carry, or a frame that
 * has begun: it is not done. */
static void end__each_that_is_waited_for(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	tux_duplex_shut(d->a.dx);
	duo_ring(&d->a, 0);
	duo_carry(&d->a);
	c->tx.buf.got = c->tx.buf.end + 1;
	assert_true(c->out.fin);
	tux_conn_check_end(c, d->now);
	assert_int_equal(d->a.shut_n, 0);
	c->out.fin = false;
	c->out.marker = true;
	tux_conn_check_end(c, d->now);
	assert_int_equal(d->a.shut_n, 0);
	c->out.marker = false;
	c->out.busy = true;
	tux_conn_check_end(c, d->now);
	assert_int_equal(d->a.shut_n, 0);
	c->out.busy = false;
	c->out.sw = true;
	tux_conn_check_end(c, d->now);
	assert_int_equal(d->a.shut_n, 1);
	assert_false(c->out.sw);
	assert_true(tux_list_empty(&c->use));
}

/* Room for the peer's messages may have to be told in frames: not before the
 * peer has said all, or nobody reads here. */
static void end__with_messages(void **state)
{
	struct duo *d = *state;

	tux_duplex_shut(d->a.dx);
	duo_ring(&d->a, 0);
	all(d);
	assert_true(tux_sendbuf_done(&d->a.c->tx.buf));
	assert_int_equal(d->a.shut_n, 0);
	tux_duplex_shut(d->b.dx);
	duo_ring(&d->b, 0);
	all(d);
	assert_int_equal(d->a.shut_n, 1);
	assert_int_equal(d->b.shut_n, 1);
}

static void end__with_messages_closed(void **state)
{
	struct duo *d = *state;

	duo_ring(&d->a, TUX_DOORBELL_CLOSE);
	all(d);
	assert_int_equal(d->a.shut_n, 1);
	assert_int_equal(d->b.shut_n, 0);
}

/* The application has put the marker into TCP itself, and the loop has not seen it
 * yet: what it wrote behind that is in the ring. */
static void end__not_seen_that_it_has_moved(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	c->closed = true;
	atomic_store(&d->a.dx->tx.state, TUX_TX_SWITCHED);
	tux_conn_check_end(c, d->now);
	assert_int_equal(d->a.shut_n, 0);
	atomic_store(&d->a.dx->tx.state, TUX_TX_PLAIN);
	tux_conn_check_end(c, d->now);
	assert_int_equal(d->a.shut_n, 1);
}

/* ---- who has closed reads no more ---- */

static void sink__bytes_are_passed_over(void **state)
{
	struct duo *d = *state;

	assert_int_equal(duo_write(&d->a, "x", 1), 1);
	duo_ring(&d->a, TUX_DOORBELL_CLOSE);
	assert_int_equal(duo_write(&d->b, "abc", 3), 3);
	duo_carry(&d->b);
	assert_int_equal(tux_pipe_len(&d->a.dx->rxp), 0);
	assert_int_equal(d->a.c->phase, TUX_PHASE_PROVED);
	/* All of ours has been taken: nobody needs what the peer says. */
	all(d);
	assert_true(d->a.c->tx.done);
	assert_int_equal(duo_write(&d->b, "def", 3), 3);
	duo_carry(&d->b);
	assert_int_equal(d->a.c->phase, TUX_PHASE_DEAD);
	assert_int_equal(d->a.c->reason, TUX_REASON_DATA_AFTER_CLOSE);
	duo_carry(&d->a);
	assert_int_equal(d->a.gone_n, 1);
	assert_true(d->b.c->reset_at != TUX_NEVER);
}

static void sink__not_before(void **state)
{
	struct duo *d = *state;

	assert_int_equal(duo_write(&d->b, "abc", 3), 3);
	duo_carry(&d->b);
	tux_conn_sink(d->a.c);
	assert_int_equal(tux_pipe_len(&d->a.dx->rxp), 3);
	/* What had come before it was closed is no offence. */
	duo_ring(&d->a, TUX_DOORBELL_CLOSE);
	all(d);
	assert_int_equal(d->a.c->phase, TUX_PHASE_PROVED);
	assert_int_equal(tux_pipe_len(&d->a.dx->rxp), 0);
}

/* ---- doorbells ---- */

static void close__of_a_plain_one(void **state)
{
	struct duo *d = *state;

	duo_ring(&d->a, TUX_DOORBELL_CLOSE);
	assert_int_equal(d->a.gone_n, 1);
	assert_false(d->a.gone_reset);
	assert_int_equal(d->a.c->reason, TUX_REASON_CLOSED);
	assert_int_equal(d->b.c->reason, TUX_REASON_NONE);
	duo_ring(&d->b, TUX_DOORBELL_CLOSE);
	/* No HELLO has named the peer's port. */
	assert_int_equal(d->b.c->reason, TUX_REASON_PEER_SILENT);
}

static void close__before_it_moved(void **state)
{
	struct duo *d = *state;

	duo_ring(&d->a, TUX_DOORBELL_CLOSE);
	assert_int_equal(d->a.gone_n, 1);
	assert_int_equal(d->a.c->reason, TUX_REASON_CLOSED);
}

/* With a generation that the peer has agreed to, the marker may still come. */
static void close__while_armed(void **state)
{
	struct duo *d = *state;

	tux_upgrade_prepare(d->a.c, 1, 100, d->now);
	duo_ring(&d->a, TUX_DOORBELL_CLOSE);
	assert_int_equal(d->a.gone_n, 0);
	assert_true(tux_conn_tcp_want(d->a.c) > 0);
}

static void close__abort(void **state)
{
	struct duo *d = *state;

	assert_int_equal(duo_write(&d->a, "abc", 3), 3);
	duo_ring(&d->a, TUX_DOORBELL_ABORT);
	assert_int_equal(d->a.gone_n, 1);
	assert_true(d->a.gone_reset);
	tux_conn_die(d->b.c, EIO, TUX_REASON_NONE);
	duo_ring(&d->b, TUX_DOORBELL_CLOSE);
	assert_int_equal(d->b.gone_n, 1);
	assert_false(d->b.gone_reset);
}

/* Messages wait, and the stream never moved: they have a minute. */
static void close__with_messages_that_wait(void **state)
{
	struct duo *d = *state;

	d->b.dx->rx.pinned = d->a.dx->tx.pinned = 1;
	duo_send(&d->a, 100, 0, 'm');
	d->a.c->tx.away_at = d->now + TUX_SEC(9);
	duo_ring(&d->a, TUX_DOORBELL_CLOSE);
	assert_int_equal(d->a.gone_n, 0);
	assert_true(d->a.c->linger_at == d->now + TUX_SEC(60));
	d->a.c->tx.away_at = TUX_NEVER;
	all(d);
	assert_int_equal(d->a.gone_n, 1);
}

static void rung__room_in_the_ring(void **state)
{
	struct duo *d = *state;
	char buf[DUO_RING] = { 0 };
	struct duo_pkt k;

	assert_int_equal(duo_write(&d->b, buf, DUO_RING), DUO_RING);
	all(d);
	assert_int_equal(duo_read(&d->a, buf, DUO_RING / 2 - 1),
			 DUO_RING / 2 - 1);
	duo_ring(&d->a, TUX_DOORBELL_RX);
	assert_int_equal(duo_out(&d->a, &k), 0);
	d->a.tcp_n = 0;
	assert_int_equal(duo_read(&d->a, buf, 1), 1);
	assert_true(d->a.tcp_n > 0);
	assert_true(duo_out(&d->a, &k) > 0);
	assert_int_equal(k.h.window, DUO_RING / 2);
}

/* Only what the path is proved for. */
static void rung__before_the_path_is_proved(void **state)
{
	struct duo *d = *state;

	duo_drop(&d->a);
	d->now += TUX_SEC(1);
	duo_ring(&d->a, TUX_DOORBELL_TX | TUX_DOORBELL_RX);
	assert_int_equal(d->a.c->todo, 0);
	duo_ring(&d->a, TUX_DOORBELL_TOUCH);
	assert_int_equal(d->a.c->todo, TUX_DO_HELLO);
}

static void rung__raw(void **state)
{
	struct duo *d = *state;

	duo_ring(&d->a, TUX_DOORBELL_RAW);
	assert_true(d->a.c->tx.raw_wanted);
	assert_int_equal(d->a.c->reason, TUX_REASON_PINNED);
	all(d);
	assert_int_equal(d->a.dx->tx.state, TUX_TX_RAW);
	assert_int_equal(d->a.dx->rx.state, TUX_RX_RAW);
	assert_int_equal(d->a.c->reason, TUX_REASON_PINNED);
	assert_int_equal(d->b.dx->tx.state, TUX_TX_RAW);
	assert_int_equal(d->b.c->reason, TUX_REASON_PEER_RAW);
}

/* The last message is settled, and the application had shut. */
static void drained__fin_waits_for_messages(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	c->pair->cc.w.cwnd = 0;
	duo_send(&d->a, 100, 0, 'm');
	tux_duplex_shut(d->a.dx);
	duo_ring(&d->a, 0);
	assert_true(c->tx.buf.end == UINT64_MAX);
	c->pair->cc.w.cwnd = 14600;
	duo_settle(d);
	assert_true(c->tx.buf.end == UINT64_MAX);
	all(d);
	assert_true(c->tx.buf.end == 0);
}

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

int main(void)
{
#define T(name, setup) \
	cmocka_unit_test_setup_teardown(name, setup, duo_teardown)
	const struct CMUnitTest tests[] = {
		T(open__begins_with_nothing, duo_setup),
		T(close__leaves_nothing, duo_setup_switched),
		T(decide__told_when_it_changes, duo_setup_proved),
		T(gone__once, duo_setup_switched),
		T(gone__within_a_marker, duo_setup_switched),
		T(die__the_application_learns_why, duo_setup_switched),
		T(die__behind_the_end, duo_setup_switched),
		T(die__before_the_peer_is_known, duo_setup),
		T(die__closed, duo_setup_switched),
		T(told_reset__now_or_behind_tcp, duo_setup_switched),
		T(told_reset__while_plain, duo_setup_proved),
		T(end__of_one_direction, duo_setup_switched),
		T(end__of_both, duo_setup_switched),
		T(end__each_that_is_waited_for, duo_setup_switched),
		T(end__with_messages, duo_setup_messages),
		T(end__with_messages_closed, duo_setup_messages),
		T(end__not_seen_that_it_has_moved, duo_setup_proved),
		T(sink__bytes_are_passed_over, duo_setup_switched),
		T(sink__not_before, duo_setup_switched),
		T(close__of_a_plain_one, duo_setup),
		T(close__before_it_moved, duo_setup_proved),
		T(close__while_armed, duo_setup_proved),
		T(close__abort, duo_setup_switched),
		T(close__with_messages_that_wait, duo_setup_plain_messages),
		T(rung__room_in_the_ring, duo_setup_switched),
		T(rung__before_the_path_is_proved, duo_setup),
		T(rung__raw, duo_setup_switched),
		T(drained__fin_waits_for_messages, duo_setup_messages),
		T(set_mtu__is_news_for_the_path, duo_setup_switched),
		T(set_mtu__before_there_is_a_pair, duo_setup),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
