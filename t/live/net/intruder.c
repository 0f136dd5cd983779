/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * intruder - a third host on the link, which is neither end of a connection
 *
 *   intruder INTERFACE PACKETS MS
 *
 * Hears all that goes by, and prints "ready".  With SIGUSR1 it begins a round:
 * of each kind of intrusion as many packets as PACKETS a second are in MS, with
 * the addresses of packets that it has heard.  A turn ends when they are sent,
 * on a slow machine later than after MS; after TURN_S it is given up.  After
 * each kind it prints
 *
 *   KIND sent PACKETS bytes BYTES out BYTES
 *
 * "out" is what the two others have put on the link meanwhile; at rest, that is
 * what they answered.  Then "over".  SIGTERM ends it.
 */
#include <errno.h>
#include <inttypes.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>

#include <linux/if_ether.h>
#include <linux/if_packet.h>

#include "intrusion.h"

enum {
	TICK_US = 1000,
	BURST_US = 10000,	/* what a late tick makes up for, at most */
	TURN_S = 10,
	LATE_MS = 100,		/* answers may come so late */
	TRIES = 16,		/* to find what a frame can be made of */
	BATCH = 256,		/* frames heard between two looks at the clock */
	FRAME = 65536, BUFFER = 16 << 20,
};

static struct capture capture;
static int fd;
static uint64_t heard;		/* bytes */
static volatile sig_atomic_t begins, stopped;

static void on_signal(int sig)
{
	*(sig == SIGUSR1 ? &begins : &stopped) = 1;
}

static void die(const char *what)
{
	fprintf(stderr, "intruder: %s: %s\n", what, strerror(errno));
	exit(1);
}

static tux_time now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return TUX_SEC(t.tv_sec) + (tux_time)t.tv_nsec;
}

static void open_link(const char *name)
{
	struct sockaddr_ll a = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = (int)if_nametoindex(name),
	};
	struct packet_mreq m = {
		.mr_ifindex = a.sll_ifindex, .mr_type = PACKET_MR_PROMISC,
	};
	int one = 1, room = BUFFER;

	fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		die("packet socket");
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
	if (setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one,
		       sizeof(one)) ||
	    setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &m, sizeof(m)) ||
	    bind(fd, (void *)&a, sizeof(a)))
		die(name);
}

static void hear(void)
{
	static uint8_t frame[FRAME];
	unsigned i;
	ssize_t n;

	for (i = 0; i < BATCH &&
		    (n = recv(fd, frame, sizeof(frame), 0)) > 0; i++) {
		heard += (uint64_t)n;
		capture_hear(&capture, frame, (size_t)n, now());
	}
}

/* Until @at, or a signal. */
static void hear_until(tux_time at)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	tux_time left;

	while (!stopped && !begins && (left = now()) < at) {
		struct timespec t = { .tv_nsec = TUX_USEC(TICK_US) };

		if (at - left < TUX_USEC(TICK_US))
			t.tv_nsec = (long)(at - left);
		if (ppoll(&p, 1, &t, NULL) < 0 && errno != EINTR)
			die("poll");
		hear();
	}
}

/* One of @kind; its bytes. */
static size_t intrude(const struct intrusion *kind)
{
	uint8_t buf[INTRUSION_ROOM], *frame;
	size_t len = 0;
	unsigned i;

	for (i = 0; !len && i < TRIES && capture.n; i++)
		len = kind->make(&capture.way[(uint32_t)mrand48() % capture.n], buf,
				 &frame, now());
	if (!len || send(fd, frame, len, 0) < 0)
		return 0;
	return len;
}

/* How many are due, this long @since the last look, at @rate a second. */
static uint64_t due(tux_time since, uint64_t rate)
{
	tux_time burst = TUX_USEC(BURST_US);

	return ((since < burst ? since : burst) * rate + TUX_SEC(1) - 1) /
	       TUX_SEC(1);
}

/* At most @count of @kind; how many it made, their bytes added to *@bytes. */
static uint64_t volley(const struct intrusion *kind, uint64_t count,
		       uint64_t *bytes)
{
	uint64_t n;

	for (n = 0; n < count; n++) {
		size_t len = intrude(kind);

		if (!len)
			break;
		*bytes += len;
	}
	return n;
}

static void attack(const struct intrusion *kind, uint64_t rate, uint64_t count)
{
	uint64_t n = 0, bytes = 0, before;
	tux_time last = now(), until = last + TUX_SEC(TURN_S), at;

	hear();
	before = heard;
	while (!stopped && n < count && (at = now()) < until) {
		uint64_t left = count - n, k = due(at - last, rate);

		last = at;
		n += volley(kind, k < left ? k : left, &bytes);
		hear_until(at + TUX_USEC(TICK_US));
	}
	hear_until(now() + TUX_MSEC(LATE_MS));
	printf("%s sent %" PRIu64 " bytes %" PRIu64 " out %" PRIu64 "\n",
	       kind->name, n, bytes, heard - before);
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = on_signal };
	const struct intrusion *kind;
	uint64_t rate, ms;

	if (argc != 4) {
		fputs("usage: intruder INTERFACE PACKETS MS\n", stderr);
		return 2;
	}
	rate = strtoull(argv[2], NULL, 10);
	ms = strtoull(argv[3], NULL, 10);
	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	setvbuf(stdout, NULL, _IOLBF, 0);
	open_link(argv[1]);
	puts("ready");
	while (!stopped) {
		hear_until(TUX_NEVER);
		if (!begins)
			continue;
		begins = 0;
		for (kind = intrusions; kind->name && !stopped; kind++)
			attack(kind, rate, rate * ms / 1000);
		puts("over");
	}
	capture_fini(&capture);
	return 0;
}
