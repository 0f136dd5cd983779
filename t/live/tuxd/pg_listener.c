/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pg_listener - a client of PostgreSQL that waits until it is notified
 *
 *	pg_listener ADDRESS PORT ROUNDS
 *
 * It asks something ROUNDS times, then listens to "news".  It says "listens",
 * sends nothing more, and ends when the server notifies it.
 */
#include <arpa/inet.h>
#include <err.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	BODY_MAX = 4096,
	PATIENCE = 60,
	PROTOCOL = 3 << 16,
};

static const char startup[] = "user\0postgres\0database\0postgres\0";

static int connected(const char *address, const char *port)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	to.sin_port = htons((uint16_t)atoi(port));
	if (inet_pton(AF_INET, address, &to.sin_addr) != 1)
		errx(2, "no address: %s", address);
	if (fd < 0 || connect(fd, (void *)&to, sizeof(to)))
		err(1, "connect");
	return fd;
}

static void give(int fd, const void *p, size_t len)
{
	if (send(fd, p, len, 0) != (ssize_t)len)
		err(1, "send");
}

/* A length counts itself. */
static void start(int fd)
{
	uint32_t head[2] = { htonl(sizeof(head) + sizeof(startup)),
			     htonl(PROTOCOL) };
	char m[sizeof(head) + sizeof(startup)];

	memcpy(m, head, sizeof(head));
	memcpy(m + sizeof(head), startup, sizeof(startup));
	give(fd, m, sizeof(m));
}

static void query(int fd, const char *sql)
{
	uint32_t len = (uint32_t)strlen(sql) + 1, n = htonl(len + sizeof(n));
	char m[128] = "Q";

	memcpy(m + 1, &n, sizeof(n));
	memcpy(m + 1 + sizeof(n), sql, len);
	give(fd, m, 1 + sizeof(n) + len);
}

static void take(int fd, void *p, size_t len)
{
	ssize_t k = len ? recv(fd, p, len, MSG_WAITALL) : 0;

	if (k < 0)
		err(1, "recv");
	if ((size_t)k != len)
		errx(1, "the connection ends");
}

/* Takes messages up to the first of this type. */
static void expect(int fd, char type)
{
	char got, body[BODY_MAX];
	uint32_t n;

	do {
		take(fd, &got, 1);
		take(fd, &n, sizeof(n));
		n = ntohl(n) - (uint32_t)sizeof(n);
		if (got == 'E' || n > sizeof(body))
			errx(1, "message %c of %u bytes", got, n);
		take(fd, body, n);
	} while (got != type);
}

int main(int argc, char **argv)
{
	int fd;

	if (argc != 4)
		errx(2, "usage: pg_listener ADDRESS PORT ROUNDS");
	alarm(PATIENCE);
	fd = connected(argv[1], argv[2]);
	start(fd);
	expect(fd, 'Z');
	for (int i = atoi(argv[3]); i > 0; i--) {
		query(fd, "select 1");
		expect(fd, 'Z');
	}
	query(fd, "listen news");
	expect(fd, 'Z');
	puts("listens");
	fflush(stdout);
	expect(fd, 'A');
	puts("notified");
	return 0;
}
