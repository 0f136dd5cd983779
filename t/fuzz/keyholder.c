/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A peer that holds the key, and keeps no rule.
 *
 * The input is a list: packets and frames with any numbers, steps of time, and
 * what the application does meanwhile.  The peer may break its connection.  But
 * nothing else may break: what is read is what the peer sends at that place, a
 * message comes once and is whole, no memory is asked for, a packet brings out
 * only so many, and time is never stuck.
 */
#include <errno.h>
#include <string.h>

#include "forge.h"
#include "wire/frame.h"

enum { OPS = 64, KINDS = 6, WORLDS = 2 * KINDS };

static struct fuzz_world *worlds[WORLDS];
static struct fuzz_end *e;		/* who is attacked */
static struct forge peer;
static uint64_t plain_off;		/* of the peer's next plain byte */
static uint64_t marker_at;		/* where it has put a marker */

/* ---- what comes out is well-formed ---- */

static void check_record(const struct tux_record *rec)
{
	if (rec->type != TUX_REC_STREAM)
		return;
	FUZZ_CHECK(rec->off + rec->data_len <= e->wrote);
	FUZZ_CHECK(fuzz_same(e->w, e->end.side, rec->off, rec->data,
			     rec->data_len));
}

static void sent(struct fuzz_end *from, const uint8_t *p, size_t len)
{
	struct tux_record rec;
	struct tux_reader r;
	struct tux_pkt h;
	int more;

	(void)from;
	for (; len; p += h.len, len -= h.len) {
		FUZZ_CHECK(!tux_pkt_decode(&h, p, len));
		if (h.flags & TUX_PKT_OPEN)
			continue;
		FUZZ_CHECK(tux_pkt_sealed(&h, p, &e->end.c->seal));
		FUZZ_CHECK(h.id == e->end.c->peer_id);
		tux_reader_init(&r, &h, p);
		while ((more = tux_reader_next(&r, &rec)) > 0)
			check_record(&rec);
		FUZZ_CHECK(!more);
	}
}

/* ---- what the peer does ---- */

static void packet(struct fuzz_in *in)
{
	uint8_t p[FUZZ_MTU];
	struct tux_addr from = e->end.peer->addr;
	size_t len = forge_packet(&peer, in, p, sizeof(p));

	fuzz_input(e, &from, p, len);
}

/* Plain bytes, while they are; and a marker, where one may be expected. */
static void plain(struct fuzz_in *in)
{
	uint8_t how = fuzz_u8(in), p[256], len = how & 0x7f;
	const struct tux_duplex_rx *r = &e->end.dx->rx;

	if (how & 0x80) {
		if (marker_at == UINT64_MAX)
			marker_at = plain_off;
		tux_marker(p, &e->end.c->session, r->gen, !e->end.c->active);
		duo_tcp_put(&e->end, p, len % (TUX_MARKER_LEN + 1));
		return;
	}
	fuzz_fill(e->w, !e->end.side, plain_off, p, len);
	plain_off += duo_tcp_put(&e->end, p, len);
}

static void tcp(struct fuzz_in *in)
{
	uint8_t p[1200];
	size_t len;

	if (tux_conn_rx_state(e->end.c) < TUX_RX_SWITCHED) {
		/* Plain again, bytes of frames may lie before these. */
		e->muddled |= peer.raw;
		plain(in);
		return;
	}
	len = forge_frame(&peer, in, p, sizeof(p));
	/* Cut short, what follows is taken for its body. */
	e->muddled |= duo_tcp_put(&e->end, p, len) < len;
}

static void tcp_end(uint8_t how)
{
	if (how & 1)
		e->end.in.err = ECONNRESET;
	else
		e->end.in.eof = true;
	e->end.tcp_work = true;
}

/* ---- what the application does ---- */

static void read_some(size_t len)
{
	/* A marker that turned out to be none is data, and all behind it is
	 * elsewhere. */
	if (marker_at != UINT64_MAX &&
	    tux_conn_rx_state(e->end.c) != TUX_RX_SWITCHED)
		e->muddled |= e->read + len >= marker_at;
	fuzz_read(e, len);
}

static void latch(uint8_t how)
{
	struct tux_duplex *dx = e->end.dx;
	struct tux_latch *l = how & 1 ? &dx->tx.latch : &dx->rx.latch;

	if (e->closed)
		return;
	if (how & 2)
		tux_latch_try(l);
	else
		tux_latch_drop(l);
}

static void seldom(struct fuzz_in *in)
{
	uint8_t how = fuzz_u8(in);

	switch (how % 16) {
	case 0:
		tux_conn_stall(e->end.c, e->w->now);
		duo_effects(&e->end);
		break;
	case 1:
		tux_conn_unstall(e->end.c, e->w->now);
		duo_effects(&e->end);
		break;
	case 2:
		fuzz_ring(e, TUX_DOORBELL_RAW);
		break;
	case 3:
		fuzz_shut(e);
		break;
	case 4:
		fuzz_close(e, how >= 0xf0);
		break;
	case 5:
		tcp_end(how >> 4);
		break;
	case 6:
		fuzz_cancel(e);
		break;
	case 7:
		tux_conn_set_mtu(e->end.c, 400u + how, e->w->now);
		break;
	case 8:
		fuzz_send(e, TUX_MSG_SMALL + how, how & 16);
		break;
	default:
		latch(how >> 4);
		break;
	}
}

static tux_time time_of(uint8_t how)
{
	static const tux_time unit[] = {
		TUX_USEC(10), TUX_MSEC(1), TUX_MSEC(20), TUX_SEC(1),
	};

	return unit[how % 4] * (1u + how / 4);
}

/* Nobody holds a latch for long: the loop looks again and again. */
static void pass(tux_time by)
{
	if (by > TUX_MSEC(4) && !e->closed) {
		tux_latch_drop(&e->end.dx->tx.latch);
		tux_latch_drop(&e->end.dx->rx.latch);
	}
	fuzz_pass(e, by);
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
		packet(in);
		break;
	case 5:
	case 6:
	case 7:
		tcp(in);
		break;
	case 8:
		read_some(fuzz_u8(in) * 4u);
		break;
	case 9:
		fuzz_write(e, fuzz_u8(in) * 2u);
		break;
	case 10:
		fuzz_send(e, fuzz_u8(in) * (op & 16 ? 16u : 1u), op >> 5 & 1);
		break;
	case 11:
		duo_tcp_take(e->end.peer, e->end.peer->in.len);
		fuzz_take(e);
		fuzz_release(e, op / 16);
		break;
	case 12:
	case 13:
		pass(time_of(fuzz_u8(in)));
		break;
	case 14:
		if (e->end.tcp_work && !e->end.gone_n)
			duo_serve(&e->end, 1u + op / 16);
		break;
	default:
		seldom(in);
		break;
	}
}

static struct fuzz_world *begin(uint8_t how)
{
	static const struct {
		enum fuzz_stage stage;
		bool messages;
	} kinds[KINDS] = {
		{ FUZZ_PROVED, false }, { FUZZ_MOVED, false },
		{ FUZZ_BACK, false }, { FUZZ_PROVED, true },
		{ FUZZ_MOVED, true }, { FUZZ_BACK, true },
	};
	unsigned i = how % WORLDS;	/* each for one side */

	if (!worlds[i])
		worlds[i] = fuzz_world_new(kinds[i / 2].stage,
					   kinds[i / 2].messages);
	fuzz_world_restore(worlds[i], !(i & 1), how);
	e = &worlds[i]->end[i & 1];
	forge_init(&peer, e, true);
	worlds[i]->sent = sent;
	plain_off = e->read + e->end.in.len;
	marker_at = UINT64_MAX;
	return worlds[i];
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t len)
{
	struct fuzz_in in = { p, len };
	struct fuzz_world *w = begin(fuzz_u8(&in));
	unsigned n;

	for (n = 0; in.left && n < OPS && !e->end.gone_n; n++) {
		w->datagrams = 0;
		act(&in);
		if (!e->end.gone_n)
			fuzz_turn(e);
		FUZZ_CHECK(!fuzz_world_grew(w));
	}
	fuzz_end_end(e);
	return 0;
}
