/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A packet in: is it to be believed, what does each record do, and what is
 * said of it.
 */
#include <errno.h>

#include "duo.h"

#include "conn/conn_life.h"
#include "conn/upgrade.h"

/* A packet for @to with @len stream bytes at @off. */
static void stream(struct duo_forge *f, struct duo_end *to, uint64_t off,
		   const char *bytes, uint8_t flags)
{
	size_t len = strlen(bytes);
	uint8_t *p;

	duo_forge(f, to);
	p = duo_forge_add(f, TUX_REC_STREAM, flags, TUX_STREAM_HDR + len);
	tux_put64(p, off);
	memcpy(p + TUX_STREAM_HDR, bytes, len);
}

static bool stream_in(struct duo_end *to, uint64_t off, const char *bytes,
		      uint8_t flags)
{
	struct duo_forge f;

	stream(&f, to, off, bytes, flags);
	return duo_forge_in(&f);
}

/* A packet with nothing but a record of @type, its body @len zeros. */
static bool record_in(struct duo_end *to, uint8_t type, size_t len)
{
	struct duo_forge f;

	duo_forge(&f, to);
	duo_forge_add(&f, type, 0, len);
	return duo_forge_in(&f);
}

/* ---- is it to be believed? ---- */

static void recv__from_the_peers_address(void **state)
{
	struct duo *d = *state;
	struct tux_addr other = d->a.addr;
	struct duo_forge f;
	size_t len;

	duo_forge(&f, &d->b);
	len = tux_writer_end(&f.w, &f.h, &d->b.c->seal);
	other.ip[15]++;
	tux_core_input(d->b.core, &other, f.p, len, 0, d->now);
	assert_int_equal(d->b.c->stats.dropped, 1);
	other = d->a.addr;
	other.port++;			/* ports may change on the way */
	tux_core_input(d->b.core, &other, f.p, len, 0, d->now);
	assert_int_equal(d->b.c->stats.dropped, 1);
	assert_int_equal(d->b.c->stats.pkts_rx, 1);
}

static void recv__before_the_peer_is_known(void **state)
{
	struct duo *d = *state;
	struct duo_forge f;

	duo_forge(&f, &d->b);
	assert_false(duo_forge_in(&f));
	assert_int_equal(d->b.c->life, TUX_LIFE_OPENING);
}

/* Its number is near what is expected, on either side. */
static void recv__number_in_reach(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->b.c;
	struct duo_forge f;

	duo_forge(&f, &d->b);
	f.h.seq += TUX_SEQ_REACH + 1;
	f.h.span = UINT16_MAX;
	assert_false(duo_forge_in(&f));
	assert_int_equal(c->stats.dropped, 1);
	duo_forge(&f, &d->b);
	f.h.seq -= TUX_SEQ_REACH + 1;
	assert_false(duo_forge_in(&f));
	assert_int_equal(c->stats.dropped, 2);
	assert_int_equal(c->stats.duplicates, 0);
	duo_forge(&f, &d->b);
	f.h.seq -= TUX_SEQ_REACH;
	assert_false(duo_forge_in(&f));
	assert_int_equal(c->stats.dropped, 2);
	assert_int_equal(c->stats.duplicates, 1);
	duo_forge(&f, &d->b);
	f.h.seq += TUX_SEQ_REACH;
	f.h.span = UINT16_MAX;
	assert_true(duo_forge_in(&f));
	assert_int_equal(c->stats.pkts_rx, 2);
}

static void recv__dead_listens_no_more(void **state)
{
	struct duo *d = *state;

	tux_conn_die(d->b.c, ECONNRESET, TUX_REASON_NONE);
	duo_derive(&d->b, 0);
	assert_false(stream_in(&d->b, 0, "abc", TUX_STREAM_ORDER));
	assert_int_equal(d->b.c->stats.pkts_rx, 0);
}

/* What it says of our packets is a lie: nothing of it is taken. */
static void recv__dishonest_acknowledgment(void **state)
{
	struct duo *d = *state;
	struct duo_forge f;
	uint64_t next = d->b.c->ackq.next;

	stream(&f, &d->b, 0, "abc", TUX_STREAM_ORDER);
	f.h.ack = (uint32_t)d->b.c->sentq.next + 1;
	assert_false(duo_forge_in(&f));
	assert_true(d->b.c->ackq.next == next);
	assert_int_equal(tux_pipe_len(&d->b.dx->rxp), 0);
}

/* ---- what is said of it? ---- */

static void take__acknowledged_soon(void **state)
{
	struct duo *d = *state;
	uint64_t next = d->b.c->ackq.next;
	struct duo_pkt k;

	assert_true(record_in(&d->b, TUX_REC_PING, 0));
	assert_true(d->b.c->ackq.next == next + 1);
	assert_true(d->b.c->ackq.due_at == d->now + TUX_USEC(250));
	assert_int_equal(duo_out(&d->b, &k), 0);
	duo_pass(d, TUX_USEC(250));
	assert_int_equal(duo_out(&d->b, &k), TUX_PKT_HDR);
	assert_int_equal(k.h.ack, (uint32_t)next + 1);
	assert_int_equal(k.h.flags, 0);
	assert_int_equal(k.h.delay, 15);	/* of 16 us */
}

static void take__acknowledged_now(void **state)
{
	struct duo *d = *state;
	struct duo_forge f;
	struct duo_pkt k;

	duo_forge(&f, &d->b);
	f.h.flags |= TUX_PKT_NOW;
	assert_true(duo_forge_in(&f));
	assert_true(duo_out(&d->b, &k) > 0);
	assert_int_equal(k.h.delay, 0);
}

static void take__twice(void **state)
{
	struct duo *d = *state;
	struct duo_forge f;
	struct duo_pkt k;

	stream(&f, &d->b, 0, "abc", TUX_STREAM_ORDER);
	assert_true(duo_forge_in(&f));
	duo_drop(&d->b);
	assert_false(duo_forge_in(&f));
	assert_int_equal(d->b.c->stats.duplicates, 1);
	assert_int_equal(d->b.c->stats.dropped, 0);
	assert_int_equal(d->b.c->stats.tux_rx, 3);
	/* Its sender has missed our word. */
	assert_true(duo_out(&d->b, &k) > 0);
	assert_int_equal(k.h.ack, f.h.seq + 1);
}

/* More holes than can be remembered: as if it were lost. */
static void take__too_many_holes(void **state)
{
	struct duo *d = *state;
	struct duo_forge f;
	unsigned i;

	for (i = 1; i <= TUX_RANGE_MAX; i++) {
		duo_forge(&f, &d->b);
		duo_forge_skip(&f, 2 * i);
		assert_true(duo_forge_in(&f));
	}
	duo_forge(&f, &d->b);
	duo_forge_skip(&f, 2 * i);
	assert_false(duo_forge_in(&f));
	assert_int_equal(d->b.c->stats.dropped, 1);
	assert_int_equal(d->b.c->ackq.seen.n, TUX_RANGE_MAX);
}

/* Numbers that its sender has given up are waited for no longer; unless the
 * packet itself is dropped. */
static void take__floor(void **state)
{
	struct duo *d = *state;
	uint64_t next = d->b.c->ackq.next;
	struct duo_forge f;

	duo_forge(&f, &d->b);
	f.h.seq += 5;
	f.h.span = 2;
	duo_forge_add(&f, TUX_REC_STREAM, TUX_STREAM_ORDER, 3);
	assert_false(duo_forge_in(&f));
	assert_true(d->b.c->ackq.next == next);
	duo_forge(&f, &d->b);
	f.h.seq += 5;
	f.h.span = 2;
	assert_true(duo_forge_in(&f));
	assert_true(d->b.c->ackq.next == next + 3);
	assert_int_equal(d->b.c->ackq.seen.n, 1);
	/* One without a number says so, too. */
	duo_forge(&f, &d->b);
	f.h.flags = 0;
	f.h.seq = (uint32_t)next + 6;
	f.h.span = 1;
	assert_true(duo_forge_in(&f));
	assert_true(d->b.c->ackq.next == next + 6);
	assert_int_equal(d->b.c->ackq.seen.n, 0);
}

static void take__without_a_number(void **state)
{
	struct duo *d = *state;
	uint64_t next = d->b.c->ackq.next;
	struct duo_forge f;

	stream(&f, &d->b, 0, "abc", TUX_STREAM_ORDER);
	f.h.flags = 0;
	assert_true(duo_forge_in(&f));
	assert_true(d->b.c->ackq.next == next);
	assert_int_equal(d->b.c->ackq.owed_n, 0);
	assert_int_equal(d->b.c->stats.tux_rx, 0);
	assert_int_equal(d->b.c->stats.pkts_rx, 1);
}

static void take__counts_marks(void **state)
{
	struct duo *d = *state;
	struct duo_forge f;
	size_t len;

	duo_forge(&f, &d->b);
	len = tux_writer_end(&f.w, &f.h, &d->b.c->seal);
	d->b.c->came = (struct tux_ecn_counts){ 0 };
	tux_core_input(d->b.core, &d->a.addr, f.p, len, TUX_ECN_CE, d->now);
	assert_int_equal(d->b.c->came.ce, 1);
	assert_true(d->b.c->ackq.due_at <= d->now);
	/* A duplicate's mark is not counted. */
	tux_core_input(d->b.core, &d->a.addr, f.p, len, TUX_ECN_CE, d->now);
	assert_int_equal(d->b.c->came.ce, 1);
}

/* ---- stream bytes ---- */

static void stream__in_order(void **state)
{
	struct duo *d = *state;
	char buf[8];

	d->b.ready_n = 0;
	assert_true(stream_in(&d->b, 0, "abc", TUX_STREAM_ORDER));
	assert_int_equal(d->b.ready_n, 1);
	assert_int_equal(d->b.c->stats.tux_rx, 3);
	assert_int_equal(duo_read(&d->b, buf, sizeof(buf)), 3);
	assert_memory_equal(buf, "abc", 3);
	/* The same bytes in another packet are no news. */
	assert_true(stream_in(&d->b, 0, "abc", TUX_STREAM_ORDER));
	assert_int_equal(d->b.c->stats.tux_rx, 3);
	assert_int_equal(d->b.ready_n, 1);
}

/* Behind a gap they wait, and the application need not know. */
static void stream__gap(void **state)
{
	struct duo *d = *state;
	char buf[8];

	d->b.ready_n = 0;
	assert_true(stream_in(&d->b, 3, "def", TUX_STREAM_ORDER));
	assert_int_equal(d->b.ready_n, 0);
	assert_int_equal(duo_read(&d->b, buf, sizeof(buf)), -EAGAIN);
	assert_true(stream_in(&d->b, 0, "abc", TUX_STREAM_ORDER));
	assert_int_equal(d->b.ready_n, 1);
	assert_int_equal(duo_read(&d->b, buf, sizeof(buf)), 6);
	assert_memory_equal(buf, "abcdef", 6);
}

static void stream__fin(void **state)
{
	struct duo *d = *state;
	char buf[8];

	assert_true(stream_in(&d->b, 3, "",
			      TUX_STREAM_ORDER | TUX_STREAM_FIN));
	assert_int_equal(d->b.dx->rx.eof, 0);
	assert_int_equal(d->log_b.n[TUX_TRACE_RECV_FIN], 1);
	assert_true(d->log_b.last[TUX_TRACE_RECV_FIN].n[1] == 3);
	assert_true(stream_in(&d->b, 0, "abc", TUX_STREAM_ORDER));
	assert_int_equal(d->b.dx->rx.eof, 1);
	assert_int_equal(duo_read(&d->b, buf, sizeof(buf)), 3);
	assert_int_equal(duo_read(&d->b, buf, sizeof(buf)), 0);
	/* Another end than the one that is known. */
	assert_false(stream_in(&d->b, 4, "",
			       TUX_STREAM_ORDER | TUX_STREAM_FIN));
}

static void stream__refused(void **state)
{
	struct duo *d = *state;
	uint64_t next = d->b.c->ackq.next;

	/* A stream has an order. */
	assert_false(stream_in(&d->b, 0, "abc", 0));
	/* Beyond the room. */
	assert_false(stream_in(&d->b, DUO_RING - 2, "abc", TUX_STREAM_ORDER));
	assert_int_equal(d->b.c->stats.dropped, 2);
	assert_int_equal(d->b.c->stats.tux_rx, 0);
	assert_true(d->b.c->ackq.next == next);
	assert_true(stream_in(&d->b, DUO_RING - 3, "abc", TUX_STREAM_ORDER));
}

/* Nobody may send stream bytes who was not answered. */
static void stream__before_it_is_armed(void **state)
{
	struct duo *d = *state;

	assert_false(stream_in(&d->b, 0, "abc", TUX_STREAM_ORDER));
	tux_upgrade_prepare(d->b.c, 1, 10, 0);
	duo_derive(&d->b, 0);
	assert_int_equal(d->b.c->rx.gen, 1);
	tux_upgrade_prepare(d->b.c, 2, TUX_NOWHERE, 0);
	duo_derive(&d->b, 0);
	assert_int_equal(d->b.dx->rx.state, TUX_RX_PLAIN);
	assert_false(stream_in(&d->b, 10, "abc", TUX_STREAM_ORDER));
}

/* At N, they prove that the peer has switched. */
static void stream__proves_the_switch(void **state)
{
	struct duo *d = *state;
	char buf[8];

	tux_upgrade_prepare(d->b.c, 1, 0, 0);
	duo_derive(&d->b, 0);
	assert_int_equal(d->b.dx->rx.state, TUX_RX_ARMED);
	assert_true(stream_in(&d->b, 0, "abc", TUX_STREAM_ORDER));
	assert_int_equal(d->b.dx->rx.state, TUX_RX_SWITCHED);
	assert_int_equal(d->b.c->rx.path, TUX_PATH_TUX);
	assert_int_equal(duo_read(&d->b, buf, sizeof(buf)), 3);
	assert_int_equal(d->b.dx->rx.marker_left, TUX_MARKER_LEN);
}

/* Once TCP has brought RAW, it has brought all that was before it, too. */
static void stream__late_behind_raw(void **state)
{
	struct duo *d = *state;

	d->b.dx->rx.state = TUX_RX_RAW;
	assert_true(stream_in(&d->b, 0, "abc", TUX_STREAM_ORDER));
	assert_int_equal(tux_pipe_len(&d->b.dx->rxp), 0);
}

static void stream__to_a_closed_end(void **state)
{
	struct duo *d = *state;

	duo_ring(&d->b, TUX_DOORBELL_CLOSE);
	assert_true(stream_in(&d->b, 0, "abc", TUX_STREAM_ORDER));
	assert_int_equal(tux_pipe_len(&d->b.dx->rxp), 0);
	assert_true(tux_pipe_tail(&d->b.dx->rxp) == 3);
}

/* ---- the other records ---- */

static void record__malformed_keeps_nothing(void **state)
{
	struct duo *d = *state;
	uint64_t next = d->b.c->ackq.next;
	struct duo_forge f;

	stream(&f, &d->b, 0, "abc", TUX_STREAM_ORDER);
	duo_forge_add(&f, TUX_REC_PREPARE, 0, 3);
	assert_false(duo_forge_in(&f));
	assert_true(d->b.c->ackq.next == next);
	assert_int_equal(d->log_b.n[TUX_TRACE_DROPPED], 1);
}

static void record__unknown_is_passed_over(void **state)
{
	struct duo *d = *state;

	assert_true(record_in(&d->b, 77, 5));
	assert_true(record_in(&d->b, TUX_REC_PAD, 100));
	assert_true(record_in(&d->b, TUX_REC_PING, 0));
}

/* They need messages at both ends. */
static void record__of_messages_without_any(void **state)
{
	struct duo *d = *state;

	assert_false(record_in(&d->b, TUX_REC_MESSAGE, TUX_MESSAGE_HDR_MAX));
	assert_false(record_in(&d->b, TUX_REC_END, TUX_END_LEN));
	assert_false(record_in(&d->b, TUX_REC_ROOM, TUX_ROOM_LEN));
	assert_int_equal(d->b.c->stats.dropped, 3);
}

static void record__message(void **state)
{
	struct duo *d = *state;
	struct tux_message_hdr h = { .total = 3, .len = 3 };
	struct duo_forge f;
	struct tux_msg m;
	uint8_t *p;

	h.flags = tux_message_ends(&h);
	duo_forge(&f, &d->b);
	p = duo_forge_add(&f, TUX_REC_MESSAGE, h.flags, TUX_MESSAGE_HDR_MIN + 3);
	tux_message_encode(&h, p);
	memcpy(p + TUX_MESSAGE_HDR_MIN, "xyz", 3);
	assert_true(duo_forge_in(&f));
	assert_int_equal(tux_msgbox_take(d->b.box, &m, 1), 1);
	assert_int_equal(m.len, 3);
	assert_memory_equal(m.p, "xyz", 3);
	/* Its header makes no sense. */
	assert_false(record_in(&d->b, TUX_REC_MESSAGE, TUX_MESSAGE_HDR_MIN - 1));
}

/* FIN has come, and END before it: the end is told with the last message, and
 * an end that has sent all itself has nothing more to answer. */
static void record__message_behind_end(void **state)
{
	struct duo *d = *state;
	struct tux_message_hdr h = { .total = 1, .len = 1 };
	struct duo_forge f;
	uint8_t *p;

	tux_duplex_shut(d->b.dx);
	duo_ring(&d->b, 0);
	duo_settle(d);
	duo_pass(d, TUX_MSEC(1));
	duo_settle(d);
	assert_true(tux_sendbuf_done(&d->b.c->tx.buf));
	duo_forge(&f, &d->b);
	tux_put32(duo_forge_add(&f, TUX_REC_END, 0, TUX_END_LEN), 1);
	duo_forge_add(&f, TUX_REC_STREAM, TUX_STREAM_ORDER | TUX_STREAM_FIN,
		      TUX_STREAM_HDR);
	assert_true(duo_forge_in(&f));
	assert_int_equal(d->b.dx->rx.eof, 0);
	assert_int_equal(d->b.shut_n, 0);
	h.flags = tux_message_ends(&h);
	duo_forge(&f, &d->b);
	p = duo_forge_add(&f, TUX_REC_MESSAGE, h.flags, TUX_MESSAGE_HDR_MIN + 1);
	tux_message_encode(&h, p);
	assert_true(duo_forge_in(&f));
	assert_int_equal(d->b.dx->rx.eof, 1);
	assert_int_equal(d->b.shut_n, 1);
}

static void record__prepare_and_answer(void **state)
{
	struct duo *d = *state;
	struct duo_forge f;
	struct duo_pkt k;
	uint8_t *p;

	duo_forge(&f, &d->b);
	p = duo_forge_add(&f, TUX_REC_PREPARE, 0, TUX_PREPARE_LEN);
	tux_put32(p, 9);
	tux_put64(p + 4, 1000);
	assert_true(duo_forge_in(&f));
	assert_int_equal(d->b.dx->rx.state, TUX_RX_ARMED);
	assert_true(d->b.dx->rx.at == 1000);
	assert_true(duo_out(&d->b, &k) > 0);
	assert_int_equal(duo_rec(&k, TUX_REC_PREPARED)->gen, 9);
	/* And the answer to one that is not open is none. */
	duo_forge(&f, &d->b);
	tux_put32(duo_forge_add(&f, TUX_REC_PREPARED, 0, TUX_PREPARED_LEN), 9);
	assert_true(duo_forge_in(&f));
	assert_int_equal(d->log_b.n[TUX_TRACE_RECV_PREPARED], 1);
	assert_int_equal(d->b.dx->tx.state, TUX_TX_PLAIN);
}

static void record__raw(void **state)
{
	struct duo *d = *state;

	assert_true(record_in(&d->b, TUX_REC_RAW, 0));
	assert_true(d->b.c->tx.raw_wanted);
	assert_int_equal(d->b.c->reason, TUX_REASON_PEER_RAW);
}

static void record__reset(void **state)
{
	struct duo *d = *state;
	struct duo_forge f;
	char buf[8];

	duo_forge(&f, &d->b);
	tux_put32(duo_forge_add(&f, TUX_REC_RESET, 0, TUX_RESET_LEN), 13);
	assert_true(duo_forge_in(&f));
	assert_true(d->log_b.last[TUX_TRACE_RECV_RESET].n[0] == 13);
	assert_true(d->b.c->reset_at == d->now + TUX_SEC(1));
	duo_pass(d, TUX_SEC(1));
	assert_int_equal(duo_read(&d->b, buf, sizeof(buf)), -ECONNRESET);
}

int main(void)
{
#define T(name, setup) \
	cmocka_unit_test_setup_teardown(name, setup, duo_teardown)
	const struct CMUnitTest tests[] = {
		T(recv__from_the_peers_address, duo_setup_proved),
		T(recv__before_the_peer_is_known, duo_setup),
		T(recv__number_in_reach, duo_setup_proved),
		T(recv__dead_listens_no_more, duo_setup_switched),
		T(recv__dishonest_acknowledgment, duo_setup_switched),
		T(take__acknowledged_soon, duo_setup_proved),
		T(take__acknowledged_now, duo_setup_proved),
		T(take__twice, duo_setup_switched),
		T(take__too_many_holes, duo_setup_proved),
		T(take__floor, duo_setup_proved),
		T(take__without_a_number, duo_setup_switched),
		T(take__counts_marks, duo_setup_proved),
		T(stream__in_order, duo_setup_switched),
		T(stream__gap, duo_setup_switched),
		T(stream__fin, duo_setup_switched),
		T(stream__refused, duo_setup_switched),
		T(stream__before_it_is_armed, duo_setup_proved),
		T(stream__proves_the_switch, duo_setup_proved),
		T(stream__late_behind_raw, duo_setup_switched),
		T(stream__to_a_closed_end, duo_setup_switched),
		T(record__malformed_keeps_nothing, duo_setup_switched),
		T(record__unknown_is_passed_over, duo_setup_proved),
		T(record__of_messages_without_any, duo_setup_switched),
		T(record__message, duo_setup_messages),
		T(record__message_behind_end, duo_setup_messages),
		T(record__prepare_and_answer, duo_setup_proved),
		T(record__raw, duo_setup_switched),
		T(record__reset, duo_setup_switched),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
