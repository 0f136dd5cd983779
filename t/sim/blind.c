/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * blind - packets of somebody who knows addresses, ports, the id and about where
 * the numbers are, and guesses the rest
 *
 * That is more than anybody off the path knows, and what another user of a host
 * may have seen.  Each story is told four times, which makes a million guesses.
 */
#include "base/bytes.h"
#include "conn/conn.h"
#include "forge.h"
#include "wire/pkt.h"

enum { GUESSES = 250000, AT_ONCE = 2500, SIZE = 100 };

static struct sim_end *a, *b;

static void stream(struct sim *s, struct tux_writer *w)
{
	uint64_t near = tux_recvbuf_got(&b->c->rx.buf) + sim_below(s, 4);
	uint8_t *p = tux_writer_add(w, TUX_REC_STREAM, TUX_STREAM_ORDER,
				    TUX_STREAM_HDR + 4);

	tux_put64(p, near);
	memcpy(p + TUX_STREAM_HDR, "evil", 4);
}

static void reset(struct sim *s, struct tux_writer *w)
{
	(void)s;
	tux_put32(tux_writer_add(w, TUX_REC_RESET, 0, TUX_RESET_LEN), 13);
}

static void prepare(struct sim *s, struct tux_writer *w)
{
	uint8_t *p = tux_writer_add(w, TUX_REC_PREPARE, 0, TUX_PREPARE_LEN);

	tux_put32(p, b->c->dx->rx.gen + 1);
	tux_put64(p + 4, sim_below(s, 1000));
}

static void raw(struct sim *s, struct tux_writer *w)
{
	(void)s;
	tux_writer_add(w, TUX_REC_RAW, 0, 0);
}

static void nothing(struct sim *s, struct tux_writer *w)
{
	(void)s;
	(void)w;
}

/* A packet for b with such a record; its number and what it acknowledges are
 * right, or near that. */
static size_t guess(struct sim *s, uint8_t *p)
{
	static void (*const record[])(struct sim *, struct tux_writer *) = {
		stream, reset, prepare, raw, nothing,
	};
	const struct tux_conn *c = b->c;
	struct tux_pkt h = {
		.flags = sim_below(s, 4) ? TUX_PKT_ELICIT : 0,
		.id = c->id,
		.seq = (uint32_t)(c->ackq.next + sim_below(s, 1000)),
		.ack = (uint32_t)(c->sentq.next - sim_below(s, 3)),
		.got = c->tx.buf.got + sim_below(s, 2) * 1000,
		.window = (uint32_t)sim_below(s, 1 << 20),
		.span = (uint16_t)sim_below(s, 2000),
	};
	struct tux_writer w;

	tux_writer_init(&w, p, SIZE);
	record[sim_below(s, sizeof(record) / sizeof(record[0]))](s, &w);
	return tux_writer_end(&w, &h, NULL);
}

/* They come while both ends have much to say, and again at rest. */
static void guesses(struct sim *s)
{
	const struct tux_core_stats *st;
	uint8_t p[SIZE];
	unsigned i;

	s->mute = true;
	sim_switched(s, &a, &b);
	st = tux_core_stats(b->host->core);
	sim_write(a, 2000000);
	sim_write(b, 2000000);
	for (i = 0; i < GUESSES; i++) {
		size_t len = guess(s, p);

		tux_put32(p + 12, (uint32_t)sim_rand(s));
		tux_core_input(b->host->core, &a->host->addr, p, len,
			       TUX_ECN_NONE, s->now);
		if (i % AT_ONCE == 0)
			sim_ms(s, 2);
	}
	SIM_CHECK(s, st->damaged == GUESSES);
	SIM_CHECK(s, !tux_conn_stats(b->c)->dropped);
	SIM_CHECK(s, a->got == 2000000 && b->got == 2000000);
	SIM_CHECK(s, tux_conn_tx_on_tux(a->c) && tux_conn_tx_on_tux(b->c));
	SIM_CHECK(s, !a->c->stats.lost && !b->c->stats.lost);
	sim_finish_all(s, TUX_SEC(10));
}

/* Who does not know the id, either: none of these has a connection. */
static void ids(struct sim *s)
{
	const struct tux_core_stats *st;
	uint64_t sent;
	uint8_t p[SIZE];
	unsigned i;

	s->mute = true;
	sim_switched(s, &a, &b);
	st = tux_core_stats(b->host->core);
	sent = st->packets_tx;
	for (i = 0; i < GUESSES; i++) {
		size_t len = guess(s, p);

		tux_put32(p + 8, (uint32_t)sim_rand(s));
		sim_seal(NULL, p);
		tux_core_input(b->host->core, &a->host->addr, p, len,
			       TUX_ECN_NONE, s->now);
	}
	sim_ms(s, 100);
	SIM_CHECK(s, st->strangers == GUESSES && st->packets_tx == sent);
	sim_finish_all(s, TUX_SEC(10));
}

const struct sim_story sim_stories[] = {
	{ "guesses", guesses },
	{ "ids", ids },
	{ NULL, NULL },
};
