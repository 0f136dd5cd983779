/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * attack - what strangers do who mean harm: they guess, send again what they
 * have seen, and make HELLOs without the key
 */
#include <stdlib.h>

#include "base/bytes.h"
#include "conn/conn.h"
#include "fault.h"
#include "forge.h"
#include "life.h"
#include "wire/pkt.h"
#include "wire/pkt_sum.h"

enum { LONGEST = 300, HELLO = TUX_PKT_HDR + TUX_REC_HDR + TUX_HELLO_LEN };

static void put(struct sim_end *e, const struct tux_addr *from,
		const uint8_t *p, size_t len)
{
	sim_host_input(e->host, from, p, len, TUX_ECN_NONE);
}

static const struct tux_addr *peer_of(const struct sim_end *e)
{
	const struct tux_tuple *t = &e->conn->tuple;

	return e->side ? &t->active : &t->passive;
}

/* ---- strangers ---- */

/* Anything, some of it behind a good beginning. */
static void garbage(struct sim *s, struct sim_end *e)
{
	uint8_t p[LONGEST];
	size_t i, len = 1 + sim_below(s, sizeof(p));

	for (i = 0; i < len; i++)
		p[i] = (uint8_t)sim_rand(s);
	if (len > 8 && sim_below(s, 2)) {
		tux_put16(p, TUX_WIRE_MAGIC);
		p[2] = TUX_WIRE_VERSION;
		tux_put16(p + 4, (uint16_t)len);
	}
	put(e, peer_of(e), p, len);
}

/* A record that would do harm. */
static void harm(struct sim *s, const struct tux_conn *c, struct tux_writer *w)
{
	uint8_t *p;

	switch (sim_below(s, 4)) {
	case 0:
		p = tux_writer_add(w, TUX_REC_STREAM, TUX_STREAM_ORDER,
				   TUX_STREAM_HDR + 4);
		tux_put64(p, c->rx.gen ? tux_recvbuf_got(&c->rx.buf) : 0);
		memcpy(p + TUX_STREAM_HDR, "evil", 4);
		break;
	case 1:
		p = tux_writer_add(w, TUX_REC_RESET, 0, TUX_RESET_LEN);
		tux_put32(p, TUX_REASON_PROTOCOL);
		break;
	case 2:
		p = tux_writer_add(w, TUX_REC_PREPARE, 0, TUX_PREPARE_LEN);
		tux_put32(p, c->dx->rx.gen + 1);
		tux_put64(p + 4, sim_below(s, 1000));
		break;
	default:
		tux_writer_add(w, TUX_REC_RAW, 0, 0);
		break;
	}
}

/* Numbers and id are right, or nearly; but the seal is a guess.  Or the seal is
 * none, and so is the id. */
static void guess(struct sim *s, struct sim_end *e)
{
	const struct tux_conn *c = e->c;
	struct tux_writer w;
	uint8_t p[LONGEST];
	struct tux_pkt h = { .flags = TUX_PKT_ELICIT };
	size_t len;

	if (!c)
		return;
	h.id = c->id;
	h.seq = (uint32_t)(c->ackq.next + sim_below(s, 100));
	h.ack = (uint32_t)(c->sentq.next - sim_below(s, 3));
	h.got = c->tx.path == TUX_PATH_PLAIN ? 0 : c->tx.buf.got;
	h.window = (uint32_t)sim_below(s, 1 << 20);
	tux_writer_init(&w, p, sizeof(p));
	harm(s, c, &w);
	len = tux_writer_end(&w, &h, NULL);
	if (sim_below(s, 2))
		tux_put32(p + TUX_PKT_CRC, (uint32_t)sim_rand(s));
	else
		tux_put32(p + 8, (uint32_t)sim_rand(s));
	put(e, peer_of(e), p, len);
}

static const struct sim_kept *any_kept(struct sim_life *life)
{
	unsigned n = life->kept_n < SIM_KEPT ? life->kept_n : SIM_KEPT;

	return n ? &life->kept[sim_below(life->s, n)] : NULL;
}

/* From where it came, or from elsewhere. */
static void again(struct sim_life *life, const struct sim_kept *k, size_t len)
{
	struct tux_addr from = k->from;

	if (!sim_below(life->s, 4))
		from.ip[15] = 99;
	if (len && !k->to->dead && k->to->stopped <= life->s->now)
		sim_host_input(k->to, &from, k->p, len, TUX_ECN_NONE);
}

/* A HELLO that was seen, with other nonces; its MAC is a guess. */
static void hello(struct sim_life *life)
{
	const struct sim_kept *k = any_kept(life);
	struct sim *s = life->s;
	uint8_t p[HELLO], *body = p + TUX_PKT_HDR + TUX_REC_HDR;
	struct sim_kept forged;

	if (!k || k->len < HELLO || !(k->p[3] & TUX_PKT_OPEN))
		return;
	memcpy(p, k->p, HELLO);
	tux_put16(p + 4, HELLO);
	tux_put64(body + TUX_HELLO_NONCE, sim_rand(s));
	if (sim_below(s, 2))
		tux_put64(body + TUX_HELLO_ECHO, sim_rand(s));
	tux_put64(body + TUX_HELLO_MAC, sim_rand(s));
	sim_seal(NULL, p);
	forged = *k;
	forged.p = p;
	again(life, &forged, HELLO);
}

/* ---- for whoever runs a world ---- */

void sim_attack(struct sim_life *life, struct sim_end *e, enum sim_fault what)
{
	const struct sim_kept *k;

	switch (what) {
	case SIM_GARBAGE:
		garbage(life->s, e);
		break;
	case SIM_GUESS:
		guess(life->s, e);
		break;
	case SIM_HELLO:
		hello(life);
		break;
	case SIM_REPLAY:
		k = any_kept(life);
		if (k)
			again(life, k, k->len);
		break;
	case SIM_CUT:
		k = any_kept(life);
		if (k)
			again(life, k, sim_below(life->s, k->len));
		break;
	case SIM_FOUL_FRAME:
		sim_foul_frame(life->s, e);
		break;
	default:
		break;
	}
}

/* The newest ones, and the very first, which are HELLOs. */
static void keep(struct sim_life *life, struct sim_host *to,
		 const struct tux_addr *from, const uint8_t *p, size_t len)
{
	unsigned n = life->kept_n++;
	struct sim_kept *k = &life->kept[n < SIM_KEPT ? n :
					 8 + n % (SIM_KEPT - 8)];

	free(k->p);
	k->to = to;
	k->from = *from;
	k->p = malloc(len);
	k->len = len;
	memcpy(k->p, p, len);
}

static void watch(struct sim *s, struct sim_host *to,
		  const struct tux_addr *from, uint8_t *p, size_t len)
{
	struct sim_life *life = s->user;

	if (life->keeps)
		keep(life, to, from, p, len);
	if (life->foul_packets || life->foul_hellos)
		sim_foul_datagram(life, p, len);
	if (life->other_version[to->i]) {
		p[2] = TUX_WIRE_VERSION + 1;
		sim_seal(NULL, p);
	}
}

static bool is_seen(uint64_t what)
{
	return what == SIM_HELLO || what == SIM_REPLAY || what == SIM_CUT;
}

void sim_attack_watch(struct sim_life *life)
{
	unsigned i;

	life->s->user = life;
	for (i = 0; i < life->w->n; i++) {
		const struct sim_item *it = &life->w->item[i];
		uint64_t what = it->v[SIM_FAULT_WHAT];

		if (it->kind != SIM_FAULT)
			continue;
		life->keeps |= is_seen(what);
		if (is_seen(what) || what == SIM_VERSION ||
		    sim_fault_is_foul(what))
			life->s->spy = watch;
	}
}

void sim_attack_fini(struct sim_life *life)
{
	unsigned i;

	for (i = 0; i < SIM_KEPT; i++)
		free(life->kept[i].p);
}
