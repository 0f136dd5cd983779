/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * message_hostile - fragments that no honest peer sends
 *
 * Ids, places, lengths and orders are changed under way, with a right CRC, as a
 * peer might who means harm.  It may harm its own messages, and nothing else.
 */
#include "base/bytes.h"
#include "forge.h"

static struct sim_end *a, *b;

static uint32_t other(struct sim *s, uint32_t v)
{
	switch (sim_below(s, 5)) {
	case 0:
		return (uint32_t)sim_rand(s);
	case 1:
		return v + 64;
	case 2:
		return v - 64;
	case 3:
		return v + 1 + (uint32_t)sim_below(s, 300);
	default:
		return (uint32_t)sim_below(s, 1 << 18) & ~63u;
	}
}

/* One of the five numbers, or a flag. */
static void harm(struct sim *s, uint8_t *rec)
{
	unsigned i = (unsigned)sim_below(s, 6);
	uint8_t *p = rec + TUX_REC_HDR + 4 * i;

	if (i == 5)
		rec[1] ^= (uint8_t)(1u << sim_below(s, 5));
	else
		tux_put32(p, other(s, tux_get32(p)));
}

static void tap(struct sim *s, uint8_t *p, size_t len)
{
	size_t at = TUX_PKT_HDR, end = tux_get16(p + 4);

	if (p[3] & TUX_PKT_OPEN || end > len)
		return;
	while (at + TUX_REC_HDR <= end) {
		size_t n = TUX_REC_HDR + tux_get16(p + at + 2);

		if (p[at] == TUX_REC_MESSAGE && !sim_below(s, 3))
			harm(s, p + at);
		at += n;
	}
	sim_seal(b, p);
}

static void numbers(struct sim *s)
{
	uint64_t blocks;
	unsigned i;

	sim_messages(s, &a, &b);
	sim_ms(s, 50);
	a->conn->foul = true;
	blocks = s->blocks;
	sim_link(a->host, b->host)->tap = tap;
	for (i = 0; i < 3000; i++)
		sim_send(a, 4 + (uint32_t)sim_below(s, 6000), i % 2);
	for (i = 0; i < 30; i++) {
		sim_send(b, 3000, 0);
		sim_send(a, 50000, i % 2);
	}
	sim_write(a, 200000);
	sim_write(b, 200000);
	sim_ms(s, 3000);
	SIM_CHECK(s, b->msg_got > 0 && a->msg_got == 30);
	SIM_CHECK(s, s->blocks <= blocks);
	/* What Tux cannot take comes over TCP, where it ends the connection. */
	SIM_CHECK(s, b->closed && b->reason == TUX_REASON_PROTOCOL);
	sim_abort(a);
	sim_run_out(s, s->now + TUX_SEC(100));
}

/* A window that is not a power of two, or smaller than before. */
static void room(struct sim *s, uint8_t *p, size_t len)
{
	size_t at = TUX_PKT_HDR, end = tux_get16(p + 4);

	if (p[3] & TUX_PKT_OPEN || end > len)
		return;
	while (at + TUX_REC_HDR <= end) {
		if (p[at] == TUX_REC_ROOM)
			tux_put32(p + at + TUX_REC_HDR +
				  4 * sim_below(s, 6), (uint32_t)sim_rand(s));
		at += TUX_REC_HDR + tux_get16(p + at + 2);
	}
	sim_seal(a, p);
}

static void rooms(struct sim *s)
{
	unsigned i;

	sim_messages(s, &a, &b);
	sim_ms(s, 50);
	a->conn->foul = true;
	sim_link(b->host, a->host)->tap = room;
	for (i = 0; i < 1000; i++)
		sim_send(a, 1000, i % 2);
	sim_ms(s, 3000);
	sim_abort(a);
	sim_close(b);
	sim_run_out(s, s->now + TUX_SEC(100));
}

const struct sim_story sim_stories[] = {
	{ "numbers", numbers },
	{ "rooms", rooms },
	{ NULL, NULL },
};
