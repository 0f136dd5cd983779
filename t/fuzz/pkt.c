/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packets and their records, in a datagram of any bytes.
 *
 * What can be read is within the packet, and written again it is the same.  The
 * first byte of the input says what is repaired before: without that, hardly an
 * input would get past the CRC.
 */
#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "fuzz.h"
#include "wire/message.h"
#include "wire/pkt.h"
#include "wire/pkt_sum.h"

enum {
	FORM = 1,		/* magic, version and length */
	SUM = 2,		/* the CRC */
	SEAL = 4,		/* ... with a seal */
	MAX = 2048,
};

static const struct tux_key key = { 0x0123456789abcdef, 0xfedcba9876543210 };

static void repair(uint8_t *p, size_t len, uint8_t how)
{
	uint16_t n = tux_get16(p + 4);
	uint32_t crc;

	if (how & FORM) {
		tux_put16(p, TUX_WIRE_MAGIC);
		p[2] = TUX_WIRE_VERSION;
		if (n > len || n < TUX_PKT_HDR)
			tux_put16(p + 4, (uint16_t)len);
	}
	n = tux_get16(p + 4);
	if (!(how & SUM) || n > len || n < TUX_PKT_FIXED)
		return;
	crc = tux_pkt_crc(p, n);
	if (how & SEAL && !(p[3] & TUX_PKT_OPEN) && n >= TUX_PKT_HDR)
		crc ^= tux_pkt_seal(p, &key);
	tux_put32(p + TUX_PKT_CRC, crc);
}

static void check_message(const struct tux_record *rec)
{
	struct tux_message_hdr m;
	uint8_t again[TUX_MESSAGE_HDR_MAX];

	if (tux_message_decode(&m, rec->flags, rec->body, rec->len))
		return;
	FUZZ_CHECK(m.len + tux_message_hdr_len(m.flags) == rec->len);
	tux_message_encode(&m, again);
	FUZZ_CHECK(!memcmp(again, rec->body, rec->len - m.len));
}

static void check_sack(const struct tux_record *rec)
{
	unsigned i, n = rec->len / TUX_SACK_EACH;
	uint32_t start, end;

	FUZZ_CHECK(n <= TUX_SACK_MAX);
	for (i = 0; i < n; i++) {
		tux_sack_get(rec, i, &start, &end);
		FUZZ_CHECK(start == tux_get32(rec->body + 8 * i) &&
			   end == tux_get32(rec->body + 8 * i + 4));
	}
}

static void check_record(const struct tux_record *rec, const uint8_t *p,
			 const struct tux_pkt *h)
{
	const uint8_t *end = p + h->len;

	FUZZ_CHECK(rec->body >= p + TUX_PKT_HDR + TUX_REC_HDR &&
		   rec->body <= end && rec->len <= end - rec->body);
	switch (rec->type) {
	case TUX_REC_STREAM:
		FUZZ_CHECK(rec->data == rec->body + TUX_STREAM_HDR &&
			   rec->data + rec->data_len == rec->body + rec->len);
		FUZZ_CHECK(rec->off + rec->data_len + 1 > rec->off);
		break;
	case TUX_REC_MESSAGE:
		check_message(rec);
		break;
	case TUX_REC_SACK:
		check_sack(rec);
		break;
	default:
		break;
	}
}

/* Reads all records, and writes them to @w.  Were they all good? */
static bool walk(const struct tux_pkt *h, const uint8_t *p,
		 struct tux_writer *w)
{
	struct tux_record rec, first;
	struct tux_reader r, find;
	uint8_t *body;
	int more;

	tux_reader_init(&r, h, p);
	while ((more = tux_reader_next(&r, &rec)) > 0) {
		check_record(&rec, p, h);
		tux_reader_init(&find, h, p);
		FUZZ_CHECK(tux_reader_find(&find, rec.type, &first) &&
			   first.body <= rec.body);
		body = tux_writer_add(w, rec.type, rec.flags, rec.len);
		FUZZ_CHECK(body);
		if (rec.len)
			memcpy(body, rec.body, rec.len);
	}
	FUZZ_CHECK(more == 0 || more == -EBADMSG);
	return !more;
}

static void check_packet(const struct tux_pkt *h, const uint8_t *p, uint8_t how)
{
	uint8_t again[MAX];
	struct tux_pkt same = *h;
	struct tux_writer w;
	bool sealed = how & SEAL && !(h->flags & TUX_PKT_OPEN);

	FUZZ_CHECK(h->version == TUX_WIRE_VERSION);
	FUZZ_CHECK(!(how & SUM) || tux_pkt_sealed(h, p, &key) == sealed ||
		   !sealed);
	tux_hello_mac_ok(p, h, &key);
	tux_writer_init(&w, again, sizeof(again));
	if (!walk(h, p, &w))
		return;
	FUZZ_CHECK(tux_writer_end(&w, &same, NULL) == h->len);
	tux_put32(again + TUX_PKT_CRC,
		  tux_get32(again + TUX_PKT_CRC) ^ h->seal);
	FUZZ_CHECK(!memcmp(again, p, h->len));
}

int LLVMFuzzerTestOneInput(const uint8_t *in, size_t len)
{
	uint8_t buf[MAX], *p = buf;
	uint8_t how = len ? *in : 0;
	struct tux_pkt h;
	int err;

	len = len > MAX ? MAX : len;
	if (len < 2)
		return 0;
	memcpy(buf, in + 1, --len);
	for (; len; p += h.len, len -= h.len) {
		if (len >= TUX_PKT_FIXED)
			repair(p, len, how);
		err = tux_pkt_decode(&h, p, len);
		FUZZ_CHECK(!err || err == -EBADMSG || err == -EPROTONOSUPPORT);
		if (err == -EPROTONOSUPPORT)
			FUZZ_CHECK(h.version != TUX_WIRE_VERSION);
		if (err)
			return 0;
		FUZZ_CHECK(h.len >= TUX_PKT_HDR && h.len <= len);
		check_packet(&h, p, how);
	}
	return 0;
}
