/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the peer has: acknowledgments, and what they say of the rest.
 */
#include <errno.h>

#include "duo.h"

#include "conn/conn_ack.h"

/* Numbers below count from the first packet that leaves here. */
static uint64_t base;

/* @n packets leave @e and are lost on the way, each a question. */
static void ask(struct duo_end *e, unsigned n)
{
	struct duo_pkt k;

	base = e->c->sentq.next;
	while (n--) {
		tux_conn_do(e->c, TUX_DO_PING);
		assert_true(duo_out(e, &k) > 0);
	}
}

/* The peer of @e acknowledges all below @ack, and the @n ranges at @r. */
static bool hear_ranges(struct duo_end *e, uint64_t ack, const int r[][2],
			unsigned n)
{
	struct duo_forge f;
	uint8_t *p;

	duo_forge(&f, e);
	f.h.flags = 0;
	f.h.ack = (uint32_t)(base + ack);
	p = n ? duo_forge_add(&f, TUX_REC_SACK, 0, n * TUX_SACK_EACH) : NULL;
	for (; n--; r++, p += TUX_SACK_EACH) {
		tux_put32(p, (uint32_t)(base + (uint64_t)(*r)[0]));
		tux_put32(p + 4, (uint32_t)(base + (uint64_t)(*r)[1]));
	}
	return duo_forge_in(&f);
}

static bool hear(struct duo_end *e, uint64_t ack)
{
	return hear_ranges(e, ack, NULL, 0);
}

static bool hear_one(struct duo_end *e, uint64_t ack, int start, int end)
{
	const int r[1][2] = { { start, end } };

	return hear_ranges(e, ack, r, 1);
}

/* Which of the first @n are in flight, as bits. */
static unsigned flight(struct duo_end *e, unsigned n)
{
	unsigned bits = 0, i;

	for (i = 0; i < n; i++)
		bits |= (unsigned)(tux_sentq_find(&e->c->sentq, base + i) !=
				   NULL) << i;
	return bits;
}

/* ---- is it honest? ---- */

static void acked__bounds_of_the_number(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	ask(&d->a, 2);
	assert_false(hear(&d->a, 3));
	assert_int_equal(flight(&d->a, 2), 3);
	assert_true(hear(&d->a, 2));
	assert_int_equal(flight(&d->a, 2), 0);
	/* Below the very first. */
	base = c->first;
	assert_true(hear(&d->a, 0));
	assert_false(hear(&d->a, UINT64_MAX));
	/* Long ago. */
	c->first -= TUX_SEQ_REACH;
	base = c->sentq.floor - TUX_SEQ_REACH;
	assert_true(hear(&d->a, 0));
	c->first--;
	assert_false(hear(&d->a, UINT64_MAX));
	c->first += TUX_SEQ_REACH + 1;
}

static void acked__bounds_of_ranges(void **state)
{
	struct duo *d = *state;
	const int one_bad[2][2] = { { 2, 3 }, { 3, 5 } };

	ask(&d->a, 4);
	assert_false(hear_one(&d->a, 1, 0, 2));	/* below the number */
	assert_false(hear_one(&d->a, 1, 2, 5));	/* never sent */
	assert_false(hear_one(&d->a, 1, 3, 3));	/* nothing */
	assert_false(hear_one(&d->a, 1, 3, 2));
	assert_false(hear_ranges(&d->a, 1, one_bad, 2));
	assert_int_equal(flight(&d->a, 4), 15);
	assert_true(hear_one(&d->a, 1, 1, 2));
	assert_int_equal(flight(&d->a, 4), 12);
	assert_true(hear_one(&d->a, 0, 3, 4));
	assert_int_equal(flight(&d->a, 4), 4);
}

/* ---- what is settled ---- */

static void acked__settles_what_it_names(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	const int r[2][2] = { { 6, 7 }, { 3, 5 } };
	uint64_t each;

	ask(&d->a, 1);
	each = c->sentq.in_flight;
	hear(&d->a, 1);
	assert_int_equal(c->sentq.in_flight, 0);
	c->loss.reordered = true;	/* nothing is lost by order */
	ask(&d->a, 8);
	assert_true(hear(&d->a, 2));
	assert_int_equal(flight(&d->a, 8), 0xfc);
	assert_int_equal(c->sentq.in_flight, 6 * each);
	assert_int_equal(c->pair->in_flight, 6 * each);
	assert_true(hear_ranges(&d->a, 2, r, 2));
	assert_int_equal(flight(&d->a, 8), 0xa4);
	assert_int_equal(c->sentq.in_flight, 3 * each);
	assert_true(c->sentq.floor == base + 2);
	assert_true(c->sentq.top == base + 7);
	/* An older one came late. */
	assert_true(hear(&d->a, 1));
	assert_int_equal(flight(&d->a, 8), 0xa4);
	assert_true(hear(&d->a, 8));
	assert_true(tux_sentq_empty(&c->sentq));
	assert_true(c->loss.at == TUX_NEVER);
}

/* What begins below the floor is settled from there on. */
static void acked__range_that_is_partly_old(void **state)
{
	struct duo *d = *state;

	d->a.c->loss.reordered = true;
	ask(&d->a, 6);
	assert_true(hear(&d->a, 3));
	assert_true(hear_one(&d->a, 0, 1, 5));
	assert_int_equal(flight(&d->a, 6), 0x20);
}

static void acked__is_progress(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	tux_time then = d->now;

	ask(&d->a, 2);
	c->loss.probe_at = then;
	d->now += TUX_MSEC(1);
	assert_true(hear(&d->a, 0));
	assert_true(c->progress_at == then);
	assert_true(hear(&d->a, 1));
	assert_true(c->progress_at == d->now);
	assert_true(c->loss.probe_at == 0);
	assert_true(c->pair->ack_at == d->now);
}

/* ---- the round trip ---- */

static void rtt__sample_of_the_newest(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	struct duo_forge f;

	tux_rtt_init(&c->rtt, TUX_MSEC(2));
	ask(&d->a, 1);
	d->now += TUX_MSEC(3);
	tux_conn_do(c, TUX_DO_PING);
	duo_drop(&d->a);
	d->now += TUX_MSEC(4);
	duo_forge(&f, &d->a);
	f.h.flags = 0;
	f.h.ack = (uint32_t)base + 2;
	f.h.delay = 125;		/* 2 ms */
	assert_true(duo_forge_in(&f));
	assert_true(c->rtt.last == TUX_MSEC(4));
	assert_true(c->rtt.min == TUX_MSEC(4));
	assert_true(c->pair->rtt.last == TUX_MSEC(4));
}

/* Nothing newer than before: no measure. */
static void rtt__none_of_older_ones(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	c->loss.reordered = true;
	ask(&d->a, 3);
	tux_rtt_init(&c->rtt, 0);
	d->now += TUX_MSEC(1);
	assert_true(hear_one(&d->a, 0, 2, 3));
	assert_true(c->rtt.last == TUX_MSEC(1));
	d->now += TUX_MSEC(5);
	assert_true(hear(&d->a, 2));
	assert_true(c->rtt.last == TUX_MSEC(1));
	assert_true(c->loss.reordered);
}

/* One for which the timer had passed was held up: no measure, either. */
static void rtt__none_of_timed_ones(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	ask(&d->a, 2);
	tux_rtt_init(&c->rtt, 0);
	assert_int_equal(tux_conn_lose_all(c, d->now), 2);
	d->now += TUX_MSEC(70);
	assert_true(hear_one(&d->a, 0, 1, 2));
	assert_true(c->rtt.last == 0);
	assert_int_equal(c->stats.spurious, 1);
}

/* ---- what is lost ---- */

static void loss__by_order(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	ask(&d->a, 5);
	assert_true(hear_one(&d->a, 0, 2, 3));
	assert_int_equal(c->stats.lost, 0);
	assert_true(c->loss.at != TUX_NEVER);
	assert_true(hear_one(&d->a, 0, 3, 4));
	assert_int_equal(c->stats.lost, 1);
	assert_int_equal(flight(&d->a, 5), 0x12);
	assert_int_equal(d->log_a.n[TUX_TRACE_LOST], 1);
	/* It leaves room at once. */
	assert_true(c->pair->cc.w.cwnd < 14600);
}

static void loss__by_time(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	tux_time at;

	c->loss.reordered = true;
	ask(&d->a, 3);
	d->now += TUX_MSEC(1);
	assert_true(hear_one(&d->a, 0, 2, 3));
	at = c->loss.at;
	assert_true(at > d->now && at < d->now + TUX_MSEC(2));
	tux_conn_detect(c, at - 1);
	assert_int_equal(c->stats.lost, 0);
	tux_conn_detect(c, at);
	assert_int_equal(c->stats.lost, 2);
	assert_true(c->loss.at == TUX_NEVER);
}

/* It had only been overtaken: the reduction is taken back, and order says
 * nothing any more. */
static void spurious__undone(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	uint64_t cwnd = c->pair->cc.w.cwnd;

	ask(&d->a, 5);
	d->now += TUX_MSEC(1);
	assert_true(hear_one(&d->a, 0, 1, 4));
	assert_int_equal(c->stats.lost, 1);
	assert_true(c->pair->cc.w.cwnd < cwnd);
	assert_true(hear(&d->a, 1));
	assert_int_equal(c->stats.spurious, 1);
	assert_int_equal(c->stats.undone, 1);
	assert_true(c->pair->cc.w.cwnd >= cwnd);
	assert_true(c->loss.reordered);
	assert_true(d->log_a.last[TUX_TRACE_SPURIOUS].n[0] == base - c->first);
	assert_int_equal(c->sentq.lost_n, 0);
}

/* Named by a range, highest first; each once. */
static void spurious__in_ranges(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	ask(&d->a, 8);
	assert_true(hear_one(&d->a, 0, 7, 8));
	assert_int_equal(c->stats.lost, 5);
	assert_true(hear_one(&d->a, 0, 2, 4));
	assert_int_equal(c->stats.spurious, 2);
	assert_true(hear_one(&d->a, 0, 2, 4));
	assert_int_equal(c->stats.spurious, 2);
	assert_int_equal(c->sentq.lost_n, 3);
}

/* Below what the peer was told that nobody waits for, it says nothing. */
static void spurious__not_below_what_is_closed(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	uint64_t first;

	ask(&d->a, 5);
	assert_true(hear_one(&d->a, 0, 1, 5));
	assert_int_equal(c->stats.lost, 1);
	first = base;
	ask(&d->a, 1);			/* it tells the floor */
	assert_true(c->sentq.closed < base);
	base = first;
	assert_true(hear_one(&d->a, 0, 5, 6));
	assert_true(c->sentq.closed > base);
	assert_true(hear(&d->a, 6));
	assert_int_equal(c->stats.spurious, 0);
}

/* Nothing was closed for longer than the queue goes back: the search begins at
 * its oldest number. */
static void spurious__closed_long_ago(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	ask(&d->a, 5);
	assert_true(hear_one(&d->a, 0, 1, 5));
	assert_int_equal(c->stats.lost, 1);
	c->sentq.closed -= TUX_SENTQ_CAP;
	assert_true(hear(&d->a, 5));
	assert_int_equal(c->stats.spurious, 1);
}

/* Bytes that wait to be sent again need not. */
static void spurious__bytes_found(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	struct duo_pkt k;

	base = c->sentq.next;
	assert_int_equal(duo_write(&d->a, "abc", 3), 3);
	assert_true(duo_out(&d->a, &k) > 0);
	assert_int_equal(duo_write(&d->a, "defg", 4), 4);
	assert_true(duo_out(&d->a, &k) > 0);
	assert_int_equal(tux_conn_lose_all(c, d->now), 2);
	assert_int_equal(c->tx.buf.lost.n, 1);
	assert_int_equal(c->stats.resent, 2);
	assert_true(hear_one(&d->a, 0, 1, 2));
	assert_int_equal(c->tx.buf.lost.n, 1);
	assert_true(c->tx.buf.lost.r[0].start == 0);
	assert_true(c->tx.buf.lost.r[0].end == 3);
}

/* ---- what is sent again ---- */

static void again__which_records(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	struct tux_sent s = {
		.what = TUX_DO_PREPARE | TUX_DO_PREPARED | TUX_DO_PING |
			TUX_DO_RAW | TUX_DO_RESET | TUX_DO_ROOM,
	};

	c->todo = c->tx.gen = 0;
	tux_conn_again(c, &s);
	assert_int_equal(c->todo, TUX_DO_PREPARED | TUX_DO_RAW | TUX_DO_ROOM);
	assert_int_equal(c->stats.resent, 0);
	c->todo = 0;
	c->tx.gen = 7;			/* still open */
	tux_conn_again(c, &s);
	assert_int_equal(c->todo & TUX_DO_PREPARE, TUX_DO_PREPARE);
	c->tx.gen = 0;
}

static void again__bytes_and_fin_only_over_tux(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	struct tux_sent s = { .len = 3 }, fin = { .off = 3,
						  .what = TUX_SENT_FIN };
	struct duo_pkt k;

	assert_int_equal(duo_write(&d->a, "abc", 3), 3);
	tux_duplex_shut(d->a.dx);
	duo_ring(&d->a, 0);
	assert_true(duo_out(&d->a, &k) > 0);
	assert_int_equal(duo_rec(&k, TUX_REC_STREAM)->flags & TUX_STREAM_FIN,
			 TUX_STREAM_FIN);
	c->tx.path = TUX_PATH_FRAMES;
	tux_conn_again(c, &s);
	assert_int_equal(c->tx.buf.lost.n, 0);
	c->tx.path = TUX_PATH_TUX;
	tux_conn_again(c, &fin);
	assert_int_equal(c->stats.resent, 1);
	assert_true(c->tx.buf.lost.r[0].start == 3);
	assert_true(c->tx.buf.lost.r[0].end == 4);
	tux_conn_again(c, &s);
	assert_true(c->tx.buf.lost.r[0].start == 0);
	assert_int_equal(c->stats.resent, 2);
	c->tx.path = TUX_PATH_FRAMES;
}

/* A probe is long to see whether so much passes: its loss says no more. */
static void lost__probe_of_a_length(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	uint64_t cwnd = c->pair->cc.w.cwnd;
	struct duo_pkt k;

	tux_rtt_sample(&c->rtt, TUX_MSEC(1), 0);
	c->pair->pmtu.len = 600;
	c->pair->pmtu.at = d->now;
	ask(&d->a, 1);
	assert_true(duo_out(&d->a, &k) > 600);
	assert_non_null(duo_rec(&k, TUX_REC_PAD));
	ask(&d->a, 4);
	base -= 2;
	assert_true(hear_one(&d->a, 1, 2, 6));
	assert_int_equal(c->stats.lost, 1);
	assert_int_equal(c->pair->pmtu.tries, 1);
	assert_true(c->pair->cc.w.cwnd >= cwnd);
}

/* Long ones vanish twice: shorter from now on. */
static void lost__too_long(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	char buf[1400] = { 0 };
	struct duo_pkt k;
	unsigned i;

	for (i = 0; i < 2; i++) {
		assert_true(c->pair->pmtu.len == UINT32_MAX);
		if (!i)
			assert_int_equal(duo_write(&d->a, buf, 1400), 1400);
		tux_conn_kick(c);
		assert_true(duo_out(&d->a, &k) > 1400);
		d->now += TUX_MSEC(1);
		tux_conn_lose_all(c, d->now);
	}
	assert_int_equal(c->pair->pmtu.len, TUX_PMTU_FLOOR);
	assert_int_equal(d->log_a.n[TUX_TRACE_MTU], 1);
	tux_conn_kick(c);
	assert_int_equal(duo_out(&d->a, &k), TUX_PMTU_FLOOR);
}

/* So much has passed: that is the path's. */
static void acked__longer_than_was_known(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	struct duo_pkt k;

	c->pair->pmtu.len = 600;
	tux_pair_fit(c->pair);
	assert_int_equal(c->pair->cc.mss, 600);
	c->pair->pmtu.at = d->now;
	ask(&d->a, 1);
	assert_true(duo_out(&d->a, &k) > 600);
	assert_true(hear(&d->a, 2));
	assert_int_equal(c->pair->pmtu.len, k.len);
	assert_int_equal(c->pair->cc.mss, k.len);
	assert_true(d->log_a.last[TUX_TRACE_MTU].n[0] == k.len);
}

/* ---- stream bytes that the peer has ---- */

static bool got(struct duo_end *e, uint64_t n, uint32_t window)
{
	struct duo_forge f;

	duo_forge(&f, e);
	f.h.flags = 0;
	f.h.got = n;
	f.h.window = window;
	return duo_forge_in(&f);
}

static void got__frees_the_ring(void **state)
{
	struct duo *d = *state;
	struct duo_pkt k;

	assert_int_equal(duo_write(&d->a, "abcdef", 6), 6);
	assert_true(duo_out(&d->a, &k) > 0);
	d->a.ready_n = 0;
	d->a.c->tx.probe_in = 5;
	assert_true(got(&d->a, 4, 1000));
	assert_true(tux_pipe_tail(&d->a.dx->txp) == 4);
	assert_int_equal(d->a.ready_n, 1);
	assert_true(d->a.c->tx.probe_in == 0);
	assert_true(d->a.c->tx.buf.limit >= 1004);
	/* The same once more is no news. */
	assert_true(got(&d->a, 4, 1000));
	assert_int_equal(d->a.ready_n, 1);
	/* Neither has it what was not written, nor what was not sent. */
	assert_false(got(&d->a, 8, 1000));
	assert_int_equal(duo_write(&d->a, "gh", 2), 2);
	assert_false(got(&d->a, 7, 1000));
	assert_true(tux_pipe_tail(&d->a.dx->txp) == 4);
}

/* On the way back TCP's own count leads; the room is worth knowing. */
static void got__while_on_tcp(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	struct duo_pkt k;

	assert_int_equal(duo_write(&d->a, "abcdef", 6), 6);
	assert_true(duo_out(&d->a, &k) > 0);
	tux_conn_stall(c, d->now);
	c->tx.buf.limit = 100;
	assert_true(got(&d->a, 4, 96));
	assert_true(c->tx.buf.limit == 100);
	assert_true(got(&d->a, 4, 97));
	assert_true(c->tx.buf.limit == 101);
	assert_true(got(&d->a, 2, 10));
	assert_true(c->tx.buf.limit == 101);
	assert_true(tux_pipe_tail(&d->a.dx->txp) == 0);
	assert_false(got(&d->a, 8, 10));
}

static void got__before_the_switch(void **state)
{
	struct duo *d = *state;

	assert_true(got(&d->a, 1000, 1000));
}

/* Everything, and FIN: TCP may be shut. */
static void got__the_end(void **state)
{
	struct duo *d = *state;
	struct duo_pkt k;

	assert_int_equal(duo_write(&d->a, "abc", 3), 3);
	tux_duplex_shut(d->a.dx);
	duo_ring(&d->a, 0);
	assert_true(duo_out(&d->a, &k) > 0);
	/* FIN goes into TCP, too, where a peer that dies cannot hide it. */
	assert_int_equal(duo_tcp_out(&d->a, SIZE_MAX), TUX_FRAME_HDR);
	assert_true(got(&d->a, 3, 1000));
	assert_int_equal(d->a.shut_n, 0);
	assert_true(got(&d->a, 4, 1000));
	assert_int_equal(d->a.shut_n, 1);
}

/* The path has answered while we were on TCP: back to it, in a frame. */
static void acked__while_on_tcp(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	tux_conn_stall(c, d->now);
	ask(&d->a, 1);
	assert_true(hear(&d->a, 0));
	assert_false(c->out.sw);
	assert_true(hear(&d->a, 1));
	assert_true(c->out.sw);
}

int main(void)
{
#define T(name, setup) \
	cmocka_unit_test_setup_teardown(name, setup, duo_teardown)
	const struct CMUnitTest tests[] = {
		T(acked__bounds_of_the_number, duo_setup_switched),
		T(acked__bounds_of_ranges, duo_setup_switched),
		T(acked__settles_what_it_names, duo_setup_switched),
		T(acked__range_that_is_partly_old, duo_setup_switched),
		T(acked__is_progress, duo_setup_switched),
		T(rtt__sample_of_the_newest, duo_setup_switched),
		T(rtt__none_of_older_ones, duo_setup_switched),
		T(rtt__none_of_timed_ones, duo_setup_switched),
		T(loss__by_order, duo_setup_switched),
		T(loss__by_time, duo_setup_switched),
		T(spurious__undone, duo_setup_switched),
		T(spurious__in_ranges, duo_setup_switched),
		T(spurious__not_below_what_is_closed, duo_setup_switched),
		T(spurious__closed_long_ago, duo_setup_switched),
		T(spurious__bytes_found, duo_setup_switched),
		T(again__which_records, duo_setup_switched),
		T(again__bytes_and_fin_only_over_tux, duo_setup_switched),
		T(lost__probe_of_a_length, duo_setup_switched),
		T(lost__too_long, duo_setup_switched),
		T(acked__longer_than_was_known, duo_setup_switched),
		T(got__frees_the_ring, duo_setup_switched),
		T(got__while_on_tcp, duo_setup_switched),
		T(got__before_the_switch, duo_setup_proved),
		T(got__the_end, duo_setup_switched),
		T(acked__while_on_tcp, duo_setup_switched),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
