/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * share - another process uses the connection, as plain TCP, and then no more
 */
#include "closing.h"

static struct sim_end *a, *b;

static bool is_plain(const struct sim_end *e)
{
	return tux_duplex_is_plain(e->dx);
}

/* The loop of @e pins both directions: the other process may go on.  The peer may have
 * announced an N by then, which is not answered. */
static void sleeps(struct sim *s, struct sim_end *e)
{
	SIM_CHECK(s, is_plain(e) && !tux_duplex_sleep(e->dx));
}

static void wakes(struct sim *s, struct sim_end *e)
{
	SIM_CHECK(s, tux_duplex_wake(e->dx, NULL, NULL));
	sim_alone(e);
}

/* Both directions move again. */
static void moves(struct sim *s)
{
	unsigned i;

	for (i = 0; i < 3000 && !(tux_conn_tx_on_tux(a->c) &&
				 tux_conn_tx_on_tux(b->c)); i++) {
		sim_write(a, 100);
		sim_ms(s, 10);
		sim_write(b, 200);
		sim_ms(s, 10);
	}
	SIM_CHECK(s, tux_conn_tx_on_tux(a->c) && tux_conn_tx_on_tux(b->c));
}

static void finish(struct sim *s)
{
	sim_write(a, 100000);
	sim_write(b, 100000);
	sim_ms(s, 1000);
	SIM_CHECK(s, a->got == b->sent && b->got == a->sent);
	sim_finish_all(s, TUX_SEC(3));
}

/* @e shares it for @ms, while both write. */
static void shares(struct sim *s, struct sim_end *e, unsigned ms)
{
	sim_share(e);
	sim_ms(s, 20);
	sleeps(s, e);
	SIM_CHECK(s, tux_conn_reason(e->c) == TUX_REASON_SHARED);
	SIM_CHECK(s, tux_conn_reason(e->peer->c) == TUX_REASON_PEER_SHARED);
	sim_write(a, 5000);
	sim_write(b, 5000);
	sim_ms(s, ms);
	SIM_CHECK(s, !tux_conn_tx_on_tux(a->c) && !tux_conn_tx_on_tux(b->c));
	wakes(s, e);
}

static void one(struct sim *s)
{
	s->only = SIM_T(PLAIN_OUT) | SIM_T(PLAIN_IN) | SIM_T(RECV_LEAVE);
	sim_switched(s, &a, &b);
	shares(s, a, 5000);
	SIM_TRACE(s,
		"[  51.000] b > recv leave, read to 0, turn 0\n"
		"[  51.000] b > plain out at 0\n"
		"[  52.000] a > plain in at 0\n"
		"[  52.000] a > recv leave, read to 0, turn 0\n"
		"[  52.000] a > plain out at 0\n"
		"[  53.000] b > plain in at 0\n");
	moves(s);
	finish(s);
}

/* Each time, it takes longer until it moves again. */
static void again_and_again(struct sim *s)
{
	unsigned i;

	sim_switched(s, &a, &b);
	for (i = 0; i < 3; i++) {
		shares(s, i % 2 ? b : a, 100);
		moves(s);
	}
	finish(s);
}

static void both(struct sim *s)
{
	sim_switched(s, &a, &b);
	sim_share(a);
	sim_share(b);
	sim_ms(s, 20);
	sleeps(s, a);
	sleeps(s, b);
	sim_write(a, 3000);
	sim_write(b, 3000);
	sim_ms(s, 5000);
	wakes(s, a);
	wakes(s, b);
	moves(s);
	finish(s);
}

/* With much in flight, in both directions, and a reader that rests. */
static void in_flight(struct sim *s)
{
	sim_switched(s, &a, &b);
	sim_pause(b, true);
	sim_write(a, 200000);
	sim_write(b, 200000);
	sim_run(s, s->now + TUX_USEC(2500));
	sim_share(a);
	sim_ms(s, 500);
	SIM_CHECK(s, a->got == 200000);
	sim_pause(b, false);
	sim_ms(s, 500);
	SIM_CHECK(s, b->got == 200000);
	sleeps(s, a);
	wakes(s, a);
	moves(s);
	finish(s);
}

/* The program of end a reads nothing from here on, end b writes @n times 100 bytes,
 * which arrive, and then another process of a's host uses the connection. */
static void leave_unread(struct sim *s, unsigned n)
{
	sim_switched(s, &a, &b);
	sim_pause(a, true);
	for (unsigned i = 0; i < n; i++) {
		sim_write(b, 100);
		sim_ms(s, 2);
	}
	SIM_CHECK(s, !a->got && tux_duplex_readable(a->dx) == 100 * n);
	sim_share(a);
}

/* The other process can read it, from TCP. */
static void unread(struct sim *s)
{
	leave_unread(s, 3);
	sim_ms(s, 20);
	sleeps(s, a);
	SIM_CHECK(s, !a->got && !tux_duplex_readable(a->dx));
	sim_pause(a, false);
	sim_ms(s, 1);
	SIM_CHECK(s, a->got == 300);
	wakes(s, a);
	moves(s);
	finish(s);
}

static void unread_path_dead(struct sim *s)
{
	sim_switched(s, &a, &b);
	sim_pause(a, true);
	sim_write(b, 100);
	sim_ms(s, 2);
	sim_part(s, 0, 1, true);
	sim_share(a);
	sim_ms(s, 20);
	sleeps(s, a);
	sim_pause(a, false);
	sim_ms(s, 1);
	SIM_CHECK(s, a->got == 100);
	sim_part(s, 0, 1, false);
	wakes(s, a);
	moves(s);
	finish(s);
}

/* More than b has memory for: a has to read. */
static void unread_too_much(struct sim *s)
{
	sim_switched(s, &a, &b);
	sim_pause(a, true);
	sim_write(b, 500000);
	sim_ms(s, 50);
	sim_share(a);
	sim_ms(s, 2000);
	SIM_CHECK(s, !is_plain(a));
	sim_pause(a, false);
	sim_ms(s, 1000);
	SIM_CHECK(s, a->got == 500000);
	sleeps(s, a);
	wakes(s, a);
	moves(s);
	finish(s);
}

/* The answer comes when reads have gone on: what comes a second time is left out. */
static void unread_late(struct sim *s)
{
	leave_unread(s, 2);
	sim_tcp_down(a->conn, true);
	sim_part(s, 0, 1, true);
	sim_ms(s, 1500);
	sim_pause(a, false);
	sim_ms(s, 10);
	SIM_CHECK(s, a->got == 200);
	sim_tcp_down(a->conn, false);
	sim_part(s, 0, 1, false);
	sim_ms(s, 3000);
	SIM_CHECK(s, a->got == 200);
	sleeps(s, a);
	wakes(s, a);
	moves(s);
	finish(s);
}

/* Behind the end of the peer's direction, that does not become plain. */
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
	sim_share(a);
	sim_ms(s, 3000);
	SIM_CHECK(s, a->got == b->sent && b->got == a->sent);
	sleeps(s, a);
	sim_part(s, 0, 1, false);
	wakes(s, a);
	moves(s);
	finish(s);
}

static void opening(struct sim *s)
{
	at(s, OPENING);
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

/* Plain TCP has no messages: they end, and it is for good. */
static void messages(struct sim *s)
{
	sim_messages(s, &a, &b);
	sim_ms(s, 100);
	sim_share(a);
	sim_ms(s, 100);
	SIM_CHECK(s, tux_duplex_tx_is_raw(a->dx) && tux_duplex_rx_is_raw(a->dx));
	finish(s);
}

const struct sim_story sim_stories[] = {
	{ "one", one },
	{ "again_and_again", again_and_again },
	{ "both", both },
	{ "in_flight", in_flight },
	{ "unread", unread },
	{ "unread_path_dead", unread_path_dead },
	{ "unread_too_much", unread_too_much },
	{ "unread_late", unread_late },
	{ "unread_and_fin", unread_and_fin },
	{ "opening", opening },
	{ "announced", announced },
	{ "armed", armed },
	{ "back", back },
	{ "messages", messages },
	{ NULL, NULL },
};
