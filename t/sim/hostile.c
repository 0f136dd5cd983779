/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hostile - strangers, other versions, and a peer that breaks the rules
 */
#include <errno.h>

#include "base/bytes.h"
#include "conn/conn.h"
#include "forge.h"
#include "wire/frame.h"
#include "wire/pkt.h"

static struct sim_end *a, *b;

static void finish(struct sim *s)
{
	sim_write(a, 100000);
	sim_write(b, 100000);
	sim_finish_all(s, TUX_SEC(10));
}

/* ---- datagrams ---- */

/* Random bytes, some of them behind a good beginning, from the peer's own
 * address. */
static void throw(struct sim *s, void *arg, uint64_t left, uint64_t m)
{
	struct sim_end *e = arg;
	uint8_t p[300];
	size_t i, len = 1 + sim_below(s, sizeof(p));

	(void)m;
	for (i = 0; i < len; i++)
		p[i] = (uint8_t)sim_rand(s);
	if (len > 8 && left % 2) {
		tux_put16(p, TUX_WIRE_MAGIC);
		p[2] = TUX_WIRE_VERSION;
		tux_put16(p + 4, (uint16_t)len);
	}
	if (e->host->core)
		sim_host_input(e->host, &e->peer->host->addr, p, len,
			       TUX_ECN_NONE);
	if (left)
		sim_at(s, s->now + TUX_USEC(10), throw, e, left - 1, 0);
}

static void garbage(struct sim *s)
{
	sim_pair(s, &a, &b);
	throw(s, a, 5000, 0);
	throw(s, b, 5000, 0);
	sim_write(a, 100);
	sim_ms(s, 20);
	SIM_CHECK(s, a->was_tx && b->was_tx);
	SIM_CHECK(s, tux_core_stats(a->host->core)->damaged > 1000);
	finish(s);
}

/* A third host sends b whatever a sends, under its own address. */
static void copy(struct sim *s, uint8_t *p, size_t len)
{
	struct tux_addr from = a->host->addr;

	(void)s;
	from.ip[15] = 99;
	sim_host_input(b->host, &from, p, len, TUX_ECN_NONE);
}

static void stranger(struct sim *s)
{
	sim_pair(s, &a, &b);
	sim_link(a->host, b->host)->tap = copy;
	sim_write(a, 100);
	sim_ms(s, 20);
	SIM_CHECK(s, a->was_tx && b->was_tx);
	SIM_CHECK(s, tux_conn_stats(b->c)->dropped > 0);
	SIM_CHECK(s, tux_core_stats(b->host->core)->bad_mac > 0);
	finish(s);
}

/* The peer speaks another version only. */
static void newer(struct sim *s, uint8_t *p, size_t len)
{
	(void)s;
	(void)len;
	p[2] = TUX_WIRE_VERSION + 1;
	sim_seal(NULL, p);
}

static void version(struct sim *s)
{
	sim_pair(s, &a, &b);
	sim_link(b->host, a->host)->tap = newer;
	sim_write(a, 100);
	sim_ms(s, 5000);
	SIM_CHECK(s, tux_core_stats(a->host->core)->wrong_version > 0);
	SIM_CHECK(s, tux_conn_reason(a->c) == TUX_REASON_VERSION ||
		  tux_conn_reason(a->c) == TUX_REASON_PEER_SILENT);
	finish(s);
	SIM_CHECK(s, !a->was_tx && !b->was_tx);
}

/* It says so under a's id, from where b is, and from elsewhere. */
static void version_told(struct sim *s)
{
	struct tux_addr from;
	uint8_t p[16] = { [2] = TUX_WIRE_VERSION + 1, [5] = sizeof(p) };

	sim_pair(s, &a, &b);
	sim_part(s, 0, 1, true);
	sim_ms(s, 1);
	tux_put16(p, TUX_WIRE_MAGIC);
	tux_put32(p + 8, a->c->id);
	sim_seal(NULL, p);
	from = b->host->addr;
	from.ip[15] ^= 99;
	sim_host_input(a->host, &from, p, sizeof(p), TUX_ECN_NONE);
	SIM_CHECK(s, tux_conn_reason(a->c) != TUX_REASON_VERSION);
	sim_host_input(a->host, &b->host->addr, p, sizeof(p), TUX_ECN_NONE);
	SIM_CHECK(s, tux_conn_reason(a->c) == TUX_REASON_VERSION);
	SIM_CHECK(s, tux_core_stats(a->host->core)->wrong_version == 2);
	sim_part(s, 0, 1, false);
	sim_write(a, 100);
	sim_ms(s, 5000);
	SIM_CHECK(s, a->was_tx && tux_conn_reason(a->c) == TUX_REASON_NONE);
	finish(s);
}

/* ---- who holds the UDP port for a while ---- */

enum { HELLO = TUX_PKT_HDR + TUX_REC_HDR + TUX_HELLO_LEN };

/* What it has seen of an opening: a's two HELLOs, b's one. */
static struct {
	uint8_t p[3][HELLO];
	unsigned n;
} seen;

static void record(struct sim *s, uint8_t *p, size_t len)
{
	(void)s;
	(void)len;			/* others may follow in the datagram */
	if (p[3] & TUX_PKT_OPEN && seen.n < 3)
		memcpy(seen.p[seen.n++], p, HELLO);
}

/* Are the @len bytes at @what anywhere in what was seen? */
static bool has_seen(const uint8_t *what, size_t len)
{
	unsigned i;

	for (i = 0; i < seen.n; i++)
		if (memmem(seen.p[i], sizeof(seen.p[i]), what, len))
			return true;
	return false;
}

/* The first numbered packet of a, whole. */
static struct {
	uint8_t p[1500];
	size_t len;
} numbered;

static void keep(struct sim *s, uint8_t *p, size_t len)
{
	record(s, p, len);
	if (!(p[3] & TUX_PKT_OPEN) && len <= sizeof(numbered.p)) {
		memcpy(numbered.p, p, len);
		numbered.len = tux_get16(p + 4);
	}
}

/* HELLOs tell nothing that later packets are recognised by. */
static void secret(struct sim *s)
{
	seen.n = 0;
	sim_pair(s, &a, &b);
	sim_link(a->host, b->host)->tap = keep;
	sim_link(b->host, a->host)->tap = record;
	sim_write(a, 100);
	sim_ms(s, 20);
	SIM_CHECK(s, a->was_tx && b->was_tx && seen.n == 3);
	/* The connection id; and of the number, which has moved since, the
	 * upper half. */
	SIM_CHECK(s, !has_seen(numbered.p + 8, 4));
	SIM_CHECK(s, !has_seen(numbered.p + 16, 3));
	finish(s);
}

/* The next connection of the same addresses and ports is sent the HELLOs of the
 * last one, and others for another nonce, made without the key. */
static void forge(uint8_t *p)
{
	static const struct tux_key zero;
	uint8_t *hello = p + TUX_PKT_HDR + TUX_REC_HDR;

	hello[TUX_HELLO_NONCE] ^= 1;
	tux_put64(hello + TUX_HELLO_MAC, 0);
	tux_put32(p + 12, 0);
	tux_put64(hello + TUX_HELLO_MAC, tux_sip(&zero, p, HELLO));
	sim_seal(NULL, p);
}

static void forged(struct sim *s)
{
	struct sim_conn *k;
	unsigned i;

	secret(s);
	k = sim_connect(a->host, b->host);
	k->tuple = a->conn->tuple;
	a = &k->end[0];
	b = &k->end[1];
	sim_run(s, s->now + TUX_USEC(10));
	for (i = 0; i < 2 * seen.n; i++) {
		uint8_t *p = seen.p[i / 2];

		sim_host_input(b->host, &a->host->addr, p, HELLO,
			       TUX_ECN_NONE);
		sim_host_input(a->host, &b->host->addr, p, HELLO,
			       TUX_ECN_NONE);
		forge(p);
	}
	SIM_CHECK(s, tux_core_stats(b->host->core)->bad_mac == 4);
	SIM_CHECK(s, tux_core_stats(a->host->core)->bad_mac == 2);
	sim_write(a, 100);
	sim_ms(s, 20);
	SIM_CHECK(s, a->was_tx && b->was_tx);
	finish(s);
}

/* A connection, and a RESET for b in `numbered`, made of what a sent. */
static uint8_t *reset(struct sim *s)
{
	uint8_t *p = numbered.p, *rec = p + TUX_PKT_HDR;

	sim_pair(s, &a, &b);
	sim_link(a->host, b->host)->tap = keep;
	sim_write(a, 100);
	sim_ms(s, 20);
	SIM_CHECK(s, a->was_tx && b->was_tx);
	sim_link(a->host, b->host)->tap = NULL;
	p[3] = TUX_PKT_ELICIT;
	rec[0] = TUX_REC_RESET;
	tux_put16(rec + 2, TUX_RESET_LEN);
	numbered.len = TUX_PKT_HDR + TUX_REC_HDR + TUX_RESET_LEN;
	tux_put16(p + 4, (uint16_t)numbered.len);
	tux_put16(p + 6, 0);
	tux_put32(p + 16, tux_get32(p + 16) + 5);
	return p;
}

/* Under the right id, with a number near the right one, and an acknowledgment
 * that no peer would send. */
static void blind(struct sim *s)
{
	static const int32_t ack[] = { 1 << 20, 70000, -70000, -(1 << 20) };
	uint8_t *p = reset(s);
	uint32_t good = tux_get32(p + 20);
	unsigned i;

	b->c->first -= 1 << 22;		/* as if it had sent so many */
	for (i = 0; i < 4; i++) {
		tux_put32(p + 20, good + (uint32_t)ack[i]);
		sim_seal(b, p);
		sim_host_input(b->host, &a->host->addr, p, numbered.len,
			       TUX_ECN_NONE);
	}
	SIM_CHECK(s, tux_conn_stats(b->c)->dropped == 4);
	SIM_CHECK(s, !b->closed && !b->rerr);
	finish(s);
}

/* As if two more had arrived than were sent. */
static void sack_of_nothing(struct sim *s)
{
	uint8_t *p = reset(s), *rec = p + TUX_PKT_HDR;
	uint32_t next = (uint32_t)b->c->sentq.next;

	p[3] = 0;
	rec[0] = TUX_REC_SACK;
	tux_put16(rec + 2, TUX_SACK_EACH);
	tux_put32(rec + TUX_REC_HDR, next);
	tux_put32(rec + TUX_REC_HDR + 4, next + 2);
	numbered.len = TUX_PKT_HDR + TUX_REC_HDR + TUX_SACK_EACH;
	tux_put16(p + 4, (uint16_t)numbered.len);
	sim_seal(b, p);
	sim_host_input(b->host, &a->host->addr, p, numbered.len,
		       TUX_ECN_NONE);
	SIM_CHECK(s, tux_conn_stats(b->c)->dropped == 1);
	finish(s);
}

/* All of it is right, for somebody has seen the connection's packets; but the key
 * they have not seen. */
static void unsealed(struct sim *s)
{
	uint8_t *p = reset(s);
	uint64_t damaged = tux_core_stats(b->host->core)->damaged;

	sim_seal(NULL, p);
	sim_host_input(b->host, &a->host->addr, p, numbered.len,
		       TUX_ECN_NONE);
	SIM_CHECK(s, tux_core_stats(b->host->core)->damaged == damaged + 1);
	SIM_CHECK(s, !b->closed && !b->rerr);
	finish(s);
}

/* With the key, it breaks the connection: the story above tells of the key. */
static void sealed(struct sim *s)
{
	uint8_t *p = reset(s);

	a->conn->foul = true;
	sim_seal(b, p);
	sim_host_input(b->host, &a->host->addr, p, numbered.len,
		       TUX_ECN_NONE);
	sim_run_out(s, s->now + TUX_SEC(100));
	SIM_CHECK(s, b->rerr == ECONNRESET);
}

/* ---- frames ---- */

/* Puts a frame into a's TCP, as a foul peer would; b ends the connection. */
static void inject(struct sim *s, const struct tux_frame *f)
{
	uint8_t p[TUX_FRAME_HDR + 16] = { 0 };
	struct iovec v = { p, sizeof(p) };

	tux_frame_encode(f, p);
	a->conn->foul = true;
	sim_tcp_send(a, &v, 1);
	sim_ms(s, 100);
	SIM_CHECK(s, b->closed && b->rerr && b->reason == TUX_REASON_PROTOCOL);
	sim_run_out(s, s->now + TUX_SEC(1));
	SIM_CHECK(s, a->rerr || a->werr);
}

static void foul_frame(struct sim *s, const struct tux_frame *f)
{
	sim_switched(s, &a, &b);
	sim_write(b, 30000);
	sim_ms(s, 10);
	inject(s, f);
}

static void unknown_frame(struct sim *s)
{
	foul_frame(s, &(struct tux_frame){ .type = 77, .len = 0, .off = 0 });
}

/* A gap: bytes 0 to 99 would be missing for ever. */
static void gap(struct sim *s)
{
	foul_frame(s, &(struct tux_frame){ TUX_FRAME_DATA, 16, 1u << 30 });
}

static void raw_elsewhere(struct sim *s)
{
	foul_frame(s, &(struct tux_frame){ TUX_FRAME_RAW, 0, 100 });
}

/* Two different ends of one stream; the honest one is known, and waits for its
 * bytes. */
static void two_ends(struct sim *s)
{
	sim_switched(s, &a, &b);
	sim_link(a->host, b->host)->down = true;
	sim_write(a, 100);
	sim_finish(a);
	sim_ms(s, 5);
	inject(s, &(struct tux_frame){ TUX_FRAME_FIN, 0, 50 });
}

const struct sim_story sim_stories[] = {
	{ "garbage", garbage },
	{ "stranger", stranger },
	{ "version", version },
	{ "version_told", version_told },
	{ "secret", secret },
	{ "forged", forged },
	{ "blind", blind },
	{ "sack_of_nothing", sack_of_nothing },
	{ "unsealed", unsealed },
	{ "sealed", sealed },
	{ "unknown_frame", unknown_frame },
	{ "gap", gap },
	{ "raw_elsewhere", raw_elsewhere },
	{ "two_ends", two_ends },
	{ NULL, NULL },
};
