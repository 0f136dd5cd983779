/* SPDX-License-Identifier: BSD-2-Clause */
#include "intrusion.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "segment.h"

enum {
	CRC_AT = 12, LEN_AT = 4,
	PAYLOAD = 1400,
	OLD_MS = 200,		/* by then, all that was lost is given up */
};

static uint32_t any(void)
{
	return (uint32_t)mrand48();
}

static uint32_t below(uint32_t n)
{
	return any() % n;
}

static struct tux_key any_key(void)
{
	return (struct tux_key){ any(), any() };
}

/* The CRC of a packet without a key. */
static void sum(uint8_t *p, size_t len)
{
	tux_put32(p + CRC_AT, 0);
	tux_put32(p + CRC_AT, tux_crc32c(0, p, len));
}

static size_t sent(const struct capture_way *w, uint8_t *p, size_t len,
		   uint8_t **frame)
{
	size_t hdrs = tux_eth_build(p, len, &w->macs, &w->from, &w->to,
				    TUX_ECN_NONE);

	*frame = p - hdrs;
	return hdrs + len;
}

/* ---- without sense ---- */

static size_t garbage(const struct capture_way *w, uint8_t *buf, uint8_t **frame,
		      tux_time now)
{
	uint8_t *p = buf + TUX_ETH_ROOM;
	size_t len = 2 + below(PAYLOAD), i;

	(void)now;
	for (i = 0; i < len; i++)
		p[i] = (uint8_t)any();
	tux_put16(p, TUX_WIRE_MAGIC);
	if (len >= TUX_PKT_HDR && below(2)) {
		p[2] = TUX_WIRE_VERSION;
		tux_put16(p + LEN_AT, (uint16_t)len);
		sum(p, len);
	}
	return sent(w, p, len, frame);
}

/* ---- openings ---- */

/* One in the name of who sends on @w, with a MAC that somebody made up. */
static size_t put_hello(const struct capture_way *w, uint8_t *p, bool stranger)
{
	struct tux_pkt h = { .flags = TUX_PKT_OPEN };
	struct tux_hello hello = w->hello;
	struct tux_key k = any_key();
	struct tux_writer writer;

	if (!w->has_hello)
		return 0;
	hello.flags |= TUX_HELLO_WANT;
	if (below(2))
		hello.nonce = any();
	if (below(2))
		hello.echo = any();
	if (stranger)
		hello.tuple.active.port ^= (uint16_t)(1 + below(65535));
	tux_writer_init(&writer, p, PAYLOAD);
	tux_writer_hello(&writer, &hello);
	return tux_writer_end(&writer, &h, &k);
}

static size_t hello_stranger(const struct capture_way *w, uint8_t *buf,
			     uint8_t **frame, tux_time now)
{
	uint8_t *p = buf + TUX_ETH_ROOM;
	size_t len = put_hello(w, p, true);

	(void)now;
	return len ? sent(w, p, len, frame) : 0;
}

static size_t hello_forged(const struct capture_way *w, uint8_t *buf,
			   uint8_t **frame, tux_time now)
{
	uint8_t *p = buf + TUX_ETH_ROOM;
	size_t len = put_hello(w, p, false);

	(void)now;
	return len ? sent(w, p, len, frame) : 0;
}

/* What says that it is longer or shorter than it is, in one place or the other,
 * or really is. */
static size_t hello_length(const struct capture_way *w, uint8_t *buf,
			   uint8_t **frame, tux_time now)
{
	uint8_t *p = buf + TUX_ETH_ROOM;
	size_t len = put_hello(w, p, below(2)), says = len;

	(void)now;
	if (!len)
		return 0;
	switch (below(4)) {
	case 0:
		tux_put16(p + TUX_PKT_HDR + 2, (uint16_t)any());
		break;
	case 1:
		says = TUX_PKT_HDR + below(PAYLOAD - TUX_PKT_HDR);
		break;
	case 2:
		len = says = TUX_PKT_HDR + below((uint32_t)len - TUX_PKT_HDR);
		break;
	case 3:
		says = len + below(PAYLOAD - (uint32_t)len);
		memset(p + len, 0, says - len);
		len = says;
	}
	tux_put16(p + LEN_AT, (uint16_t)says);
	sum(p, says < len ? says : len);
	return sent(w, p, len, frame);
}

static size_t version(const struct capture_way *w, uint8_t *buf, uint8_t **frame,
		      tux_time now)
{
	uint8_t *p = buf + TUX_ETH_ROOM;
	size_t len = 16 + below(100);

	(void)now;
	memset(p, 0, len);
	tux_put16(p, TUX_WIRE_MAGIC);
	p[2] = (uint8_t)(TUX_WIRE_VERSION + 1 + below(200));
	p[3] = below(2) ? TUX_PKT_OPEN : TUX_PKT_ELICIT;
	tux_put16(p + LEN_AT, (uint16_t)len);
	tux_put32(p + 8, below(2) ? w->pkt.id : any());
	sum(p, len);
	return sent(w, p, len, frame);
}

/* ---- numbered packets ---- */

static void put_stream(const struct capture_way *w, struct tux_writer *to)
{
	uint8_t *p = tux_writer_add(to, TUX_REC_STREAM, TUX_STREAM_ORDER |
				    (below(4) ? 0 : TUX_STREAM_FIN),
				    TUX_STREAM_HDR + 4);

	(void)w;
	tux_put64(p, below(2) ? below(1 << 20) : 0);
	memcpy(p + TUX_STREAM_HDR, "evil", 4);
}

static void put_reset(const struct capture_way *w, struct tux_writer *to)
{
	(void)w;
	tux_put32(tux_writer_add(to, TUX_REC_RESET, 0, TUX_RESET_LEN),
		  below(30));
}

static void put_prepare(const struct capture_way *w, struct tux_writer *to)
{
	uint8_t *p = tux_writer_add(to, TUX_REC_PREPARE, 0, TUX_PREPARE_LEN);

	(void)w;
	tux_put32(p, below(8));
	tux_put64(p + 4, below(1 << 20));
	tux_put32(tux_writer_add(to, TUX_REC_PREPARED, 0, TUX_PREPARED_LEN),
		  below(8));
}

static void put_raw(const struct capture_way *w, struct tux_writer *to)
{
	(void)w;
	tux_writer_add(to, TUX_REC_RAW, 0, 0);
}

/* All that was sent so far, and more, has arrived. */
static void put_sack(const struct capture_way *w, struct tux_writer *to)
{
	uint8_t *p = tux_writer_add(to, TUX_REC_SACK, 0, TUX_SACK_EACH);

	tux_put32(p, w->pkt.ack);
	tux_put32(p + 4, w->pkt.ack + below(1000));
}

static void put_ping(const struct capture_way *w, struct tux_writer *to)
{
	(void)w;
	tux_writer_add(to, TUX_REC_PING, 0, 0);
}

typedef void put_fn(const struct capture_way *w, struct tux_writer *to);

/* Under an id and numbers that are known or guessed, and a seal that is not. */
static size_t numbered(const struct capture_way *w, uint8_t *buf, uint8_t **frame,
		       bool known, put_fn *put)
{
	uint8_t *p = buf + TUX_ETH_ROOM;
	struct tux_key k = any_key();
	struct tux_pkt h = w->pkt;
	struct tux_writer writer;

	if (known && !w->has_pkt)
		return 0;
	h.flags = TUX_PKT_ELICIT | TUX_PKT_NOW;
	if (known) {
		h.seq += 1 + below(100);
		h.got += below(2) * below(100000);
	} else {
		h = (struct tux_pkt){
			.flags = h.flags, .id = any(), .seq = any(),
			.ack = any(), .window = any(), .got = any(),
		};
	}
	tux_writer_init(&writer, p, PAYLOAD);
	put(w, &writer);
	return sent(w, p, tux_writer_end(&writer, &h, below(2) ? &k : NULL),
		    frame);
}

static size_t reset_blind(const struct capture_way *w, uint8_t *buf,
			  uint8_t **frame, tux_time now)
{
	(void)now;
	return numbered(w, buf, frame, false, put_reset);
}

static size_t reset_known(const struct capture_way *w, uint8_t *buf,
			  uint8_t **frame, tux_time now)
{
	(void)now;
	return numbered(w, buf, frame, true, put_reset);
}

static put_fn *any_data(void)
{
	static put_fn *const put[] = {
		put_stream, put_stream, put_prepare, put_raw, put_sack,
		put_ping,
	};

	return put[below(sizeof(put) / sizeof(put[0]))];
}

static size_t data_blind(const struct capture_way *w, uint8_t *buf,
			 uint8_t **frame, tux_time now)
{
	(void)now;
	return numbered(w, buf, frame, false, any_data());
}

static size_t data_known(const struct capture_way *w, uint8_t *buf,
			 uint8_t **frame, tux_time now)
{
	(void)now;
	return numbered(w, buf, frame, true, any_data());
}

/* ---- what was sent once ---- */

static size_t again(const struct capture_way *w, const struct capture_datagram *d,
		    uint8_t *buf, uint8_t **frame)
{
	uint8_t *p = buf + TUX_ETH_ROOM;

	if (!d)
		return 0;
	memcpy(p, d->p, d->len);
	return sent(w, p, d->len, frame);
}

static size_t replay(const struct capture_way *w, uint8_t *buf, uint8_t **frame,
		     tux_time now)
{
	(void)now;
	return again(w, capture_kept(&w->now, any()), buf, frame);
}

static size_t replay_hello(const struct capture_way *w, uint8_t *buf,
			   uint8_t **frame, tux_time now)
{
	(void)now;
	return again(w, w->has_hello ? &w->opening : NULL, buf, frame);
}

static size_t replay_earlier(const struct capture_way *w, uint8_t *buf,
			     uint8_t **frame, tux_time now)
{
	(void)now;
	return again(w, capture_kept(&w->before, any()), buf, frame);
}

/* A packet that arrived, with its seal, which covers the header, and another
 * body: who hears it can make the CRC right. */
static size_t altered(const struct capture_way *w, uint8_t *buf, uint8_t **frame,
		      tux_time now)
{
	const struct capture_datagram *d = capture_kept(&w->now, any());
	uint8_t *p = buf + TUX_ETH_ROOM;
	uint32_t seal;
	size_t len, i;

	if (!d || now < d->at + TUX_MSEC(OLD_MS))
		return 0;
	memcpy(p, d->p, d->len);
	len = tux_get16(p + LEN_AT);
	if (len > d->len || len <= TUX_PKT_HDR || p[3] & TUX_PKT_OPEN)
		return 0;
	seal = tux_get32(p + CRC_AT);
	sum(p, len);
	seal ^= tux_get32(p + CRC_AT);
	for (i = 0; i < 4; i++)
		p[TUX_PKT_HDR + below((uint32_t)(len - TUX_PKT_HDR))] ^=
			(uint8_t)(1 + below(255));
	sum(p, len);
	tux_put32(p + CRC_AT, tux_get32(p + CRC_AT) ^ seal);
	return sent(w, p, len, frame);
}

/* ---- below Tux ---- */

/* In the TCP connection that the last HELLO named. */
static size_t tcp_reset(const struct capture_way *w, uint8_t *buf,
			uint8_t **frame, tux_time now)
{
	const struct tux_tuple *t = &w->hello.tuple;
	bool active = tux_addr_same_ip(&w->from, &t->active);

	(void)now;
	if (!w->has_hello)
		return 0;
	*frame = buf;
	return segment_tcp(buf, &w->macs, active ? &t->active : &t->passive,
			   active ? &t->passive : &t->active, any(),
			   below(2) ? SEGMENT_RST : SEGMENT_SYN);
}

/* What @w's receiver sent could not be delivered, or was too long. */
static size_t icmp(const struct capture_way *w, uint8_t *buf, uint8_t **frame,
		   tux_time now)
{
	(void)now;
	*frame = buf;
	return segment_icmp(buf, &w->macs, &w->from, &w->to, below(2), any());
}

const struct intrusion intrusions[] = {
	{ "garbage", false, garbage },
	{ "hello-stranger", false, hello_stranger },
	{ "hello-forged", false, hello_forged },
	{ "hello-length", false, hello_length },
	{ "version", false, version },
	{ "reset-blind", false, reset_blind },
	{ "reset-known", false, reset_known },
	{ "data-blind", false, data_blind },
	{ "data-known", false, data_known },
	{ "replay", false, replay },
	{ "replay-hello", false, replay_hello },
	{ "replay-earlier", false, replay_earlier },
	{ "altered", false, altered },
	{ "tcp-reset", true, tcp_reset },
	{ "icmp", true, icmp },
	{ NULL, false, NULL },
};
