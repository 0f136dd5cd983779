/* SPDX-License-Identifier: BSD-2-Clause */
#include "loopback.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "option.h"

enum {
	PATIENCE = 10000,	/* exchanges until a connection has moved, ... */
	BURSTS = 100,		/* ... and long bursts until it has returned */
	BURST = 1 << 19,
	SETTLE_MS = 10,		/* for the loops of both ends */
};

static int listener;
static struct sockaddr_in here;

static void need(bool ok, const char *what)
{
	if (!ok)
		option_fail(1, "%s: %s", what, strerror(errno));
}

void loopback_listen(void)
{
	socklen_t len = sizeof(here);

	here.sin_family = AF_INET;
	here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	need(listener >= 0 &&
	     !bind(listener, (void *)&here, sizeof(here)) &&
	     !listen(listener, 128) &&
	     !getsockname(listener, (void *)&here, &len), "listen");
}

int loopback_dial(void)
{
	int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	need(fd >= 0 && !connect(fd, (void *)&here, sizeof(here)) &&
	     !setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) &&
	     !fcntl(fd, F_SETFL, O_NONBLOCK), "connect");
	return fd;
}

int loopback_answer(void)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	need(fd >= 0, "accept");
	return fd;
}

static uint64_t tcp_carried(int fd)
{
	struct tcp_info i = { 0 };
	socklen_t len = sizeof(i);

	need(!getsockopt(fd, IPPROTO_TCP, TCP_INFO, &i, &len), "TCP_INFO");
	return i.tcpi_bytes_acked;
}

/* A byte from @a to @b. */
static void pass(int a, int b)
{
	struct pollfd p = { .fd = b, .events = POLLIN };
	char c = 'x';

	need(write(a, &c, 1) == 1 && poll(&p, 1, -1) == 1 &&
	     read(b, &c, 1) == 1, "exchange");
}

void loopback_move(int a, int b)
{
	for (int i = 0; i < PATIENCE; i++) {
		uint64_t before = tcp_carried(a) + tcp_carried(b);

		for (int j = 0; j < 8; j++) {
			pass(a, b);
			pass(b, a);
		}
		if (tcp_carried(a) + tcp_carried(b) == before)
			return;
	}
	option_fail(1, "a connection has not moved to Tux");
}

/* How much of a burst from @a to @b does TCP carry? */
static uint64_t burst(int a, int b)
{
	static char buf[65536];
	uint64_t before = tcp_carried(a);
	size_t out = 0, in = 0;

	while (in < BURST) {
		size_t left = BURST - out < sizeof(buf) ? BURST - out :
							  sizeof(buf);
		ssize_t w = left ? send(a, buf, left, 0) : 0;
		ssize_t r = recv(b, buf, sizeof(buf), 0);

		need((w >= 0 || errno == EAGAIN) && r &&
		     (r > 0 || errno == EAGAIN), "burst");
		out += w > 0 ? (size_t)w : 0;
		in += r > 0 ? (size_t)r : 0;
	}
	return tcp_carried(a) - before;
}

void loopback_return(int a, int b)
{
	for (int i = 0; i < BURSTS; i++) {
		uint64_t there = burst(a, b), back = burst(b, a);

		if (there < BURST / 2 || back < BURST / 2)
			continue;
		poll(NULL, 0, SETTLE_MS);
		pass(a, b);
		pass(b, a);
		return;
	}
	option_fail(1, "a connection has not returned to TCP");
}
