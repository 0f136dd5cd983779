/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * attacker - another user of a host: binds UDP ports with the numbers of a
 * connection's TCP ports
 *
 *   attacker ADDR FIRST LAST PEER PEER_PORT TO ACTIVE
 *
 * Holds the UDP ports FIRST to LAST of ADDR that are free, and keeps what comes.  To PEER, at the
 * UDP port TO of its loop, it sends, all the time, what the end of the connection
 * would: copies of what came, HELLOs of its own without a key, and resets and
 * stream bytes under every id and number that it has seen or guessed.  PEER_PORT
 * is the peer's TCP port; ACTIVE: 1, as the end that connects.  It prints
 * "ready", "much sent N" with every thousand that it has sent, and, when
 * SIGTERM ends it, "hellos N numbered N sent N".
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/bytes.h"
#include "wire/pkt.h"

enum { PORTS = 16, KEPT = 32, SIZE = 1500, GAP_US = 500, MUCH = 1000 };

struct door {
	int fd;
	struct sockaddr_in own, peer;
	struct sockaddr_in to;		/* the peer's loop */
};

struct kept {
	struct door *door;
	uint8_t p[SIZE];
	size_t len;
};

static struct kept kept[KEPT];
static unsigned kept_n, hellos, numbered;
static unsigned long sent;
static volatile sig_atomic_t stopped;

static void on_term(int sig)
{
	stopped = sig;
}

static void say(const char *what)
{
	puts(what);
	fflush(stdout);
}

static void out(const struct door *d, const uint8_t *p, size_t len)
{
	if (sendto(d->fd, p, len, MSG_DONTWAIT, (const void *)&d->to,
		   sizeof(d->to)) > 0 && ++sent % MUCH == 0) {
		printf("much sent %lu\n", sent);
		fflush(stdout);
	}
}

static void take_in(struct door *d)
{
	struct kept *k = &kept[kept_n % KEPT];
	struct tux_pkt h;
	ssize_t n;

	while ((n = recv(d->fd, k->p, SIZE, MSG_DONTWAIT)) > 0) {
		if (tux_pkt_decode(&h, k->p, (size_t)n))
			continue;
		if (h.flags & TUX_PKT_OPEN)
			hellos++;
		else
			numbered++;
		k->door = d;
		k->len = (size_t)n;
		k = &kept[++kept_n % KEPT];
	}
}

static uint32_t guess(void)
{
	return (uint32_t)mrand48();
}

static struct tux_addr addr_of(const struct sockaddr_in *a)
{
	struct tux_addr r = { .ip = { [10] = 0xff, 0xff } };

	memcpy(r.ip + 12, &a->sin_addr, 4);
	r.port = ntohs(a->sin_port);
	return r;
}

/* An opening as the victim would send it, but for the key; @echo may be what
 * the peer waits for. */
static void send_hello(const struct door *d, bool active, uint64_t echo)
{
	static const struct tux_key none;
	struct tux_addr own = addr_of(&d->own), peer = addr_of(&d->peer);
	struct tux_hello hello = {
		.flags = TUX_HELLO_WANT | (active ? TUX_HELLO_ACTIVE : 0),
		.version = TUX_WIRE_VERSION, .port = own.port,
		.id = 0x66666666, .seq = 1, .window = 1 << 20,
		.nonce = 0x6666666666666666, .echo = echo, .token = 6,
		.pkt_max = 1472, .delay = 10,
		.tuple = { active ? own : peer, active ? peer : own },
	};
	struct tux_pkt h = { .flags = TUX_PKT_OPEN };
	struct tux_writer w;
	uint8_t p[200];

	tux_hello_mask(&hello, &none);
	tux_writer_init(&w, p, sizeof(p));
	tux_writer_hello(&w, &hello);
	out(d, p, tux_writer_end(&w, &h, &none));
}

static void send_numbered(const struct door *d, uint32_t id, uint32_t seq)
{
	struct tux_pkt h = { .flags = TUX_PKT_ELICIT, .id = id, .seq = seq,
			     .ack = guess(), .window = 1 << 20 };
	struct tux_writer w;
	uint8_t p[200], *b;

	tux_writer_init(&w, p, sizeof(p));
	b = tux_writer_add(&w, TUX_REC_STREAM, TUX_STREAM_ORDER,
			   TUX_STREAM_HDR + 4);
	tux_put64(b, 0);
	memcpy(b + TUX_STREAM_HDR, "evil", 4);
	b = tux_writer_add(&w, TUX_REC_RESET, 0, TUX_RESET_LEN);
	tux_put32(b, 13);
	out(d, p, tux_writer_end(&w, &h, NULL));
}

/* All that can be made of a packet that came. */
static void abuse(const struct kept *k, bool active)
{
	const uint8_t *hello = k->p + TUX_PKT_HDR + TUX_REC_HDR;

	out(k->door, k->p, k->len);
	send_numbered(k->door, tux_get32(k->p + 8), tux_get32(k->p + 16));
	if (!(k->p[3] & TUX_PKT_OPEN))
		return;
	send_hello(k->door, active, tux_get64(hello + TUX_HELLO_NONCE));
	send_numbered(k->door, tux_get32(hello + TUX_HELLO_ID),
		      tux_get32(hello + TUX_HELLO_SEQ));
	send_numbered(k->door, guess(), tux_get32(hello + TUX_HELLO_SEQ));
}

static void attack(const struct door *d, bool active)
{
	unsigned i;

	for (i = 0; i < KEPT; i++)
		if (kept[i].door == d)
			abuse(&kept[i], active);
	send_hello(d, active, 0);
	send_numbered(d, guess(), guess());
}

static struct sockaddr_in name(const char *addr, const char *port)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)atoi(port)),
	};

	if (inet_pton(AF_INET, addr, &a.sin_addr) != 1) {
		fprintf(stderr, "attacker: what is %s?\n", addr);
		exit(2);
	}
	return a;
}

static unsigned open_doors(struct door *d, char **argv)
{
	uint16_t port = (uint16_t)atoi(argv[2]), last = (uint16_t)atoi(argv[3]);
	unsigned n = 0;

	for (; port <= last && n < PORTS; port++) {
		d[n].own = name(argv[1], argv[2]);
		d[n].own.sin_port = htons(port);
		d[n].peer = name(argv[4], argv[5]);
		d[n].to = name(argv[4], argv[6]);
		d[n].fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		if (!bind(d[n].fd, (void *)&d[n].own, sizeof(d[n].own))) {
			n++;
			continue;
		}
		if (errno != EADDRINUSE) {
			perror("attacker: bind");
			exit(1);
		}
		close(d[n].fd);		/* the loop's own */
	}
	return n;
}

int main(int argc, char **argv)
{
	static struct door door[PORTS];
	const struct timespec gap = { .tv_nsec = GAP_US * 1000 };
	unsigned i, n;

	if (argc != 8) {
		fputs("usage: attacker ADDR FIRST LAST PEER PEER_PORT TO "
		      "ACTIVE\n", stderr);
		return 2;
	}
	signal(SIGTERM, on_term);
	n = open_doors(door, argv);
	say("ready");
	while (!stopped) {
		for (i = 0; i < n; i++) {
			take_in(&door[i]);
			attack(&door[i], atoi(argv[7]) != 0);
		}
		nanosleep(&gap, NULL);
	}
	printf("hellos %u numbered %u sent %lu\n", hellos, numbered, sent);
	return 0;
}
