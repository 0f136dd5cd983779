/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mc - a memcached client that speaks both protocols and checks every answer
 *
 *   mc text|binary --port P [--conns C] [--n N] [--max BYTES] [--seed S]
 *
 * Blocking sockets, one thread per connection, so that a server's workers all
 * get some.  Each connection stores N values, fetches them singly and in one
 * go, counts, appends, deletes, and looks whether what it asked for happened.
 * Text goes by send() and recv(), binary by writev() and readv().
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "client.h"

enum {
	PATIENCE = 10,		/* seconds */
	TOGETHER = 8,		/* keys in one question */
	HEADER = 24,		/* of the binary protocol */
	REQUEST = 0x80, RESPONSE = 0x81,
	OP_GET = 0x00, OP_SET = 0x01, OP_DELETE = 0x04, OP_INCR = 0x05,
	OP_NOOP = 0x0a, OP_VERSION = 0x0b, OP_GETKQ = 0x0d, OP_APPEND = 0x0e,
	STATUS_OK = 0, STATUS_NO_KEY = 1,
};

static struct {
	uint16_t port;
	uint32_t conns, n, max;
	uint64_t seed;
	bool binary;
} opt = { .conns = 8, .n = 200, .max = 200000, .seed = 1 };

struct client {
	int fd;
	uint32_t id;
	uint8_t in[65536];
	size_t at, len;
	char *value;		/* opt.max + 64 bytes */
};

/* ---- values ---------------------------------------------------------- */

static uint32_t length_of(const struct client *c, uint32_t i)
{
	uint64_t x = (opt.seed + c->id * 1000003ull + i) *
		     0x9e3779b97f4a7c15u;

	return 1 + (uint32_t)((x >> 40) % opt.max >> (x >> 30 & 15));
}

/* Writes the value for @i; it holds CR and LF too. */
static uint32_t make_value(struct client *c, uint32_t i)
{
	uint64_t x = opt.seed ^ (uint64_t)c->id << 32 ^ i;
	uint32_t n = length_of(c, i), k;

	for (k = 0; k < n; k++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		c->value[k] = (char)(x >> 56);
	}
	return n;
}

static int make_key(const struct client *c, uint32_t i, char *key, size_t cap)
{
	return snprintf(key, cap, "mc:%" PRIu64 ":%u:%u", opt.seed, c->id, i);
}

/* ---- bytes ----------------------------------------------------------- */

static void fill(struct client *c)
{
	struct iovec v[2] = { { c->in, 1000 },
			      { c->in + 1000, sizeof(c->in) - 1000 } };
	ssize_t n = opt.binary ? readv(c->fd, v, 2) :
		    recv(c->fd, c->in, sizeof(c->in), 0);

	if (n <= 0)
		client_fail("connection %u: %s", c->id, !n ? "closed" :
			    errno == EAGAIN ? "stuck" : strerror(errno));
	c->at = 0;
	c->len = (size_t)n;
}

static void take(struct client *c, void *p, size_t n)
{
	uint8_t *to = p;

	while (n) {
		size_t m;

		if (c->at == c->len)
			fill(c);
		m = c->len - c->at < n ? c->len - c->at : n;
		memcpy(to, c->in + c->at, m);
		c->at += m;
		to += m;
		n -= m;
	}
}

static void put(struct client *c, const void *p, size_t n)
{
	while (n) {
		ssize_t m = send(c->fd, p, n, MSG_NOSIGNAL);

		if (m < 0)
			client_fail("connection %u: sending: %s", c->id,
				    strerror(errno));
		p = (const char *)p + m;
		n -= (size_t)m;
	}
}

static void expect(struct client *c, const char *what, const void *want,
		   size_t n)
{
	const uint8_t *w = want;
	uint8_t got;
	size_t i;

	for (i = 0; i < n; i++) {
		take(c, &got, 1);
		if (got != w[i])
			client_fail("connection %u: %s: byte %zu of %zu is "
				    "%02x, not %02x", c->id, what, i, n, got,
				    w[i]);
	}
}

static void expect_text(struct client *c, const char *what, const char *want)
{
	expect(c, what, want, strlen(want));
}

/* ---- the text protocol ----------------------------------------------- */

static void text_store(struct client *c, uint32_t i)
{
	char key[64], line[128];
	uint32_t len = make_value(c, i);

	make_key(c, i, key, sizeof(key));
	put(c, line, (size_t)snprintf(line, sizeof(line), "set %s %u 0 %u\r\n",
				      key, i, len));
	put(c, c->value, len);
	put(c, "\r\n", 2);
	expect_text(c, "set", "STORED\r\n");
}

static void text_value(struct client *c, uint32_t i)
{
	char key[64], line[128];
	uint32_t len = make_value(c, i);

	make_key(c, i, key, sizeof(key));
	snprintf(line, sizeof(line), "VALUE %s %u %u\r\n", key, i, len);
	expect_text(c, "get: header", line);
	expect(c, "get: value", c->value, len);
	expect_text(c, "get: end", "\r\n");
}

/* Values from @i to before @end in one question. */
static void text_get(struct client *c, uint32_t i, uint32_t end)
{
	char line[TOGETHER * 64 + 16] = "get", key[64];
	size_t len = strlen(line);
	uint32_t k;

	for (k = i; k < end; k++) {
		make_key(c, k, key, sizeof(key));
		len += (size_t)snprintf(line + len, sizeof(line) - len, " %s",
					key);
	}
	len += (size_t)snprintf(line + len, sizeof(line) - len, "\r\n");
	put(c, line, len);
	for (k = i; k < end; k++)
		text_value(c, k);
	expect_text(c, "get: end", "END\r\n");
}

static void text_say(struct client *c, const char *verb, const char *rest,
		     const char *want)
{
	char line[160];

	snprintf(line, sizeof(line), "%s mc:n:%" PRIu64 ":%u%s\r\n", verb,
		 opt.seed, c->id, rest);
	put(c, line, strlen(line));
	expect_text(c, verb, want);
}

static void text_odds(struct client *c)
{
	char line[160];

	text_say(c, "set", " 0 0 2\r\n41", "STORED\r\n");
	text_say(c, "incr", " 1", "42\r\n");
	text_say(c, "append", " 0 0 1\r\n0", "STORED\r\n");
	text_say(c, "decr", " 20", "400\r\n");
	text_say(c, "add", " 0 0 1\r\nx", "NOT_STORED\r\n");
	text_say(c, "delete", "", "DELETED\r\n");
	text_say(c, "get", "", "END\r\n");
	text_say(c, "delete", "", "NOT_FOUND\r\n");
	/* many questions at once */
	snprintf(line, sizeof(line), "get no:1\r\nget no:2\r\nnonsense\r\n"
		 "get no:3\r\n");
	put(c, line, strlen(line));
	expect_text(c, "pipeline", "END\r\nEND\r\nERROR\r\nEND\r\n");
}

/* ---- the binary protocol --------------------------------------------- */

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

static void bin_put(struct client *c, const struct packet *p)
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

		put(c, (char *)v[i].iov_base + done, v[i].iov_len - done);
		n -= (ssize_t)done;
	}
}

/* The header of an answer to @op; returns the length of its value, after its
 * extras and key have been read. */
static uint32_t bin_answer(struct client *c, const struct packet *p,
			   unsigned status)
{
	uint8_t h[HEADER], rest[256];
	uint32_t body, skip, got;

	take(c, h, HEADER);
	got = (uint32_t)(h[6] << 8 | h[7]);
	body = get32(h + 8);
	skip = h[4] + (uint32_t)(h[2] << 8 | h[3]);
	if (h[0] != RESPONSE || h[1] != p->op || got != status ||
	    get32(h + 12) != p->opaque || skip > sizeof(rest) || skip > body)
		client_fail("connection %u: op %u: answer to op %u, status %u, "
			    "opaque %u, not status %u, opaque %u", c->id,
			    p->op, h[1], got, get32(h + 12),
			    status, p->opaque);
	take(c, rest, skip);
	return body - skip;
}

static void bin_skip(struct client *c, uint32_t n)
{
	uint8_t byte;

	while (n--)
		take(c, &byte, 1);
}

static struct packet bin_packet(const struct client *c, uint8_t op, uint32_t i)
{
	struct packet p = { .op = op, .opaque = i };

	p.key_len = (uint16_t)make_key(c, i, p.key, sizeof(p.key));
	return p;
}

static void bin_store(struct client *c, uint32_t i)
{
	struct packet p = bin_packet(c, OP_SET, i);

	p.extras_len = 8;
	p.value = c->value;
	p.value_len = make_value(c, i);
	bin_put(c, &p);
	bin_skip(c, bin_answer(c, &p, STATUS_OK));
}

/* Values from @i to before @end: quiet questions, and a noop to end them. */
static void bin_get(struct client *c, uint32_t i, uint32_t end)
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
		uint32_t len = make_value(c, k);

		if (bin_answer(c, &p, STATUS_OK) != len)
			client_fail("connection %u: getkq: wrong length",
				    c->id);
		expect(c, "getkq: value", c->value, len);
	}
	bin_answer(c, &noop, STATUS_OK);
}

static void bin_odds(struct client *c)
{
	struct packet p = bin_packet(c, OP_INCR, UINT32_MAX);
	uint8_t n[8];

	/* by 5, 37 to begin with */
	p.extras_len = 20;
	p.extras[7] = 5;
	p.extras[15] = 37;
	bin_put(c, &p);
	bin_answer(c, &p, STATUS_OK);
	take(c, n, 8);
	bin_put(c, &p);
	bin_answer(c, &p, STATUS_OK);
	take(c, n, 8);
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
	expect_text(c, "append", "420");
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

/* ---- a connection ---------------------------------------------------- */

static void *run(void *arg)
{
	struct client *c = arg;
	uint32_t i, k;

	c->fd = client_dial("127.0.0.1", opt.port, false);
	client_patience(c->fd, PATIENCE);
	for (i = 0; i < opt.n; i++)
		opt.binary ? bin_store(c, i) : text_store(c, i);
	for (k = 1; k <= TOGETHER; k += TOGETHER - 1)
		for (i = 0; i + k <= opt.n; i += k)
			opt.binary ? bin_get(c, i, i + k) :
				     text_get(c, i, i + k);
	opt.binary ? bin_odds(c) : text_odds(c);
	close(c->fd);
	return NULL;
}

static void usage(void)
{
	fputs("usage: mc text|binary --port P [--conns C] [--n N]\n"
	      "          [--max BYTES] [--seed S]\n", stderr);
	exit(2);
}

static void parse(int argc, char **argv)
{
	static const struct option o[] = {
		{ "port", 1, 0, 'p' }, { "conns", 1, 0, 'c' },
		{ "n", 1, 0, 'n' }, { "max", 1, 0, 'x' },
		{ "seed", 1, 0, 's' }, { 0 },
	};
	int k, i;

	while ((k = getopt_long(argc, argv, "", o, &i)) != -1) {
		uint32_t n;

		if (k == '?')
			usage();
		n = (uint32_t)client_number(o[i].name, optarg, 1, 1u << 30);
		if (k == 'p')
			opt.port = (uint16_t)n;
		else if (k == 'c')
			opt.conns = n;
		else if (k == 'n')
			opt.n = n;
		else if (k == 'x')
			opt.max = n;
		else
			opt.seed = n;
	}
	if (optind != argc - 1 || !opt.port)
		usage();
	opt.binary = !strcmp(argv[optind], "binary");
	if (!opt.binary && strcmp(argv[optind], "text"))
		usage();
}

int main(int argc, char **argv)
{
	struct client *c;
	pthread_t *t;
	uint32_t i;

	parse(argc, argv);
	c = calloc(opt.conns, sizeof(*c));
	t = calloc(opt.conns, sizeof(*t));
	if (!c || !t)
		client_fail("no memory");
	for (i = 0; i < opt.conns; i++) {
		c[i].id = i;
		c[i].value = malloc(opt.max + 64);
		if (!c[i].value ||
		    pthread_create(&t[i], NULL, run, &c[i]))
			client_fail("no thread");
	}
	for (i = 0; i < opt.conns; i++) {
		pthread_join(t[i], NULL);
		free(c[i].value);
	}
	free(c);
	free(t);
	printf("%s: %u connections, %u values each, all right\n",
	       argv[optind], opt.conns, opt.n);
	return 0;
}
