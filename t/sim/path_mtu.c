/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * path_mtu - long datagrams vanish, and nobody says so
 *
 * The interface takes 1472 bytes all the time; somewhere behind it, less
 * passes, and later more.
 */
#include "conn/conn.h"
#include "sim.h"

static struct sim_end *a, *b;
static size_t longest;			/* of what left since it was reset */

static void measure(struct sim *s, uint8_t *p, size_t len)
{
	(void)s, (void)p;
	if (len > longest)
		longest = len;
}

/* From now on, and how long were they? */
static void watch(struct sim *s)
{
	s->link[0][1].tap = measure;
	longest = 0;
}

static void narrow(struct sim *s, uint32_t mtu)
{
	s->link[0][1].mtu = s->link[1][0].mtu = mtu;
}

static void finish(struct sim *s)
{
	sim_finish_all(s, TUX_SEC(20));
	SIM_CHECK(s, !a->stats.backs && !b->stats.backs);
}

/* One long packet at a time, as a database's answers are. */
static void one_packet(struct sim *s)
{
	s->only = SIM_T(SEND) | SIM_T(LOST) | SIM_T(TAIL) | SIM_T(TIMEOUT) |
		  SIM_T(MTU) | SIM_T(MTU_PROBE) | SIM_T(PROBE);
	s->net_lines = true;
	sim_switched(s, &a, &b);
	s->link[0][1].mtu = 1400;
	sim_write(a, 1408);
	sim_ms(s, 200);
	SIM_CHECK(s, b->got == 1408);
	sim_write(a, 1408);
	sim_ms(s, 100);
	SIM_CHECK(s, b->got == 2816);
	SIM_TRACE(s,
		"[  50.000] a > send 2 stream 0 +1408\n"
		"[  50.000] net lost data from a\n"
		"[  56.000] a > probe the tail, 1460 in flight\n"
		"[  56.000] a > send 3 stream 0 +1408\n"
		"[  56.000] net lost data from a\n"
		"[  62.000] a > timeout, 2920 in flight\n"
		"[  62.000] a > lost 0 stream 0 +0\n"
		"[  62.000] a > lost 0 stream 0 +1408\n"
		"[  62.000] a > send 4 stream 0 +1408\n"
		"[  62.000] net lost data from a\n"
		"[  74.000] a > timeout, 1460 in flight\n"
		"[  74.000] a > lost 0 stream 0 +1408\n"
		"[  74.000] a > up to 512 bytes\n"
		"[  74.000] a > send 5 stream 0 +460\n"
		"[  74.000] a > send 6 stream 460 +460\n"
		"[  74.000] a > send 7 stream 920 +460\n"
		"[  76.000] a > send 8 stream 1380 +28\n"
		"[  76.000] a > try 1200 bytes\n"
		"[  78.000] a > up to 1200 bytes\n"
		"[ 250.000] a > send 10 stream 1408 +1148\n"
		"[ 250.000] a > send 11 stream 2556 +260\n"
		"[ 250.000] a > try 1472 bytes\n"
		"[ 250.000] net lost  from a\n"
		"[ 256.251] a > probe the tail, 1472 in flight\n"
		"[ 256.251] a > probe\n"
		"[ 258.251] a > lost 512 stream 0 +0\n");
	finish(s);
}

/* In the middle of a long transfer, both ways, to what any path carries. */
static void shrinks(struct sim *s)
{
	sim_switched(s, &a, &b);
	sim_write(a, 3000000);
	sim_write(b, 3000000);
	sim_ms(s, 20);
	narrow(s, 548);
	sim_ms(s, 20000);
	SIM_CHECK(s, a->got == 3000000 && b->got == 3000000);
	finish(s);
}

/* What passes is found to within a few bytes, and nothing is lost after. */
static void finds(struct sim *s)
{
	uint64_t lost;

	sim_switched(s, &a, &b);
	narrow(s, 1333);
	sim_write(a, 100000);
	sim_ms(s, 2000);
	lost = s->link[0][1].lost_n;
	watch(s);
	sim_write(a, 300000);
	sim_ms(s, 2000);
	SIM_CHECK(s, b->got == 400000);
	SIM_CHECK(s, s->link[0][1].lost_n == lost);
	SIM_CHECK(s, longest <= 1333 && longest > 1333 - 16);
	finish(s);
}

/* The path widens again; some minutes later, who sends finds out. */
static void widens(struct sim *s)
{
	sim_switched(s, &a, &b);
	narrow(s, 1000);
	sim_write(a, 1000000);
	sim_ms(s, 2000);
	narrow(s, 0);
	sim_run(s, s->now + TUX_SEC(500));
	watch(s);
	sim_write(a, 100000);
	sim_ms(s, 2000);
	SIM_CHECK(s, longest <= 1000);
	sim_run(s, s->now + TUX_SEC(100));
	sim_write(a, 100000);
	sim_ms(s, 2000);
	SIM_CHECK(s, b->got == 1200000);
	SIM_CHECK(s, longest == 1472);
	finish(s);
}

/* The longest passes after all: somebody was only late, or unlucky. */
static void false_alarm(struct sim *s)
{
	s->only = SIM_T(MTU) | SIM_T(MTU_PROBE);
	sim_switched(s, &a, &b);
	sim_drop(&s->link[0][1], SIM_DATA, 0, 3);
	sim_write(a, 1408);
	sim_ms(s, 100);
	SIM_CHECK(s, b->got == 1408);
	sim_write(a, 100000);
	sim_ms(s, 100);
	SIM_CHECK(s, b->got == 101408);
	SIM_TRACE(s,
		"[  74.000] a > up to 512 bytes\n"
		"[  76.000] a > try 1200 bytes\n"
		"[  78.000] a > up to 1200 bytes\n"
		"[ 150.000] a > try 1472 bytes\n"
		"[ 152.000] a > up to 1472 bytes\n");
	finish(s);
}

/* The peer slept: what had been given up arrives after all, and proves that its
 * length was not to blame. */
static void late(struct sim *s)
{
	sim_switched(s, &a, &b);
	sim_stop(b->host, TUX_MSEC(300));
	sim_write(a, 20000);
	sim_ms(s, 400);
	SIM_CHECK(s, b->got == 20000);
	watch(s);
	sim_write(a, 20000);
	sim_ms(s, 3);
	SIM_CHECK(s, longest == 1472);
	sim_ms(s, 100);
	finish(s);
}

/* Short packets pass all the time, so that no timer ever does. */
static void among_short(struct sim *s)
{
	unsigned i;

	sim_messages(s, &a, &b);
	sim_ms(s, 50);
	narrow(s, 1000);
	sim_send(a, 5000, 0);
	for (i = 0; i < 400; i++) {
		sim_send(a, 40, 0);
		sim_ms(s, 1);
	}
	SIM_CHECK(s, b->msg_got == 401);
	SIM_CHECK(s, tux_conn_stats(a->c)->timeouts == 0);
	finish(s);
}

/* Amidst a long message, and several: what had been cut long is cut short. */
static void message(struct sim *s)
{
	sim_messages(s, &a, &b);
	sim_ms(s, 50);
	sim_send(a, 100000, 0);
	sim_send(a, 100000, TUX_MSG_ORDERED);
	sim_send(a, 3000, TUX_MSG_ORDERED);
	sim_send(b, 3000, 0);
	sim_run(s, s->now + TUX_USEC(3300));
	narrow(s, 600);
	sim_ms(s, 3000);
	sim_check_messages(s, true);
	SIM_CHECK(s, b->msg_got == 3 && a->msg_got == 1);
	finish(s);
}

/* No packet is long, but many share a datagram. */
static void bundle(struct sim *s)
{
	struct sim_conn *k[12];
	unsigned i, n = 12;

	sim_switched(s, &a, &b);
	for (i = 0; i < n; i++)
		k[i] = sim_connect(a->host, b->host);
	sim_ms(s, 50);
	narrow(s, 1000);
	for (i = 0; i < n; i++)
		sim_write(&k[i]->end[0], 100);
	sim_ms(s, 300);
	for (i = 0; i < n; i++)
		SIM_CHECK(s, k[i]->end[1].got == 100);
	finish(s);
	for (i = 0; i < n; i++)
		SIM_CHECK(s, !k[i]->end[0].stats.backs);
}

/* Others to the same loop profit: nobody finds out twice. */
static void shared(struct sim *s)
{
	struct sim_conn *k;

	sim_switched(s, &a, &b);
	narrow(s, 700);
	sim_write(a, 10000);
	sim_ms(s, 1000);
	k = sim_connect(a->host, b->host);
	sim_ms(s, 50);
	watch(s);
	sim_write(&k->end[0], 10000);
	sim_ms(s, 20);
	SIM_CHECK(s, k->end[1].got == 10000);
	SIM_CHECK(s, longest && longest <= 700);
	finish(s);
}

/* Far away, a timeout takes long; the way back to TCP waits for what short
 * packets have to say. */
static void far(struct sim *s)
{
	sim_pair(s, &a, &b);
	s->link[0][1].delay = s->link[1][0].delay = TUX_MSEC(150);
	a->conn->tcp.delay = TUX_MSEC(150);
	sim_ms(s, 3000);
	SIM_CHECK(s, a->was_tx && b->was_tx);
	narrow(s, 1000);
	sim_write(a, 30000);
	sim_ms(s, 8000);
	SIM_CHECK(s, b->got == 30000);
	finish(s);
}

/* The path was narrow from the first packet on. */
static void from_the_start(struct sim *s)
{
	sim_pair(s, &a, &b);
	narrow(s, 600);
	a->conn->tcp.mss = 500;
	sim_ms(s, 50);
	SIM_CHECK(s, a->was_tx && b->was_tx);
	sim_write(a, 100000);
	sim_write(b, 100000);
	sim_ms(s, 3000);
	SIM_CHECK(s, a->got == 100000 && b->got == 100000);
	finish(s);
}

/* A jumbo interface before an ordinary path: a window of one packet is one of
 * the path's. */
static void jumbo(struct sim *s)
{
	struct sim_conn *k = sim_connect(sim_add_host(s), sim_add_host(s));
	const struct tux_pair *p;

	a = &k->end[0];
	b = &k->end[1];
	k->mtu = 8972;
	sim_ms(s, 50);
	narrow(s, 1472);
	sim_write(a, 1 << 20);
	sim_ms(s, 3000);
	p = a->c->pair;
	SIM_CHECK(s, p->pmtu.len > 1400 && p->cc.mss == p->pmtu.len);
	s->link[0][1].down = true;
	sim_write(a, 1 << 20);
	sim_ms(s, 500);
	SIM_CHECK(s, tux_conn_stats(a->c)->timeouts > 1);
	SIM_CHECK(s, p->cc.w.cwnd <= 1472);
	s->link[0][1].down = false;
	finish(s);
}

const struct sim_story sim_stories[] = {
	{ "one_packet", one_packet },
	{ "shrinks", shrinks },
	{ "finds", finds },
	{ "widens", widens },
	{ "false_alarm", false_alarm },
	{ "late", late },
	{ "among_short", among_short },
	{ "message", message },
	{ "bundle", bundle },
	{ "shared", shared },
	{ "far", far },
	{ "from_the_start", from_the_start },
	{ "jumbo", jumbo },
	{ NULL, NULL },
};
