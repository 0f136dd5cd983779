/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wrap - every number across its wrap, with loss and packets out of order
 *
 * Most begin at 0 or at random, and would take long to get there.  So a tale
 * puts both ends where they would be then, before they send anything; nothing
 * else of them is touched.  TCP's own sequence numbers are the kernel's, and
 * only those of the handshake are seen here (t/unit/wire/page has one that is
 * about to wrap).
 */
#include "conn/conn.h"
#include "preset.h"
#include "sim.h"

static struct sim_end *a, *b;

static const uint64_t WRAP = UINT64_C(1) << 32;

static void rough(struct sim_link *l)
{
	l->loss = 50000;
	l->twice = 20000;
	l->jitter = TUX_MSEC(4);
	l->late = TUX_MSEC(4);
}

/* Two hosts; @fn sets up both ends. */
static void begin(struct sim *s, sim_preset_fn *fn)
{
	sim_messages(s, &a, &b);
	a->plan.preset = b->plan.preset = fn;
	rough(sim_link(a->host, b->host));
	rough(sim_link(b->host, a->host));
}

static void finish(struct sim *s)
{
	sim_finish_all(s, TUX_SEC(60));
	sim_check_messages(s, true);
}

/* ---- numbers of packets ---- */

static void seq(struct sim *s)
{
	begin(s, sim_near_seq);
	sim_ms(s, 100);
	sim_write(a, 500000);
	sim_write(b, 500000);
	sim_ms(s, 3000);
	SIM_CHECK(s, a->c->sentq.floor > 2 * WRAP + 100);
	SIM_CHECK(s, b->c->ackq.next > 2 * WRAP + 100);
	finish(s);
	SIM_CHECK(s, a->stats.tux_tx > 400000 && b->stats.tux_tx > 400000);
}

/* ---- messages ---- */

static void mail(struct sim *s, sim_preset_fn *fn)
{
	unsigned i;

	begin(s, fn);
	for (i = 0; i < 200; i++) {
		sim_send(a, 10 + i * 20, i % 2);
		sim_send(b, i % 5 ? 700 : 20000, i % 3 != 0);
		if (i % 10 == 0)
			sim_cancel(a, a->msg_n - 1);
	}
	for (i = 0; i < 40; i++)
		sim_send(a, 20000 + i * 1000, i % 2);
	sim_ms(s, 10000);
	SIM_CHECK(s, a->msg_got == 200 && b->msg_got >= 220);
}

static void ids(struct sim *s)
{
	mail(s, sim_near_ids);
	SIM_CHECK(s, a->c->msg->tx[TUX_LANE_SMALL].first > WRAP + 100);
	SIM_CHECK(s, a->c->msg->tx[TUX_LANE_BULK].first == WRAP + 10);
	finish(s);
}

static void positions(struct sim *s)
{
	mail(s, sim_near_pos);
	SIM_CHECK(s, a->c->msg->tx[TUX_LANE_SMALL].pos > WRAP);
	SIM_CHECK(s, a->c->msg->tx[TUX_LANE_BULK].pos > WRAP);
	finish(s);
}

static void orders(struct sim *s)
{
	mail(s, sim_near_order);
	SIM_CHECK(s, a->c->msg->order > WRAP + 50);
	SIM_CHECK(s, b->c->msg->order > WRAP + 50);
	finish(s);
}

/* All three; and part of it in frames. */
static void message_frames(struct sim *s)
{
	unsigned i;

	begin(s, sim_near_messages);
	sim_ms(s, 200);
	SIM_CHECK(s, a->was_tx && b->was_tx);
	for (i = 0; i < 100; i++)
		sim_send(a, 3000, i % 2);
	sim_send(a, 100000, 0);
	sim_send(a, 100000, 1);
	sim_send(a, 100000, 0);
	sim_ms(s, 4);
	sim_stall(a);
	sim_host_turn(a->host);
	sim_ms(s, 1000);
	SIM_CHECK(s, b->msg_got == 103);
	finish(s);
	SIM_CHECK(s, a->stats.backs == 1);
}

/* ---- offsets of the stream ---- */

static void put_at(struct sim_end *e, uint64_t off)
{
	e->dx->tx.off = e->dx->rx.off = off;
	e->sent = e->got = off;
	e->goal += off;
}

static void near_32_bits(struct sim_end *e)
{
	put_at(e, WRAP - 30000);
}

static void near_63_bits(struct sim_end *e)
{
	put_at(e, (UINT64_C(1) << 63) - 30000);
}

static void stream(struct sim *s, sim_preset_fn *fn)
{
	begin(s, fn);
	sim_write(a, 1000);
	sim_ms(s, 500);
	SIM_CHECK(s, a->was_tx && b->was_tx);
	sim_write(a, 20000);
	sim_write(b, 20000);
	sim_ms(s, 300);
	sim_write(b, 100000);	/* b's wrap over Tux, a's in frames */
	sim_ms(s, 300);
	sim_write(a, 100000);
	sim_run(s, s->now);
	sim_stall(a);
	sim_host_turn(a->host);
	sim_ms(s, 2000);
	finish(s);
	SIM_CHECK(s, a->stats.backs == 1 && a->stats.frame_tx > 50000);
	SIM_CHECK(s, b->stats.tux_tx > 100000);
}

static void offset_32(struct sim *s)
{
	stream(s, near_32_bits);
}

static void offset_63(struct sim *s)
{
	stream(s, near_63_bits);
}

/* ---- generations ---- */

/* A writer who does not stop makes one after the other void.  None of them is
 * number 0. */
static void generation(struct sim *s)
{
	unsigned i;

	begin(s, sim_near_gen);
	a->plan.wmax = 100;
	for (i = 0; i < 100; i++) {
		sim_write(a, 300);
		sim_run(s, s->now + TUX_USEC(700));
		SIM_CHECK(s, a->dx->tx.gen);
	}
	sim_ms(s, 500);
	SIM_CHECK(s, a->dx->tx.gen < 100 && a->was_tx && b->was_rx);
	SIM_CHECK(s, a->dx->tx.gen == b->dx->rx.gen);
	sim_write(a, 10000);
	finish(s);
}

/* ---- time ---- */

static unsigned longest_delay;

static void look_at_delay(struct sim *s, uint8_t *p, size_t len)
{
	struct tux_pkt h;

	(void)s;
	if (!tux_pkt_decode(&h, p, len) && h.delay > longest_delay)
		longest_delay = h.delay;
}

/* What is told of time ends at a second; more is told as that, and nobody takes
 * it for a round trip. */
static void delay(struct sim *s)
{
	unsigned i;

	sim_switched(s, &a, &b);
	longest_delay = 0;
	s->link[1][0].tap = look_at_delay;
	for (i = 0; i < 5; i++) {
		sim_write(a, 100);
		sim_ms(s, 3000);
		sim_write(b, 100);
		sim_ms(s, 3000);
	}
	SIM_CHECK(s, longest_delay == UINT16_MAX);
	SIM_CHECK(s, a->c->rtt.srtt < TUX_MSEC(3) && a->c->rtt.min < TUX_MSEC(3));
	SIM_CHECK(s, !a->c->stats.timeouts && !a->c->stats.lost);
	finish(s);
}

/* The clock passes where a counter of 32 bits, or a signed one, would wrap. */
static void clock_at(struct sim *s, tux_time at)
{
	struct sim *o = sim_inner(s, at);

	o->now = at - TUX_MSEC(100);
	begin(o, NULL);
	sim_write(a, 200000);
	sim_write(b, 200000);
	sim_ms(o, 50);
	sim_part(o, 0, 1, true);
	sim_ms(o, 2000);
	sim_part(o, 0, 1, false);
	sim_write(a, 200000);
	sim_ms(o, 3000);
	finish(o);
	sim_inner_free(s, o, at);
}

static void ticks(struct sim *s)
{
	clock_at(s, WRAP);
	clock_at(s, WRAP * 1000);
	clock_at(s, WRAP * 1000000);
	clock_at(s, UINT64_C(1) << 63);
}

const struct sim_story sim_stories[] = {
	{ "seq", seq },
	{ "ids", ids },
	{ "positions", positions },
	{ "orders", orders },
	{ "message_frames", message_frames },
	{ "offset_32", offset_32 },
	{ "offset_63", offset_63 },
	{ "generation", generation },
	{ "delay", delay },
	{ "ticks", ticks },
	{ NULL, NULL },
};
