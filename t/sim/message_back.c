/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * message_back - messages when the path dies, and when it comes back
 */
#include <errno.h>

#include "conn/conn.h"
#include "sim.h"

static struct sim_end *a, *b;

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

/* In the middle of a message: TCP carries what is not acknowledged, and Tux the
 * next one. */
static void mid_message(struct sim *s)
{
	s->only = SIM_BACK | SIM_T(FRAME_OUT) | SIM_T(MSG_DELIVER) |
		  SIM_T(MSG_SENT);
	begin(s);
	sim_link(a->host, b->host)->neck =
		sim_add_neck(s, 10000000, TUX_MSEC(20));
	sim_send(a, 100000, 0);
	sim_ms(s, 6);
	sim_part(s, 0, 1, true);
	sim_ms(s, 2000);
	SIM_CHECK(s, b->msg_got == 1);
	sim_part(s, 0, 1, false);
	sim_ms(s, 3000);
	SIM_CHECK(s, tux_conn_tx_on_tux(a->c));
	sim_send(a, 100, 0);
	sim_ms(s, 5);
	SIM_CHECK(s, b->msg_got == 2);
	SIM_TRACE(s,
		"[  63.003] a > probe\n"
		"[1056.900] a > back to tcp at 0\n"
		"[1056.900] a > tcp out frame 2 at 8 +16384\n"
		"[1056.900] a > tcp out frame 2 at 8 +16384\n"
		"[1056.900] a > tcp out frame 2 at 8 +16384\n"
		"[1056.900] a > tcp out frame 2 at 8 +3156\n"
		"[1056.900] a > tcp out frame 2 at 12 +9648\n"
		"[1056.900] a > message 1.0 arrived\n"
		"[1057.900] b > deliver message 1.0 +100000\n"
		"[1064.900] b > probe\n"
		"[2056.900] a > probe\n"
		"[2057.900] b > back to tcp at 0\n"
		"[2057.900] b > tcp out frame 7 at 65536 +24\n"
		"[2058.904] a > tcp out frame 5 at 0 +0\n"
		"[2058.904] a > tux again at 0\n"
		"[3057.900] b > probe\n"
		"[3059.905] b > tcp out frame 5 at 0 +0\n"
		"[3059.905] b > tux again at 0\n"
		"[5057.016] b > deliver message 0.0 +100\n"
		"[5058.266] a > message 0.0 arrived\n");
	finish(s);
}

/* Both changes in the middle of one message: its first bytes over Tux, then
 * some in frames, for TCP is slow, and the rest over Tux again. */
static void mid_message_twice(struct sim *s)
{
	s->only = SIM_BACK | SIM_T(FRAME_OUT) | SIM_T(MSG_DELIVER) |
		  SIM_T(MSG_SENT);
	sim_messages(s, &a, &b);
	a->conn->tcp.sndbuf = a->conn->tcp.rcvbuf = 8192;
	a->conn->tcp.delay = TUX_MSEC(50);
	sim_ms(s, 500);
	sim_trace_clear(s);
	sim_link(a->host, b->host)->neck =
		sim_add_neck(s, 10000000, TUX_MSEC(20));
	sim_send(a, 120000, 0);
	sim_ms(s, 6);
	sim_stall(a);
	sim_host_turn(a->host);
	sim_ms(s, 300);
	SIM_CHECK(s, !b->msg_got);
	sim_unstall(a);
	sim_host_turn(a->host);
	sim_ms(s, 1000);
	SIM_CHECK(s, b->msg_got == 1 && tux_conn_tx_on_tux(a->c));
	SIM_TRACE(s,
		"[ 506.000] a > back to tcp at 0\n"
		"[ 506.000] a > tcp out frame 2 at 8 +16384\n"
		"[ 706.000] a > tcp out frame 2 at 8 +16384\n"
		"[ 826.000] a > probe\n"
		"[ 906.000] a > tcp out frame 5 at 0 +0\n"
		"[ 906.000] a > tux again at 0\n"
		"[ 913.156] b > deliver message 1.0 +120000\n"
		"[ 914.156] a > message 1.0 arrived\n");
	finish(s);
}

static void trickle(struct sim *s, void *arg, uint64_t n, uint64_t left)
{
	struct sim_end *e = arg;

	if (left % 16 == 0)
		sim_send(e, 60000, left / 16 % 2);
	else
		sim_send(e, (uint32_t)n, left % 2);
	if (left % 5 == 0)
		sim_cancel(e, e->msg_n - 1);
	sim_write(e, n);
	if (left)
		sim_at(s, s->now + TUX_MSEC(7), trickle, arg, n, left - 1);
}

/* Five times, messages of all kinds and stream in both directions. */
static void often(struct sim *s)
{
	unsigned i;

	begin(s);
	trickle(s, a, 3000, 5000);
	trickle(s, b, 1000, 5000);
	for (i = 0; i < 5; i++) {
		sim_part(s, 0, 1, true);
		sim_ms(s, 2500);
		sim_part(s, 0, 1, false);
		sim_ms(s, 6000);
	}
	finish(s);
	SIM_CHECK(s, a->stats.backs >= 3 && b->stats.backs >= 3);
	SIM_CHECK(s, a->stats.msgs_tx > 3000 && b->stats.msgs_tx > 3000);
}

/* Down for good: room is told in frames, too. */
static void for_good(struct sim *s)
{
	unsigned i;

	begin(s);
	sim_part(s, 0, 1, true);
	for (i = 0; i < 1000; i++)
		sim_send(a, 2000, i % 2);
	for (i = 0; i < 10; i++)
		sim_send(b, 100000, 0);
	finish(s);
	SIM_CHECK(s, b->msg_got == 1000 && a->msg_got == 10);
	SIM_CHECK(s, a->stats.backs == 1 && b->stats.backs == 1);
}

/* Tux overtakes what TCP still carries: the end waits for it. */
static void end_waits(struct sim *s)
{
	sim_messages(s, &a, &b);
	a->conn->tcp.delay = TUX_MSEC(300);
	sim_ms(s, 1000);
	SIM_CHECK(s, a->was_tx);
	sim_send(a, 1000, 0);
	sim_stall(a);
	sim_host_turn(a->host);
	sim_ms(s, 1);
	sim_unstall(a);
	sim_host_turn(a->host);
	sim_ms(s, 100);
	SIM_CHECK(s, tux_conn_tx_on_tux(a->c) && !b->msg_got);
	sim_finish(a);
	sim_ms(s, 50);
	SIM_CHECK(s, a->shut && !b->eof);
	finish(s);
	SIM_CHECK(s, b->msg_got == 1);
}

/* Before the switch there are no frames: messages wait for the path. */
static void before_the_switch(struct sim *s)
{
	sim_messages(s, &a, &b);
	sim_run(s, TUX_USEC(500));
	SIM_CHECK(s, sim_pin(a) && sim_pin(b));
	sim_ms(s, 20);
	sim_send(a, 1000, 0);
	sim_ms(s, 20);
	SIM_CHECK(s, !a->was_tx && b->msg_got == 1);
	sim_part(s, 0, 1, true);
	sim_send(a, 1000, 0);
	sim_ms(s, 3000);
	SIM_CHECK(s, !a->was_tx && b->msg_got == 1 && !a->msg[1].settled);
	sim_part(s, 0, 1, false);
	sim_ms(s, 10000);
	SIM_CHECK(s, b->msg_got == 2);
	finish(s);
}

/* Only one direction has switched when the path dies, so nobody can tell of
 * room: what waits for it fails, and the end of the stream does not wait. */
static void no_room(struct sim *s)
{
	unsigned i;

	sim_messages(s, &a, &b);
	sim_run(s, TUX_USEC(500));
	b->dx->tx.pinned = 1;
	sim_ms(s, 50);
	SIM_CHECK(s, a->was_tx && !b->was_tx);
	sim_part(s, 0, 1, true);
	for (i = 0; i < 200; i++)
		sim_send(a, 1000, 0);
	sim_write(a, 1000);
	sim_finish(a);
	sim_ms(s, 5000);
	SIM_CHECK(s, a->shut && b->eof && b->got == 1000);
	SIM_CHECK(s, b->msg_got == 128 && a->msg[199].err == ENOBUFS);
	sim_finish_all(s, TUX_SEC(10));
	sim_check_messages(s, true);
}

/* The same, but one that fails for want of room is ordered, and later ones of
 * the other lane have arrived before it: they are not lost with it. */
static void no_room_ordered(struct sim *s)
{
	unsigned i;

	sim_messages(s, &a, &b);
	sim_run(s, TUX_USEC(500));
	b->dx->tx.pinned = 1;
	sim_ms(s, 50);
	SIM_CHECK(s, a->was_tx && !b->was_tx);
	sim_part(s, 0, 1, true);
	for (i = 0; i < 4; i++)
		sim_send(a, 100000, 1);
	for (i = 0; i < 10; i++)
		sim_send(a, 100, 1);
	sim_ms(s, 50);
	sim_finish(a);
	sim_ms(s, 5000);
	SIM_CHECK(s, a->msg[3].err == ENOBUFS && b->msg_got == 12);
	sim_finish_all(s, TUX_SEC(10));
	sim_check_messages(s, true);
}

/* Plain TCP for good: what has begun arrives, what has not is told. */
static void raw(struct sim *s)
{
	unsigned i;

	begin(s);
	for (i = 0; i < 20; i++)
		sim_send(a, 100000, 0);
	sim_ms(s, 1);
	sim_raw(a);
	sim_ms(s, 1000);
	for (i = 0; i < a->msg_next; i++)
		SIM_CHECK(s, a->msg[i].got ||
			  (a->msg[i].settled && a->msg[i].err == ESHUTDOWN));
	SIM_CHECK(s, b->msg_got && b->msg_got < 20);
	SIM_CHECK(s, a->msg_err == ESHUTDOWN);
	SIM_CHECK(s, atomic_load(&a->dx->tx.state) == TUX_TX_RAW);
	sim_write(a, 1000);
	sim_finish_all(s, TUX_SEC(10));
}

/* ... even behind an ordered one that is refused. */
static void raw_ordered(struct sim *s)
{
	unsigned i;

	begin(s);
	sim_pause(b, true);
	for (i = 0; i < 4; i++)
		sim_send(a, 100000, 1);
	for (i = 0; i < 10; i++)
		sim_send(a, 100, 1);
	sim_ms(s, 100);
	sim_raw(a);
	sim_ms(s, 100);
	sim_pause(b, false);
	sim_ms(s, 100);
	SIM_CHECK(s, a->msg[3].err == ESHUTDOWN && b->msg_got == 12);
	sim_finish_all(s, TUX_SEC(10));
}

/* Messages wait for room, on TCP, and the peer is no more: as TCP has nothing
 * else to send, somebody must ask there. */
static void nobody_makes_room(struct sim *s)
{
	unsigned i;

	sim_messages(s, &a, &b);
	sim_finish(b);			/* its direction stays plain */
	sim_ms(s, 50);
	SIM_CHECK(s, a->was_tx && a->eof && !b->was_tx);
	sim_pause(b, true);
	for (i = 0; i < 12; i++)
		sim_send(a, 100000, 0);
	sim_ms(s, 50);
	sim_part(s, 0, 1, true);
	sim_stall(a);
	sim_host_turn(a->host);
	sim_ms(s, 50);
	SIM_CHECK(s, !tux_conn_tx_on_tux(a->c) && a->msg_next < a->msg_n);
	sim_kill(b->host);
	sim_ms(s, 5000);
	SIM_CHECK(s, a->msg_err == ECONNRESET &&
		     a->msg[a->msg_next - 1].err == ECONNRESET);
	sim_finish(a);
	sim_run_out(s, s->now + TUX_SEC(100));
}

/* b's application reads its stream only after a message that was sent behind it.  In
 * packets, the message comes; in frames, too. */
static void behind_the_stream(struct sim *s)
{
	begin(s);
	b->plan.mail_first = true;
	sim_part(s, 0, 1, true);
	sim_write(a, 1000000);
	sim_ms(s, 3000);
	SIM_CHECK(s, !tux_conn_tx_on_tux(a->c) && !b->got);
	sim_send(a, 2000, 0);
	sim_ms(s, 3000);
	SIM_CHECK(s, b->msg_got == 1 && b->got == 1000000);
	finish(s);
}

/* b's application reads so slowly that b tries the path several times before the ring
 * is half empty.  @back_too: packets to a are lost, too. */
static void slowly(struct sim *s, bool back_too, tux_time think)
{
	struct sim *o = sim_inner(s, think);

	sim_messages(o, &a, &b);
	sim_ms(o, 50);
	b->plan.rmax = 2000;
	b->plan.vary = true;
	b->plan.think = think;
	o->link[0][1].down = true;
	o->link[1][0].down = back_too;
	sim_write(a, 300000);
	sim_send(b, 3000, 0);
	sim_run(o, TUX_SEC(3000));
	SIM_CHECK(o, b->got == 300000);
	sim_send(a, 3000, 0);
	sim_ms(o, 10000);
	SIM_CHECK(o, b->msg_got == 1);
	o->link[0][1].down = o->link[1][0].down = false;
	sim_finish_all(o, TUX_SEC(1000));
	sim_check_messages(o, true);
	sim_inner_free(s, o, think);
}

static void slow_reader(struct sim *s)
{
	tux_time think;

	for (think = TUX_MSEC(100); think <= TUX_SEC(5); think += think / 4) {
		slowly(s, true, think);
		slowly(s, false, think);
	}
}

/* The ring is small, and the stream fills it with the first frame. */
static void small_ring(struct sim *s)
{
	sim_messages(s, &a, &b);
	a->conn->ring = 4096;
	sim_ms(s, 50);
	b->plan.mail_first = true;
	sim_part(s, 0, 1, true);
	sim_write(a, 50000);
	sim_ms(s, 5000);
	sim_send(a, 2000, 0);
	sim_ms(s, 5000);
	SIM_CHECK(s, b->msg_got == 1 && b->got == 50000);
	finish(s);
}

/* The window is used up to the byte, and nothing waits, when the path dies. */
static void exactly_the_window(struct sim *s)
{
	begin(s);
	b->plan.mail_first = true;
	sim_write(a, a->conn->ring);
	sim_ms(s, 1000);
	SIM_CHECK(s, a->c->tx.buf.got == a->c->tx.buf.limit && !b->got);
	sim_part(s, 0, 1, true);
	sim_send(a, 2000, 0);
	sim_ms(s, 5000);
	SIM_CHECK(s, b->msg_got == 1 && b->got == a->conn->ring);
	sim_write(a, 1000);
	sim_ms(s, 100);
	SIM_CHECK(s, b->got == a->conn->ring + 1000);
	finish(s);
}

/* The ring is full already when the path dies. */
static void behind_a_full_ring(struct sim *s)
{
	begin(s);
	b->plan.mail_first = true;
	sim_write(a, 1000000);
	sim_ms(s, 1000);
	SIM_CHECK(s, tux_conn_tx_on_tux(a->c) && !b->got);
	sim_part(s, 0, 1, true);
	sim_ms(s, 100000);
	SIM_CHECK(s, !tux_conn_tx_on_tux(a->c));
	sim_send(a, 2000, 0);
	sim_ms(s, 5000);
	SIM_CHECK(s, b->msg_got == 1 && b->got == 1000000);
	finish(s);
}

const struct sim_story sim_stories[] = {
	{ "mid_message", mid_message },
	{ "mid_message_twice", mid_message_twice },
	{ "often", often },
	{ "for_good", for_good },
	{ "end_waits", end_waits },
	{ "before_the_switch", before_the_switch },
	{ "no_room", no_room },
	{ "no_room_ordered", no_room_ordered },
	{ "raw", raw },
	{ "raw_ordered", raw_ordered },
	{ "nobody_makes_room", nobody_makes_room },
	{ "behind_the_stream", behind_the_stream },
	{ "behind_a_full_ring", behind_a_full_ring },
	{ "slow_reader", slow_reader },
	{ "small_ring", small_ring },
	{ "exactly_the_window", exactly_the_window },
	{ NULL, NULL },
};
