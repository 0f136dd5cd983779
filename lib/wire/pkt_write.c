/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pkt_write - writes packets and records; pkt.c reads them
 */
#include "wire/pkt.h"

#include <assert.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "wire/pkt_sum.h"

void tux_writer_init(struct tux_writer *w, uint8_t *p, size_t cap)
{
	assert(cap >= TUX_PKT_HDR && "a packet has a header");
	w->p = p;
	w->len = TUX_PKT_HDR;
	w->cap = cap < TUX_PKT_MAX ? cap : TUX_PKT_MAX;
}

size_t tux_writer_room(const struct tux_writer *w)
{
	size_t left = w->cap - w->len;

	return left > TUX_REC_HDR ? left - TUX_REC_HDR : 0;
}

uint8_t *tux_writer_add(struct tux_writer *w, uint8_t type, uint8_t flags,
			size_t len)
{
	uint8_t *rec = w->p + w->len;
	size_t left = w->cap - w->len;

	/* Not tux_writer_room(), which cannot tell room for an empty body from
	 * no room at all. */
	if (left < TUX_REC_HDR || left - TUX_REC_HDR < len)
		return NULL;
	rec[0] = type;
	rec[1] = flags;
	tux_put16(rec + 2, (uint16_t)len);
	w->len += TUX_REC_HDR + len;
	return rec + TUX_REC_HDR;
}

static void encode_tuple(uint8_t *b, const struct tux_tuple *t)
{
	b[TUX_HELLO_FAMILY] = tux_hello_family(t);
	tux_put16(b + TUX_HELLO_APORT, t->active.port);
	tux_put16(b + TUX_HELLO_PPORT, t->passive.port);
	memcpy(b + TUX_HELLO_AADDR, t->active.ip, sizeof(t->active.ip));
	memcpy(b + TUX_HELLO_PADDR, t->passive.ip, sizeof(t->passive.ip));
}

bool tux_writer_hello(struct tux_writer *w, const struct tux_hello *h)
{
	uint8_t *b = tux_writer_add(w, TUX_REC_HELLO, 0, TUX_HELLO_LEN);

	if (!b)
		return false;
	memset(b, 0, TUX_HELLO_LEN);
	b[TUX_HELLO_FLAGS] = h->flags;
	b[TUX_HELLO_VERSION] = h->version;
	b[TUX_HELLO_WHY] = h->why;
	tux_put16(b + TUX_HELLO_PORT, h->port);
	tux_put32(b + TUX_HELLO_ID, h->id);
	tux_put64(b + TUX_HELLO_NONCE, h->nonce);
	tux_put64(b + TUX_HELLO_ECHO, h->echo);
	tux_put64(b + TUX_HELLO_TOKEN, h->token);
	tux_put32(b + TUX_HELLO_SEQ, h->seq);
	tux_put32(b + TUX_HELLO_WINDOW, h->window);
	tux_put16(b + TUX_HELLO_PKT, h->pkt_max);
	tux_put16(b + TUX_HELLO_DELAY, h->delay);
	encode_tuple(b, &h->tuple);
	return true;
}

static void encode_header(uint8_t *p, const struct tux_pkt *h)
{
	tux_put16(p, TUX_WIRE_MAGIC);
	p[2] = h->version;
	p[3] = h->flags;
	tux_put16(p + 4, h->len);
	tux_put16(p + 6, h->span);
	tux_put32(p + 8, h->id);
	tux_put32(p + TUX_PKT_CRC, 0);
	tux_put32(p + 16, h->seq);
	tux_put32(p + 20, h->ack);
	tux_put64(p + 24, h->got);
	tux_put32(p + 32, h->window);
	tux_put16(p + 36, h->delay);
	p[38] = h->ect;
	p[39] = h->ce;
}

size_t tux_writer_end(struct tux_writer *w, struct tux_pkt *h,
		      const struct tux_key *k)
{
	uint32_t crc;

	h->version = TUX_WIRE_VERSION;
	h->len = (uint16_t)w->len;
	encode_header(w->p, h);
	if (k && h->flags & TUX_PKT_OPEN) {
		assert(w->len >= TUX_PKT_MAC + 8 &&
		       w->p[TUX_PKT_HDR] == TUX_REC_HELLO &&
		       "a packet with OPEN begins with HELLO");
		tux_put64(w->p + TUX_PKT_MAC, tux_pkt_mac(w->p, w->len, k));
	}
	crc = tux_crc32c(0, w->p, w->len);	/* the CRC field is zero here */
	if (k && !(h->flags & TUX_PKT_OPEN))
		crc ^= tux_pkt_seal(w->p, k);
	tux_put32(w->p + TUX_PKT_CRC, crc);
	return w->len;
}
