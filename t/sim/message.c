/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * message - messages beside the stream of one connection
 */
#include <errno.h>

#include "sim.h"

static struct sim_end *a, *b;

/* Both take messages, and both directions have switched. */
static void begin(struct sim *s)
{
	sim_messages(s, &a, &b);
	sim_ms(s, 50);
	SIM_CHECK(s, a->was_tx && b->was_tx);
	sim_trace_clear(s);
}

static void finish(struct sim *s)
{
	sim_finish_all(s, TUX_SEC(100));
	sim_check_messages(s, true);
}

/* One fragment, none, and several. */
static void once(struct sim *s)
{
	s->only = SIM_MESSAGES;
	begin(s);
	sim_send(a, 100, 0);
	sim_send(a, 0, 0);
	sim_send(b, 4000, 0);
	sim_ms(s, 5);
	SIM_CHECK(s, b->msg_got == 2 && a->msg_got == 1);
	SIM_TRACE(s,
		"[  50.000] a > send message 0.0 at 0\n"
		"[  50.000] a > send message 0.1 at 0\n"
		"[  50.000] b > send message 0.0 at 0\n"
		"[  50.000] b > send message 0.0 at 1412\n"
		"[  50.000] b > send message 0.0 at 2824\n"
		"[  51.000] b > deliver message 0.0 +100\n"
		"[  51.000] b > deliver message 0.1 +0\n"
		"[  51.000] a > deliver message 0.0 +4000\n"
		"[  52.250] a > message 0.0 arrived\n"
		"[  52.250] a > message 0.1 arrived\n"
		"[  52.250] b > message 0.0 arrived\n");
	finish(s);
}

/* Sends a message whose packet is lost. */
static void lose(struct sim *s, uint32_t len, unsigned flags)
{
	sim_part(s, 0, 1, true);
	sim_send(a, len, flags);
	sim_ms(s, 1);
	sim_part(s, 0, 1, false);
}

/* What is missing before it does not hold an unordered message up. */
static void overtakes(struct sim *s)
{
	s->only = SIM_MESSAGES;
	s->net_lines = true;
	begin(s);
	lose(s, 100, 0);
	sim_send(a, 200, 0);
	sim_ms(s, 20);
	SIM_TRACE(s,
		"[  50.000] net path down\n"
		"[  50.000] a > send message 0.0 at 0\n"
		"[  50.000] net lost  from a\n"
		"[  51.000] net path up\n"
		"[  51.000] a > send message 0.1 at 0\n"
		"[  52.000] b > deliver message 0.1 +200\n"
		"[  53.000] a > message 0.1 arrived\n"
		"[  53.000] a > lost message 0.0 at 0\n"
		"[  53.000] a > send message 0.0 at 0\n"
		"[  54.000] b > deliver message 0.0 +100\n"
		"[  55.250] a > message 0.0 arrived\n");
	finish(s);
}

/* An ordered one waits for those before it, and for nothing else. */
static void ordered_waits(struct sim *s)
{
	s->only = SIM_MESSAGES;
	s->net_lines = true;
	begin(s);
	lose(s, 100, TUX_MSG_ORDERED);
	sim_send(a, 200, TUX_MSG_ORDERED);
	sim_send(a, 300, 0);
	sim_ms(s, 20);
	SIM_TRACE(s,
		"[  50.000] net path down\n"
		"[  50.000] a > send message 0.0 at 0\n"
		"[  50.000] net lost  from a\n"
		"[  51.000] net path up\n"
		"[  51.000] a > send message 0.1 at 0\n"
		"[  51.000] a > send message 0.2 at 0\n"
		"[  52.000] b > deliver message 0.2 +300\n"
		"[  53.000] a > message 0.1 arrived\n"
		"[  53.000] a > message 0.2 arrived\n"
		"[  53.000] a > lost message 0.0 at 0\n"
		"[  53.000] a > send message 0.0 at 0\n"
		"[  54.000] b > deliver message 0.0 +100\n"
		"[  54.000] b > deliver message 0.1 +200\n"
		"[  55.250] a > message 0.0 arrived\n");
	finish(s);
}

/* 8 MiB are under way when 1 KB is sent: it does not wait for them, nor does
 * the stream. */
static void interleaved(struct sim *s)
{
	tux_time sent;

	sim_messages(s, &a, &b);
	a->conn->bulk = 16 << 20;
	sim_link(a->host, b->host)->neck =
		sim_add_neck(s, 100000000, TUX_MSEC(5));
	sim_ms(s, 50);
	sim_send(a, 8 << 20, 0);
	sim_ms(s, 40);
	SIM_CHECK(s, b->msg_got == 0);
	sent = s->now;
	sim_send(a, 1000, 0);
	sim_write(a, 1000);
	while (!s->failed && (b->msg_got < 1 || b->got < 1000))
		sim_run(s, s->now + TUX_USEC(100));
	SIM_CHECK(s, b->msg_got == 1 && s->now - sent < TUX_MSEC(10));
	SIM_CHECK(s, a->msg[0].got == 0 && a->msg[1].got == 1);
	finish(s);
}

/* Two of the longest, and many small ones: they share, and none starves. */
static void flood(struct sim *s)
{
	unsigned i;

	sim_messages(s, &a, &b);
	sim_link(a->host, b->host)->neck =
		sim_add_neck(s, 10000000, TUX_MSEC(10));
	sim_ms(s, 50);
	sim_send(a, 128 << 10, 0);
	sim_send(a, 128 << 10, 0);
	for (i = 0; i < 2000; i++)
		sim_send(a, 1000, i % 2);
	sim_write(a, 1000000);
	sim_ms(s, 150);
	SIM_CHECK(s, a->msg[0].got && a->msg[1].got);
	SIM_CHECK(s, b->msg_got > 300 && b->got > 300000);
	finish(s);
}

/* Taken back before it went; after a part of it has gone; and too late. */
static void cancelled(struct sim *s)
{
	s->only = SIM_T(MSG_DELIVER) | SIM_T(MSG_CANCEL) | SIM_T(MSG_FAILED);
	begin(s);
	sim_link(a->host, b->host)->neck =
		sim_add_neck(s, 10000000, TUX_MSEC(20));
	sim_send(a, 100000, TUX_MSG_ORDERED);
	sim_send(a, 100000, 0);
	sim_send(a, 100, TUX_MSG_ORDERED);
	sim_ms(s, 4);
	SIM_CHECK(s, b->msg_got == 0);
	sim_cancel(a, 0);
	sim_cancel(a, 2);
	sim_cancel(a, sim_send(a, 300, 0));
	sim_send(a, 200, TUX_MSG_ORDERED);
	sim_ms(s, 50);
	SIM_CHECK(s, a->msg[0].err == ECANCELED && !a->msg[0].got);
	SIM_CHECK(s, a->msg[1].got && a->msg[2].got && !a->msg[3].got);
	SIM_CHECK(s, a->msg[3].err == ECANCELED && a->msg[4].got);
	SIM_TRACE(s,
		"[  54.544] a > send cancel 1.0\n"
		"[  56.488] b > deliver message 0.0 +100\n"
		"[  56.488] b > deliver message 0.1 +200\n"
		"[  57.488] a > message 1.0 failed 125\n"
		"[  64.583] b > deliver message 1.1 +100000\n");
	finish(s);
}

/* More than the peer has room for is refused, and told. */
static void too_long(struct sim *s)
{
	begin(s);
	SIM_CHECK(s, tux_msgbox_longest(a->box) == 128 << 10);
	sim_send(a, (128 << 10) + 1, 0);
	sim_ms(s, 5);
	SIM_CHECK(s, a->msg_err == EMSGSIZE && !a->msg_next);
	sim_finish(a);
	sim_finish(b);
	sim_run_out(s, s->now + TUX_SEC(100));
}

/* A reader that rests costs its sender room, and no more; the stream and the
 * other lane go on. */
static void slow_reader(struct sim *s)
{
	unsigned i;

	begin(s);
	for (i = 0; i < 400; i++)
		sim_send(a, 1000, 0);
	for (i = 0; i < 6; i++)
		sim_send(b, 100000, 0);
	sim_pause(b, true);
	sim_ms(s, 500);
	SIM_CHECK(s, b->msg_got == 0 && a->msg_got == 6);
	SIM_CHECK(s, tux_conn_stats(b->c)->msgs_rx == 128);
	SIM_CHECK(s, a->msg_next < 400);
	sim_pause(b, false);
	sim_ms(s, 200);
	SIM_CHECK(s, b->msg_got == 400);
	finish(s);
}

/* Everything at once, over a path that loses, doubles and reorders. */
static void storm(struct sim *s)
{
	struct sim_link *l;
	unsigned i;

	sim_messages(s, &a, &b);
	for (i = 0; i < 2; i++) {
		l = i ? sim_link(b->host, a->host) : sim_link(a->host, b->host);
		l->loss = 50000;
		l->twice = 100000;
		l->late = TUX_MSEC(30);
		l->jitter = TUX_MSEC(3);
	}
	sim_ms(s, 100);
	for (i = 0; i < 1000; i++)
		sim_send(i % 2 ? a : b, 4 + (uint32_t)sim_below(s, 5000),
			 i / 2 % 2);
	for (i = 0; i < 10; i++)
		sim_send(a, 50000, i % 2);
	sim_write(a, 300000);
	finish(s);
	SIM_CHECK(s, b->msg_got == 510 && a->msg_got == 500);
}

/* ---- peers that take none ---- */

static void peer_without(struct sim *s)
{
	sim_messages(s, &a, &b);
	b->plan.deaf = true;
	sim_send(a, 100, 0);
	sim_ms(s, 50);
	SIM_CHECK(s, a->msg[0].settled && a->msg[0].err == EPROTONOSUPPORT);
	sim_send(a, 100, 0);
	sim_write(a, 100);
	sim_ms(s, 5);
	SIM_CHECK(s, a->msg_err == EPROTONOSUPPORT && b->got == 100);
	sim_finish_all(s, TUX_SEC(10));
}

static void peer_without_tux(struct sim *s)
{
	unsigned i;

	sim_messages(s, &a, &b);
	b->plan.plain = true;
	for (i = 0; i < 300; i++)
		sim_send(a, 100, 0);
	sim_ms(s, 50);
	SIM_CHECK(s, a->msg_next == 256 && !a->msg_err);
	sim_ms(s, 5000);
	SIM_CHECK(s, a->msg_err == EPROTONOSUPPORT);
	sim_finish_all(s, TUX_SEC(10));
	sim_check_messages(s, false);
}

const struct sim_story sim_stories[] = {
	{ "once", once },
	{ "overtakes", overtakes },
	{ "ordered_waits", ordered_waits },
	{ "interleaved", interleaved },
	{ "flood", flood },
	{ "cancelled", cancelled },
	{ "too_long", too_long },
	{ "slow_reader", slow_reader },
	{ "storm", storm },
	{ "peer_without", peer_without },
	{ "peer_without_tux", peer_without_tux },
	{ NULL, NULL },
};
