/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Options that only the kernel's stream follows: a connection that has one stays
 * on TCP, or goes back to it.  And those that both follow.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pair.h"

enum {
	TURNS = 60,		/* enough to move */
	LOW = 100, PIECES = 5,	/* of a message, in bytes and writes */
	LONG = 30000,
	AHEAD = 65536,		/* more than the kernel takes for 4 KB and 4 KB */
};

static void stays(struct pair *p)
{
	pair_talk(p, TURNS);
	CHECK(!pair_moved(p));
}

static void device(struct pair *p)
{
	CHECK(!setsockopt(p->a, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3));
	stays(p);
}

static void device_of_the_other_end(struct pair *p)
{
	CHECK(!setsockopt(p->b, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3));
	stays(p);
}

static void mark(struct pair *p)
{
	const int one = 1;

	/* Without the privilege to set it, it changes nothing. */
	CHECK(!setsockopt(p->a, SOL_SOCKET, SO_MARK, &one, sizeof(one)) ||
	      errno == EPERM);
	stays(p);
}

static bool peeks(int fd, const char *want)
{
	size_t n = strlen(want);
	char got[8];

	return recv(fd, got, n, MSG_PEEK) == (ssize_t)n && !memcmp(got, want, n);
}

static void peek_off(struct pair *p)
{
	const int first = 0;

	if (setsockopt(p->a, SOL_SOCKET, SO_PEEK_OFF, &first, sizeof(first))) {
		CHECK(errno == EOPNOTSUPP);	/* before Linux 6.9 */
		return;
	}
	CHECK(write(p->b, "abcdefg", 7) == 7);
	CHECK(pair_arrive(p->a, 7));
	CHECK(peeks(p->a, "abc") && peeks(p->a, "de") && peeks(p->a, "fg"));
	CHECK(pair_drain(p->a) == 7);
	stays(p);
}

/* Bytes that were not read stay readable. */
static void unread(struct pair *p)
{
	CHECK(write(p->b, "abc", 3) == 3);
	poll(&(struct pollfd){ .fd = p->a, .events = POLLIN }, 1,
	     PAIR_PATIENCE_MS);
	CHECK(!setsockopt(p->a, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3));
	CHECK(pair_expect(p->a, 3));
	pair_talk(p, TURNS);
}

/* A message of LOW bytes in PIECES writes, for which the reader waits. */
static bool tells(int from, int to)
{
	struct pollfd f = { .fd = to, .events = POLLIN };
	char b[LOW] = "";
	int n = 0;

	for (int i = 0; i < PIECES; i++)
		if (write(from, b, LOW / PIECES) != LOW / PIECES)
			return false;
	/* The end of a message may come behind a marker. */
	while (n < LOW && poll(&f, 1, PAIR_PATIENCE_MS) == 1)
		n += (int)read(to, b, (size_t)(LOW - n));
	return n == LOW;
}

/* Also while the connection moves: the kernel counts what is left in TCP alone. */
static void low_water_of_messages(struct pair *p)
{
	const int low = LOW;
	bool ok = true;

	CHECK(!setsockopt(p->a, SOL_SOCKET, SO_RCVLOWAT, &low, sizeof(low)));
	CHECK(!setsockopt(p->b, SOL_SOCKET, SO_RCVLOWAT, &low, sizeof(low)));
	for (int i = 0; i < 5 * TURNS && ok; i++) {
		ok = tells(p->a, p->b) && tells(p->b, p->a);
		if (i % 10 == 0)
			poll(NULL, 0, 1);
	}
	CHECK(ok);
}

/* Fewer bytes than that are nothing to poll() for. */
static void low_water_of_few(struct pair *p)
{
	struct pollfd f = { .fd = p->a, .events = POLLIN };
	const int low = LOW;
	char b[LOW] = "";

	CHECK(!setsockopt(p->a, SOL_SOCKET, SO_RCVLOWAT, &low, sizeof(low)));
	CHECK(write(p->b, b, 10) == 10);
	CHECK(pair_arrive(p->a, 10));
	CHECK(poll(&f, 1, 0) == 0);
	CHECK(write(p->b, b, LOW - 10) == LOW - 10);
	CHECK(poll(&f, 1, PAIR_PATIENCE_MS) == 1 && read(p->a, b, LOW) == LOW);
	CHECK(write(p->b, b, 1) == 1 && !shutdown(p->b, SHUT_WR));
	CHECK(poll(&f, 1, PAIR_PATIENCE_MS) == 1 && read(p->a, b, LOW) == 1);
	CHECK(poll(&f, 1, 0) == 1 && read(p->a, b, LOW) == 0);
}

/* More than any buffer holds: a full one is enough. */
static void low_water_of_more(struct pair *p)
{
	struct pollfd f = { .fd = p->a, .events = POLLIN };
	const int low = 64 << 20;

	CHECK(!setsockopt(p->a, SOL_SOCKET, SO_RCVLOWAT, &low, sizeof(low)));
	CHECK(pair_fill(p->b) > 0);
	CHECK(poll(&f, 1, PAIR_PATIENCE_MS) == 1 && (f.revents & POLLIN));
}

/* As over TCP, a writer is not far ahead of a reader that has asked for little; and
 * what it was ahead arrives. */
static void small_buffers(struct pair *p)
{
	/* The window that was told before stays as long as it was. */
	const size_t old = pair_preloaded() ? 1 << 19 : 1;
	struct pollfd f = { .fd = p->b, .events = POLLOUT };
	const int small = 4096;
	size_t n;

	CHECK(!setsockopt(p->a, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)));
	CHECK(!setsockopt(p->b, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)));
	pair_move(p);
	for (size_t all = 0; all < old; all += n) {
		n = pair_fill(p->b);
		CHECK(pair_expect(p->a, n));
		CHECK(poll(&f, 1, PAIR_PATIENCE_MS) == 1);
		if (!n)
			break;
	}
	n = pair_fill(p->b);
	CHECK(n > 0 && n < AHEAD);
	CHECK(pair_expect(p->a, n));
	pair_talk(p, TURNS);
}

/* @len bytes, of which TCP and the rings hold fewer. */
static bool carries_long(int from, int to, size_t len)
{
	static char b[LONG];
	double end = pair_ms() + PAIR_PATIENCE_MS;
	size_t sent = 0, got = 0;

	while (got < len && pair_ms() < end) {
		struct pollfd f[] = {
			{ .fd = from, .events = sent < len ? POLLOUT : 0 },
			{ .fd = to, .events = POLLIN },
		};
		ssize_t n;

		poll(f, 2, PAIR_PATIENCE_MS);
		n = sent < len ? write(from, b, len - sent) : 0;
		sent += n > 0 ? (size_t)n : 0;
		n = read(to, b, sizeof(b));
		got += n > 0 ? (size_t)n : 0;
	}
	return got == len;
}

/* With SO_RCVBUF set before there is a connection: TCP cuts its segments to
 * windows that were never longer. Were they to shrink below a segment, it would
 * send by its timer of probes alone. */
static void open_small(struct pair *p)
{
	const int small = 4096;
	uint16_t port;
	int l = pair_listen(&port);
	struct pollfd f = { .fd = l, .events = POLLIN };

	CHECK(!setsockopt(l, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)));
	p->b = pair_socket();
	CHECK(!setsockopt(p->b, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)));
	pair_connect(p->b, port);
	CHECK(poll(&f, 1, PAIR_PATIENCE_MS) == 1);
	p->a = accept4(l, NULL, NULL, SOCK_NONBLOCK);
	CHECK(p->a >= 0);
	close(l);
}

/* Before, while and after it moves. */
static void small_window(void)
{
	bool all = true;
	struct pair p;

	open_small(&p);
	for (int i = 0; i < 4 * TURNS && all; i++)
		all = carries_long(p.b, p.a, i % 8 ? 1 : LONG) &&
		      carries_long(p.a, p.b, i % 8 == 4 ? LONG : 1);
	CHECK(all);
	pair_close(&p);
}

int main(void)
{
	pair_case("SO_BINDTODEVICE", device);
	pair_case("... of the other end", device_of_the_other_end);
	pair_case("... while bytes are unread", unread);
	pair_case("SO_MARK", mark);
	pair_case("SO_PEEK_OFF", peek_off);
	pair_case("SO_RCVLOWAT, and messages of that length",
		  low_water_of_messages);
	pair_case("SO_RCVLOWAT, and fewer bytes", low_water_of_few);
	pair_case("SO_RCVLOWAT, and no room for more", low_water_of_more);
	pair_case("SO_SNDBUF and SO_RCVBUF", small_buffers);
	pair_once("a window smaller than writes", small_window);
	return pair_done();
}
