/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * greedy - a peer that has the key, and no manners
 *
 * What it says of windows, arrivals and room is changed on its way to a, under a
 * right seal.  It may harm its own connections; the one that a has with somebody
 * else must carry as much as it does beside a peer that keeps the rules.
 */
#include <errno.h>

#include "base/bytes.h"
#include "forge.h"
#include "wire/pkt.h"

enum {
	CROWD = 4,			/* connections with that peer */
	MANY = 250,			/* ... in one story */
	RUN_MS = 60,
};

/* What it does. */
enum vice {
	NONE,
	WIDE,				/* a window without end */
	SHUT,				/* none, for ever */
	SILLY,				/* one byte at a time */
	GOT,				/* it has what was never sent */
	ACK,				/* ... and its numbers */
	SACK,
	ROOM,				/* for any message, anywhere */
	MUTE,				/* it never says anything again */
	DEAF,				/* it never reads */
	VICES,
};

static enum vice vice;
static struct sim_end *good;
static uint64_t answers;		/* datagrams that that peer sends */

/* The end on a whose connection the packet is for. */
static struct sim_end *whose(struct sim *s, const uint8_t *p)
{
	unsigned i;

	for (i = 0; i < s->conn_n; i++)
		if (sim_knows(&s->conn[i]->end[0], p))
			return &s->conn[i]->end[0];
	return NULL;
}

static void each_record(uint8_t *p, uint8_t type, void (*fn)(uint8_t *body))
{
	size_t at = TUX_PKT_HDR, end = tux_get16(p + 4);

	while (at + TUX_REC_HDR <= end) {
		if (p[at] == type)
			fn(p + at + TUX_REC_HDR);
		at += TUX_REC_HDR + tux_get16(p + at + 2);
	}
}

static void any_number(uint8_t *body)
{
	tux_put32(body, tux_get32(body) + 1000);
	tux_put32(body + 4, tux_get32(body + 4) + 100000);
}

static void any_room(uint8_t *body)
{
	tux_put32(body + 4, tux_get32(body + 4) + 500);
	tux_put32(body + 8, tux_get32(body + 8) + (1 << 16));
}

static void change(uint8_t *p)
{
	switch (vice) {
	case WIDE:
		tux_put32(p + 32, UINT32_MAX);
		break;
	case SHUT:
		tux_put32(p + 32, 0);
		break;
	case SILLY:
		tux_put32(p + 32, 1);
		break;
	case GOT:
		tux_put64(p + 24, tux_get64(p + 24) + (1 << 20));
		break;
	case ACK:
		tux_put32(p + 20, tux_get32(p + 20) + 300);
		break;
	case SACK:
		each_record(p, TUX_REC_SACK, any_number);
		break;
	case ROOM:
		each_record(p, TUX_REC_ROOM, any_room);
		break;
	default:
		break;
	}
}

static void tap(struct sim *s, uint8_t *p, size_t len)
{
	struct sim_end *e;
	size_t at;

	answers++;
	for (at = 0; at < len; at += tux_get16(p + at + 4)) {
		e = p[at + 3] & TUX_PKT_OPEN ? NULL : whose(s, p + at);
		if (!e)
			continue;
		change(p + at);
		sim_seal(e, p + at);
	}
}

static void busy(struct sim_end *e)
{
	unsigned i;

	sim_write(e, 1 << 30);
	for (i = 0; e->conn->small && i < 50; i++)
		sim_send(e, 1000 * i, i % 2);
}

/* Host a, that peer, and somebody else: @n connections with the former, one
 * with the latter, all with much to send.  How much that one brings over, once
 * the others have moved and the vice begins. */
static uint64_t others(struct sim *s, enum vice how, unsigned n)
{
	struct sim_host *a = sim_add_host(s), *b = sim_add_host(s);
	struct sim_host *c = sim_add_host(s);
	uint64_t before, packets;
	unsigned i;

	s->mute = true;
	vice = how;
	for (i = 0; i < n; i++) {
		struct sim_conn *k = sim_connect(a, b);

		k->foul = true;
		if (n == CROWD)
			k->small = k->bulk = 64 << 10;
		else
			k->ring = 4096;
	}
	good = &sim_connect(a, c)->end[0];
	sim_ms(s, 50);
	SIM_CHECK(s, good->was_tx && s->conn[0]->end[0].was_tx);
	sim_link(b, a)->tap = tap;
	sim_link(b, a)->down = how == MUTE;
	for (i = 0; i < n; i++) {
		sim_pause(&s->conn[i]->end[1], how == DEAF);
		busy(&s->conn[i]->end[0]);
	}
	busy(good);
	before = good->peer->got;
	answers = 0;
	packets = sim_link(a, b)->sent_n;
	sim_ms(s, RUN_MS);
	/* Nor does it bring out more than an honest one: eight packets for an
	 * acknowledgment, the first window, and what is lost of that. */
	packets = sim_link(a, b)->sent_n - packets;
	SIM_CHECK(s, packets <= 8 * answers + 100 * n);
	return good->peer->got - before;
}

static void leave(struct sim *s)
{
	unsigned i;

	for (i = 0; i < s->conn_n; i++) {
		sim_abort(&s->conn[i]->end[0]);
		sim_abort(&s->conn[i]->end[1]);
	}
	sim_run_out(s, s->now + TUX_SEC(100));
}

/* Told in a world of its own. */
static uint64_t tale(struct sim *s, enum vice how, unsigned n)
{
	struct sim *o = sim_inner(s, 1);
	uint64_t got = others(o, how, n);

	SIM_CHECK(o, !good->rerr && !good->werr);
	SIM_CHECK(o, tux_conn_tx_on_tux(good->c));
	good->conn->foul = true;	/* it is left in the middle */
	leave(o);
	sim_inner_free(s, o, how);
	return got;
}

static void each(struct sim *s)
{
	uint64_t want = tale(s, NONE, CROWD);
	enum vice how;

	SIM_CHECK(s, want > 500000);
	for (how = NONE + 1; how < VICES; how++)
		SIM_CHECK(s, tale(s, how, CROWD) >= want / 100 * 99);
}

static void many(struct sim *s)
{
	uint64_t want = tale(s, NONE, 1);

	SIM_CHECK(s, tale(s, DEAF, MANY) >= want / 100 * 99);
	SIM_CHECK(s, tale(s, SHUT, MANY) >= want / 100 * 99);
}

/* Zero windows are asked after less and less often, for as long as it takes; the
 * application is told that there is no room, and memory is what it was. */
static void shut_for_ever(struct sim *s)
{
	uint64_t blocks, packets;

	others(s, SHUT, CROWD);
	sim_finish(good);
	sim_abort(good);
	sim_ms(s, 120000);
	blocks = s->blocks;
	packets = s->packets;
	sim_ms(s, 600000);
	SIM_CHECK(s, s->blocks == blocks);
	SIM_CHECK(s, s->packets - packets <= 4 * 11 * CROWD);
	SIM_CHECK(s, s->conn[0]->end[0].sent < 4 * 65536);
	leave(s);
}

const struct sim_story sim_stories[] = {
	{ "each", each },
	{ "many", many },
	{ "shut_for_ever", shut_for_ever },
	{ NULL, NULL },
};
