/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * foul - a malicious end: it has the key of its own connection, and what it
 * says there is changed under way, and sealed
 */
#include "base/bytes.h"
#include "conn/conn.h"
#include "fault.h"
#include "forge.h"
#include "life.h"
#include "seen.h"
#include "wire/frame.h"
#include "wire/pkt.h"
#include "wire/pkt_sum.h"
#include "wire/reason.h"

enum { HELLO = TUX_PKT_HDR + TUX_REC_HDR + TUX_HELLO_LEN };

/* Small, large, near the right one, or anything. */
static uint64_t other(struct sim *s, uint64_t v)
{
	switch (sim_below(s, 6)) {
	case 0:
		return sim_rand(s);
	case 1:
		return v + 1 + sim_below(s, 300);
	case 2:
		return v - 1 - sim_below(s, 300);
	case 3:
		return v ^ UINT64_C(1) << sim_below(s, 64);
	case 4:
		return sim_below(s, 1 << 18) & ~UINT64_C(63);
	default:
		return sim_below(s, 2) ? UINT64_MAX : 0;
	}
}

static void change(struct sim *s, uint8_t *p, unsigned len)
{
	if (len == 1)
		*p = (uint8_t)other(s, *p);
	else if (len == 2)
		tux_put16(p, (uint16_t)other(s, tux_get16(p)));
	else if (len == 4)
		tux_put32(p, (uint32_t)other(s, tux_get32(p)));
	else
		tux_put64(p, other(s, tux_get64(p)));
}

struct place {
	uint8_t at, len;
};

static void change_header(struct sim *s, uint8_t *p)
{
	static const struct place place[] = {
		{ 6, 2 }, { 16, 4 }, { 20, 4 }, { 24, 8 }, { 32, 4 },
		{ 36, 2 }, { 38, 1 }, { 39, 1 },
	};
	const struct place *x =
		&place[sim_below(s, sizeof(place) / sizeof(place[0]))];

	change(s, p + x->at, x->len);
}

/* One of the records of the packet at @p: its type, flags, length or a number
 * in it. */
static void change_record(struct sim *s, uint8_t *p)
{
	size_t end = tux_get16(p + 4), at = TUX_PKT_HDR, next, len;

	for (; at + TUX_REC_HDR <= end; at = next) {
		len = tux_get16(p + at + 2);
		next = at + TUX_REC_HDR + len;
		if (next + TUX_REC_HDR <= end && sim_below(s, 2))
			continue;
		switch (sim_below(s, 8)) {
		case 0:
			p[at] = (uint8_t)sim_below(s, 16);
			return;
		case 1:
			p[at + 1] = (uint8_t)sim_rand(s);
			return;
		case 2:
			change(s, p + at + 2, 2);
			return;
		default:
			if (len >= 4 && next <= end)
				change(s, p + at + TUX_REC_HDR +
				       4 * sim_below(s, len < 24 ? len / 4 : 6),
				       4);
			return;
		}
	}
}

static void change_packet(struct sim *s, const struct sim_end *to, uint8_t *p)
{
	if (sim_below(s, 2))
		change_header(s, p);
	else
		change_record(s, p);
	sim_seal(to, p);
	sim_seen_fault(s, SIM_FOUL_PACKET);
}

static void change_hello(struct sim *s, const struct sim_conn *k, uint8_t *p)
{
	static const struct place place[] = {
		{ TUX_HELLO_FLAGS, 1 }, { TUX_HELLO_PORT, 2 },
		{ TUX_HELLO_ID, 4 }, { TUX_HELLO_NONCE, 8 },
		{ TUX_HELLO_ECHO, 8 }, { TUX_HELLO_TOKEN, 8 },
		{ TUX_HELLO_SEQ, 4 }, { TUX_HELLO_WINDOW, 4 },
		{ TUX_HELLO_PKT, 2 }, { TUX_HELLO_DELAY, 2 },
	};
	const struct place *x =
		&place[sim_below(s, sizeof(place) / sizeof(place[0]))];

	change(s, p + TUX_PKT_HDR + TUX_REC_HDR + x->at, x->len);
	tux_put64(p + TUX_PKT_MAC, tux_pkt_mac(p, tux_get16(p + 4), &k->key));
	sim_seal(NULL, p);
	sim_seen_fault(s, SIM_FOUL_HELLO);
}

/* The HELLO at @p is of this end? */
static bool says(const struct sim_end *e, const uint8_t *p)
{
	const uint8_t *body = p + TUX_PKT_HDR + TUX_REC_HDR;
	bool active = body[TUX_HELLO_FLAGS] & TUX_HELLO_ACTIVE;

	return tux_get16(p + 4) >= HELLO && active == !e->side &&
	       tux_get16(body + TUX_HELLO_APORT) ==
	       e->conn->tuple.active.port;
}

static void packet(struct sim_life *life, const struct sim_end *e, uint8_t *p)
{
	struct sim *s = life->s;

	if (p[3] & TUX_PKT_OPEN) {
		if (says(e, p) && sim_below(s, 1000) < life->foul_hellos)
			change_hello(s, e->conn, p);
	} else if (sim_knows(e->peer, p) &&
		   sim_below(s, 1000) < life->foul_packets) {
		change_packet(s, e->peer, p);
	}
}

void sim_foul_datagram(struct sim_life *life, uint8_t *p, size_t len)
{
	size_t at;
	unsigned i;

	for (at = 0; at + HELLO / 4 < len; at += tux_get16(p + at + 4)) {
		for (i = 0; i < life->s->conn_n; i++) {
			struct sim_conn *k = life->s->conn[i];

			if (k->foul)
				packet(life, &k->end[k->foul_side], p + at);
		}
	}
}

/* RESET no core sends: a good one, or anything. */
static struct tux_frame frame(struct sim *s, uint64_t got)
{
	if (sim_below(s, 4))
		return (struct tux_frame){ .type = TUX_FRAME_RESET,
					   .off = sim_below(s, TUX_REASON_N) };
	return (struct tux_frame){
		.type = (uint8_t)sim_below(s, 9),
		.len = (uint32_t)(sim_below(s, 4) ? sim_below(s, 2) * 40 :
				  sim_rand(s)),
		.off = sim_below(s, 2) ? got : other(s, got),
	};
}

void sim_foul_frame(struct sim *s, struct sim_end *e)
{
	const struct tux_frame f = frame(s, e->peer->got);
	uint8_t p[TUX_FRAME_HDR + 40] = { 0 };
	struct iovec v = { p, TUX_FRAME_HDR + f.len % 41 };

	/* Most of them wait for their time. */
	if (e->sock.closed ||
	    (sim_below(s, 64) &&
	     (!e->dx || atomic_load(&e->dx->tx.state) != TUX_TX_SWITCHED)))
		return;
	sim_seen_fault(s, SIM_FOUL_FRAME);
	tux_frame_encode(&f, p);
	sim_tcp_send(e, &v, 1);
}
