/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The opening exchange, with HELLOs that neither end has made.
 *
 * The input is a list: genuine HELLOs that come late, twice or never; changed
 * ones; made ones, by somebody who holds the key and by somebody who does not;
 * steps of time and the application's I/O.  Without the key nothing changes and
 * nothing is answered; with it, no answer is longer than what it answers, and
 * memory is bounded.  As long as nobody with the key has meddled, the two ends
 * find each other in the end.
 */
#include <string.h>

#include "forge.h"
#include "wire/pkt_sum.h"

enum {
	OPS = 40,
	SEEN = 8,
	WORLDS = 2,
	HELLO = TUX_PKT_HDR + TUX_REC_HDR + TUX_HELLO_LEN,
	PIECES = 8,			/* of memory, for who is found */
	ROUNDS = 400,
};

struct seen {				/* a datagram of an end */
	struct fuzz_end *from;
	size_t len;
	uint8_t p[FUZZ_DGRAM];
};

static struct fuzz_world *worlds[WORLDS], *w;
static struct seen seen[SEEN];
static unsigned seen_n, told_n;		/* told_n: delivered in turn */
static struct forge forge;

static void sent(struct fuzz_end *from, const uint8_t *p, size_t len)
{
	struct seen *d = &seen[seen_n++ % SEEN];

	d->from = from;
	d->len = len;
	memcpy(d->p, p, len);
}

static void deliver(const struct seen *d)
{
	struct tux_addr from = d->from->end.addr;

	fuzz_input(fuzz_peer(d->from), &from, d->p, d->len);
}

/* The next in turn, if it is not forgotten. */
static void deliver_next(void)
{
	if (told_n + SEEN < seen_n)
		told_n = seen_n - SEEN;
	if (told_n < seen_n)
		deliver(&seen[told_n++ % SEEN]);
}

/* ---- HELLOs that are none of theirs ---- */

static struct tux_hello any_hello(struct fuzz_in *in, struct fuzz_end *to)
{
	const struct tux_conn *c = fuzz_peer(to)->end.c;
	uint16_t vary = fuzz_u16(in);
	struct tux_hello h = {
		.flags = (uint8_t)(TUX_HELLO_WANT | TUX_HELLO_MESSAGES |
				   (c->active ? TUX_HELLO_ACTIVE : 0)),
		.version = TUX_WIRE_VERSION, .port = c->core->port,
		.id = c->id, .seq = (uint32_t)c->sentq.next,
		.window = FUZZ_RING, .nonce = c->nonce,
		.echo = to->end.c->nonce,
		.token = c->core->token, .pkt_max = TUX_PKT_MAX, .delay = 10,
		.tuple = c->tuple,
	};

	if (vary & 1)
		h.flags = fuzz_u8(in);
	if (vary & 2)
		h.version = fuzz_u8(in);
	if (vary & 4)
		h.port = fuzz_u16(in);
	if (vary & 8)
		h.id = (uint32_t)fuzz_vary(in, h.id);
	if (vary & 16)
		h.seq = (uint32_t)fuzz_vary(in, h.seq);
	if (vary & 32)
		h.window = (uint32_t)fuzz_vary(in, h.window);
	if (vary & 64)
		h.nonce = fuzz_vary(in, h.nonce);
	if (vary & 128)
		h.echo = fuzz_vary(in, h.echo);
	if (vary & 256)
		h.token = fuzz_vary(in, h.token);
	if (vary & 512)
		h.pkt_max = (uint16_t)fuzz_vary(in, TUX_PKT_HDR + 256);
	if (vary & 1024)
		h.delay = (uint16_t)fuzz_vary(in, h.delay);
	if (vary & 2048)
		h.tuple.active.port ^= fuzz_u8(in);
	if (vary & 4096)
		h.tuple.passive.ip[fuzz_u8(in) % 16] ^= 1;
	return h;
}

/* Any HELLO under @key, with maybe something behind it. */
static size_t write_hello(struct fuzz_in *in, struct fuzz_end *to,
			  const struct tux_key *key, uint8_t *p)
{
	struct tux_hello hello = any_hello(in, to);
	struct tux_pkt h = { .flags = TUX_PKT_OPEN };
	struct tux_writer w1;
	uint8_t more = fuzz_u8(in);

	if (key)
		tux_hello_mask(&hello, key);
	tux_writer_init(&w1, p, FUZZ_MTU);
	tux_writer_hello(&w1, &hello);
	if (more & 1)
		tux_writer_add(&w1, more, 0, 0);
	return tux_writer_end(&w1, &h, key);
}

/* ---- without the key ---- */

static void inject(struct fuzz_end *to, uint8_t how, const uint8_t *p,
		   size_t len)
{
	struct tux_addr from = to->end.peer->addr;
	struct tux_conn before, *c = to->end.c;
	unsigned datagrams;

	fuzz_output(to);
	if (how & 1)
		from.port++;
	before = *c;
	datagrams = w->datagrams;
	fuzz_input(to, &from, p, len);
	fuzz_output(to);
	FUZZ_CHECK(w->datagrams == datagrams);
	FUZZ_CHECK(before.life == c->life && before.reason == c->reason &&
		   before.peer_id == c->peer_id &&
		   before.peer_nonce == c->peer_nonce &&
		   before.todo == c->todo &&
		   tux_addr_same(&before.peer, &c->peer));
	FUZZ_CHECK(!memcmp(&before.open, &c->open, sizeof(before.open)));
	FUZZ_CHECK(!memcmp(&before.seal, &c->seal, sizeof(before.seal)));
}

static void guess(struct fuzz_in *in, uint8_t how)
{
	static const struct tux_key wrong = { 3, 5 };
	struct fuzz_end *to = &w->end[how & 1];
	uint8_t p[FUZZ_DGRAM];
	size_t len = write_hello(in, to, how & 2 ? &wrong : NULL, p);

	inject(to, how / 4, p, len);
}

/* A genuine one, changed, with a CRC that is right without a key. */
static void change(struct fuzz_in *in, uint8_t how)
{
	struct seen *d = &seen[how / 4 % SEEN];
	uint8_t p[FUZZ_DGRAM];
	size_t at, n = fuzz_u16(in);

	if (how / 4 % SEEN >= seen_n || tux_get16(d->p + 4) != d->len)
		return;
	memcpy(p, d->p, d->len);
	at = n % d->len;
	p[at] ^= (uint8_t)(fuzz_u8(in) | 1);
	if (how & 1 && tux_get16(p + 4) == d->len)
		tux_put32(p + TUX_PKT_CRC, tux_pkt_crc(p, d->len));
	/* Nothing but the CRC may be what has changed, and is right again.  And
	 * whoever knows an id may say that it speaks another version. */
	if (!memcmp(p, d->p, d->len) || p[2] != TUX_WIRE_VERSION)
		return;
	inject(how & 2 ? d->from : fuzz_peer(d->from), 0, p, d->len);
}

/* ---- with the key ---- */

static void make(struct fuzz_in *in, uint8_t how, bool *meddled)
{
	struct fuzz_end *to = &w->end[how & 1];
	struct tux_addr from = to->end.peer->addr;
	uint8_t p[FUZZ_DGRAM];
	size_t len;
	uint64_t bytes;

	*meddled = w->end[0].muddled = w->end[1].muddled = true;
	if (to->end.c->life != TUX_LIFE_OPENING && how & 8) {
		forge.to = to;
		len = forge_packet(&forge, in, p, sizeof(p));
	} else {
		len = write_hello(in, to, &to->end.c->key, p);
	}
	fuzz_output(to);
	bytes = w->bytes;
	fuzz_input(to, &from, p, len);
	if (to->end.c->life == TUX_LIFE_OPENING) {
		fuzz_output(to);
		FUZZ_CHECK(w->bytes - bytes <= len);
	}
}

/* ---- the two ends ---- */

static void application(struct fuzz_in *in, uint8_t how)
{
	struct fuzz_end *e = &w->end[how & 1];

	if (how & 2)
		fuzz_write(e, fuzz_u8(in));
	else
		fuzz_read(e, fuzz_u8(in));
	if (how & 4)
		fuzz_send(e, 5, 0);
	if (how & 8) {
		tux_conn_unstall(e->end.c, w->now);
		duo_effects(&e->end);
	}
}

static void act(struct fuzz_in *in, bool *meddled)
{
	uint8_t op = fuzz_u8(in), how = op / 8;

	switch (op % 8) {
	case 0:
		deliver_next();
		break;
	case 1:
		if (how % SEEN < seen_n)
			deliver(&seen[how % SEEN]);
		break;
	case 2:
		told_n += told_n < seen_n;	/* lost */
		break;
	case 3:
		change(in, how);
		break;
	case 4:
		guess(in, how);
		break;
	case 5:
		make(in, how, meddled);
		break;
	case 6:
		application(in, how);
		break;
	default:
		fuzz_pass_both(w, TUX_USEC(100) << how % 16);
		break;
	}
	fuzz_turn(&w->end[0]);
	fuzz_turn(&w->end[1]);
}

static void find_each_other(void)
{
	struct tux_conn *a = w->end[0].end.c, *b = w->end[1].end.c;
	unsigned n;

	while (told_n < seen_n)
		deliver_next();
	w->sent = NULL;
	tux_conn_unstall(a, w->now);
	for (n = 0; n < ROUNDS && (a->life != TUX_LIFE_PROVED ||
				   b->life != TUX_LIFE_PROVED); n++) {
		fuzz_turn(&w->end[0]);
		fuzz_turn(&w->end[1]);
		fuzz_pass_both(w, n < 8 ? TUX_MSEC(1) : TUX_MSEC(50));
	}
	FUZZ_CHECK(n < ROUNDS);
	FUZZ_CHECK(a->peer_id == b->id && b->peer_id == a->id);
	FUZZ_CHECK(!memcmp(&a->seal, &b->seal, sizeof(a->seal)));
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t len)
{
	struct fuzz_in in = { p, len };
	uint8_t how = fuzz_u8(&in);
	bool meddled = false;
	unsigned n;

	if (!worlds[how % WORLDS])
		worlds[how % WORLDS] = fuzz_world_new(FUZZ_OPENING, how & 1);
	w = worlds[how % WORLDS];
	fuzz_world_restore(w, FUZZ_NONE, how);
	w->sent = sent;
	seen_n = told_n = 0;
	forge_init(&forge, &w->end[0], true);
	for (n = 0; in.left && n < OPS; n++)
		act(&in, &meddled);
	if (!meddled)
		find_each_other();
	for (n = 0; n < 2; n++)
		FUZZ_CHECK(w->mem[n]->live <= w->mem[n]->saved_n + PIECES);
	fuzz_end_end(&w->end[0]);
	fuzz_end_end(&w->end[1]);
	return 0;
}
