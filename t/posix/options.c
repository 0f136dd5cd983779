/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Options that only the kernel's stream follows: a connection that has one stays
 * on TCP, or goes back to it.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pair.h"

enum { TURNS = 60 };		/* enough to move */

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

/* Refused, it changes nothing. */
static void unread(struct pair *p)
{
	CHECK(write(p->b, "abc", 3) == 3);
	poll(&(struct pollfd){ .fd = p->a, .events = POLLIN }, 1,
	     PAIR_PATIENCE_MS);
	CHECK(!setsockopt(p->a, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3) ||
	      errno == EBUSY);
	CHECK(pair_expect(p->a, 3));
	pair_talk(p, TURNS);
}

int main(void)
{
	pair_case("SO_BINDTODEVICE", device);
	pair_case("... of the other end", device_of_the_other_end);
	pair_case("... while bytes are unread", unread);
	pair_case("SO_MARK", mark);
	pair_case("SO_PEEK_OFF", peek_off);
	return pair_done();
}
