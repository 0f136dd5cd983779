/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mc - a memcached client that speaks both protocols and checks every answer
 *
 *   mc text|binary [--host H] --port P [--conns C] [--n N] [--max BYTES]
 *      [--seed S]
 *
 * Blocking sockets, one thread per connection, so that a server's workers all
 * get some.  Each connection stores N values, fetches them singly and in one
 * go, counts, appends, deletes, and looks whether what it asked for happened.
 * Text goes by send() and recv(), binary by writev() and readv().
 */
#include "mc.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/socket.h>
#include <sys/uio.h>

#include "client.h"

enum { PATIENCE = 10 };		/* seconds */

static struct {
	const char *host;
	uint16_t port;
	uint32_t conns, n, max;
	uint64_t seed;
	const struct mc_protocol *protocol;
} opt = { .host = "127.0.0.1", .conns = 8, .n = 200, .max = 200000, .seed = 1 };

/* ---- values ---------------------------------------------------------- */

static uint32_t length_of(const struct mc *c, uint32_t i)
{
	uint64_t x = (c->seed + c->id * 1000003ull + i) *
		     0x9e3779b97f4a7c15u;

	return 1 + (uint32_t)((x >> 40) % c->max >> (x >> 30 & 15));
}

uint32_t mc_value(struct mc *c, uint32_t i)
{
	uint64_t x = c->seed ^ (uint64_t)c->id << 32 ^ i;
	uint32_t n = length_of(c, i), k;

	for (k = 0; k < n; k++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		c->value[k] = (char)(x >> 56);
	}
	return n;
}

int mc_key(const struct mc *c, uint32_t i, char *key, size_t cap)
{
	return snprintf(key, cap, "mc:%" PRIu64 ":%u:%u", c->seed, c->id, i);
}

/* ---- bytes ----------------------------------------------------------- */

static void fill(struct mc *c)
{
	struct iovec v[2] = { { c->in, 1000 },
			      { c->in + 1000, sizeof(c->in) - 1000 } };
	ssize_t n = opt.protocol == &mc_binary ? readv(c->fd, v, 2) :
		    recv(c->fd, c->in, sizeof(c->in), 0);

	if (n <= 0)
		client_fail("connection %u: %s", c->id, !n ? "closed" :
			    errno == EAGAIN ? "stuck" : strerror(errno));
	c->at = 0;
	c->len = (size_t)n;
}

void mc_take(struct mc *c, void *p, size_t n)
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

void mc_put(struct mc *c, const void *p, size_t n)
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

void mc_expect(struct mc *c, const char *what, const void *want,
		   size_t n)
{
	const uint8_t *w = want;
	uint8_t got;
	size_t i;

	for (i = 0; i < n; i++) {
		mc_take(c, &got, 1);
		if (got != w[i])
			client_fail("connection %u: %s: byte %zu of %zu is "
				    "%02x, not %02x", c->id, what, i, n, got,
				    w[i]);
	}
}

void mc_expect_text(struct mc *c, const char *what, const char *want)
{
	mc_expect(c, what, want, strlen(want));
}

/* ---- a connection ---------------------------------------------------- */

static void *run(void *arg)
{
	struct mc *c = arg;
	uint32_t i, k;

	c->fd = client_dial(opt.host, opt.port, false);
	client_patience(c->fd, PATIENCE);
	for (i = 0; i < opt.n; i++)
		opt.protocol->store(c, i);
	for (k = 1; k <= MC_TOGETHER; k += MC_TOGETHER - 1)
		for (i = 0; i + k <= opt.n; i += k)
			opt.protocol->get(c, i, i + k);
	opt.protocol->odds(c);
	close(c->fd);
	return NULL;
}

static void usage(void)
{
	fputs("usage: mc text|binary [--host H] --port P [--conns C]\n"
	      "          [--n N] [--max BYTES] [--seed S]\n", stderr);
	exit(2);
}

static void parse(int argc, char **argv)
{
	static const struct option o[] = {
		{ "host", 1, 0, 'h' }, { "port", 1, 0, 'p' }, { "conns", 1, 0, 'c' },
		{ "n", 1, 0, 'n' }, { "max", 1, 0, 'x' },
		{ "seed", 1, 0, 's' }, { 0 },
	};
	int k, i;

	while ((k = getopt_long(argc, argv, "", o, &i)) != -1) {
		uint32_t n;

		if (k == '?')
			usage();
		if (k == 'h') {
			opt.host = optarg;
			continue;
		}
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
	opt.protocol = !strcmp(argv[optind], "text") ? &mc_text : &mc_binary;
	if (strcmp(argv[optind], opt.protocol->name))
		usage();
}

int main(int argc, char **argv)
{
	struct mc *c;
	pthread_t *t;
	uint32_t i;

	parse(argc, argv);
	c = calloc(opt.conns, sizeof(*c));
	t = calloc(opt.conns, sizeof(*t));
	if (!c || !t)
		client_fail("no memory");
	for (i = 0; i < opt.conns; i++) {
		c[i].id = i;
		c[i].seed = opt.seed;
		c[i].max = opt.max;
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
	       opt.protocol->name, opt.conns, opt.n);
	return 0;
}
