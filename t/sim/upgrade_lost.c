/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upgrade_lost - each packet of the opening and of the switch is lost once
 */
#include "sim.h"

static struct sim_end *a, *b;

/* One packet from @from that carries one of @kinds is lost; all else is as in
 * a quiet upgrade. */
static void lose(struct sim *s, unsigned from, unsigned kinds)
{
	s->only = SIM_OPENING | SIM_SWITCH;
	s->net_lines = true;
	sim_pair(s, &a, &b);
	sim_drop(&s->link[from][1 - from], kinds, 0, 1);
	sim_write(a, 100);
	sim_ms(s, 90);
	SIM_CHECK(s, a->was_tx && a->was_rx && b->was_tx && b->was_rx);
}

/* Then both write over Tux, and end. */
static void finish(struct sim *s)
{
	sim_write(a, 1000);
	sim_write(b, 1000);
	sim_finish_all(s, TUX_SEC(10));
	SIM_CHECK(s, s->now < TUX_MSEC(500));
}

static void hello(struct sim *s)
{
	lose(s, 0, SIM_ASK);
	SIM_TRACE(s,
		"[   0.000] a > send hello 59\n"
		"[   0.000] net lost ask from a\n"
		"[   4.000] a > send hello 59\n"
		"[   5.000] b > recv hello 59\n"
		"[   5.000] b > send hello 57\n"
		"[   6.000] a > recv hello 57\n"
		"[   6.000] a > path proved\n"
		"[   6.000] a > send hello 58\n"
		"[   6.000] a > send prepare 1 at 100\n"
		"[   7.000] b > recv hello 58\n"
		"[   7.000] b > path proved\n"
		"[   7.000] b > armed 1 at 100\n"
		"[   7.000] b > send prepare 1 at 0\n"
		"[   7.000] b > send prepared 1\n"
		"[   8.000] a > recv prepared 1\n"
		"[   8.000] a > armed 1 at 0\n"
		"[   8.000] a > commit 1 at 100\n"
		"[   8.000] a > send prepared 1\n"
		"[   9.000] b > recv prepared 1\n"
		"[   9.000] b > commit 1 at 0\n"
		"[   9.000] b > receive switched at 100\n"
		"[  10.000] a > receive switched at 0\n");
	finish(s);
}

static void answer(struct sim *s)
{
	lose(s, 1, SIM_ANSWER);
	SIM_TRACE(s,
		"[   0.000] a > send hello 59\n"
		"[   1.000] b > recv hello 59\n"
		"[   1.000] b > send hello 57\n"
		"[   1.000] net lost answer from b\n"
		"[   4.000] a > send hello 59\n"
		"[   5.000] b > recv hello 59\n"
		"[   5.000] b > send hello 57\n"
		"[   6.000] a > recv hello 57\n"
		"[   6.000] a > path proved\n"
		"[   6.000] a > send hello 58\n"
		"[   6.000] a > send prepare 1 at 100\n"
		"[   7.000] b > recv hello 58\n"
		"[   7.000] b > path proved\n"
		"[   7.000] b > armed 1 at 100\n"
		"[   7.000] b > send prepare 1 at 0\n"
		"[   7.000] b > send prepared 1\n"
		"[   8.000] a > recv prepared 1\n"
		"[   8.000] a > armed 1 at 0\n"
		"[   8.000] a > commit 1 at 100\n"
		"[   8.000] a > send prepared 1\n"
		"[   9.000] b > recv prepared 1\n"
		"[   9.000] b > commit 1 at 0\n"
		"[   9.000] b > receive switched at 100\n"
		"[  10.000] a > receive switched at 0\n");
	finish(s);
}

/* The first packet with a number proves the path as well. */
static void confirm(struct sim *s)
{
	lose(s, 0, SIM_CONFIRM);
	SIM_TRACE(s,
		"[   0.000] a > send hello 59\n"
		"[   1.000] b > recv hello 59\n"
		"[   1.000] b > send hello 57\n"
		"[   2.000] a > recv hello 57\n"
		"[   2.000] a > path proved\n"
		"[   2.000] a > send hello 58\n"
		"[   2.000] a > send prepare 1 at 100\n"
		"[   2.000] net lost confirm+prepare from a\n"
		"[  53.000] a > send prepare 1 at 100\n"
		"[  54.000] b > path proved\n"
		"[  54.000] b > armed 1 at 100\n"
		"[  54.000] b > send prepare 1 at 0\n"
		"[  54.000] b > send prepared 1\n"
		"[  55.000] a > recv prepared 1\n"
		"[  55.000] a > armed 1 at 0\n"
		"[  55.000] a > commit 1 at 100\n"
		"[  55.000] a > send prepared 1\n"
		"[  56.000] b > recv prepared 1\n"
		"[  56.000] b > commit 1 at 0\n"
		"[  56.000] b > receive switched at 100\n"
		"[  57.000] a > receive switched at 0\n");
	finish(s);
}

/* The second one, which travels alone: the first was written past. */
static void prepare(struct sim *s)
{
	s->only = SIM_SWITCH & ~SIM_T(SEND_PREPARED);
	s->net_lines = true;
	sim_pair(s, &a, &b);
	sim_drop(sim_link(a->host, b->host), SIM_PREPARE, 1, 1);
	sim_write(a, 100);
	sim_run(s, TUX_USEC(2200));
	sim_write(a, 100);
	sim_ms(s, 90);
	SIM_TRACE(s,
		"[   2.000] a > send prepare 1 at 100\n"
		"[   2.200] a > generation 1 void\n"
		"[   2.250] a > send prepare 2 at 456\n"
		"[   2.250] net lost prepare from a\n"
		"[   3.000] b > armed 1 at 100\n"
		"[   3.000] b > send prepare 1 at 0\n"
		"[   4.000] a > recv prepared 1\n"
		"[   4.000] a > armed 1 at 0\n"
		"[   5.000] b > recv prepared 1\n"
		"[   5.000] b > commit 1 at 0\n"
		"[   6.000] a > send prepare 2 at 456\n"
		"[   6.000] a > receive switched at 0\n"
		"[   7.000] b > armed 2 at 456\n"
		"[   8.000] a > recv prepared 2\n"
		"[  16.000] a > generation 2 void\n"
		"[  18.000] a > recv prepared 3\n"
		"[  18.000] a > send prepare 4 at 200\n"
		"[  19.000] b > armed 4 at 200\n"
		"[  20.000] a > recv prepared 4\n"
		"[  20.000] a > commit 4 at 200\n"
		"[  21.000] b > receive switched at 200\n");
	finish(s);
}

static void prepared(struct sim *s)
{
	lose(s, 0, SIM_PREPARED);
	SIM_TRACE(s,
		"[   0.000] a > send hello 59\n"
		"[   1.000] b > recv hello 59\n"
		"[   1.000] b > send hello 57\n"
		"[   2.000] a > recv hello 57\n"
		"[   2.000] a > path proved\n"
		"[   2.000] a > send hello 58\n"
		"[   2.000] a > send prepare 1 at 100\n"
		"[   3.000] b > recv hello 58\n"
		"[   3.000] b > path proved\n"
		"[   3.000] b > armed 1 at 100\n"
		"[   3.000] b > send prepare 1 at 0\n"
		"[   3.000] b > send prepared 1\n"
		"[   4.000] a > recv prepared 1\n"
		"[   4.000] a > armed 1 at 0\n"
		"[   4.000] a > commit 1 at 100\n"
		"[   4.000] a > send prepared 1\n"
		"[   4.000] net lost prepared from a\n"
		"[   5.000] b > receive switched at 100\n"
		"[  11.000] a > send prepared 1\n"
		"[  12.000] b > recv prepared 1\n"
		"[  12.000] b > commit 1 at 0\n"
		"[  13.000] a > receive switched at 0\n");
	finish(s);
}

static void both_in_one(struct sim *s)
{
	lose(s, 1, SIM_PREPARE | SIM_PREPARED);
	SIM_TRACE(s,
		"[   0.000] a > send hello 59\n"
		"[   1.000] b > recv hello 59\n"
		"[   1.000] b > send hello 57\n"
		"[   2.000] a > recv hello 57\n"
		"[   2.000] a > path proved\n"
		"[   2.000] a > send hello 58\n"
		"[   2.000] a > send prepare 1 at 100\n"
		"[   3.000] b > recv hello 58\n"
		"[   3.000] b > path proved\n"
		"[   3.000] b > armed 1 at 100\n"
		"[   3.000] b > send prepare 1 at 0\n"
		"[   3.000] b > send prepared 1\n"
		"[   3.000] net lost prepare+prepared from b\n"
		"[  53.000] a > send prepare 1 at 100\n"
		"[  54.000] b > send prepare 1 at 0\n"
		"[  54.000] b > send prepared 1\n"
		"[  54.000] b > send prepared 1\n"
		"[  55.000] a > recv prepared 1\n"
		"[  55.000] a > armed 1 at 0\n"
		"[  55.000] a > commit 1 at 100\n"
		"[  55.000] a > send prepared 1\n"
		"[  55.000] a > recv prepared 1\n"
		"[  56.000] b > recv prepared 1\n"
		"[  56.000] b > commit 1 at 0\n"
		"[  56.000] b > receive switched at 100\n"
		"[  57.000] a > receive switched at 0\n");
	finish(s);
}

static void first_data(struct sim *s)
{
	s->net_lines = true;
	s->only = SIM_T(SEND) | SIM_T(RECV) | SIM_T(LOST) | SIM_T(TIMEOUT);
	sim_switched(s, &a, &b);
	sim_drop(&s->link[0][1], SIM_DATA, 0, 1);
	sim_write(a, 100);
	sim_ms(s, 50);
	SIM_TRACE(s,
		"[  50.000] a > send 2 stream 0 +100\n"
		"[  50.000] net lost data from a\n"
		"[  56.000] a > send 3 stream 0 +100\n"
		"[  57.000] b > recv 3 stream 0 +100\n"
		"[  58.000] a > lost 0 stream 0 +0\n");
	finish(s);
}

/* The marker is late on TCP; Tux data proves the switch. */
static void marker_late(struct sim *s)
{
	s->only = SIM_DONE | SIM_T(RECV) | SIM_T(FRAME_IN);
	sim_pair(s, &a, &b);
	sim_write(a, 100);
	sim_ms(s, 3);
	sim_tcp_hold(a, 100, TUX_MSEC(30));
	sim_ms(s, 4);
	sim_write(a, 100);
	sim_ms(s, 10);
	SIM_CHECK(s, b->got == 200);
	SIM_TRACE(s,
		"[   4.000] a > commit 1 at 100\n"
		"[   5.000] b > commit 1 at 0\n"
		"[   6.000] a > receive switched at 0\n"
		"[   8.000] b > recv 2 stream 100 +100\n"
		"[   8.000] b > receive switched at 100\n");
	sim_tcp_hold(a, 0, 0);
	finish(s);
}

/* All that TCP carried is late: Tux data comes first and has to wait. */
static void tcp_late(struct sim *s)
{
	s->only = SIM_DONE | SIM_T(RECV);
	sim_pair(s, &a, &b);
	sim_run(s, 0);
	sim_tcp_hold(a, 0, TUX_MSEC(30));
	sim_write(a, 100);
	sim_run(s, TUX_MSEC(10));
	sim_write(a, 100);
	sim_run(s, TUX_MSEC(30));
	SIM_CHECK(s, b->got == 0);
	sim_run(s, TUX_MSEC(40));
	SIM_CHECK(s, b->got == 200);
	SIM_TRACE(s,
		"[   4.000] a > commit 1 at 100\n"
		"[   5.000] b > commit 1 at 0\n"
		"[   6.000] a > receive switched at 0\n"
		"[  11.000] b > recv 2 stream 100 +100\n"
		"[  31.000] b > receive switched at 100\n");
	finish(s);
}

/* The packets are acknowledged, but what they carried cannot be counted as got
 * before TCP has caught up; the word that it has is lost.  The ring empties all
 * the same. */
static void got_lost(struct sim *s)
{
	sim_pair(s, &a, &b);
	sim_run(s, 0);
	sim_tcp_hold(a, 0, TUX_MSEC(30));
	sim_write(a, 100);
	sim_run(s, TUX_MSEC(10));
	sim_write(a, 100);
	sim_run(s, TUX_MSEC(30));
	sim_drop(sim_link(b->host, a->host), SIM_ANY, 0, 1);
	sim_ms(s, 100);
	SIM_CHECK(s, b->got == 200);
	SIM_CHECK(s, !tux_pipe_len(&a->dx->txp));
	finish(s);
}

static tux_time last_at, longest;
static unsigned tried;

/* Nothing gets through; when was it tried? */
static void spoil(struct sim *s, uint8_t *p, size_t len)
{
	(void)len;
	p[0] ^= 1;
	tried++;
	if (s->now - last_at > longest)
		longest = s->now - last_at;
	last_at = s->now;
}

/* The path was there for the HELLOs, and goes for half an hour.  It is tried
 * less and less often, but each minute. */
static void half_an_hour(struct sim *s)
{
	sim_pair(s, &a, &b);
	sim_run(s, TUX_USEC(2500));
	s->link[0][1].tap = s->link[1][0].tap = spoil;
	tried = 0;
	longest = 0;
	last_at = s->now;
	sim_ms(s, 1800000);
	SIM_CHECK(s, !a->was_tx && !b->was_tx);
	/* A try takes a second, and then it is a minute. */
	SIM_CHECK(s, longest > TUX_SEC(50) && longest <= TUX_SEC(61));
	SIM_CHECK(s, tried < 200);
	s->link[0][1].tap = s->link[1][0].tap = NULL;
	sim_ms(s, 61000);
	SIM_CHECK(s, a->was_tx && b->was_tx);
}

/* The path goes when a has announced where it is, and a thread of a is inside
 * when a's loop gives that up.  The thread writes nothing, and nothing is
 * written later: still the direction moves when the path is back. */
static void given_up_under_a_latch(struct sim *s)
{
	sim_pair(s, &a, &b);
	sim_write(a, 100);
	sim_run(s, TUX_USEC(2500));
	SIM_CHECK(s, a->dx->tx.state == TUX_TX_ANNOUNCED);
	s->link[0][1].down = s->link[1][0].down = true;
	sim_run(s, TUX_MSEC(1000));
	SIM_CHECK(s, tux_latch_try(&a->dx->tx.latch));
	sim_run(s, TUX_MSEC(1005));
	SIM_CHECK(s, tux_conn_reason(a->c) == TUX_REASON_STALLED);
	SIM_CHECK(s, a->dx->tx.state == TUX_TX_ANNOUNCED);
	tux_latch_drop(&a->dx->tx.latch);
	sim_ms(s, 1);
	SIM_CHECK(s, a->dx->tx.state == TUX_TX_PLAIN);
	s->link[0][1].down = s->link[1][0].down = false;
	sim_ms(s, 10000);
	SIM_CHECK(s, a->was_tx && b->was_tx);
}

const struct sim_story sim_stories[] = {
	{ "hello", hello },
	{ "answer", answer },
	{ "confirm", confirm },
	{ "prepare", prepare },
	{ "prepared", prepared },
	{ "both_in_one", both_in_one },
	{ "first_data", first_data },
	{ "marker_late", marker_late },
	{ "tcp_late", tcp_late },
	{ "got_lost", got_lost },
	{ "half_an_hour", half_an_hour },
	{ "given_up_under_a_latch", given_up_under_a_latch },
	{ NULL, NULL },
};
