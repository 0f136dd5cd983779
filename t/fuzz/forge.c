/* SPDX-License-Identifier: BSD-2-Clause */
#include "forge.h"

#include <string.h>

#include "wire/frame.h"

enum { RECORDS = 6, HEADER = 12 };

void forge_init(struct forge *f, struct fuzz_end *to, bool key)
{
	struct fuzz_end *peer = fuzz_peer(to);

	memset(f, 0, sizeof(*f));
	f->to = to;
	f->key = key;
	f->seq = peer->end.c->sentq.next;
}

/* ---- what the peer would say of the stream, and of messages ---- */

static uint64_t next_offset(const struct forge *f)
{
	const struct tux_conn *c = f->to->end.c;

	if (!c->rx.gen || tux_conn_rx_state(c) == TUX_RX_PLAIN)
		return c->dx->rx.off + f->to->end.in.len;
	return tux_pipe_head(&c->dx->rxp);
}

static void put_bytes(const struct forge *f, uint8_t *p, uint64_t off,
		      size_t len)
{
	fuzz_fill(f->to->w, !f->to->end.side, off, p, len);
}

/* A message that begins now. */
static void new_message(struct forge *f, struct fuzz_in *in, uint8_t how)
{
	struct forged *m = &f->message[f->message_n++ % FORGED];
	unsigned lane = how & 1;

	m->flags = lane ? TUX_MESSAGE_BULK : 0;
	m->total = how & 2 ? fuzz_u8(in) : fuzz_u16(in);
	m->id = f->id[lane]++;
	m->pos = (uint32_t)tux_lane_place(f->pos[lane], m->total,
					  TUX_LANE_MIN);
	f->pos[lane] = m->pos + tux_lane_size(m->total);
	m->order = 0;
	if (how & 4) {
		m->flags |= TUX_MESSAGE_ORDER;
		m->order = f->order++;
	}
}

/* A fragment of a new message or of an old one.  @most: of its bytes. */
static void next_fragment(struct forge *f, struct fuzz_in *in,
			  struct tux_message_hdr *h, uint32_t most)
{
	uint8_t how = fuzz_u8(in), vary;
	const struct forged *m;

	if (!f->message_n || how & 8)
		new_message(f, in, how);
	m = &f->message[(how & 8 ? f->message_n - 1 : how >> 4) % FORGED];
	*h = (struct tux_message_hdr){
		.flags = m->flags, .id = m->id, .pos = m->pos,
		.order = m->order, .total = m->total, .len = m->total,
	};
	vary = fuzz_u8(in);
	if (vary & 1)
		h->off = (uint32_t)fuzz_vary(in, fuzz_u8(in));
	if (vary & 2)
		h->len = fuzz_u8(in);
	else if (h->off < h->total)
		h->len = h->total - h->off;
	if (vary & 4)
		h->id = (uint32_t)fuzz_vary(in, h->id);
	if (vary & 8)
		h->pos = (uint32_t)fuzz_vary(in, h->pos / 64) * 64;
	if (vary & 16)
		h->total = (uint32_t)fuzz_vary(in, h->total);
	if (vary & 32)
		h->order = (uint32_t)fuzz_vary(in, h->order);
	if (h->len > most)
		h->len = most;
	h->flags |= tux_message_ends(h);
	if (vary & 64)
		h->flags ^= fuzz_u8(in) & TUX_MESSAGE_FLAGS;
	if (vary & 128)
		h->len = 0;
}

/* What says that it is all of a message says no offset: it is read as 0. */
static void put_fragment(const struct forge *f, uint8_t *p,
			 const struct tux_message_hdr *h)
{
	uint32_t off = tux_message_whole(h->flags) ? 0 : h->off;

	tux_message_encode(h, p);
	fuzz_message_fill(f->to->w, !f->to->end.side, tux_message_lane(h),
			  h->id, off, p + tux_message_hdr_len(h->flags),
			  h->len);
}

static void put_room(const struct forge *f, struct fuzz_in *in, uint8_t *p)
{
	const struct tux_messages *g = f->to->end.c->msg;
	struct tux_room room[TUX_LANES];
	unsigned i;

	for (i = 0; i < TUX_LANES; i++) {
		room[i].cap = (uint32_t)fuzz_vary(in, TUX_LANE_MIN);
		room[i].ids = (uint32_t)fuzz_vary(in, g ? g->tx[i].first +
						  tux_lane_n(i) : 0);
		room[i].limit = (uint32_t)fuzz_vary(in, g ? g->tx[i].pos / 64 :
						    0) * 64 + TUX_LANE_MIN;
	}
	tux_room_encode(room, p);
}

static void put_end(const struct forge *f, struct fuzz_in *in, uint8_t *p)
{
	tux_put32(p, (uint32_t)fuzz_vary(in, f->id[0]));
	tux_put32(p + 4, (uint32_t)fuzz_vary(in, f->id[1]));
}

/* ---- records ---- */

static void add_stream(const struct forge *f, struct fuzz_in *in,
		       struct tux_writer *w)
{
	uint8_t how = fuzz_u8(in);
	size_t room = tux_writer_room(w), len = how & 4 ? fuzz_u16(in) % 512 :
							  fuzz_u8(in);
	uint64_t off = fuzz_vary(in, next_offset(f));
	uint8_t *p;

	if (room <= TUX_STREAM_HDR)
		return;
	if (len > room - TUX_STREAM_HDR)
		len = room - TUX_STREAM_HDR;
	p = tux_writer_add(w, TUX_REC_STREAM, (uint8_t)
			   ((how & 1 ? TUX_STREAM_FIN : 0) |
			    (how >= 0xf0 ? 0 : TUX_STREAM_ORDER)),
			   TUX_STREAM_HDR + len);
	tux_put64(p, off);
	put_bytes(f, p + TUX_STREAM_HDR, off, len);
}

static void add_message(struct forge *f, struct fuzz_in *in,
			struct tux_writer *w)
{
	struct tux_message_hdr h;
	size_t room = tux_writer_room(w);
	uint8_t *p;

	if (room < TUX_MESSAGE_HDR_MAX)
		return;
	next_fragment(f, in, &h, (uint32_t)(room - TUX_MESSAGE_HDR_MAX));
	p = tux_writer_add(w, TUX_REC_MESSAGE, h.flags,
			   tux_message_hdr_len(h.flags) + h.len);
	put_fragment(f, p, &h);
}

static void add_sack(const struct forge *f, struct fuzz_in *in,
		     struct tux_writer *w)
{
	const struct tux_sentq *q = &f->to->end.c->sentq;
	unsigned i, n = fuzz_u8(in) % (TUX_SACK_MAX + 2);
	uint8_t *p = tux_writer_add(w, TUX_REC_SACK, 0, n * TUX_SACK_EACH);

	for (i = 0; p && i < n; i++, p += TUX_SACK_EACH) {
		uint8_t at = fuzz_u8(in);
		uint64_t start = q->floor + at % 16;

		if (at >= 0x80)
			start = fuzz_vary(in, start);
		tux_put32(p, (uint32_t)start);
		tux_put32(p + 4, (uint32_t)start + 1 + at / 16 % 4);
	}
}

static void add_prepare(const struct forge *f, struct fuzz_in *in,
			struct tux_writer *w)
{
	const struct tux_duplex_rx *r = &f->to->end.dx->rx;
	uint8_t *p = tux_writer_add(w, TUX_REC_PREPARE, 0, TUX_PREPARE_LEN);

	if (!p)
		return;
	tux_put32(p, (uint32_t)fuzz_vary(in, r->gen + 1));
	tux_put64(p + 4, fuzz_u8(in) < 16 ? TUX_NOWHERE :
		  fuzz_vary(in, next_offset(f)));
}

/* A record of so many bytes, and what they say. */
static void add_any(struct fuzz_in *in, struct tux_writer *w, uint8_t type,
		    size_t len)
{
	uint8_t *p = tux_writer_add(w, type, fuzz_u8(in), len);

	if (p)
		fuzz_bytes(in, p, len);
}

static void add_number(struct fuzz_in *in, struct tux_writer *w, uint8_t type,
		       uint64_t v)
{
	uint8_t *p = tux_writer_add(w, type, 0, 4);

	if (p)
		tux_put32(p, (uint32_t)fuzz_vary(in, v));
}

static void add_of_messages(const struct forge *f, struct fuzz_in *in,
			    struct tux_writer *w, uint8_t type, size_t len)
{
	uint8_t *p = tux_writer_add(w, type, 0, len);

	if (p && type == TUX_REC_ROOM)
		put_room(f, in, p);
	else if (p)
		put_end(f, in, p);
}

static void add_record(struct forge *f, struct fuzz_in *in,
		       struct tux_writer *w)
{
	uint8_t type = fuzz_u8(in);

	switch (type % 16) {
	case TUX_REC_STREAM:
	case 15:
		add_stream(f, in, w);
		break;
	case TUX_REC_MESSAGE:
	case 14:
		add_message(f, in, w);
		break;
	case TUX_REC_SACK:
		add_sack(f, in, w);
		break;
	case TUX_REC_PREPARE:
		add_prepare(f, in, w);
		break;
	case TUX_REC_PREPARED:
		add_number(in, w, TUX_REC_PREPARED, f->to->end.dx->tx.gen);
		break;
	case TUX_REC_RESET:
		if (type >= 0xf0)	/* it is the end of most inputs */
			add_number(in, w, TUX_REC_RESET, 1);
		break;
	case TUX_REC_PING:
		tux_writer_add(w, TUX_REC_PING, 0, 0);
		break;
	case TUX_REC_RAW:
		tux_writer_add(w, TUX_REC_RAW, 0, 0);
		break;
	case TUX_REC_ROOM:
		add_of_messages(f, in, w, TUX_REC_ROOM, TUX_ROOM_LEN);
		break;
	case TUX_REC_END:
		add_of_messages(f, in, w, TUX_REC_END, TUX_END_LEN);
		break;
	default:
		add_any(in, w, type, fuzz_u8(in) % 32);
		break;
	}
}

/* ---- packets ---- */

/* The header, each of its numbers right but those that the input changes. */
static void fill_header(struct forge *f, struct fuzz_in *in, struct tux_pkt *h)
{
	const struct tux_conn *c = f->to->end.c;
	uint8_t vary = fuzz_u8(in);
	uint64_t seq = f->seq, got = 0;

	if (c->tx.path != TUX_PATH_PLAIN)
		got = tux_pipe_head(&c->dx->txp);
	h->flags = vary & 1 ? fuzz_u8(in) & (uint8_t)~TUX_PKT_OPEN :
			      TUX_PKT_ELICIT;
	if (vary & 2)
		seq = fuzz_vary(in, seq);
	h->seq = (uint32_t)seq;
	if (h->flags & TUX_PKT_ELICIT && seq - f->seq < TUX_SEQ_REACH)
		f->seq = seq + 1;
	h->id = c->id;
	h->ack = (uint32_t)(vary & 4 ? fuzz_vary(in, c->sentq.next) :
				       c->sentq.next);
	h->got = vary & 8 ? fuzz_vary(in, got) : got;
	h->window = (uint32_t)(vary & 16 ? fuzz_vary(in, FUZZ_RING) :
					   FUZZ_RING);
	h->span = (uint16_t)(vary & 32 ? fuzz_vary(in, 1) : 0);
	h->delay = (uint16_t)(vary & 64 ? fuzz_vary(in, 1) : 0);
	if (vary & 128) {
		h->ect = fuzz_u8(in);
		h->ce = fuzz_u8(in);
	}
}

size_t forge_packet(struct forge *f, struct fuzz_in *in, uint8_t *p, size_t cap)
{
	struct tux_pkt h = { 0 };
	struct tux_writer w;
	unsigned n = fuzz_u8(in) % RECORDS;

	fill_header(f, in, &h);
	tux_writer_init(&w, p, cap);
	while (n--)
		add_record(f, in, &w);
	return tux_writer_end(&w, &h, f->key ? &f->to->end.c->seal : NULL);
}

/* ---- frames ---- */

static size_t frame(uint8_t *p, uint8_t type, uint32_t len, uint64_t off)
{
	const struct tux_frame h = { .type = type, .len = len, .off = off };

	tux_frame_encode(&h, p);
	return TUX_FRAME_HDR + len;
}

static size_t message_frame(struct forge *f, struct fuzz_in *in, uint8_t *p,
			    size_t cap)
{
	struct tux_message_hdr h;

	next_fragment(f, in, &h, (uint32_t)cap - TUX_FRAME_HDR -
		      TUX_MESSAGE_HDR_MAX);
	put_fragment(f, p + TUX_FRAME_HDR, &h);
	return frame(p, TUX_FRAME_MESSAGE,
		     tux_message_hdr_len(h.flags) + h.len, h.flags);
}

static size_t data_frame(const struct forge *f, struct fuzz_in *in, uint8_t *p,
			 size_t cap)
{
	uint64_t off = fuzz_vary(in, next_offset(f));
	uint32_t len = fuzz_u8(in) * 4u;

	if (len > cap - TUX_FRAME_HDR)
		len = (uint32_t)(cap - TUX_FRAME_HDR);
	put_bytes(f, p + TUX_FRAME_HDR, off, len);
	return frame(p, TUX_FRAME_DATA, len, off);
}

size_t forge_frame(struct forge *f, struct fuzz_in *in, uint8_t *p, size_t cap)
{
	uint8_t type = fuzz_u8(in);
	uint64_t off = next_offset(f);

	/* Behind RAW and PLAIN are plain bytes, which a frame's are not. */
	f->to->muddled |= f->raw;
	switch (type % 16) {
	case TUX_FRAME_DATA:
	case 9:
	case 10:
		return data_frame(f, in, p, cap);
	case TUX_FRAME_MESSAGE:
	case 11:
		return message_frame(f, in, p, cap);
	case TUX_FRAME_FIN:
		put_end(f, in, p + TUX_FRAME_HDR);
		return frame(p, TUX_FRAME_FIN, type & 16 ? TUX_END_LEN : 0,
			     fuzz_vary(in, off));
	case TUX_FRAME_RESET:
		return frame(p, type >= 0xf0 ? TUX_FRAME_RESET :
			     TUX_FRAME_SWITCH, 0, fuzz_vary(in, off));
	case TUX_FRAME_SWITCH:
		return frame(p, TUX_FRAME_SWITCH, 0, fuzz_vary(in, off));
	case TUX_FRAME_RAW:
		f->raw = true;
		return frame(p, TUX_FRAME_RAW, 0, fuzz_vary(in, off));
	case TUX_FRAME_PLAIN:
		f->raw = true;
		return frame(p, TUX_FRAME_PLAIN, 0, fuzz_vary(in, off));
	case TUX_FRAME_ROOM:
		put_room(f, in, p + TUX_FRAME_HDR);
		return frame(p, TUX_FRAME_ROOM, TUX_ROOM_LEN,
			     type & 16 ? fuzz_vary(in, off) : 0);
	default:			/* any bytes, which may begin a body */
		f->to->muddled = true;
		fuzz_bytes(in, p, type % 32);
		return type % 32;
	}
}
