/* SPDX-License-Identifier: BSD-2-Clause */
#include "reel.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Lengths beside the sizes of markers, packets, frames and rings. */
static const uint32_t edge[] = {
	1, 15, 16, 17, 1023, 1024, 1400, 1447, 1448, 4096, 16383, 16384,
	65535, 65536, 65537, 131072, 262144, 1048575, 1048576,
};

enum { EDGE_EVERY = 16, N_EDGES = sizeof(edge) / sizeof(edge[0]) };

static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static uint64_t value_key(const struct reel_plan *p, uint32_t i)
{
	return mix(p->seed ^ mix(i));
}

uint32_t reel_length(const struct reel_plan *p, uint32_t i)
{
	uint64_t r = mix(value_key(p, i) ^ 0x6c656e);
	uint32_t bits = p->max < 2 ? 1 :
			32 - (uint32_t)__builtin_clz(p->max - 1);
	uint32_t low = 1u << (r >> 8) % bits, len;

	len = low + (uint32_t)(r >> 32) % low;
	if (i % EDGE_EVERY == EDGE_EVERY - 1)
		len = edge[i / EDGE_EVERY % N_EDGES];
	return len < p->max ? len : p->max;
}

static void value_bytes(uint64_t key, uint64_t off, uint8_t *buf, size_t len)
{
	while (len) {
		uint64_t word = mix(key + (off >> 3));
		size_t skip = off & 7, n = 8 - skip;

		if (n > len)
			n = len;
		memcpy(buf, (uint8_t *)&word + skip, n);
		buf += n;
		off += n;
		len -= n;
	}
}

static int command(const struct reel_plan *p, uint32_t i, char *buf,
		   size_t cap, uint32_t body)
{
	static const char *const verb[] = {
		[REEL_WRITE] = "SET", [REEL_READ] = "GET", [REEL_DEL] = "DEL",
	};
	char key[48];
	int n = snprintf(key, sizeof(key), "v:%" PRIu64 ":%" PRIu32, p->seed,
			 i);
	int m = snprintf(buf, cap, "*%d\r\n$3\r\n%s\r\n$%d\r\n%s\r\n",
			 p->verb == REEL_WRITE ? 3 : 2, verb[p->verb], n, key);

	if (p->verb == REEL_WRITE)
		m += snprintf(buf + m, cap - (size_t)m, "$%" PRIu32 "\r\n",
			      body);
	return m;
}

static int answer(const struct reel_plan *p, char *buf, size_t cap,
		  uint32_t body)
{
	if (p->verb == REEL_READ)
		return snprintf(buf, cap, "$%" PRIu32 "\r\n", body);
	return snprintf(buf, cap, p->verb == REEL_WRITE ? "+OK\r\n" :
			":1\r\n");
}

static void load(struct reel *r)
{
	const struct reel_plan *p = r->plan;
	uint32_t body = reel_length(p, r->item);
	bool has_body = p->verb == (r->reply ? REEL_READ : REEL_WRITE);

	r->head_len = (uint32_t)(r->reply ?
		answer(p, r->head, sizeof(r->head), body) :
		command(p, r->item, r->head, sizeof(r->head), body));
	r->body_len = has_body ? body : 0;
	r->tail = "\r\n";
	r->tail_len = has_body ? 2 : 0;
}

void reel_init(struct reel *r, const struct reel_plan *p, bool reply,
	       uint32_t first)
{
	memset(r, 0, sizeof(*r));
	r->plan = p;
	r->reply = reply;
	r->item = first;
	if (!reel_done(r))
		load(r);
}

/* How much of a part that starts at @start and is @len long can be given. */
static size_t piece(const struct reel *r, uint64_t start, uint64_t len,
		    size_t cap)
{
	uint64_t left;

	if (r->pos < start || r->pos >= start + len)
		return 0;
	left = start + len - r->pos;
	return left < cap ? left : cap;
}

static size_t read_part(struct reel *r, uint8_t *buf, size_t cap)
{
	uint64_t body = r->head_len, tail = body + r->body_len;
	size_t n;

	if ((n = piece(r, 0, r->head_len, cap)))
		memcpy(buf, r->head + r->pos, n);
	else if ((n = piece(r, body, r->body_len, cap)))
		value_bytes(value_key(r->plan, r->item), r->pos - body, buf, n);
	else if ((n = piece(r, tail, r->tail_len, cap)))
		memcpy(buf, r->tail + (r->pos - tail), n);
	return n;
}

size_t reel_read(struct reel *r, void *buf, size_t cap)
{
	uint64_t end = (uint64_t)r->head_len + r->body_len + r->tail_len;
	size_t got = 0, n;

	if (reel_done(r))
		return 0;
	while (got < cap && (n = read_part(r, (uint8_t *)buf + got,
					   cap - got))) {
		got += n;
		r->pos += n;
	}
	if (r->pos == end) {
		r->item += r->plan->step;
		r->pos = 0;
		if (!reel_done(r))
			load(r);
	}
	return got;
}
