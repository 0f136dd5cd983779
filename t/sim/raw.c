/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * raw - plain TCP for good, from wherever the connection is
 */
#include <errno.h>

#include "closing.h"

static struct sim_end *a, *b;

/* Neither direction is on a ring, nor can it ever be. */
static bool is_raw(const struct sim_end *e)
{
	unsigned tx = e->dx->tx.state, rx = e->dx->rx.state;

	return tx != TUX_TX_SWITCHED && tx != TUX_TX_ACKED &&
	       (rx == TUX_RX_PLAIN || rx == TUX_RX_RAW);
}

/* From now on no datagram is needed. */
static void finish(struct sim *s)
{
	SIM_CHECK(s, is_raw(a) && is_raw(b));
	sim_part(s, 0, 1, true);
	sim_write(a, 100000);
	sim_write(b, 100000);
	sim_ms(s, 100);
	SIM_CHECK(s, a->got == b->sent && b->got == a->sent);
	sim_finish_all(s, TUX_SEC(3));
}

static void one_asks(struct sim *s)
{
	s->only = SIM_T(RAW_OUT) | SIM_T(RAW_IN) | SIM_T(BACK);
	sim_switched(s, &a, &b);
	sim_raw(a);
	sim_ms(s, 20);
	SIM_TRACE(s,
		"[  50.000] a > back to tcp at 0\n"
		"[  51.000] b > back to tcp at 0\n"
		"[  51.000] b > raw out at 0\n"
		"[  52.000] a > raw in at 0\n"
		"[  52.000] a > raw out at 0\n"
		"[  53.000] b > raw in at 0\n");
	SIM_CHECK(s, tux_conn_reason(a->c) == TUX_REASON_PINNED);
	SIM_CHECK(s, tux_conn_reason(b->c) == TUX_REASON_PEER_RAW);
	finish(s);
}

static void both_ask(struct sim *s)
{
	sim_switched(s, &a, &b);
	sim_raw(a);
	sim_raw(b);
	sim_ms(s, 20);
	finish(s);
}

/* With much in flight, in both directions, and readers that rest. */
static void in_flight(struct sim *s)
{
	sim_switched(s, &a, &b);
	sim_pause(b, true);
	sim_write(a, 200000);
	sim_write(b, 200000);
	sim_run(s, s->now + TUX_USEC(2500));
	sim_raw(a);
	sim_ms(s, 500);
	SIM_CHECK(s, a->got == 200000);
	sim_pause(b, false);
	sim_ms(s, 500);
	SIM_CHECK(s, b->got == 200000);
	finish(s);
}

/* The program of end a reads nothing from here on, end b writes @n times 100 bytes,
 * which arrive, and then a wants plain TCP. */
static void leave_unread(struct sim *s, unsigned n)
{
	sim_switched(s, &a, &b);
	sim_pause(a, true);
	for (unsigned i = 0; i < n; i++) {
		sim_write(b, 100);
		sim_ms(s, 2);
	}
	SIM_CHECK(s, !a->got && tux_duplex_readable(a->dx) == 100 * n);
	sim_raw(a);
}

/* Another program, which knows TCP only, could read it. */
static void unread(struct sim *s)
{
	leave_unread(s, 3);
	sim_ms(s, 20);
	SIM_CHECK(s, !a->got && is_raw(b) && tux_duplex_rx_is_raw(a->dx));
	sim_pause(a, false);
	sim_ms(s, 1);
	SIM_CHECK(s, a->got == 300);
	finish(s);
}

static void unread_path_dead(struct sim *s)
{
	sim_switched(s, &a, &b);
	sim_pause(a, true);
	sim_write(b, 100);
	sim_ms(s, 2);
	sim_part(s, 0, 1, true);
	sim_raw(a);
	sim_ms(s, 20);
	SIM_CHECK(s, !a->got && tux_duplex_rx_is_raw(a->dx));
	sim_pause(a, false);
	sim_ms(s, 1);
	SIM_CHECK(s, a->got == 100);
	finish(s);
}

/* More than b has memory for: a has to read. */
static void unread_too_much(struct sim *s)
{
	sim_switched(s, &a, &b);
	sim_pause(a, true);
	sim_write(b, 500000);
	sim_ms(s, 50);
	sim_raw(a);
	sim_ms(s, 500);
	SIM_CHECK(s, !tux_duplex_rx_is_raw(a->dx));
	sim_pause(a, false);
	sim_ms(s, 1000);
	SIM_CHECK(s, a->got == 500000);
	finish(s);
}


/* The end of the stream comes over Tux meanwhile. */
static void unread_and_fin(struct sim *s)
{
	leave_unread(s, 1);
	sim_finish(b);
	sim_ms(s, 20);
	sim_pause(a, false);
	sim_ms(s, 20);
	SIM_CHECK(s, a->got == 100 && a->eof);
	sim_finish(a);
	sim_run_out(s, s->now + TUX_SEC(3));
	sim_check_all(s);
}

/* Before the switch, and in the middle of it. */
static void at(struct sim *s, enum where w)
{
	bring(s, w, &a, &b);
	sim_write(a, 3000);
	sim_write(b, 3000);
	sim_raw(a);
	sim_ms(s, 3000);
	SIM_CHECK(s, a->got == b->sent && b->got == a->sent);
	finish(s);
}

static void opening(struct sim *s)
{
	at(s, OPENING);
}

/* The question comes before there is a path, and while a thread reads: it is
 * asked later.  Else b's messages would wait for room, and its end for them. */
static void opening_held(struct sim *s)
{
	sim_messages(s, &a, &b);
	sim_run(s, TUX_USEC(1500));
	SIM_CHECK(s, tux_latch_try(&a->dx->rx.latch));
	a->held = &a->dx->rx.latch;
	sim_raw(a);
	sim_run(s, s->now);
	tux_latch_drop(a->held);
	a->held = NULL;
	sim_send(b, 1000, 0);
	sim_write(b, 1000);
	sim_ms(s, 100);
	SIM_CHECK(s, b->msg_err == ESHUTDOWN || b->msg[0].err == ESHUTDOWN);
	finish(s);
}

static void announced(struct sim *s)
{
	at(s, ANNOUNCED);
}

static void armed(struct sim *s)
{
	at(s, ARMED);
}

static void back(struct sim *s)
{
	at(s, BACK);
}

/* The question is lost, and the path with it. */
static void path_dead(struct sim *s)
{
	sim_switched(s, &a, &b);
	sim_part(s, 0, 1, true);
	sim_raw(b);
	sim_ms(s, 20);
	finish(s);
}

/* ... and stays dead: nobody goes on asking. */
static void path_dead_for_long(struct sim *s)
{
	sim_switched(s, &a, &b);
	sim_part(s, 0, 1, true);
	sim_raw(b);
	sim_ms(s, 1800000);
	SIM_CHECK(s, s->link[0][1].sent_n + s->link[1][0].sent_n < 100);
	finish(s);
}

/* The program shuts down while TCP has no room for the frame that hands the
 * direction back: the end of file follows the frame. */
static void shut_behind_the_frame(struct sim *s)
{
	sim_switched(s, &a, &b);
	a->conn->tcp.sndbuf = 4;
	sim_raw(a);
	sim_ms(s, 2);			/* for b's RAW */
	SIM_CHECK(s, a->dx->tx.hold);
	sim_finish(a);
	sim_ms(s, 1);
	SIM_CHECK(s, a->shut && a->dx->tx.hold);
	sim_ms(s, 100);
	SIM_CHECK(s, is_raw(a) && is_raw(b) && b->eof);
	sim_write(b, 1000);
	sim_finish_all(s, TUX_SEC(3));
}

/* The program asks again and again, a thousand times in a second, and each answer
 * takes longer: it counts all the same. */
static void asked_often(struct sim *s)
{
	unsigned i;

	sim_pair(s, &a, &b);
	sim_link(a->host, b->host)->delay = TUX_MSEC(5);
	sim_link(b->host, a->host)->delay = TUX_MSEC(5);
	sim_run(s, TUX_USEC(16500));
	SIM_CHECK(s, a->dx->tx.doubt);
	for (i = 0; i < 50; i++) {
		sim_raw(a);
		sim_ms(s, 1);
	}
	SIM_CHECK(s, !a->dx->tx.doubt);
	SIM_CHECK(s, tux_duplex_tx_is_raw(a->dx) && tux_duplex_rx_is_raw(a->dx));
	finish(s);
}

static unsigned datagrams(const struct sim *s)
{
	return (unsigned)(s->link[0][1].sent_n + s->link[1][0].sent_n);
}

/* The program of end a takes its socket from the loop.  The RAW record of end b is
 * lost, and b sends it again until a's core answers.  Then neither end sends any
 * more datagrams. */
static void leaves(struct sim *s)
{
	unsigned n;

	sim_switched(s, &a, &b);
	sim_part(s, 0, 1, true);
	sim_raw(a);
	sim_ms(s, 20);
	SIM_CHECK(s, is_raw(a) && is_raw(b));
	sim_leave(a);
	sim_write(a, 100000);
	sim_write(b, 100000);
	sim_ms(s, 100);
	sim_part(s, 0, 1, false);
	sim_ms(s, 5000);
	SIM_CHECK(s, a->got == b->sent && b->got == a->sent);
	SIM_CHECK(s, !a->c && b->c);
	n = datagrams(s);
	sim_ms(s, 600000);
	SIM_CHECK(s, datagrams(s) == n);
	finish(s);
}

const struct sim_story sim_stories[] = {
	{ "one_asks", one_asks },
	{ "both_ask", both_ask },
	{ "in_flight", in_flight },
	{ "unread", unread },
	{ "unread_path_dead", unread_path_dead },
	{ "unread_too_much", unread_too_much },
	{ "unread_and_fin", unread_and_fin },
	{ "opening", opening },
	{ "opening_held", opening_held },
	{ "announced", announced },
	{ "armed", armed },
	{ "back", back },
	{ "asked_often", asked_often },
	{ "leaves", leaves },
	{ "shut_behind_the_frame", shut_behind_the_frame },
	{ "path_dead", path_dead },
	{ "path_dead_for_long", path_dead_for_long },
	{ NULL, NULL },
};
