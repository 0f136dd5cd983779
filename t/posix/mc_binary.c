/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memcached's binary protocol.
 */
#include "mc.h"

#include <errno.h>
#include <string.h>

#include <arpa/inet.h>
#include <sys/uio.h>

#include "client.h"

enum {
	HEADER = 24,
	REQUEST = 0x80, RESPONSE = 0x81,
	OP_GET = 0x00, OP_SET = 0x01, OP_DELETE = 0x04, OP_INCR = 0x05,
	OP_NOOP = 0x0a, OP_VERSION = 0x0b, OP_GETKQ = 0x0d, OP_APPEND = 0x0e,
	STATUS_OK = 0, STATUS_NO_KEY = 1,
};

struct packet {
	uint8_t op;
	uint8_t extras[20];
	uint8_t extras_len;
	char key[64];
	uint16_t key_len;
	const void *value;
	uint32_t value_len;
	uint32_t opaque;
};

static void put32(uint8_t *p, uint32_t n)
{
	n = htonl(n);
	memcpy(p, &n, 4);
}

static uint32_t get32(const uint8_t *p)
{
	uint32_t n;

	memcpy(&n, p, 4);
	return ntohl(n);
}

static void bin_put(struct mc *c, const struct packet *p)
{
	uint8_t h[HEADER] = { REQUEST, p->op };
	struct iovec v[4] = {
		{ h, HEADER }, { (void *)p->extras, p->extras_len },
		{ (void *)p->key, p->key_len },
		{ (void *)p->value, p->value_len },
	};
	ssize_t n;
	int i;

	h[2] = (uint8_t)(p->key_len >> 8);
	h[3] = (uint8_t)p->key_len;
	h[4] = p->extras_len;
	put32(h + 8, p->extras_len + p->key_len + p->value_len);
	put32(h + 12, p->opaque);
	n = writev(c->fd, v, 4);
	if (n < 0)
		client_fail("connection %u: writev: %s", c->id,
			    strerror(errno));
	for (i = 0; i < 4; i++) {	/* what was left of it */
		size_t done = (size_t)n < v[i].iov_len ? (size_t)n :
			      v[i].iov_len;

		mc_put(c, (char *)v[i].iov_base + done, v[i].iov_len - done);
		n -= (ssize_t)done;
	}
}

/* The header of an answer to @op; returns the length of its value, after its
 * extras and key have been read. */
static uint32_t bin_answer(struct mc *c, const struct packet *p,
			   unsigned status)
{
	uint8_t h[HEADER], rest[256];
	uint32_t body, skip, got;

	mc_take(c, h, HEADER);
	got = (uint32_t)(h[6] << 8 | h[7]);
	body = get32(h + 8);
	skip = h[4] + (uint32_t)(h[2] << 8 | h[3]);
	if (h[0] != RESPONSE || h[1] != p->op || got != status ||
	    get32(h + 12) != p->opaque || skip > sizeof(rest) || skip > body)
		client_fail("connection %u: op %u: answer to op %u, status %u, "
			    "opaque %u, not status %u, opaque %u", c->id,
			    p->op, h[1], got, get32(h + 12),
			    status, p->opaque);
	mc_take(c, rest, skip);
	return body - skip;
}

static void bin_skip(struct mc *c, uint32_t n)
{
	uint8_t byte;

	while (n--)
		mc_take(c, &byte, 1);
}

static struct packet bin_packet(const struct mc *c, uint8_t op, uint32_t i)
{
	struct packet p = { .op = op, .opaque = i };

	p.key_len = (uint16_t)mc_key(c, i, p.key, sizeof(p.key));
	return p;
}

static void bin_store(struct mc *c, uint32_t i)
{
	struct packet p = bin_packet(c, OP_SET, i);

	p.extras_len = 8;
	p.value = c->value;
	p.value_len = mc_value(c, i);
	bin_put(c, &p);
	bin_skip(c, bin_answer(c, &p, STATUS_OK));
}

/* Values from @i to before @end: quiet questions, and a noop to end them. */
static void bin_get(struct mc *c, uint32_t i, uint32_t end)
{
	struct packet noop = { .op = OP_NOOP, .opaque = end };
	uint32_t k;

	for (k = i; k < end; k++) {
		struct packet p = bin_packet(c, OP_GETKQ, k);

		bin_put(c, &p);
	}
	bin_put(c, &noop);
	for (k = i; k < end; k++) {
		struct packet p = bin_packet(c, OP_GETKQ, k);
		uint32_t len = mc_value(c, k);

		if (bin_answer(c, &p, STATUS_OK) != len)
			client_fail("connection %u: getkq: wrong length",
				    c->id);
		mc_expect(c, "getkq: value", c->value, len);
	}
	bin_answer(c, &noop, STATUS_OK);
}

static void bin_odds(struct mc *c)
{
	struct packet p = bin_packet(c, OP_INCR, UINT32_MAX);
	uint8_t n[8];

	/* by 5, 37 to begin with */
	p.extras_len = 20;
	p.extras[7] = 5;
	p.extras[15] = 37;
	bin_put(c, &p);
	bin_answer(c, &p, STATUS_OK);
	mc_take(c, n, 8);
	bin_put(c, &p);
	bin_answer(c, &p, STATUS_OK);
	mc_take(c, n, 8);
	if (n[7] != 42)
		client_fail("connection %u: incr gave %u, not 42", c->id, n[7]);
	p = bin_packet(c, OP_APPEND, UINT32_MAX);
	p.value = "0";
	p.value_len = 1;
	bin_put(c, &p);
	bin_answer(c, &p, STATUS_OK);
	p = bin_packet(c, OP_GET, UINT32_MAX);
	bin_put(c, &p);
	if (bin_answer(c, &p, STATUS_OK) != 3)
		client_fail("connection %u: append: wrong length", c->id);
	mc_expect_text(c, "append", "420");
	p.op = OP_DELETE;
	bin_put(c, &p);
	bin_answer(c, &p, STATUS_OK);
	p.op = OP_GET;
	bin_put(c, &p);
	bin_skip(c, bin_answer(c, &p, STATUS_NO_KEY));
	p = (struct packet){ .op = OP_VERSION };
	bin_put(c, &p);
	bin_skip(c, bin_answer(c, &p, STATUS_OK));
}

const struct mc_protocol mc_binary = {
	.name = "binary", .store = bin_store, .get = bin_get, .odds = bin_odds,
};
