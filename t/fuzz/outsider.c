/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Somebody without the key, between two honest ends.
 *
 * The input is a list: what the two applications do, what the network does to
 * their datagrams, and what the outsider sends.  It knows all addresses, ids
 * and numbers, has seen each datagram and may send it again, as it was or
 * changed.  What is not one of theirs changes nothing at all; and in the end
 * each end has read, once, what the other has written.
 */
#include <string.h>

#include "forge.h"
#include "wire/pkt_sum.h"

enum { OPS = 48, SEEN = 24, WORLDS = 4, ROUNDS = 400 };

struct seen {				/* a datagram that was sent */
	struct fuzz_end *from;
	size_t len;
	bool waits;			/* the network still has it */
	uint8_t p[FUZZ_DGRAM];
};

static struct fuzz_world *worlds[WORLDS], *w;
static struct seen seen[SEEN];
static unsigned seen_n;
static struct forge forge[2];
static struct tux_conn before[2];

/* ---- the network ---- */

static void deliver(struct seen *d)
{
	struct tux_addr from = d->from->end.addr;

	d->waits = false;
	if (!fuzz_peer(d->from)->end.gone_n)
		fuzz_input(fuzz_peer(d->from), &from, d->p, d->len);
}

/* Beyond what it can hold, it delivers at once. */
static void sent(struct fuzz_end *from, const uint8_t *p, size_t len)
{
	struct seen *d = &seen[seen_n++ % SEEN];

	if (d->waits && seen_n > SEEN)
		deliver(d);
	d->from = from;
	d->len = len;
	d->waits = true;
	memcpy(d->p, p, len);
}

static void deliver_some(unsigned n)
{
	unsigned i, from = seen_n > SEEN ? seen_n - SEEN : 0;

	for (i = from; n && i < seen_n; i++) {
		if (seen[i % SEEN].waits) {
			deliver(&seen[i % SEEN]);
			n--;
		}
	}
}

static struct seen *any_seen(struct fuzz_in *in)
{
	unsigned n = seen_n < SEEN ? seen_n : SEEN;

	return n ? &seen[fuzz_u8(in) % n] : NULL;
}

static void network(struct fuzz_in *in, uint8_t how)
{
	struct seen *d = any_seen(in);

	if (!d)
		return;
	if (how % 4 == 0)
		d->waits = false;	/* lost */
	else if (how % 4 == 1 || d->waits)
		deliver(d);		/* out of turn, or again */
}

/* ---- the outsider ---- */

static void remember(void)
{
	before[0] = *w->end[0].end.c;
	before[1] = *w->end[1].end.c;
}

/* Nothing has changed, but the place in a list that waits. */
static void check_same(void)
{
	unsigned i;

	for (i = 0; i < 2; i++) {
		struct tux_conn *c = w->end[i].end.c, *b = &before[i];

		FUZZ_CHECK(c->life == b->life && c->reason == b->reason);
		FUZZ_CHECK(c->peer_id == b->peer_id &&
			   tux_addr_same(&c->peer, &b->peer) &&
			   c->todo == b->todo);
		FUZZ_CHECK(!memcmp(&c->tx, &b->tx, sizeof(c->tx)));
		FUZZ_CHECK(!memcmp(&c->rx, &b->rx, sizeof(c->rx)));
		FUZZ_CHECK(!memcmp(&c->ackq, &b->ackq, sizeof(c->ackq)));
		FUZZ_CHECK(c->sentq.floor == b->sentq.floor &&
			   c->sentq.next == b->sentq.next &&
			   c->sentq.in_flight == b->sentq.in_flight);
		FUZZ_CHECK(!memcmp(&c->stats, &b->stats, sizeof(c->stats)));
	}
}

static struct tux_addr somewhere(uint8_t how, const struct fuzz_end *to)
{
	struct tux_addr a = to->end.peer->addr;

	if (how & 1)
		a.port++;
	if (how & 2)
		a.ip[15] ^= 16;
	return a;
}

/* What none of the two has made. */
static void inject(struct fuzz_end *to, uint8_t how, const uint8_t *p,
		   size_t len)
{
	struct tux_addr from = somewhere(how, to);
	unsigned datagrams;

	if (to->end.gone_n)
		return;
	fuzz_output(to);
	datagrams = w->datagrams;
	remember();
	fuzz_input(to, &from, p, len);
	check_same();
	fuzz_output(to);
	FUZZ_CHECK(w->datagrams == datagrams);
}

static void made_up(struct fuzz_in *in, uint8_t how)
{
	struct fuzz_end *to = &w->end[how & 1];
	uint8_t p[FUZZ_DGRAM];
	size_t len = forge_packet(&forge[how & 1], in, p, sizeof(p));

	inject(to, how / 2, p, len);
}

/* Any bytes, maybe behind a good beginning. */
static void noise(struct fuzz_in *in, uint8_t how)
{
	uint8_t p[64];
	size_t len = fuzz_u8(in) % sizeof(p);

	fuzz_bytes(in, p, len);
	if (how & 8 && len >= TUX_PKT_HDR) {
		tux_put16(p, TUX_WIRE_MAGIC);
		p[2] = TUX_WIRE_VERSION;
		tux_put16(p + 4, (uint16_t)len);
		tux_put32(p + TUX_PKT_CRC, tux_pkt_crc(p, len));
	}
	inject(&w->end[how & 1], how / 2, p, len);
}

/* One that was seen, with a byte or two changed, and a right CRC for those who
 * know no key.  Behind another packet it would still be good. */
static void changed(struct fuzz_in *in, uint8_t how)
{
	struct seen *d = any_seen(in);
	uint8_t p[FUZZ_DGRAM];
	size_t at;

	if (!d || tux_get16(d->p + 4) != d->len)
		return;
	memcpy(p, d->p, d->len);
	at = fuzz_u16(in) % d->len;
	p[at] ^= (uint8_t)(fuzz_u8(in) | 1);
	if (how & 1 && tux_get16(p + 4) == d->len)
		tux_put32(p + TUX_PKT_CRC, tux_pkt_crc(p, d->len));
	inject(how & 2 ? d->from : fuzz_peer(d->from), how / 4, p, d->len);
}

/* As it was, to whom it was meant for or to who sent it, from anywhere. */
static void again(struct fuzz_in *in, uint8_t how)
{
	struct seen *d = any_seen(in);
	struct fuzz_end *to;
	struct tux_addr from;

	if (!d)
		return;
	to = how & 4 ? d->from : fuzz_peer(d->from);
	from = somewhere(how, to);
	if (!to->end.gone_n)
		fuzz_input(to, &from, d->p, d->len);
}

/* ---- both ends ---- */

static void application(struct fuzz_in *in, uint8_t op)
{
	struct fuzz_end *e = &w->end[op >> 7];

	switch (op >> 4 & 7) {
	case 0:
		fuzz_write(e, fuzz_u8(in) * 2u);
		break;
	case 1:
		fuzz_read(e, fuzz_u8(in) * 4u);
		break;
	case 2:
		fuzz_send(e, 4 + fuzz_u8(in) * 4u, 0);
		break;
	case 3:
		fuzz_send(e, 4 + fuzz_u8(in), TUX_MSG_ORDERED);
		break;
	case 4:
		fuzz_take(e);
		fuzz_release(e, fuzz_u8(in));
		break;
	case 5:
		tux_conn_stall(e->end.c, w->now);
		duo_effects(&e->end);
		break;
	case 6:
		tux_conn_unstall(e->end.c, w->now);
		duo_effects(&e->end);
		break;
	default:
		duo_serve(&e->end, 1 + fuzz_u8(in) % 32u);
		break;
	}
}

static void act(struct fuzz_in *in)
{
	uint8_t op = fuzz_u8(in);

	switch (op % 16) {
	case 0:
	case 1:
	case 2:
	case 3:
	case 4:
		application(in, op);
		break;
	case 5:
		deliver_some(1 + op / 16);
		break;
	case 6:
		network(in, op / 16);
		break;
	case 7:
		fuzz_pass_both(w, TUX_USEC(50) << (op / 16));
		break;
	case 8:
	case 9:
		again(in, op / 16);
		break;
	case 10:
	case 11:
		changed(in, op / 16);
		break;
	case 12:
		noise(in, op / 16);
		break;
	default:
		made_up(in, op / 16);
		break;
	}
	fuzz_turn(&w->end[0]);
	fuzz_turn(&w->end[1]);
}

/* ---- the end: the network is good again, and all arrives ---- */

static bool has_all(struct fuzz_end *e)
{
	struct fuzz_end *from = fuzz_peer(e);

	return e->read == from->wrote &&
	       e->got_n == from->sent_n[0] + from->sent_n[1];
}

static void finish(void)
{
	unsigned n, i;

	deliver_some(SEEN);
	w->sent = NULL;
	for (n = 0; n < ROUNDS && !(has_all(&w->end[0]) &&
				    has_all(&w->end[1])); n++) {
		for (i = 0; i < 2; i++) {
			fuzz_read(&w->end[i], FUZZ_RING);
			fuzz_take(&w->end[i]);
			fuzz_release(&w->end[i], 0);
			fuzz_turn(&w->end[i]);
		}
		/* A path that failed often is tried again each minute. */
		fuzz_pass_both(w, n < 8 ? TUX_USEC(200) :
			       n < 40 ? TUX_MSEC(50) : TUX_SEC(1));
	}
	FUZZ_CHECK(n < ROUNDS);
	for (i = 0; i < 2; i++)
		FUZZ_CHECK(!w->end[i].err && !w->end[i].eof &&
			   !w->end[i].failed_n && !w->end[i].end.gone_n);
}

static void begin(uint8_t how)
{
	unsigned i = how % WORLDS;

	if (!worlds[i])
		worlds[i] = fuzz_world_new(i & 1 ? FUZZ_PROVED : FUZZ_MOVED,
					   i & 2);
	w = worlds[i];
	fuzz_world_restore(w, FUZZ_NONE, how);
	w->sent = sent;
	seen_n = 0;
	forge_init(&forge[0], &w->end[0], false);
	forge_init(&forge[1], &w->end[1], false);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t len)
{
	struct fuzz_in in = { p, len };
	unsigned n;

	begin(fuzz_u8(&in));
	for (n = 0; in.left && n < OPS; n++)
		act(&in);
	finish();
	FUZZ_CHECK(!fuzz_world_grew(w));
	fuzz_end_end(&w->end[0]);
	fuzz_end_end(&w->end[1]);
	return 0;
}
