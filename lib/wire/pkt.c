/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pkt - reads packets and records; pkt_write.c writes them
 */
#include "wire/pkt.h"

#include <errno.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "wire/pkt_sum.h"

/* The part of the header that is the same in every version. */
static int decode_fixed(struct tux_pkt *h, const uint8_t *p, size_t len)
{
	if (len < TUX_PKT_FIXED || tux_get16(p) != TUX_WIRE_MAGIC)
		return -EBADMSG;
	h->version = p[2];
	h->flags = p[3];
	h->len = tux_get16(p + 4);
	h->id = tux_get32(p + 8);
	if (h->len < TUX_PKT_FIXED || h->len > TUX_PKT_MAX || h->len > len)
		return -EBADMSG;
	h->seal = tux_pkt_crc(p, h->len) ^ tux_get32(p + TUX_PKT_CRC);
	return 0;
}

int tux_pkt_decode(struct tux_pkt *h, const uint8_t *p, size_t len)
{
	int err;

	*h = (struct tux_pkt){ 0 };
	err = decode_fixed(h, p, len);
	if (err)
		return err;
	/* A packet without OPEN is sealed; its connection, and so the key, is
	 * not known here.  The CRC of any other packet is plain. */
	if (h->seal && (h->flags & TUX_PKT_OPEN ||
			h->version != TUX_WIRE_VERSION))
		return -EBADMSG;
	if (h->version != TUX_WIRE_VERSION)
		return -EPROTONOSUPPORT;
	if (h->len < TUX_PKT_HDR)
		return -EBADMSG;
	h->span = tux_get16(p + 6);
	h->seq = tux_get32(p + 16);
	h->ack = tux_get32(p + 20);
	h->got = tux_get64(p + 24);
	h->window = tux_get32(p + 32);
	h->delay = tux_get16(p + 36);
	h->ect = p[38];
	h->ce = p[39];
	return 0;
}

bool tux_pkt_sealed(const struct tux_pkt *h, const uint8_t *p,
		    const struct tux_key *k)
{
	return h->seal == tux_pkt_seal(p, k);
}

void tux_reader_init(struct tux_reader *r, const struct tux_pkt *h,
		     const uint8_t *p)
{
	r->at = p + TUX_PKT_HDR;
	r->end = p + h->len;
}

static int read_stream(struct tux_record *rec)
{
	if (rec->len < TUX_STREAM_HDR)
		return -EBADMSG;
	rec->off = tux_get64(rec->body);
	rec->data = rec->body + TUX_STREAM_HDR;
	rec->data_len = (uint16_t)(rec->len - TUX_STREAM_HDR);
	/* The end of the bytes and of FIN behind them must be offsets, too, and
	 * UINT64_MAX is none. */
	return rec->off < UINT64_MAX - 1 - rec->data_len ? 0 : -EBADMSG;
}

static int read_prepare(struct tux_record *rec)
{
	if (rec->len != TUX_PREPARE_LEN && rec->len != TUX_PREPARE_TURN_LEN)
		return -EBADMSG;
	rec->gen = tux_get32(rec->body);
	rec->off = tux_get64(rec->body + 4);
	if (rec->len == TUX_PREPARE_TURN_LEN)
		rec->turn = tux_get32(rec->body + TUX_PREPARE_LEN);
	return 0;
}

static int read_prepared(struct tux_record *rec)
{
	if (rec->len != TUX_PREPARED_LEN)
		return -EBADMSG;
	rec->gen = tux_get32(rec->body);
	return 0;
}

static int read_reset(struct tux_record *rec)
{
	if (rec->len != TUX_RESET_LEN)
		return -EBADMSG;
	rec->reason = tux_get32(rec->body);
	return 0;
}

/* Without an offset, it names one that none has. */
static int read_raw(struct tux_record *rec)
{
	if (rec->len && rec->len != TUX_RAW_LEN)
		return -EBADMSG;
	rec->off = rec->len ? tux_get64(rec->body) : UINT64_MAX;
	return 0;
}

static int read_leave(struct tux_record *rec)
{
	if (rec->len != TUX_LEAVE_LEN)
		return -EBADMSG;
	rec->off = tux_get64(rec->body);
	rec->turn = tux_get32(rec->body + 8);
	return 0;
}

static int read_sack(const struct tux_record *rec)
{
	if (rec->len % TUX_SACK_EACH ||
	    rec->len > TUX_SACK_EACH * TUX_SACK_MAX)
		return -EBADMSG;
	return 0;
}

static int read_body(struct tux_record *rec)
{
	switch (rec->type) {
	case TUX_REC_STREAM:
		return read_stream(rec);
	case TUX_REC_SACK:
		return read_sack(rec);
	case TUX_REC_HELLO:
		return rec->len == TUX_HELLO_LEN ? 0 : -EBADMSG;
	case TUX_REC_PREPARE:
		return read_prepare(rec);
	case TUX_REC_PREPARED:
		return read_prepared(rec);
	case TUX_REC_RESET:
		return read_reset(rec);
	case TUX_REC_PING:
		return rec->len ? -EBADMSG : 0;
	case TUX_REC_RAW:
		return read_raw(rec);
	case TUX_REC_LEAVE:
		return read_leave(rec);
	default:
		return 0;
	}
}

int tux_reader_next(struct tux_reader *r, struct tux_record *rec)
{
	size_t left = (size_t)(r->end - r->at);
	int err;

	if (!left)
		return 0;
	if (left < TUX_REC_HDR)
		return -EBADMSG;
	*rec = (struct tux_record){
		.type = r->at[0],
		.flags = r->at[1],
		.len = tux_get16(r->at + 2),
		.body = r->at + TUX_REC_HDR,
	};
	if (rec->len > left - TUX_REC_HDR)
		return -EBADMSG;
	r->at = rec->body + rec->len;
	err = read_body(rec);
	return err ? err : 1;
}

bool tux_reader_find(struct tux_reader *r, uint8_t type,
		     struct tux_record *rec)
{
	while (r->end - r->at >= TUX_REC_HDR && r->at[0] != type) {
		size_t len = TUX_REC_HDR + (size_t)tux_get16(r->at + 2);

		if (len > (size_t)(r->end - r->at))
			return false;
		r->at += len;
	}
	return tux_reader_next(r, rec) > 0;
}

void tux_sack_get(const struct tux_record *rec, unsigned i, uint32_t *start,
		  uint32_t *end)
{
	const uint8_t *p = rec->body + i * TUX_SACK_EACH;

	*start = tux_get32(p);
	*end = tux_get32(p + 4);
}

/* Reads the tuple; its addresses must be of the family that the record
 * tells. */
static int decode_tuple(struct tux_tuple *t, const uint8_t *b)
{
	memcpy(t->active.ip, b + TUX_HELLO_AADDR, sizeof(t->active.ip));
	memcpy(t->passive.ip, b + TUX_HELLO_PADDR, sizeof(t->passive.ip));
	t->active.port = tux_get16(b + TUX_HELLO_APORT);
	t->passive.port = tux_get16(b + TUX_HELLO_PPORT);
	return b[TUX_HELLO_FAMILY] == tux_hello_family(t) ? 0 : -EBADMSG;
}

int tux_hello_decode(struct tux_hello *h, const struct tux_record *rec)
{
	const uint8_t *b = rec->body;

	if (rec->type != TUX_REC_HELLO || rec->len != TUX_HELLO_LEN)
		return -EBADMSG;
	if (tux_get16(b + TUX_HELLO_ZERO2) || tux_get32(b + TUX_HELLO_ZERO2 + 2))
		return -EBADMSG;
	h->flags = b[TUX_HELLO_FLAGS];
	h->version = b[TUX_HELLO_VERSION];
	h->why = b[TUX_HELLO_WHY];
	h->port = tux_get16(b + TUX_HELLO_PORT);
	h->id = tux_get32(b + TUX_HELLO_ID);
	h->nonce = tux_get64(b + TUX_HELLO_NONCE);
	h->echo = tux_get64(b + TUX_HELLO_ECHO);
	h->token = tux_get64(b + TUX_HELLO_TOKEN);
	h->seq = tux_get32(b + TUX_HELLO_SEQ);
	h->window = tux_get32(b + TUX_HELLO_WINDOW);
	h->pkt_max = tux_get16(b + TUX_HELLO_PKT);
	h->delay = tux_get16(b + TUX_HELLO_DELAY);
	return decode_tuple(&h->tuple, b);
}

/* The mask with that label; wire.h lists the labels. */
static uint64_t hello_mask(const struct tux_key *k, uint8_t label,
			   uint64_t nonce)
{
	uint8_t in[9];

	in[0] = label;
	tux_put64(in + 1, nonce);
	return tux_sip(k, in, sizeof(in));
}

void tux_hello_mask(struct tux_hello *h, const struct tux_key *k)
{
	uint64_t both = hello_mask(k, 3, h->nonce);

	h->token ^= hello_mask(k, 2, h->nonce);
	h->id ^= (uint32_t)(both >> 32);
	h->seq ^= (uint32_t)both;
}

bool tux_hello_mac_ok(const uint8_t *p, const struct tux_pkt *h,
		      const struct tux_key *k)
{
	const uint8_t *rec = p + TUX_PKT_HDR;

	if (h->len < TUX_PKT_HDR + TUX_REC_HDR + TUX_HELLO_LEN ||
	    rec[0] != TUX_REC_HELLO || tux_get16(rec + 2) != TUX_HELLO_LEN)
		return false;
	return tux_pkt_mac(p, h->len, k) == tux_get64(p + TUX_PKT_MAC);
}
