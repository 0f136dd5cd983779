/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The examples of tux-wire(7).  The library reads from the bytes of an example
 * what the page says beside them, and writes the same bytes.
 *
 * With the argument --print, it prints the examples for the page: use that when
 * the format changes.
 */
#include "page.h"

#include <stdbool.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "wire/frame.h"
#include "wire/key.h"
#include "wire/message.h"
#include "wire/pkt.h"

enum { CAP = 1024 };

static bool print;

/* ---- the connection of the examples ---- */

static const struct tux_said active = { 0x0123456789abcdef, 0x1000 };
static const struct tux_said passive = { 0xfedcba9876543210, 0xffffffff };
#define TUPLE { \
	{ { [10] = 0xff, 0xff, 10, 0, 0, 1 }, 50000 }, \
	{ { [10] = 0xff, 0xff, 10, 0, 0, 2 }, 6379 }, \
}

static const struct tux_hello first = {
	.flags = TUX_HELLO_WANT | TUX_HELLO_ACTIVE | TUX_HELLO_MESSAGES,
	.version = 1, .port = 50000, .id = 0xa1a2a3a4, .seq = 0xfffffffe,
	.window = 1 << 20, .nonce = 0x1111111111111111,
	.token = 0x3333333333333333, .pkt_max = 1472, .delay = 20,
	.tuple = TUPLE,
};
static const struct tux_hello answer = {
	.flags = TUX_HELLO_WANT | TUX_HELLO_MESSAGES,
	.version = 1, .port = 6379, .id = 0xb1b2b3b4, .seq = 7000,
	.window = 1 << 20, .nonce = 0x2222222222222221,
	.echo = 0x1111111111111111, .token = 0x4444444444444444,
	.pkt_max = 1472, .delay = 20, .tuple = TUPLE,
};

enum { SESSION = 0, SEAL = 6 };		/* labels of keys */

static struct tux_key key_of_connection(void)
{
	struct tux_key k;

	tux_key_make(&k, &active, &passive);
	return k;
}

/* The key with that label. */
static struct tux_key key_for(uint8_t label)
{
	const struct tux_key key = key_of_connection();
	struct tux_key k;
	uint8_t in[17];

	tux_put64(in + 1, first.nonce);
	tux_put64(in + 9, answer.nonce);
	in[0] = label;
	k.k0 = tux_sip(&key, in, sizeof(in));
	in[0]++;
	k.k1 = tux_sip(&key, in, sizeof(in));
	return k;
}

/* Finishes a numbered packet. */
static size_t end(struct tux_writer *w, struct tux_pkt *h)
{
	const struct tux_key seal = key_for(SEAL);

	return tux_writer_end(w, h, &seal);
}

/* ---- bytes, as the page shows them ---- */

static void say_hello(struct page_text *t, const struct tux_record *rec)
{
	const struct tux_key key = key_of_connection();
	struct tux_hello h;

	assert_int_equal(tux_hello_decode(&h, rec), 0);
	tux_hello_mask(&h, &key);
	page_hex(t, "1 1 2");
	page_put(t, "flags 0x%02x, version %u, port %u\n", h.flags, h.version,
		 h.port);
	page_hex(t, "4");
	page_put(t, "id 0x%08x, masked\n", h.id);
	page_hex(t, "8");
	page_put(t, "nonce\n");
	page_hex(t, "8");
	page_put(t, "echo\n");
	page_hex(t, "8");
	page_put(t, "token 0x%016llx, masked\n", (unsigned long long)h.token);
	page_hex(t, "4");
	page_put(t, "seq 0x%08x, masked\n", h.seq);
	page_hex(t, "4 2 2");
	page_put(t, "window %u, longest %u, %u us\n", h.window, h.pkt_max,
		 h.delay * 100u);
	page_hex(t, "1 1 2 2");
	page_put(t, "family %u, reason %u, ports %u and %u\n",
		 tux_addr_is_v4(&h.tuple.active) ? 4 : 6, h.why,
		 h.tuple.active.port, h.tuple.passive.port);
	page_hex(t, "6");
	page_put(t, "zero\n");
	page_hex(t, "16");
	page_put(t, "the active end\n");
	page_hex(t, "16");
	page_put(t, "the passive end\n");
	page_hex(t, "8");
	page_put(t, "MAC\n");
}

static void say_message(struct page_text *t, uint64_t flags, const uint8_t *p,
			size_t len)
{
	struct tux_message_hdr h;

	assert_int_equal(tux_message_decode(&h, flags, p, len), 0);
	page_hex(t, h.flags & TUX_MESSAGE_ORDER ? "4 4 4" : "4 4");
	page_put(t, "id %u, pos %u", h.id, h.pos);
	if (h.flags & TUX_MESSAGE_ORDER)
		page_put(t, ", order %u", h.order);
	page_put(t, "\n");
	if (h.len < h.total || h.flags & TUX_MESSAGE_CANCEL) {
		page_hex(t, "4 4");
		page_put(t, "total %u, offset %u\n", h.total, h.off);
	}
	page_data(t, h.len);
}

static void say_room(struct page_text *t, const uint8_t *p, size_t len)
{
	struct tux_room r[TUX_LANES];
	unsigned i;

	assert_int_equal(tux_room_decode(r, p, len), 0);
	for (i = 0; i < TUX_LANES; i++) {
		page_hex(t, "4 4 4");
		page_put(t, "cap %u, ids %u, limit %u\n", r[i].cap, r[i].ids,
			 r[i].limit);
	}
}

static void say_end(struct page_text *t, const uint8_t *p)
{
	page_hex(t, "4 4");
	page_put(t, "ids %u and %u\n", tux_get32(p), tux_get32(p + 4));
}

static void say_read(struct page_text *t, const uint8_t *p)
{
	page_hex(t, "8");
	page_put(t, "read up to %llu\n", (unsigned long long)tux_get64(p));
}

static void say_stream(struct page_text *t, const struct tux_record *rec)
{
	page_hex(t, "8");
	page_put(t, "offset %llu\n", (unsigned long long)rec->off);
	page_data(t, rec->data_len);
}

static void say_sack(struct page_text *t, const struct tux_record *rec)
{
	uint32_t start, end;
	unsigned i;

	for (i = 0; i < rec->len / TUX_SACK_EACH; i++) {
		tux_sack_get(rec, i, &start, &end);
		page_hex(t, "4 4");
		page_put(t, "from %u, below %u\n", start, end);
	}
}

static void say_body(struct page_text *t, const struct tux_record *rec)
{
	switch (rec->type) {
	case TUX_REC_STREAM:
		say_stream(t, rec);
		break;
	case TUX_REC_MESSAGE:
		say_message(t, rec->flags, rec->body, rec->len);
		break;
	case TUX_REC_SACK:
		say_sack(t, rec);
		break;
	case TUX_REC_HELLO:
		say_hello(t, rec);
		break;
	case TUX_REC_PREPARE:
		page_hex(t, "4 8");
		page_put(t, "generation %u, N %llu\n", rec->gen,
			 (unsigned long long)rec->off);
		break;
	case TUX_REC_PREPARED:
		page_hex(t, "4");
		page_put(t, "generation %u\n", rec->gen);
		break;
	case TUX_REC_RESET:
		page_hex(t, "4");
		page_put(t, "reason %u\n", rec->reason);
		break;
	case TUX_REC_RAW:
		if (rec->len)
			say_read(t, rec->body);
		break;
	case TUX_REC_ROOM:
		say_room(t, rec->body, rec->len);
		break;
	case TUX_REC_END:
		say_end(t, rec->body);
		break;
	}
}

static void say_record(struct page_text *t, const struct tux_record *rec)
{
	static const char *const name[] = {
		"", "STREAM", "MESSAGE", "SACK", "HELLO", "PREPARE",
		"PREPARED", "RESET", "PING", "RAW", "ROOM", "END",
	};

	assert_in_range(rec->type, 1, N_OF(name) - 1);
	page_hex(t, "1 1 2");
	page_put(t, "%s, flags 0x%02x, length %u\n", name[rec->type],
		 rec->flags, rec->len);
	say_body(t, rec);
}

static void say_packet(struct page_text *t, const uint8_t *p, size_t n)
{
	const struct tux_key seal = key_for(SEAL);
	struct tux_record rec;
	struct tux_reader r;
	struct tux_pkt h;
	bool open;

	assert_int_equal(tux_pkt_decode(&h, p, n), 0);
	assert_int_equal(h.len, n);
	open = h.flags & TUX_PKT_OPEN;
	assert_true(open || tux_pkt_sealed(&h, p, &seal));
	page_hex(t, "2 1 1");
	page_put(t, "magic, version %u, flags 0x%02x\n", h.version, h.flags);
	page_hex(t, "2 2");
	page_put(t, "length %u, span %u\n", h.len, h.span);
	page_hex(t, "4 4");
	page_put(t, "id 0x%08x, CRC%s\n", h.id, open ? "" : ", sealed");
	page_hex(t, "4 4");
	page_put(t, "seq %u, ack %u\n", h.seq, h.ack);
	page_hex(t, "8 4");
	page_put(t, "got %llu, window %u\n", (unsigned long long)h.got,
		 h.window);
	page_hex(t, "2 1 1");
	page_put(t, "delay %u, ect %u, ce %u\n", h.delay, h.ect, h.ce);
	tux_reader_init(&r, &h, p);
	while (tux_reader_next(&r, &rec) == 1)
		say_record(t, &rec);
	assert_ptr_equal(t->at, p + n);
}

static void say_frame(struct page_text *t, const uint8_t *p)
{
	static const char *const name[] = {
		"", "DATA", "MESSAGE", "FIN", "RESET", "SWITCH", "RAW", "ROOM",
	};
	const uint8_t *body = p + TUX_FRAME_HDR;
	struct tux_frame f;

	assert_int_equal(tux_frame_decode(&f, p), 0);
	page_hex(t, "1 3 4 8");
	page_put(t, "%s, length %u, offset %llu\n", name[f.type], f.len,
		 (unsigned long long)f.off);
	if (f.type == TUX_FRAME_DATA)
		page_data(t, f.len);
	else if (f.type == TUX_FRAME_MESSAGE)
		say_message(t, f.off, body, f.len);
	else if (f.type == TUX_FRAME_ROOM)
		say_room(t, body, f.len);
	else if (f.type == TUX_FRAME_FIN && f.len)
		say_end(t, body);
	else if (f.type == TUX_FRAME_RAW && f.len)
		say_read(t, body);
}

/* ---- comparing with the page ---- */

typedef void say_fn(struct page_text *t, const uint8_t *p, size_t n);

/* The example with @title has the @n bytes at @p, which the library has
 * written, and the text that @say makes of them. */
static void shown(const char *title, const uint8_t *p, size_t n, say_fn *say)
{
	struct page_text page, text;
	uint8_t bytes[PAGE_MAX];

	if (print) {
		page_text_init(&text, p);
		say(&text, p, n);
		fprintf(stderr, ".Ss %s\n.Bd -literal\n%s.Ed\n", title,
			text.s);
		return;
	}
	page_example(&page, title);
	assert_int_equal(page_bytes(&page, bytes), n);
	assert_memory_equal(bytes, p, n);
	page_text_init(&text, bytes);
	say(&text, bytes, n);
	assert_string_equal(text.s, page.s);
}

/* ---- hashes and keys ---- */

static void say_sums(struct page_text *t, const uint8_t *p, size_t n)
{
	(void)p, (void)n;
	page_hex(t, "4");
	page_put(t, "CRC32C of the nine characters\n");
	page_hex(t, "8");
	page_put(t, "SipHash-2-4 of the bytes 0 to 14\n");
	page_hex(t, "8");
	page_put(t, "SipHash-1-3 of the bytes 0 to 39\n");
}

static void sums__are_those_of_everybody(void **state)
{
	static const struct tux_key k = { 0x0706050403020100,
					  0x0f0e0d0c0b0a0908 };
	uint8_t in[40], p[20];
	uint8_t i;

	(void)state;
	for (i = 0; i < sizeof(in); i++)
		in[i] = i;
	tux_put32(p, tux_crc32c(0, "123456789", 9));
	tux_put64(p + 4, tux_sip(&k, in, 15));
	tux_put64(p + 12, tux_sip13(&k, in, sizeof(in)));
	shown("Sums", p, sizeof(p), say_sums);
}

static void say_option(struct page_text *t, const uint8_t *p, size_t n)
{
	(void)n;
	page_hex(t, "1 1 2");
	page_put(t, "kind %u, length %u, experiment\n", p[0], p[1]);
	page_hex(t, "8");
	page_put(t, "nonce\n");
	page_hex(t, "4");
	page_put(t, "hash of the addresses\n");
	page_hex(t, "2 1 1");
	page_put(t, "UDP port %u, version %u, reason %u\n", tux_get16(p + 16),
		 p[18], p[19]);
}

static void option(const char *title, const struct tux_said *said)
{
	uint8_t p[20] = { 254, 20, 0x54, 0x78, [18] = TUX_WIRE_VERSION };

	tux_put64(p + 4, said->nonce);
	tux_put32(p + 12, tux_key_places(&first.tuple, said->nonce));
	shown(title, p, sizeof(p), say_option);
}

static void option__of_each_end(void **state)
{
	(void)state;
	option("The option of a SYN", &active);
	option("The option of its SYN-ACK", &passive);
}

static void say_key(struct page_text *t, const uint8_t *p, size_t n)
{
	(void)p, (void)n;
	page_hex(t, "8");
	page_put(t, "k0\n");
	page_hex(t, "8");
	page_put(t, "k1\n");
}

static void key(const char *title, const struct tux_key *k)
{
	uint8_t p[16];

	tux_put64(p, k->k0);
	tux_put64(p + 8, k->k1);
	shown(title, p, sizeof(p), say_key);
}

static void key__of_each_purpose(void **state)
{
	const struct tux_key k = key_of_connection();
	const struct tux_key session = key_for(SESSION), seal = key_for(SEAL);

	(void)state;
	key("The key of the connection", &k);
	key("The session key", &session);
	key("The seal key", &seal);
}

static void say_marker(struct page_text *t, const uint8_t *p, size_t n)
{
	(void)p, (void)n;
	page_hex(t, "16");
	page_put(t, "active to passive\n");
	page_hex(t, "16");
	page_put(t, "passive to active\n");
}

static void marker__of_each_direction(void **state)
{
	const struct tux_key s = key_for(SESSION);
	uint8_t p[2 * TUX_MARKER_LEN];

	(void)state;
	tux_marker(p, &s, 1, 1);
	tux_marker(p + TUX_MARKER_LEN, &s, 1, 0);
	shown("Markers", p, sizeof(p), say_marker);
}

/* ---- packets ---- */

static void hello(const char *title, const struct tux_hello *is)
{
	const struct tux_key k = key_of_connection();
	struct tux_pkt h = { .flags = TUX_PKT_OPEN };
	struct tux_hello masked = *is;
	struct tux_writer w;
	uint8_t p[CAP];
	size_t n;

	tux_writer_init(&w, p, sizeof(p));
	tux_hello_mask(&masked, &k);
	assert_true(tux_writer_hello(&w, &masked));
	n = tux_writer_end(&w, &h, &k);
	assert_true(tux_hello_mac_ok(p, &h, &k));
	shown(title, p, n, say_packet);
}

static void hello__of_each_end(void **state)
{
	(void)state;
	hello("The first HELLO", &first);
	hello("Its answer", &answer);
}

static void add(struct tux_writer *w, uint8_t type, uint8_t flags,
		const char *hex)
{
	uint8_t body[CAP], *p;
	size_t n = test_hex(body, hex);

	p = tux_writer_add(w, type, flags, n);
	assert_non_null(p);
	memcpy(p, body, n);
}

static void prepare__asks_for_an_answer(void **state)
{
	struct tux_pkt h = { .flags = TUX_PKT_ELICIT, .id = answer.id,
			     .seq = 0xfffffffe, .ack = 7000 };
	struct tux_writer w;
	uint8_t p[CAP], *body;

	(void)state;
	tux_writer_init(&w, p, sizeof(p));
	body = tux_writer_add(&w, TUX_REC_PREPARE, 0, TUX_PREPARE_LEN);
	tux_put32(body, 1);
	tux_put64(body + 4, 100);
	add(&w, TUX_REC_PING, 0, "");
	shown("PREPARE and PING", p, end(&w, &h), say_packet);
}

static void several__in_one_packet(void **state)
{
	const struct tux_room room[TUX_LANES] = {
		{ 1 << 17, 256, 1 << 17 }, { 1 << 20, 32, 1 << 20 },
	};
	struct tux_pkt h = { .flags = TUX_PKT_ELICIT, .id = first.id,
			     .seq = 7000, .ack = 0xffffffff, .delay = 3 };
	struct tux_writer w;
	uint8_t p[CAP], *body;

	(void)state;
	tux_writer_init(&w, p, sizeof(p));
	body = tux_writer_add(&w, TUX_REC_ROOM, 0, TUX_ROOM_LEN);
	tux_room_encode(room, body);
	body = tux_writer_add(&w, TUX_REC_PREPARED, 0, TUX_PREPARED_LEN);
	tux_put32(body, 1);
	shown("ROOM and PREPARED", p, end(&w, &h),
	      say_packet);
}

static void stream__bytes(void **state)
{
	struct tux_pkt h = { .flags = TUX_PKT_ELICIT, .id = answer.id,
			     .seq = 1, .span = 2, .ack = 7001 };
	struct tux_writer w;
	uint8_t p[CAP], *body;

	(void)state;
	tux_writer_init(&w, p, sizeof(p));
	body = tux_writer_add(&w, TUX_REC_STREAM, TUX_STREAM_ORDER,
			      TUX_STREAM_HDR + 5);
	tux_put64(body, 100);
	memcpy(body + TUX_STREAM_HDR, "hello", 5);
	shown("STREAM", p, end(&w, &h), say_packet);
}

static void add_message(struct tux_writer *w, struct tux_message_hdr *h,
			const char *bytes)
{
	uint32_t hdr;
	uint8_t *p;

	if (!(h->flags & TUX_MESSAGE_CANCEL))
		h->flags |= tux_message_ends(h);
	hdr = tux_message_hdr_len(h->flags);
	p = tux_writer_add(w, TUX_REC_MESSAGE, h->flags, hdr + h->len);
	tux_message_encode(h, p);
	memcpy(p + hdr, bytes, h->len);
}

static void message__of_each_lane_and_cancel(void **state)
{
	struct tux_pkt h = { .flags = TUX_PKT_ELICIT, .id = answer.id,
			     .seq = 2, .span = 1, .ack = 7001 };
	struct tux_message_hdr small = {
		.flags = TUX_MESSAGE_ORDER, .id = 3, .pos = 192, .order = 1,
		.total = 4, .len = 4,
	};
	struct tux_message_hdr bulk = {
		.flags = TUX_MESSAGE_BULK, .id = 1, .pos = 20032,
		.total = 20000, .off = 19992, .len = 8,
	};
	struct tux_message_hdr cancel = {
		.flags = TUX_MESSAGE_ORDER | TUX_MESSAGE_CANCEL, .id = 4,
		.pos = 256, .order = 2,
	};
	struct tux_writer w;
	uint8_t p[CAP];

	(void)state;
	tux_writer_init(&w, p, sizeof(p));
	add_message(&w, &small, "ping");
	add_message(&w, &bulk, "the tail");
	add_message(&w, &cancel, "");
	shown("MESSAGE", p, end(&w, &h), say_packet);
}

static void ack__with_gaps(void **state)
{
	struct tux_pkt h = { .id = answer.id, .seq = 3, .span = 1,
			     .ack = 7002, .got = 4096, .window = 61440,
			     .delay = 12, .ect = 5, .ce = 1 };
	struct tux_writer w;
	uint8_t p[CAP];

	(void)state;
	tux_writer_init(&w, p, sizeof(p));
	add(&w, TUX_REC_SACK, 0, "00001b5e 00001b60 00001b5b 00001b5c");
	shown("SACK", p, end(&w, &h), say_packet);
}

static void fin__behind_end(void **state)
{
	struct tux_pkt h = { .flags = TUX_PKT_ELICIT, .id = answer.id,
			     .seq = 3, .span = 1, .ack = 7008, .got = 9000,
			     .window = 65536 };
	struct tux_writer w;
	uint8_t p[CAP];

	(void)state;
	tux_writer_init(&w, p, sizeof(p));
	add(&w, TUX_REC_END, 0, "00000005 00000002");
	add(&w, TUX_REC_STREAM, TUX_STREAM_ORDER | TUX_STREAM_FIN,
	    "0000000000000069 627965");
	shown("END and FIN", p, end(&w, &h), say_packet);
}

static void reset__and_raw(void **state)
{
	struct tux_pkt h = { .flags = TUX_PKT_ELICIT, .id = first.id,
			     .seq = 7009, .ack = 4, .got = 109,
			     .window = 1048576, .delay = 65535 };
	struct tux_writer w;
	uint8_t p[CAP], *body;

	(void)state;
	tux_writer_init(&w, p, sizeof(p));
	add(&w, TUX_REC_RAW, 0, "0000000000000069");
	shown("RAW", p, end(&w, &h), say_packet);
	h.seq++;
	tux_writer_init(&w, p, sizeof(p));
	body = tux_writer_add(&w, TUX_REC_RESET, 0, TUX_RESET_LEN);
	tux_put32(body, 15);
	shown("RESET", p, end(&w, &h), say_packet);
}

/* ---- frames ---- */

static void say_frames(struct page_text *t, const uint8_t *p, size_t n)
{
	while (t->at < p + n)
		say_frame(t, t->at);
}

static size_t frame(uint8_t *p, uint8_t type, uint64_t off, const char *hex)
{
	size_t n = test_hex(p + TUX_FRAME_HDR, hex);
	const struct tux_frame f = { .type = type, .len = (uint32_t)n,
				     .off = off };

	tux_frame_encode(&f, p);
	return TUX_FRAME_HDR + n;
}

static void frame__of_each_type(void **state)
{
	uint8_t p[CAP], *at = p;

	(void)state;
	at += frame(at, TUX_FRAME_DATA, 105, "627965");
	at += frame(at, TUX_FRAME_MESSAGE,
		    TUX_MESSAGE_ORDER | TUX_MESSAGE_FIRST | TUX_MESSAGE_LAST,
		    "00000003 000000c0 00000001 70696e67");
	at += frame(at, TUX_FRAME_ROOM, 0,
		    "00020000 00000100 00020000 00100000 00000020 00100000");
	at += frame(at, TUX_FRAME_SWITCH, 108, "");
	at += frame(at, TUX_FRAME_FIN, 108, "00000005 00000002");
	at += frame(at, TUX_FRAME_RAW, 108, "0000000000000069");
	at += frame(at, TUX_FRAME_RESET, 15, "");
	shown("Frames", p, (size_t)(at - p), say_frames);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums__are_those_of_everybody),
		cmocka_unit_test(option__of_each_end),
		cmocka_unit_test(key__of_each_purpose),
		cmocka_unit_test(hello__of_each_end),
		cmocka_unit_test(prepare__asks_for_an_answer),
		cmocka_unit_test(several__in_one_packet),
		cmocka_unit_test(marker__of_each_direction),
		cmocka_unit_test(stream__bytes),
		cmocka_unit_test(message__of_each_lane_and_cancel),
		cmocka_unit_test(ack__with_gaps),
		cmocka_unit_test(fin__behind_end),
		cmocka_unit_test(reset__and_raw),
		cmocka_unit_test(frame__of_each_type),
	};

	print = argc > 1 && strcmp(argv[1], "--print") == 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
