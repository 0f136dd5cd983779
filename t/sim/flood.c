/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flood - HELLOs without end: they cost no memory, and bring out no more bytes
 * than went in
 */
#include "base/bytes.h"
#include "conn/core.h"
#include "forge.h"
#include "wire/pkt.h"

enum {
	FLOOD = 100000,
	STEP = 400,			/* ns, for a hundred */
	HELLO = TUX_PKT_HDR + TUX_REC_HDR + TUX_HELLO_LEN,
};

static struct sim_end *a, *b;
static uint8_t kept[HELLO];		/* the first HELLO of a */
static bool has_kept;
static uint64_t out;			/* bytes that b has sent */

static void keep(struct sim *s, uint8_t *p, size_t len)
{
	(void)s;
	(void)len;
	if (p[3] & TUX_PKT_OPEN && !has_kept) {
		memcpy(kept, p, HELLO);
		has_kept = true;
	}
}

static void count(struct sim *s, uint8_t *p, size_t len)
{
	(void)s;
	(void)p;
	out += len;
}

static void begin(struct sim *s)
{
	has_kept = false;
	out = 0;
	s->mute = !s->loud;
	sim_pair(s, &a, &b);
	sim_link(a->host, b->host)->tap = keep;
	sim_link(b->host, a->host)->tap = count;
}

/* The connection moves, or has moved, and carries what it should. */
static void finish(struct sim *s)
{
	sim_write(a, 100000);
	sim_write(b, 100000);
	sim_ms(s, 100);
	SIM_CHECK(s, a->was_tx && b->was_tx);
	SIM_CHECK(s, tux_conn_tx_on_tux(a->c) && tux_conn_tx_on_tux(b->c));
	sim_finish_all(s, TUX_SEC(10));
}

/* A HELLO as a might send it, with another nonce; no key made its MAC. */
static void forge(struct sim *s, uint8_t *p)
{
	uint8_t *hello = p + TUX_PKT_HDR + TUX_REC_HDR;

	tux_put64(hello + TUX_HELLO_NONCE, sim_rand(s));
	tux_put64(hello + TUX_HELLO_ECHO, sim_rand(s));
	tux_put64(hello + TUX_HELLO_MAC, sim_rand(s));
	sim_seal(NULL, p);
}

static void no_such_place(struct sim *s, uint8_t *p)
{
	uint8_t *hello = p + TUX_PKT_HDR + TUX_REC_HDR;

	tux_put16(hello + TUX_HELLO_APORT, (uint16_t)sim_rand(s) | 1);
	tux_put32(hello + TUX_HELLO_AADDR + 12, (uint32_t)sim_rand(s));
}

/* FLOOD of them, into b's core, in turns of a hundred. */
static void flood(struct sim *s, bool elsewhere)
{
	struct tux_core *core = b->host->core;
	uint64_t blocks = s->blocks, before = tux_core_stats(core)->packets_tx;
	uint8_t p[HELLO];
	unsigned i;

	memcpy(p, kept, HELLO);
	for (i = 0; i < FLOOD; i++) {
		if (elsewhere)
			no_such_place(s, p);
		forge(s, p);
		tux_core_input(core, &a->host->addr, p, HELLO, TUX_ECN_NONE,
			       s->now);
		if (i % 100 == 0)
			sim_run(s, s->now + STEP);
	}
	SIM_CHECK(s, s->blocks == blocks);
	SIM_CHECK(s, tux_core_stats(core)->packets_tx == before);
}

/* For connections that there are not. */
static void strangers(struct sim *s)
{
	uint64_t before;

	begin(s);
	sim_ms(s, 50);
	before = tux_core_stats(b->host->core)->strangers;
	flood(s, true);
	SIM_CHECK(s, tux_core_stats(b->host->core)->strangers ==
		     before + FLOOD);
	finish(s);
}

/* For the very connection, which has moved. */
static void keyless(struct sim *s)
{
	begin(s);
	sim_ms(s, 50);
	flood(s, false);
	SIM_CHECK(s, tux_core_stats(b->host->core)->bad_mac == FLOOD);
	finish(s);
}

/* ... and for one whose opening is under way. */
static void keyless_early(struct sim *s)
{
	begin(s);
	sim_link(a->host, b->host)->down = true;
	sim_run(s, TUX_USEC(500));
	sim_link(a->host, b->host)->down = false;
	sim_run(s, TUX_USEC(4100));	/* the second has left */
	SIM_CHECK(s, has_kept && !out);
	flood(s, false);
	SIM_CHECK(s, tux_core_stats(b->host->core)->bad_mac == FLOOD);
	SIM_CHECK(s, !tux_conn_tx_on_tux(b->c));
	finish(s);
}

/* Copies of a good one, for an end that hears nothing else: @n of them. */
static void copies(struct sim *s, unsigned n)
{
	unsigned i;

	begin(s);
	sim_run(s, TUX_USEC(500));
	SIM_CHECK(s, has_kept);
	sim_link(a->host, b->host)->down = true;
	sim_run(s, TUX_USEC(1500));	/* it has come, and was answered */
	for (i = 1; i < n; i++) {
		sim_host_input(b->host, &a->host->addr, kept, HELLO,
			       TUX_ECN_NONE);
		if (i % 100 == 0)
			sim_run(s, s->now + TUX_USEC(10));
	}
	sim_ms(s, 4000);
	SIM_CHECK(s, out && out <= (uint64_t)n * HELLO);
	SIM_CHECK(s, !b->was_tx);
	sim_link(a->host, b->host)->down = false;
	sim_unstall(a);
	sim_host_turn(a->host);
	finish(s);
}

static void one_copy(struct sim *s)
{
	copies(s, 1);
}

static void many_copies(struct sim *s)
{
	copies(s, 10000);
}

/* Of an end that has moved, each copy brings out one answer at most. */
static void copies_late(struct sim *s)
{
	uint64_t before;
	unsigned i;

	begin(s);
	sim_ms(s, 50);
	before = out;
	for (i = 0; i < 10000; i++) {
		sim_host_input(b->host, &a->host->addr, kept, HELLO,
			       TUX_ECN_NONE);
		if (i % 100 == 0)
			sim_run(s, s->now + TUX_USEC(10));
	}
	sim_ms(s, 5000);
	SIM_CHECK(s, out - before <= (uint64_t)10000 * HELLO);
	finish(s);
}

const struct sim_story sim_stories[] = {
	{ "strangers", strangers },
	{ "keyless", keyless },
	{ "keyless_early", keyless_early },
	{ "one_copy", one_copy },
	{ "many_copies", many_copies },
	{ "copies_late", copies_late },
	{ NULL, NULL },
};
