/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A reader that waits gets in one read what was written in one write, as over
 * TCP, also while the connection moves to Tux.
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client.h"
#include "pair.h"

enum {
	LONGEST = 4000,
	CONNECTIONS = 12,	/* for each length */
	AFTER = 50,		/* records each way, once it has moved */
};

static const unsigned lengths[] = { 2, 3, 7, 64, 100, 333, 1000, LONGEST };

static char record[LONGEST], got[2 * LONGEST];
static unsigned long cuts;

/* A record of @len bytes. */
static void pass(int from, int to, size_t len, bool peek)
{
	struct pollfd f = { .fd = to, .events = POLLIN };
	ssize_t k;

	if (write(from, record, len) != (ssize_t)len)
		client_fail("a write was cut");
	poll(&f, 1, PAIR_PATIENCE_MS);
	if (peek) {
		k = recv(to, got, sizeof(got), MSG_PEEK);
		cuts += k != (ssize_t)len;
	}
	k = read(to, got, sizeof(got));
	cuts += k != (ssize_t)len;
	if (k > 0 && memcmp(got, record, (size_t)k) != 0)
		client_fail("wrong bytes");
	if (k > 0 && (size_t)k < len && !pair_expect(to, len - (size_t)k))
		client_fail("bytes are missing");
}

/* Requests of @len bytes and answers of @back, on a connection that moves. */
static void talk(size_t len, size_t back, bool peek)
{
	double end = pair_ms() + PAIR_PATIENCE_MS;
	unsigned left = AFTER;
	bool moved = !pair_preloaded();
	struct pair p;

	pair_open(&p, false);
	for (unsigned i = 0; left && pair_ms() < end; i++) {
		pass(p.b, p.a, len, peek);
		pass(p.a, p.b, back, peek);
		/* A look every now and then: it has records of its own. */
		if (!moved && i % 64 == 63)
			moved = pair_moved(&p);
		left -= moved;
	}
	if (left)
		client_fail("the connection does not move to Tux");
	pair_close(&p);
}

static void all(bool peek)
{
	const unsigned n = sizeof(lengths) / sizeof(lengths[0]);

	cuts = 0;
	for (unsigned i = 0; i < n * CONNECTIONS; i++)
		talk(lengths[i % n], lengths[(i / n + i) % n], peek);
	if (cuts)
		fprintf(stderr, "%lu records were cut\n", cuts);
	CHECK(cuts == 0);
}

static void read_whole(void)
{
	all(false);
}

static void peeked_whole(void)
{
	all(true);
}

int main(void)
{
	for (unsigned i = 0; i < LONGEST; i++)
		record[i] = (char)(i * 7 + i / 256);
	pair_once("a record is read whole", read_whole);
	pair_once("and shown whole", peeked_whole);
	return pair_done();
}
