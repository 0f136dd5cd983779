/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each part alone, with what it works on in the cache.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/heap.h"
#include "conn/table.h"
#include "parts.h"
#include "transport/ackq.h"
#include "transport/cc.h"
#include "transport/loss.h"
#include "transport/pace.h"
#include "transport/recvbuf.h"
#include "transport/rtt.h"
#include "transport/sendbuf.h"
#include "transport/sentq.h"
#include "wire/eth.h"
#include "wire/pkt.h"

enum {
	MTU = 1472,
	ENTRIES = 1024,			/* connections in the table */
};

static uint8_t bytes[16384], copy[4096];
static volatile uint64_t sink;		/* so that results are wanted */

/* ---- base and wire ---- */

typedef uint32_t crc_fn(uint32_t crc, const void *p, size_t len);

static unsigned crc(crc_fn *fn, size_t len, unsigned n)
{
	uint32_t v = 0;
	unsigned i;

	for (i = 0; i < n; i++)
		v = fn(v, bytes, len);
	sink = v;
	return n;
}

#define CRC(name, fn, len) \
	static unsigned name(struct watch *w, unsigned n) \
	{ \
		(void)w; \
		return crc(fn, len, n); \
	}
CRC(crc_64, tux_crc32c, 64)
CRC(crc_1k, tux_crc32c, 1024)
CRC(crc_full, tux_crc32c, 1460)
CRC(crc_16k, tux_crc32c, 16384)
CRC(table_64, tux_crc32c_table, 64)
CRC(table_1k, tux_crc32c_table, 1024)
CRC(table_full, tux_crc32c_table, 1460)
CRC(table_16k, tux_crc32c_table, 16384)

static size_t build(uint8_t *p, uint32_t seq, size_t len)
{
	struct tux_pkt h = { .flags = TUX_PKT_ELICIT, .id = 1, .seq = seq };
	struct tux_writer w;
	uint8_t *body;

	tux_writer_init(&w, p, MTU);
	body = tux_writer_add(&w, TUX_REC_STREAM, TUX_STREAM_ORDER,
			      TUX_STREAM_HDR + len);
	tux_put64(body, seq * len);
	memcpy(body + TUX_STREAM_HDR, bytes, len);
	return tux_writer_end(&w, &h, NULL);
}

static unsigned pkt_write(struct watch *w, unsigned n)
{
	unsigned i;

	(void)w;
	for (i = 0; i < n; i++)
		sink = build(copy, i, PARTS_SMALL);
	return n;
}

static unsigned pkt_read(struct watch *w, unsigned n)
{
	size_t len = build(copy, 1, PARTS_SMALL);
	uint64_t v = 0;
	unsigned i;

	(void)w;
	for (i = 0; i < n; i++) {
		struct tux_record rec;
		struct tux_reader r;
		struct tux_pkt h;

		if (tux_pkt_decode(&h, copy, len))
			abort();
		tux_reader_init(&r, &h, copy);
		while (tux_reader_next(&r, &rec) > 0)
			v += rec.off;
	}
	sink = v;
	return n;
}

static const struct tux_addr here = {
	.ip = { [10] = 0xff, 0xff, 10, 0, 0, 1 }, .port = 7000,
};
static const struct tux_addr there = {
	.ip = { [10] = 0xff, 0xff, 10, 0, 0, 2 }, .port = 7001,
};

static unsigned eth_build(struct watch *w, unsigned n)
{
	const struct tux_eth_macs m = { { 0 }, { 0 } };
	unsigned i;

	(void)w;
	for (i = 0; i < n; i++)
		sink = tux_eth_build(copy + TUX_ETH_ROOM, PARTS_FULL, &m, &here,
				     &there, TUX_ECN_ECT0);
	return n;
}

static unsigned eth_parse(struct watch *w, unsigned n)
{
	const struct tux_eth_macs m = { { 0 }, { 0 } };
	size_t head = tux_eth_build(copy + TUX_ETH_ROOM, PARTS_FULL, &m, &here,
				    &there, TUX_ECN_ECT0);
	struct tux_eth_view v;
	unsigned i;

	(void)w;
	for (i = 0; i < n; i++) {
		if (tux_eth_parse(&v, copy + TUX_ETH_ROOM - head, head + PARTS_FULL))
			abort();
		sink = v.from.port;
	}
	return n;
}

/* ---- parts ---- */

static void *get(void *arg, size_t len)
{
	(void)arg;
	return calloc(1, len);
}

static void put(void *arg, void *p)
{
	(void)arg;
	free(p);
}

static const struct tux_mem mem = { get, put, NULL };

static unsigned table(struct watch *w, unsigned n)
{
	static struct tux_table t;
	static uint32_t id[ENTRIES];
	struct tux_tuple tuple = { here, there };
	const struct tux_key key = { 1, 2 };
	unsigned i;

	watch_stop(w);
	if (!id[0]) {
		tux_table_init(&t, &key, &mem);
		for (i = 0; i < ENTRIES; i++) {
			id[i] = (i + 1) * 2654435761u;
			tuple.active.port = (uint16_t)i;
			tux_table_add(&t, id[i], &tuple, true,
				      (struct tux_conn *)(void *)&id[i]);
		}
	}
	watch_go(w);
	for (i = 0; i < n; i++)
		sink = (uintptr_t)tux_table_by_id(&t, id[i * 7 % ENTRIES]);
	return n;
}

static unsigned heap(struct watch *w, unsigned n)
{
	static struct tux_heap h;
	static struct tux_heap_node node[PARTS_CROWD];
	unsigned i;

	(void)w;
	if (!h.cap) {
		tux_heap_init(&h, &mem);
		if (tux_heap_reserve(&h, PARTS_CROWD))
			abort();
	}
	for (i = 0; i < n; i++)
		tux_heap_set(&h, &node[i % PARTS_CROWD], 1000 + i);
	return n;
}

static unsigned ackq(struct watch *w, unsigned n)
{
	static struct tux_ackq q;
	unsigned i;

	(void)w;
	tux_ackq_init(&q, 0);
	for (i = 0; i < n; i++) {
		uint64_t floor = i < 8 ? 0 : i - 8;

		if (tux_ackq_check(&q, i, floor) != TUX_ACKQ_NEW)
			abort();
		tux_ackq_floor(&q, floor);
		tux_ackq_add(&q, i, i, 1000);
		if (q.owed_n == TUX_ACKQ_EVERY)
			tux_ackq_sent(&q);
	}
	return n;
}

static struct tux_sentq sentq_;
static struct tux_loss loss_;
static struct tux_rtt rtt_;

static void fly(struct tux_sentq *q, uint64_t n)
{
	struct tux_sent *s = tux_sentq_slot(q);

	*s = (struct tux_sent){ .at = n, .off = n * PARTS_FULL, .len = PARTS_FULL,
				.size = MTU };
	tux_sentq_push(q);
}

static void land(struct tux_sentq *q, uint64_t n)
{
	struct tux_sent *s = tux_sentq_find(q, n);

	tux_sentq_arrived(q, n, s);
	tux_sentq_retire(q, s);
}

static unsigned sentq(struct watch *w, unsigned n)
{
	unsigned i;

	(void)w;
	tux_sentq_init(&sentq_, 0);
	for (i = 0; i < n; i++) {
		fly(&sentq_, i);
		if (i >= PARTS_CROWD)
			land(&sentq_, i - PARTS_CROWD);
	}
	return n;
}

static void on_loss(void *arg, const struct tux_sent *s)
{
	(void)arg, (void)s;
	abort();
}

/* The oldest is missing, and its time has not come. */
static unsigned loss(struct watch *w, unsigned n)
{
	unsigned i;

	watch_stop(w);
	tux_sentq_init(&sentq_, 0);
	tux_loss_init(&loss_);
	tux_rtt_init(&rtt_, 0);
	tux_rtt_sample(&rtt_, TUX_USEC(50), 0);
	for (i = 0; i < PARTS_CROWD; i++)
		fly(&sentq_, i);
	land(&sentq_, 1);
	watch_go(w);
	for (i = 0; i < n; i++)
		tux_loss_detect(&loss_, &sentq_, &rtt_, on_loss, NULL, 1);
	sink = tux_loss_deadline(&loss_, &sentq_, &rtt_, 1);
	return n;
}

static unsigned rtt(struct watch *w, unsigned n)
{
	unsigned i;

	(void)w;
	tux_rtt_init(&rtt_, TUX_MSEC(1));
	for (i = 0; i < n; i++)
		tux_rtt_sample(&rtt_, TUX_USEC(50) + i % 16, i % 8);
	sink = rtt_.srtt;
	return n;
}

/* Behind its first loss, so that it is CUBIC that grows, an acknowledgment of
 * eight packets at a time. */
static unsigned cc(struct watch *w, unsigned n)
{
	static struct tux_cc c;
	struct tux_cc_ack a = {
		.bytes = 8 * MTU, .rtt = TUX_USEC(50), .full = true,
	};
	tux_time now = TUX_MSEC(1);
	unsigned i;

	(void)w;
	tux_cc_init(&c, &tux_cc_cubic, MTU);
	tux_cc_lost(&c, 0, now);
	for (i = 0; i < n; i++) {
		a.sent_at = now;
		now += TUX_USEC(50);
		tux_cc_acked(&c, &a, now);
	}
	sink = c.w.cwnd;
	return n;
}

static unsigned pace(struct watch *w, unsigned n)
{
	struct tux_pace p = { 0 };
	unsigned i;

	(void)w;
	tux_pace_set(&p, 100 * MTU, TUX_MSEC(2), false, MTU);
	for (i = 0; i < n; i++) {
		sink = tux_pace_open(&p, TUX_USEC(20) * i);
		tux_pace_sent(&p, MTU, TUX_USEC(20) * i);
	}
	return n;
}

static struct {
	struct tux_pipe pipe;
	uint8_t mem[PARTS_RING];
} ring;

static void begin(void)
{
	tux_pipe_init(&ring.pipe, sizeof(ring.pipe), PARTS_RING, 0);
}

static unsigned sendbuf(struct watch *w, unsigned n)
{
	static struct tux_sendbuf b;
	struct tux_extent e;
	unsigned i;

	(void)w;
	begin();
	tux_sendbuf_init(&b, &ring.pipe, 0, PARTS_RING);
	for (i = 0; i < n; i++) {
		tux_pipe_publish(&ring.pipe, (i + 1) * (uint64_t)PARTS_FULL);
		if (!tux_sendbuf_peek(&b, PARTS_FULL, &e))
			abort();
		tux_sendbuf_take(&b, &e);
		tux_sendbuf_got(&b, b.next, b.next + PARTS_RING);
	}
	return n;
}

static unsigned recvbuf(struct watch *w, unsigned n)
{
	static struct tux_recvbuf b;
	unsigned i;

	(void)w;
	begin();
	tux_recvbuf_init(&b, &ring.pipe);
	for (i = 0; i < n; i++) {
		if (tux_recvbuf_put(&b, i * (uint64_t)PARTS_FULL, bytes, PARTS_FULL,
				    false) != 1)
			abort();
		tux_pipe_consume(&ring.pipe, (i + 1) * (uint64_t)PARTS_FULL);
		sink = tux_recvbuf_window(&b);
	}
	return n;
}

const struct part parts_alone[] = {
	{ "crc32c-64", crc_64 },
	{ "crc32c-1024", crc_1k },
	{ "crc32c-1460", crc_full },
	{ "crc32c-16384", crc_16k },
	{ "crc32c-table-64", table_64 },
	{ "crc32c-table-1024", table_1k },
	{ "crc32c-table-1460", table_full },
	{ "crc32c-table-16384", table_16k },
	{ "pkt-write", pkt_write },
	{ "pkt-read", pkt_read },
	{ "eth-build", eth_build },
	{ "eth-parse", eth_parse },
	{ "table", table },
	{ "heap", heap },
	{ "ackq", ackq },
	{ "sentq", sentq },
	{ "loss", loss },
	{ "rtt", rtt },
	{ "cc", cc },
	{ "pace", pace },
	{ "sendbuf", sendbuf },
	{ "recvbuf", recvbuf },
	{ 0 },
};
