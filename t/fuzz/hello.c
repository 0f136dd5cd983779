/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * HELLO: its body, its mask and its MAC.
 *
 * The input is a body; its last byte says which numbers that must be zero, or
 * follow from others, are made so.
 */
#include <string.h>

#include "base/bytes.h"
#include "fuzz.h"
#include "wire/pkt.h"
#include "wire/pkt_sum.h"

static const struct tux_key key = { 0x0123456789abcdef, 0xfedcba9876543210 };

enum { ZEROS = 1, FAMILY = 2, V4 = 4 };

static void repair(uint8_t *b, uint8_t how)
{
	static const uint8_t mapped[12] = { [10] = 0xff, 0xff };

	if (how & ZEROS)
		memset(b + TUX_HELLO_ZERO2, 0, 6);
	if (how & V4) {
		memcpy(b + TUX_HELLO_AADDR, mapped, sizeof(mapped));
		memcpy(b + TUX_HELLO_PADDR, mapped, sizeof(mapped));
	}
	if (how & FAMILY)
		b[TUX_HELLO_FAMILY] = how & V4 ? 4 : 6;
}

/* A packet of @hello under the key: what comes of it is what was written. */
static void send(const struct tux_hello *hello, uint8_t *p)
{
	struct tux_pkt h = { .flags = TUX_PKT_OPEN }, got;
	struct tux_reader r;
	struct tux_record rec;
	struct tux_hello back;
	struct tux_writer w;
	size_t len;

	tux_writer_init(&w, p, TUX_PKT_HDR + TUX_REC_HDR + TUX_HELLO_LEN);
	FUZZ_CHECK(tux_writer_hello(&w, hello));
	len = tux_writer_end(&w, &h, &key);
	FUZZ_CHECK(!tux_pkt_decode(&got, p, len) && got.len == len);
	FUZZ_CHECK(tux_hello_mac_ok(p, &got, &key));
	tux_reader_init(&r, &got, p);
	FUZZ_CHECK(tux_reader_next(&r, &rec) == 1);
	memset(&back, 0, sizeof(back));
	FUZZ_CHECK(!tux_hello_decode(&back, &rec));
	FUZZ_CHECK(!memcmp(&back, hello, sizeof(back)));
}

/* One bit changed anywhere but in the CRC, and the MAC is wrong. */
static void harm(uint8_t *p, uint16_t where)
{
	struct tux_pkt h = { .len = TUX_PKT_HDR + TUX_REC_HDR + TUX_HELLO_LEN };
	unsigned at = where / 8 % h.len;

	if (at >= TUX_PKT_CRC && at < TUX_PKT_CRC + 4)
		return;
	p[at] ^= (uint8_t)(1u << where % 8);
	FUZZ_CHECK(!tux_hello_mac_ok(p, &h, &key));
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t len)
{
	uint8_t body[TUX_HELLO_LEN];
	uint8_t pkt[TUX_PKT_HDR + TUX_REC_HDR + TUX_HELLO_LEN];
	struct tux_record rec = { .type = TUX_REC_HELLO, .body = body };
	struct fuzz_in in = { p, len };
	struct tux_hello hello, masked;
	uint8_t how;

	how = fuzz_u8(&in);
	rec.len = (uint16_t)fuzz_vary(&in, TUX_HELLO_LEN);
	fuzz_bytes(&in, body, sizeof(body));
	repair(body, how);
	memset(&hello, 0, sizeof(hello));
	if (tux_hello_decode(&hello, &rec))
		return 0;
	masked = hello;
	tux_hello_mask(&masked, &key);
	send(&masked, pkt);
	FUZZ_CHECK(!memcmp(pkt + TUX_PKT_HDR + TUX_REC_HDR + TUX_HELLO_FAMILY,
			   body + TUX_HELLO_FAMILY,
			   TUX_HELLO_MAC - TUX_HELLO_FAMILY));
	harm(pkt, tux_get16(body + TUX_HELLO_MAC));
	tux_hello_mask(&masked, &key);
	FUZZ_CHECK(!memcmp(&masked, &hello, sizeof(hello)));
	return 0;
}
